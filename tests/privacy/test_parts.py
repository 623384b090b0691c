import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.privacy import parts
from shoal.privacy.checking import check, checked_models
from shoal.privacy.coding import coding_for, column_of
from shoal.privacy.information import Telling, information
from shoal.privacy.models import AlphaK, LDiversity, TCloseness
from shoal.privacy.rules import Rules

NUMBERS = ["1", "1.0", " 1", "2,5", "2.5", "-3", "1e2", "10", "", "NA", "n/a"]
DAYS = ["2001-02-03", "2001-02-13", " 2001-02-03", "1999-12-31", "", "NA"]
WORDS = ["flu", "gout", " flu", "none", "a-b", "", "n/a", "Flu"]
LEVELS = ["low", "medium", "high", " low", ""]
TRUTH = ["true", "false", "TRUE", ""]


@st.composite
def columns(draw):
    """A column of any type, and how it is cut into parts."""
    some = st.sampled_from
    day, hour = datetime.date(2001, 2, 3), datetime.datetime(2001, 2, 3, 4)
    cells, kind = draw(
        some(
            [
                (some(NUMBERS), pa.string()),
                (some(DAYS), pa.string()),
                (some(WORDS), pa.string()),
                (some(LEVELS), pa.large_string()),
                (some(TRUTH), pa.string()),
                (some([*WORDS, *NUMBERS]), pa.string()),
                (st.integers(-3, 3), pa.int64()),
                (some([0.0, -0.0, 0.1, 1 / 3, 1e300, float("nan")]), pa.float64()),
                (some([0.5, 0.25]), pa.float32()),
                (st.booleans(), pa.bool_()),
                (some([day, day.replace(year=1950)]), pa.date32()),
                (some([hour, hour.replace(second=7)]), pa.timestamp("us")),
                (some([datetime.timedelta(1), datetime.timedelta(2)]), pa.duration("s")),
                (some([datetime.time(1), datetime.time(23)]), pa.time64("us")),
                (some(WORDS), pa.dictionary(pa.int8(), pa.string())),
                (some(LEVELS), pa.dictionary(pa.int32(), pa.string(), ordered=True)),
            ]
        )
    )
    gap = st.none() if draw(st.booleans()) else cells
    values = draw(st.lists(st.one_of(cells, gap), min_size=1, max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=6)))
    ends = zip([0, *cuts], [*cuts, len(values)], strict=True)
    pieces = [pa.table({"x": pa.array(values[start:end], kind)}) for start, end in ends if end > start]
    return pa.array(values, kind), pieces


@settings(max_examples=300)
@given(columns(), st.sampled_from([(".", ""), (",", ".")]))
def test_values_that_come_in_parts_are_coded_as_in_memory(tmp_path, case, signs):
    column, pieces = case
    models = [LDiversity(2, on="x"), AlphaK(0.5, on="x")]
    parts.spread(pieces, models, tmp_path / "values", signs)
    whole = outcome(lambda: coding_for(models[0], column_of("x", pa.chunked_array([column]), signs)))
    found = outcome(lambda: parts.Promises.of(models, tmp_path / "values", signs))
    if isinstance(whole, str):
        assert found == whole
        return
    rows = np.arange(len(column))
    rules, expected = found.rules(rows), Rules.of(models, [whole, whole])
    assert [each.values for each in found.codings] == [whole.values] * 2
    assert (found.records, found.gaps(0)) == (len(column), whole.gaps)
    for mine, other in zip(rules.values, expected.values, strict=True):
        for name in ("codes", "part", "having", "harmful", "step"):
            assert getattr(mine, name).tolist() == getattr(other, name).tolist()
    groups = rows % min(3, len(rows))
    assert np.array_equal(rules.judge(groups)[0], expected.judge(groups)[0])


def outcome(function):
    """What a function returns, or the error that it raises."""
    try:
        return function()
    except ShoalError as error:
        return str(error)


