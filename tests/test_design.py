import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.design import Design, read_design, same_rows, whole_multiples
from shoal.errors import ShoalError, ShoalWarning
from shoal.table import Roles, Table


def people(**more):
    """Eight rows of five persons in three households and two regions."""
    rows = {
        "age": [31, 31, 45, 52, 52, 52, 18, 77],
        "who": ["a", "a", "b", "c", "c", "c", "d", "e"],
        "home": [1, 1, 1, 2, 2, 2, 3, 3],
        "region": ["north", "north", "north", "south", "south", "south", "south", "south"],
        "weight": [1.5, 2.5, 1.0, 0.0, 3.0, 4.0, 2.0, 2.0],
    }
    return pd.DataFrame(rows | more)


def design_of(frame=None, k=2, **said):
    frame = people() if frame is None else frame
    return read_design(Table.of(frame, Roles.of("age")), k=k, **said)


def test_persons_are_numbered_in_the_order_of_their_first_rows():
    _, design = design_of(people(who=["b", "b", "a", "c", "c", "c", "d", "e"]), person="who")
    assert design.person.codes.tolist() == [0, 0, 1, 2, 2, 2, 3, 4]
    assert design.person.texts == ["b", "a", "c", "d", "e"]
    assert design.whom == "persons"
    assert design.n_counted(8) == 5


def test_spaces_around_an_identifier_do_not_make_another_person():
    _, design = design_of(people(who=["a", " a", "b", "c", "c ", "c", "d", "e"]), person="who")
    assert design.person.codes.tolist() == [0, 0, 1, 2, 2, 2, 3, 4]


SPACES = ["1", " 1", "1 ", "2", "2", " 2", "3", "4"]
AS_CATEGORIES = {
    "pandas": lambda: people(who=pd.Categorical(SPACES), region=pd.Categorical(SPACES)),
    "polars": lambda: pl.DataFrame(people().to_dict("list")).with_columns(
        pl.Series("who", SPACES).cast(pl.Categorical), pl.Series("region", SPACES).cast(pl.Categorical)
    ),
    "pyarrow": lambda: pa.table(
        people().to_dict("list") | {name: pa.array(SPACES).dictionary_encode() for name in ("who", "region")}
    ),
}


@pytest.mark.parametrize("kind", AS_CATEGORIES)
def test_spaces_do_not_make_another_person_or_stratum_among_categories(kind):
    _, design = design_of(AS_CATEGORIES[kind](), k=1, person="who", within=("region",))
    assert design.person.codes.tolist() == [0, 0, 0, 1, 1, 1, 2, 3]
    assert design.person.texts == ["1", "2", "3", "4"]
    assert design.strata.codes.tolist() == design.person.codes.tolist()
    assert design.strata.names == ["1", "2", "3", "4"]


BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)]


@pytest.mark.parametrize("kind", BYTES, ids=str)
def test_spaces_do_not_make_another_person_or_stratum_among_bytes_that_are_text(kind, tmp_path):
    """Some programs write the texts of a Parquet file without saying that they are text."""
    spaces = [each.ljust(2).encode() for each in SPACES]
    columns = people().to_dict("list") | {name: pa.array(spaces).cast(kind) for name in ("who", "region")}
    _, design = design_of(pa.table(columns), k=1, person="who", within=("region",))
    assert design.person.codes.tolist() == [0, 0, 0, 1, 1, 1, 2, 3]
    assert design.person.texts == design.strata.names == ["1", "2", "3", "4"]
    assert design.strata.codes.tolist() == design.person.codes.tolist()
    target = tmp_path / "visits.parquet"
    pa.parquet.write_table(pa.table({"age": [1, 1, 2, 2], "who": pa.array(spaces[:4]).cast(kind)}), target)
    assert shoal.verify(target, "age", person="who").k == 1


def test_bytes_that_are_no_text_are_persons_too():
    column = pa.array([b"\xff", b"\xff", b"\xfe", b"b", b"b", b" b", b"c", b"d"])
    _, design = design_of(pa.table(people().to_dict("list") | {"who": column}), person="who")
    assert design.person.codes.tolist() == [0, 0, 1, 2, 2, 3, 4, 5]


