from math import inf

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promises import confidential, every_model
from shoal.errors import ShoalError
from shoal.privacy.checking import KAnonymity, check, checked_models, plain_column
from shoal.privacy.models import AlphaK, DeltaDisclosure, LDiversity, PSensitivity, TCloseness

WARD = {
    "age": [30, 30, 30, 60, 60, 60, 60],
    "who": ["a", "b", "b", "c", "d", "e", "e"],
    "ill": ["flu", "flu", "flu", "flu", "gout", "none", None],
}


@settings(max_examples=200)
@given(st.data(), confidential())
def test_what_is_found_in_groups_of_records_is_what_the_twin_finds(data, sample):
    models = data.draw(every_model(sample))
    groups = np.array(sample.labels)[sample.units]
    found = checked_models(models, [sample.coding] * len(models), groups, np.array(sample.persons))
    for model, each in zip(models, found, strict=True):
        expected = sample.twins(model)
        # A group without any of the values that do harm is no harm, whatever it has.
        spared = model.at_least and model.sensitive_values
        figures = [inf if spared and holds and figure < model.asked else figure for figure, holds, _ in expected]
        assert each.values.tolist() == pytest.approx(figures, abs=1e-9)
        if not any(near for _, _, near in expected):
            broken = [group for group, (_, holds, _) in enumerate(expected) if not holds]
            assert each.broken.tolist() == broken
            assert each.holds == (not broken)
            assert each.records_broken == sum(len(sample.groups[group]) for group in broken)
        assert each.gaps == sample.values.count(None)
        assert each.records.sum() == len(sample.values)


@given(st.data(), confidential())
def test_a_person_in_two_groups_counts_in_both(data, sample):
    """Any table may be checked, also one whose rows of a person are apart."""
    n = len(sample.values)
    groups = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).map(lambda g: [0, *g[1:]]))
    groups = np.unique(groups, return_inverse=True)[1]
    rows = [np.flatnonzero(groups == group).tolist() for group in range(groups.max() + 1)]
    models = [LDiversity(2, on="x"), AlphaK(0.5, on="x"), DeltaDisclosure(1, on="x")]
    found = checked_models(models, [sample.coding] * 3, groups, np.array(sample.persons))
    for model, each in zip(models, found, strict=True):
        expected = sample.twins(model, rows)
        assert each.values.tolist() == pytest.approx([figure for figure, _, _ in expected], abs=1e-9)


def test_no_models_find_nothing():
    assert checked_models([], [], np.zeros(3, np.int64)) == []


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_table_is_checked_whoever_made_it(frame):
    models = [LDiversity(2, on="ill"), AlphaK(0.5, on="ill"), TCloseness(0.5, on="ill")]
    diverse, share, close = check(frame(WARD), ["age"], models)
    assert diverse.values.tolist() == [1, 3]
    assert (diverse.broken.tolist(), diverse.records_broken, diverse.gaps) == ([0], 3, 1)
    assert not diverse.holds
    assert share.values.tolist() == [1, pytest.approx(1 / 3)]
    assert close.model.distance == "equal"
    # flu 4/6, gout and none 1/6: {flu} is 1/3 away, and so are {flu, gout, none}
    assert close.values == pytest.approx([1 / 3, 1 / 3])
    assert close.holds


def test_one_model_and_one_column_need_no_list():
    [found] = check(pd.DataFrame(WARD), "age", PSensitivity(1, on="ill"))
    assert found.holds


def test_rows_of_a_person_count_once():
    table = pd.DataFrame({"age": [1, 1, 1], "who": ["a", "a", "b"], "ill": ["x", "y", "x"]})
    [rows], [persons] = (check(table, "age", AlphaK(0.7, on="ill"), person=who) for who in (None, "who"))
    assert (rows.value, persons.value) == (pytest.approx(2 / 3), 1)
    [found] = check(pd.DataFrame({"age": [1, 1], "who": ["a", "a"], "ill": ["x", "y"]}), "age", LDiversity(2, on="ill"), person="who")  # fmt: skip
    assert found.value == 1  # one person stands for one value


def test_the_figure_is_that_of_the_group_that_is_worst_off():
    table = pd.DataFrame({"age": [1, 1, 1, 2, 2, 2], "ill": list("aababc")})
    figures = {
        LDiversity(2, on="ill"): 2,
        LDiversity(1, "entropy", on="ill"): pytest.approx(3 / 2 ** (2 / 3)),
        LDiversity(2, "recursive", c=3, on="ill"): 2,  # 2 : 1, and 1 : 2
        AlphaK(1, on="ill"): pytest.approx(2 / 3),
        DeltaDisclosure(9, on="ill"): inf,
    }
    for model, found in zip(figures, check(table, "age", list(figures)), strict=True):
        assert found.value == figures[model], model
    [lacking] = check(table, "age", LDiversity(3, "recursive", c=3, on="ill"))
    assert lacking.value == inf  # the first group has no third value


def test_what_was_found_is_said_in_short_and_for_a_manifest():
    [found] = check(pd.DataFrame(WARD), ["age"], LDiversity(2, on="ill"))
    assert repr(found) == "Check(l = 2 on 'ill' (distinct l-diversity): l = 1, broken by 1 of 2 groups)"
    assert found.as_dict() == {
        "model": "l-diversity", "on": "ill", "l": 2, "kind": "distinct",
        "found": 1, "holds": False, "groups_broken": 1, "records_broken": 3, "gaps": 1,
    }  # fmt: skip
    [found] = check(pd.DataFrame(WARD), ["age"], LDiversity(1, on="ill"))
    assert repr(found).endswith("l = 1, holds)")
    [found] = check(pd.DataFrame(WARD), ["age"], DeltaDisclosure(1, on="ill"))
    assert found.as_dict()["found"] is None  # JSON has no infinity
    assert found.value == inf


def test_a_column_that_is_not_there_is_an_error():
    with pytest.raises(ShoalError, match="there is no column 'diagnosis' for a privacy model"):
        check(pd.DataFrame(WARD), ["age"], LDiversity(2, on="diagnosis"))
    assert len(plain_column(pa.table(WARD), "ill")) == 7


def test_k_is_counted_in_records_and_in_persons():
    assert KAnonymity(3).check(pd.DataFrame(WARD), ["age"]) == 3
    assert KAnonymity(3).check(pd.DataFrame(WARD), ["age"], person="who") == 2
    with pytest.raises(ShoalError, match="^k must be"):
        KAnonymity(0)


def test_the_worst_of_groups_with_sensitive_values_is_not_one_without_harm():
    table = pd.DataFrame({"age": [1, 1, 2, 2], "ill": ["none", "none", "hiv", "flu"]})
    [found] = check(table, "age", LDiversity(2, on="ill", sensitive_values="hiv"))
    assert found.holds
    assert found.value == 2


def test_texts_that_are_said_to_mean_a_gap_are_no_values():
    table = {"age": [1, 1, 2, 2], "ill": ["flu", "unknown", "flu", "gout"]}
    model = LDiversity(2, on="ill")
    assert check(pa.table(table), "age", model)[0].holds
    (found,) = check(pa.table(table), "age", model, gap_values=["unknown"])
    assert (found.broken.tolist(), found.gaps) == ([0], 1)
    with pytest.raises(ShoalError, match="gap_values is a list of texts, not the text 'unknown'"):
        check(pa.table(table), "age", model, gap_values="unknown")
