import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from columns import held_column, labels_of, made_of, parts_of, text_column
from shoal.attributes import KINDS, Wish, kept_from, kind_of
from shoal.attributes.ordinal import OrdinalGathering, OrdinalKept, moments_of, quartiles_of
from shoal.errors import ShoalError

ORDER = ("none", "mild", "severe", "fatal")
RANKS = st.lists(st.integers(0, 3), min_size=2, max_size=20).filter(lambda ranks: len(set(ranks)) > 1)


def made(ranks, scaling="zscore"):
    return made_of([ORDER[rank] for rank in ranks], scaling, order=ORDER, kind="ordinal")


def halves(n):
    """Two groups that do not stand in the order of the records."""
    return [list(range(0, n, 2)), list(range(1, n, 2))]


@given(RANKS)
def test_a_category_counts_by_its_rank_on_the_scale_of_numbers(ranks):
    values = np.array(ranks, float)
    assert made(ranks).coordinates()[:, 0] == pytest.approx((values - values.mean()) / values.std())
    spread = values.max() - values.min()
    assert made(ranks, "range").coordinates()[:, 0] == pytest.approx((values - values.min()) / spread)
    assert made(ranks, "none").coordinates()[:, 0] == pytest.approx(values)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8).filter(any))
def test_ranks_are_scaled_from_their_counts_as_if_all_were_there(counts):
    ranks = np.repeat(np.arange(len(counts), dtype=float), counts)
    assert moments_of(np.array(counts)) == pytest.approx((ranks.mean(), ranks.std()), rel=1e-14, abs=1e-14)
    assert quartiles_of(np.array(counts)).tolist() == np.quantile(ranks, [0, 0.25, 0.5, 0.75, 1]).tolist()


def test_a_scale_takes_no_memory_for_the_records():
    kept = OrdinalKept("x", 1.0, levels=("a", "b", "c"), counts=(10**15, 10**15, 2 * 10**15))
    for scaling, expected in {"zscore": (1.25, 0.6875**0.5), "range": (0, 2), "robust": (1.5, 1.25)}.items():
        made = kept.scaled(scaling, None, True)
        assert (made.centre, made.spread) == pytest.approx(expected)
    kept = OrdinalKept("x", 1.0, levels=("a", "b"), counts=(10**15, 1))
    with pytest.raises(ShoalError, match="'x' has one value in its middle half"):
        kept.scaled("robust", None, True)


@given(RANKS)
def test_the_common_value_is_the_lower_median_which_a_record_of_the_group_has(ranks):
    groups = halves(len(ranks))
    common = made(ranks).common_values(*parts_of(groups), "mean", False, None)
    assert common.text() == [ORDER[naive.lower_median([ranks[i] for i in group])] for group in groups]
    for text, group in zip(common.text(), groups, strict=True):
        assert text in {ORDER[ranks[i]] for i in group}
    modes = made(ranks).common_values(*parts_of(groups), "mode", False, None).text()
    own = [[ranks[i] for i in group] for group in groups]
    assert modes == [ORDER[min(set(group), key=lambda rank: (-group.count(rank), rank))] for group in own]


@given(RANKS, st.sampled_from(["mean", "set", "share", "interval"]))
def test_the_loss_is_that_of_the_ranks_or_of_a_random_member(ranks, aggregate):
    groups = halves(len(ranks))
    attribute = made(ranks)
    common = attribute.common_values(*parts_of(groups), aggregate, False, None)
    own = [[ranks[i] for i in group] for group in groups]
    of = {
        "mean": lambda group: {naive.lower_median(group): 1},
        "interval": lambda group: {(min(group) + max(group)) / 2: 1},
        "set": naive.set_of,
        "share": naive.shares_of,
    }[aggregate]
    lost, overall = naive.ordinal_loss(ranks, groups, [of(group) for group in own])
    scale = np.var(ranks)
    found = attribute.squared_errors(common, labels_of(groups))
    assert found == pytest.approx((float(lost) / scale, overall / scale), rel=1e-9, abs=1e-9)
    assert attribute.kept.sst == pytest.approx(overall / scale)


def test_intervals_sets_and_shares_are_text_in_the_order():
    attribute, parts = made([2, 0, 2, 1]), parts_of([[0, 1, 2, 3]])
    texts = {
        each: attribute.common_values(*parts, each, False, None).text() for each in ("interval", "set", "share")
    }
    assert texts == {
        "interval": ["none to severe"],
        "set": ["none or mild or severe"],
        "share": ["none 25 %, mild 25 %, severe 50 %"],
    }
    with pytest.raises(ShoalError, match="'x' is ordinal, which has no ancestor; choose one of median, mode"):
        attribute.common_values(*parts, "ancestor", False, None)


def test_a_table_has_intervals_of_numbers_and_of_ordinals():
    table = pd.DataFrame({"age": [31, 35, 62, 64], "pain": ["low", "medium", "medium", "high"]})
    release = shoal.anonymize(table, 2, ["age", "pain"], aggregate="interval", method="mdav")
    assert release.table["age"].tolist() == ["31-35", "31-35", "62-64", "62-64"]
    assert release.table["pain"].tolist() == ["low to medium"] * 2 + ["medium to high"] * 2