def test_categories_of_numbers_are_persons_too():
    frame = people(who=pd.Categorical([7, 7, 8, 9, 9, 9, 10, 11]))
    _, design = design_of(frame, person="who")
    assert design.person.texts == ["7", "8", "9", "10", "11"]
    frame["who"] = pd.Categorical([7, None, 8, 9, 9, 9, 10, 11])
    with pytest.raises(ShoalError, match="'who' says whose row it is, and has no value in row 2"):
        design_of(frame, person="who")


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_strata_that_differ_by_spaces_leave_alike(tmp_path):
    frame = people(region=["north", "north ", " north", "south", "south", "south", "south", "south "])
    release = shoal.anonymize(frame, 3, ["age"], ["weight"], ["who", "home"], within="region", method="mdav")
    release.write(tmp_path / "safe.csv")
    assert release.table["region"].tolist() == ["north"] * 3 + ["south"] * 5


def test_what_k_counts():
    assert design_of()[1].whom == "records"
    _, design = design_of(household="home")
    assert (design.whom, design.n_counted(8), design.least_units, design.unit_persons) == (
        "households",
        3,
        1,
        None,
    )
    _, design = design_of(household="home", household_k="persons", person="who")
    assert (design.whom, design.n_counted(8), design.least_units) == ("persons", 5, 2)
    assert design.unit_persons.tolist() == [2, 1, 2]
    _, design = design_of(household="home", household_k="persons")
    assert (design.whom, design.n_counted(8)) == ("persons", 8)
    assert design.unit_persons.tolist() == [3, 3, 2]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"who": ["a", None, "b", "c", "c", "c", "d", "e"]},
            "'who' says whose row it is, and has no value in row 2",
        ),
        (
            {"weight": [1, 2, 3, 4, -1, 6, 7, 8]},
            "'weight' is the sampling weight, and holds a negative number in row 5",
        ),
        ({"weight": [1, 2, None, 4, 5, 6, 7, 8]}, "'weight' is the sampling weight, and holds no value in row 3"),
        (
            {"weight": [1, 2, np.inf, 4, 5, 6, 7, 8]},
            "'weight' is the sampling weight, and holds infinity in row 3",
        ),
        ({"weight": ["x"] * 8}, "'weight'"),
        (
            {"weight": [1, 1e101, 3, 4, 5, 6, 7, 1e-101]},
            r"'weight' .* too large or too small to count with in 2 rows \(2, 8\); divide all weights by one number",
        ),
        ({"weight": [0] * 8}, "it is 0 in every record"),
        ({"region": ["n", None] * 4}, "'region' is a stratum, and 4 rows .* lack a value"),
        (
            {"home": [1, 1, 1, 2, 2, 2, 1, 1]},
            "1 household is in two strata by column 'region': '1'; the rows of one household must agree",
        ),
        ({"who": ["a", "a", "c", "c", "c", "c", "d", "e"]}, "1 person is in two households by column 'home': 'c'"),
    ],
)
def test_bad_input_is_an_error_that_names_the_column_and_the_rows(said, message):
    demands = {"person": "who", "household": "home", "within": ("region",), "sampling_weight": "weight"}
    with pytest.raises(ShoalError, match=message):
        design_of(people(**said), k=1, **demands)


@pytest.mark.parametrize(
    ("k", "said", "message"),
    [
        (6, {"person": "who"}, r"k=6 is more than there are persons \(5\); choose k <= 5"),
        (4, {"household": "home"}, r"k=4 is more than there are households \(3\)"),
        (9, {}, r"k=9 is more than there are records \(8\)"),
        (6, {"person": "who", "within": ("region",)}, r"k=6 is more than there are persons \(5\)"),
    ],
)
def test_k_above_what_it_counts_is_refused(k, said, message):
    with pytest.raises(ShoalError, match=message):
        design_of(k=k, **said)


