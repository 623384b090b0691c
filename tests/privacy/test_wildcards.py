import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.privacy.wildcards import wildcard_k

ROWS = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", "b", None]), st.sampled_from([True, None])),
    min_size=1,
    max_size=25,
)


def table_of(rows):
    columns = zip(*rows, strict=True)
    kinds = (pa.int64(), pa.string(), pa.bool_())
    return pa.table({name: pa.array(c, kind) for name, c, kind in zip("xyz", columns, kinds, strict=True)})


@given(ROWS)
def test_a_gap_fits_every_value(rows):
    found = wildcard_k(table_of(rows), ["x", "y", "z"]).k
    if all(value is not None for row in rows for value in row):
        assert found is None
    else:
        assert found == min(naive.wildcard_matches(rows))


def test_texts_that_mean_a_gap_are_those_that_usually_do_unless_others_are_named():
    assert wildcard_k(pa.table({"x": ["a", "?", "b", "NA", " "]}), ["x"]).k == 4
    table = pa.table({"x": ["a", "-9", "NA"], "y": ["a", "-9", "NA"]})
    assert wildcard_k(table, ["x"]).k == 2
    assert wildcard_k(table, ["x"], {"x": None, "y": ("a",)}).k == 2
    assert wildcard_k(table, ["x"], {"x": ["?"]}) == (None, None)
    assert wildcard_k(table, ["x"], {"x": ["na"]}) == (None, None)
    assert wildcard_k(table, ["x"], {"x": ["-9.0", "NA"]}).k == 3
    assert wildcard_k(pa.table({"x": ["a", "", "b"]}), ["x"], {"x": ["?"]}).k == 2


def test_too_many_patterns_are_not_counted_and_that_is_told_apart_from_no_gaps(monkeypatch):
    monkeypatch.setattr("shoal.privacy.wildcards.MOST_PATTERNS", 1)
    found = wildcard_k(pa.table({"x": [1, None]}), ["x"])
    assert found == (None, "there are 2 patterns of gaps, more than 1")
    assert wildcard_k(pa.table({"x": [1, 2]}), ["x"]) == (None, None)