@given(st.lists(st.sampled_from([1, 2, 3, None]), min_size=1, max_size=30), st.booleans(), st.randoms())
def test_ranks_are_those_in_the_order_in_which_rows_leave(tmp_path, values, keyed, random):
    if all(value is None for value in values):
        values[0] = 1
    model, key = TCloseness(0.2, "ranks", on="x"), "00" * 16 if keyed else None
    pieces = [
        pa.table({"x": pa.array(values[start : start + 4], pa.int64())}) for start in range(0, len(values), 4)
    ]
    parts.spread(pieces, [model], tmp_path / "values")
    found = parts.Promises.of([model], tmp_path / "values", (".", ""))
    found.rank(key)
    order = np.arange(len(values)) if key is None else parts.order_of(key, np.arange(len(values)))
    leaving = pa.array([values[row] for row in order], pa.int64())
    expected = Rules.of([model], [coding_for(model, column_of("x", pa.chunked_array([leaving])))])
    rows = [row for row in order.tolist() if random.random() < 0.7] or [0]
    places = [order.tolist().index(row) for row in rows]
    assert found.rules(np.array(rows)).values[0].codes.tolist() == expected.values[0].codes[places].tolist()
    assert found.n_values == sum(value is not None for value in values) == len(found.values[0].part)
    assert found.values[0].part.tolist() == expected.values[0].part.tolist()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 9))
def test_groups_in_parts_are_judged_as_in_memory(tmp_path, seed, n, together):
    rng = np.random.default_rng(seed)
    words = [None if rng.random() < 0.1 else f"w{number}" for number in rng.integers(0, 4, n)]
    words[0] = "w0"
    table = pa.table({"q": rng.integers(0, 5, n), "r": ["a"] * n, "word": words, "number": rng.integers(0, 9, n)})
    models = [LDiversity(2, on="word"), TCloseness(0.3, "ranks", on="number"), AlphaK(0.5, on="number")]
    batches = [table.slice(start, together) for start in range(0, n, together)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.privacy.counting.BUCKET", 5)
        found = parts.judged(batches, ["q", "r"], models, n, tmp_path / "values", (".", ""), told=True)
    whole = check(table, ["q", "r"], models)
    assert [each.as_dict() for each in found.checks] == [each.as_dict() for each in whole]
    assert sorted(found.anonymity.sizes) == sorted(whole[0].records)
    assert list(tmp_path.iterdir()) == []
    groups = np.unique(table["q"], return_inverse=True)[1]
    coding = coding_for(models[0], column_of("word", table["word"]))
    assert found.information["word"].nats == pytest.approx(information(groups, coding.codes).nats, abs=1e-12)
    assert [each.value for each in checked_models(models[:1], [coding], groups)] == [whole[0].value]


def test_no_records_are_an_error(tmp_path):
    empty = pa.table({"q": pa.array([], pa.int64()), "x": pa.array([], pa.int64())})
    for batches in ([], [empty]):
        with pytest.raises(ShoalError, match="the table is empty"):
            parts.judged(batches, ["q"], [LDiversity(2, on="x")], 0, tmp_path / "values", (".", ""))


def test_what_groups_tell_by_chance_is_the_same_however_they_come():
    rng = np.random.default_rng(0)
    groups, codes = np.repeat(np.arange(300), 5), rng.integers(-1, 6, 1500)
    whole = information(groups, codes, shuffles=60)
    telling = Telling(np.bincount(codes[codes >= 0]), shuffles=60)
    for start in range(0, 300, 40):
        own = (groups >= start) & (groups < start + 40)
        telling.add(groups[own] - start, codes[own])
    telling.add(np.zeros(3, np.int64), np.full(3, -1))
    found = telling.found()
    assert found.nats == pytest.approx(whole.nats)
    assert found.by_chance == pytest.approx(whole.by_chance, abs=whole.spread)
    assert found.spread == pytest.approx(whole.spread, rel=0.5)


def test_columns_with_many_values_have_no_figure_of_what_groups_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "FEW", 3)
    table = pa.table({"q": [1, 1, 2, 2], "few": [1, 2, 3, 3], "many": [1, 2, 3, 4]})
    models = [LDiversity(1, on="few"), LDiversity(1, on="many")]
    found = parts.judged([table], ["q"], models, 4, tmp_path / "values", (".", ""), told=True)
    assert list(found.information) == ["few"]