def test_one_household_alone_cannot_be_hidden():
    with pytest.raises(ShoalError, match="all rows are of one household in 'home', and a group needs two"):
        design_of(people(home=[7] * 8), household="home", household_k="persons")


def regions(sizes):
    return [f"region {number}" for number, size in enumerate(sizes) for _ in range(size)]


def test_small_strata_are_listed_with_the_choices():
    sizes = [9] * 47 + [1, 2, 4]
    frame = pd.DataFrame({"age": range(sum(sizes)), "region": regions(sizes)})
    with pytest.raises(ShoalError) as caught:
        design_of(frame, k=5, within=("region",))
    said = str(caught.value)
    assert "3 strata of 'region' have fewer than k=5 records" in said
    for number, size in ((47, 1), (48, 2), (49, 4)):
        assert f"'region {number}' ({size})" in said
    assert "region 46" not in said
    assert "--merge-strata 'region 47=NEIGHBOUR'" in said
    assert "--small-strata drop" in said
    assert "a smaller k for some strata only is refused" in said
    table, design = design_of(frame, k=5, within=("region",), small_strata="drop")
    assert len(table) == 9 * 47
    assert (len(design.strata.names), design.n_dropped) == (47, 7)
    merged = {"region 47": "region 46", "region 48": "region 47", "region 49": "region 46"}
    table, design = design_of(frame, k=5, within=("region",), merge_strata=merged)
    assert len(table) == sum(sizes)
    assert (len(design.strata.names), design.strata.n_merged) == (47, 3)
    assert int((design.strata.codes == design.strata.names.index("region 46")).sum()) == 16


def test_strata_are_counted_in_what_k_counts():
    with pytest.raises(ShoalError, match=r"1 stratum of 'region' has fewer than k=3 persons: 'north' \(2\)"):
        design_of(k=3, person="who", within=("region",))
    with pytest.raises(ShoalError, match=r"fewer than k=2 persons: 'north' \(1 household\)"):
        design_of(k=2, person="who", household="home", household_k="persons", within=("region",))


def test_all_strata_too_small_leaves_nothing():
    with pytest.raises(ShoalError, match="every stratum of 'region' has fewer than k=7 records, so none is left"):
        design_of(k=7, within=("region",), small_strata="drop")


@pytest.mark.parametrize(
    ("merged", "message"),
    [
        ({"east": "north"}, "there is no stratum 'east' to merge in 'region'; there are 'north', 'south'"),
        ({"north": "west"}, "there is no stratum 'west'"),
        ({"north": "south", "south": "north"}, "merged in a circle: north = south = north"),
    ],
)
def test_strata_that_cannot_be_merged(merged, message):
    with pytest.raises(ShoalError, match=message):
        design_of(within=("region",), merge_strata=merged)


def test_rows_that_are_left_out_take_their_persons_along():
    frame = people(region=["north", "north", "isle", "south", "south", "south", "south", "south"])
    table, design = design_of(frame, person="who", within=("region",), small_strata="drop")
    assert len(table) == 5
    assert design.person.texts == ["c", "d", "e"]
    assert design.person.codes.tolist() == [0, 0, 0, 1, 2]


def test_errors_name_rows_of_the_table_that_came():
    frame = people(region=["isle", "south", *["north"] * 3, *["south"] * 3], weight=[1, 2, 3, 4, 5, 6, 7, -8])
    with pytest.raises(ShoalError, match="a negative number in row 8"):
        design_of(frame, within=("region",), small_strata="drop", sampling_weight="weight")


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
def test_weights_as_whole_numbers_keep_their_ratios(values):
    values = [*values, 1.0]
    whole = whole_multiples(np.array(values)).tolist()
    for each, number in zip(values, whole, strict=True):
        assert Fraction(number, whole[-1]) == Fraction(each)


def test_weights_of_a_file_are_exact():
    table = Table.of(
        pa.table({"age": [1, 2, 3], "w": pa.array(["0.1", "0.2", "0.3"]).cast(pa.decimal128(5, 2))}),
        Roles.of("age"),
    )
    _, design = read_design(table, k=1, sampling_weight="w")
    assert design.weights.whole.tolist() == [10, 20, 30]


