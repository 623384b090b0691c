import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.files.kinds import TypeFacts, typed_as, typed_column


def facts_of(*parts):
    facts = TypeFacts()
    for part in parts:
        facts.add(pa.chunked_array([part], pa.string()), ".")
    return facts


@settings(max_examples=80)
@given(
    st.lists(
        st.lists(st.sampled_from(["1", "-2", "3.5", "007", "1e5", "1.5e3", "", "x", "9" * 25, "+4"]), min_size=1),
        min_size=1,
        max_size=3,
    )
)
def test_types_are_those_of_the_whole_column(parts):
    facts = facts_of(*parts)
    whole_column = pa.chunked_array([[text for part in parts for text in part]], pa.string())
    assert facts.type == str(typed_column(whole_column, ".").type)


def test_long_whole_numbers_and_decimals_are_numbers_wherever_they_are_divided():
    column = ["9" * 25, "1", "3.5"]
    assert facts_of(column).type == facts_of(column[:1], column[1:]).type == "double"
    assert facts_of(column[:1], column[1:2]).type == "string"


def test_doubt_is_the_same_wherever_codes_and_numbers_are_divided():
    one, two = facts_of(["01", "1.633"]), facts_of(["01"], ["1.633"])
    assert one == two
    assert one.example


def test_text_gets_its_type():
    assert typed_as(pa.chunked_array([["1,5", "1.633,5"]]), "double", ",", ".").to_pylist() == [1.5, 1633.5]
    assert typed_as(pa.chunked_array([["15", "1.633"]]), "int64", ",", ".").to_pylist() == [15, 1633]
    assert typed_as(pa.chunked_array([["x", "1.633"]]), "string", ",", ".").to_pylist() == ["x", "1.633"]