def test_one_category_is_constant_and_loses_nothing():
    attribute = made([1, 1, 1])
    assert attribute.is_constant
    assert attribute.squared_errors(
        attribute.common_values(*parts_of([[0, 1, 2]]), "mean", False, None), np.zeros(3, int)
    ) == (0, 0)


def test_ordered_columns_of_pandas_bring_their_order():
    values = pd.Categorical(["b", "a", "c", "a"], categories=["c", "b", "a"], ordered=True)
    column = held_column(pd.Series(values))
    assert kind_of(column) is KINDS["ordinal"]
    release = shoal.anonymize(pd.DataFrame({"x": values}), 4, "x")
    assert release.manifest["attributes"]["x"] == {"kind": "ordinal", "order": ["c", "b", "a"]}
    assert release.table["x"].tolist() == ["b"] * 4
    assert release.table["x"].dtype == values.dtype


def test_categories_without_an_order_are_not_ordinal():
    assert kind_of(held_column(pd.Series(["b", "a", "c"], dtype="category"))) is KINDS["nominal"]
    assert kind_of(text_column(["low", "medium", "high"])) is KINDS["ordinal"]
    assert kind_of(held_column(["18-24", "25-34", "35+"])) is KINDS["ordinal"]
    assert kind_of(text_column(["low", "high"])) is KINDS["nominal"]
    assert kind_of(held_column([1, 2, 3])) is KINDS["numeric"]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["low", "high"], ["low", "high"]),
        (["10", "9", "1"], ["1", "9", "10"]),
        (["high", "low", "medium"], ["low", "medium", "high"]),
    ],
)
def test_an_order_that_is_known_need_not_be_given_where_the_kind_is(values, order):
    assert made_of(values, kind="ordinal").said() == {"order": order}
    assert made_of(values, from_file=False, kind="ordinal").said() == {"order": order}


def test_whole_numbers_are_ordinal_where_that_is_asked_for():
    assert made_of([10, 9, 1], from_file=False, kind="ordinal").said() == {"order": [1, 9, 10]}
    assert made_of([10, 9, 1], from_file=False, kind="ordinal", order=("9", "10", "1")).said() == {
        "order": [9, 10, 1]
    }


def test_an_order_that_nobody_knows_must_be_given():
    with pytest.raises(
        ShoalError, match=r"the order .* of column 'x' is not known \('b', 'a'\); give it.*--order x="
    ):
        made_of(["b", "a"], kind="ordinal")


def test_a_value_that_is_not_in_the_order_is_named_with_its_row():
    with pytest.raises(ShoalError, match=r"holds 'awful', which is not in the order none, mild.* \(rows 2, 4\)"):
        made_of(["none", "awful", "mild", "bad"], order=ORDER, kind="ordinal")
    with pytest.raises(ShoalError, match=r"holds 'awful'.* \(row 3\)"):
        made_of(["none", "", "awful", "mild"], order=ORDER, kind="ordinal", gaps="value")


def test_spaces_around_a_value_do_not_matter_for_its_place():
    attribute = made_of([" mild", "none ", "none "], order=ORDER, kind="ordinal")
    assert attribute.said()["order"] == ["none ", " mild", "severe", "fatal"]
    assert attribute.ranks.tolist() == [1, 0, 0]


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize(
    ("values", "order", "said", "ranks"),
    [
        (["low ", "low", "high", "low"], ("low", "high"), ["low", "high"], [0, 0, 1, 0]),
        (["low ", " low", "high"], ("low", "high"), ["low ", "high"], [0, 0, 1]),
        (["medium", "low", "low ", "high"], (), ["low", "medium", "high"], [1, 0, 0, 2]),
        (["10", "1", "1 ", "9"], (), ["1", "9", "10"], [2, 0, 0, 1]),
    ],
)
def test_spellings_that_differ_in_spaces_are_one_category(values, order, said, ranks, from_file):
    attribute = made_of(values, from_file=from_file, order=order, kind="ordinal")
    assert attribute.said() == {"order": said}
    assert attribute.ranks.tolist() == ranks
    assert attribute.kept.counts == tuple(np.bincount(ranks))


def test_parts_are_put_into_one_order():
    gathering = OrdinalGathering("x", Wish())
    stored = [
        gathering.add(text_column(part), 2 * n) for n, part in enumerate([["high", "low"], ["medium", "low"]])
    ]
    gathering.finish()
    kept, settle = gathering.kept(1.0, lambda: iter(stored))
    assert kept.levels == ("low", "medium", "high")
    assert kept.counts == (2, 1, 1)
    assert np.concatenate([settle(part, 0) for part in stored]).tolist() == [2, 0, 1, 0]


def test_a_report_shows_bars_in_the_order():
    attribute = made([0, 3, 1, 1])
    common = attribute.common_values(*parts_of([[0, 1], [2, 3]]), "mean", False, None)
    profile = attribute.profile(common, labels_of([[0, 1], [2, 3]]))
    assert profile.levels == ORDER
    assert (profile.before.tolist(), profile.after.tolist()) == ([0, 3, 1, 1], [0, 0, 1, 1])


def test_what_a_stream_keeps_comes_back_from_json():
    kept = made([0, 3, 1, 1]).kept
    assert kept_from(json.loads(json.dumps(kept.as_dict()))) == kept