def test_linked_persons_are_kept_among_those_with_as_many_rows():
    _, design = design_of(people(who=["a", "a", "b", "b", "c", "c", "d", "e"]), person="who")
    assert same_rows(design, "who", 2).tolist() == [1, 1, 1, 1, 1, 1, 0, 0]
    assert same_rows(design, None, 2) is None
    assert same_rows(Design(), None, 2) is None
    with pytest.raises(ShoalError, match=r"fewer than k=3 \(2 with 1 row\); leave out"):
        same_rows(design, "who", 3)


def test_linked_households_are_kept_among_two_with_as_many_rows_also_where_one_has_k_persons():
    """k = 2 persons are in every household, and yet one household with as many rows is alone."""
    frame = people(
        who=list("abcdefgh"), home=[1, 1, 2, 2, 3, 3, 3, 3], region=["north"] * 8, weight=[1.0] * 8
    )  # fmt: skip
    _, design = design_of(frame, person="who", household="home", household_k="persons")
    with pytest.raises(ShoalError, match=r"fewer than k=2 \(4 with 4 rows\)"):
        same_rows(design, "home", 2)
    frame["home"] = [1, 1, 2, 2, 3, 3, 4, 4]
    _, design = design_of(frame, person="who", household="home", household_k="persons")
    assert same_rows(design, "home", 2).tolist() == [0] * 8


OPTIONS = {"method": "mdav"}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"within": "age"}, "column 'age' is a stratum and a quasi-identifier"),
        ({"person": "nobody"}, "nobody"),
        ({"person_rows": "apart"}, "person_rows says nothing without person"),
        ({"pseudonym": "who"}, "name it with person"),
        ({"person": "who", "pseudonym": "who"}, "pseudonyms need a key in a file of yours"),
        ({"also": [(2, ["age"])]}, "k=2 holds on all columns together"),
        ({"also": [(5, ["region"])]}, "'region', which is no quasi-identifier"),
        ({"also": [(9, ["age"])]}, "also asks for k=9 on age, and there are only 8"),
        ({"person": "who", "household": "who"}, "'who' is the household and the person"),
    ],
)
def test_what_does_not_belong_together_is_refused_and_nothing_is_written(tmp_path, said, message):
    source = tmp_path / "in.csv"
    people().to_csv(source, index=False)
    warnings.simplefilter("ignore", ShoalWarning)  # of columns without a role
    with pytest.raises(ShoalError, match=message):
        shoal.anonymize(source, 2, ["age"], ["weight"], **OPTIONS, **said).write(tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_strata_that_nobody_named_are_not_merged():
    frame = pd.DataFrame({
        "age": range(30),
        "a": ["a, b"] * 10 + ["a"] * 10 + ["x"] * 10,
        "b": ["c"] * 10 + ["b, c"] * 10 + ["y"] * 10,
    })  # fmt: skip
    with pytest.raises(
        ShoalError, match="2 strata of 'a' and 'b' are called 'a, b, c', so it is not clear which one"
    ):
        design_of(frame, k=2, within=("a", "b"), merge_strata={"a, b, c": "x, y"})
    with pytest.raises(ShoalError, match="it is not clear which one to merge"):
        design_of(frame, k=2, within=("a", "b"), merge_strata={"x, y": "a, b, c"})
    frame.loc[25:, "b"] = "z"
    _, design = design_of(frame, k=2, within=("a", "b"), merge_strata={"x, y": "x, z"})
    assert np.bincount(design.strata.codes).tolist() == [10, 10, 10]
    assert (design.strata.names, design.strata.n_merged) == (["a, b, c", "a, b, c", "x, z"], 1)


def test_strata_of_numbers_are_merged_by_numbers():
    frame = pd.DataFrame(
        {"age": [31, 45, 18, 77, 52, 33, 29, 64, 58, 21, 40, 36], "r": [1] * 5 + [2] * 5 + [3] * 2}
    )
    release = shoal.anonymize(frame, 3, "age", within="r", merge_strata={3: 1}, method="mdav")
    assert release.table["r"].tolist() == [1] * 5 + [2] * 5 + [1] * 2


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([17, 0, 3]), ["17", "0", "3"]),
        (pa.array(["17", " 0", "3"]), ["17", "0", "3"]),
        (pa.array([17.0, -0.0, 3.0]), ["17", "0", "3"]),
        (pa.array([17.0, 0.0, 2.5], pa.float32()), ["17", "0", "2.5"]),
        (pa.array(["17.00", "0.00", "2.50"]).cast(pa.decimal128(9, 2)), ["17", "0", "2.5"]),
        (pa.array([1e22, 1e300, 0.1]), [str(10**22), str(int(1e300)), "0.1"]),
    ],
)
def test_a_person_is_the_same_whatever_type_the_identifier_has(values, said):
    table = Table.of(pa.table({"age": [1, 2, 3], "who": values}), Roles.of("age"))
    assert read_design(table, k=1, person="who")[1].person.texts == said


def test_a_number_among_objects_is_one_person_in_any_type():
    """Such as in a sheet in which some identifiers are numbers and some are texts."""
    who = [17, 17.0, "17", Decimal("17.00"), 2.5, Decimal("2.50"), np.float32(4), 10**400]
    _, design = design_of(people(who=pd.Series(who, dtype=object)), person="who")
    assert design.person.codes.tolist() == [0, 0, 0, 0, 1, 1, 2, 3]
    assert design.person.texts == ["17", "2.5", "4", str(10**400)]


def test_zero_and_minus_zero_are_one_person():
    _, design = design_of(people(who=[0.0, -0.0, 1, 2, 2, 2, 3, 4]), person="who")
    assert design.person.codes.tolist() == [0, 0, 1, 2, 2, 2, 3, 4]


@pytest.mark.parametrize("values", [[[1], [1], [2], [3]], [{"a": 1}, {"a": 1}, {"a": 2}, {"a": 3}]])
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"person": "who"}, "'who' says whose row it is, and holds values of several parts .*; give a person one"),
        ({"household": "who"}, "'who' says whose row it is, .* give a household one number or one text there"),
        ({"within": ("who",)}, "'who' is a stratum, and holds values of several parts"),
    ],
)
def test_lists_tell_nobody_apart(values, said, message):
    table = Table.of(pa.table({"age": [1, 2, 3, 4], "who": values}), Roles.of("age"))
    with pytest.raises(ShoalError, match=message):
        read_design(table, k=1, **said)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["x"] * 8, "'weight' is the sampling weight, and holds text, not numbers"),
        (pd.to_datetime(["2020-01-01"] * 8), "'weight' is the sampling weight, and holds dates or times"),
        (pd.Categorical(["x"] * 8), "'weight' is the sampling weight, and holds categories"),
        (
            pd.period_range("2020", periods=8, freq="D"),
            r"'weight' is the sampling weight, and is of type period\[D\];",
        ),
    ],
)
def test_a_weight_that_is_no_number_has_a_cure(weights, message):
    with pytest.raises(ShoalError, match=message) as caught:
        design_of(people(weight=weights), sampling_weight="weight")
    assert str(caught.value).endswith("; turn it into numbers of at least 0 first, or name another column")
    assert "kind" not in str(caught.value)


def test_one_row_lacks_a_stratum():
    with pytest.raises(ShoalError, match="'region' is a stratum, and row 5 lacks a value there; fill it in"):
        design_of(people(region=["n", "n", "n", "n", None, "s", "s", "s"]), within=("region",))


def test_a_weight_that_never_leaves_is_not_kept():
    options = {"sampling_weight": "weight", "identifiers": ["weight", "who", "home", "region"], "method": "mdav"}
    for how in ("keep", "round"):
        with pytest.raises(
            ShoalError, match=f"'weight' is an identifier, .* released_weight='{how}' lets it leave"
        ):
            shoal.anonymize(people(), 2, ["age"], released_weight=how, **options)
    assert list(shoal.anonymize(people(), 2, ["age"], released_weight="drop", **options).table) == ["age"]
