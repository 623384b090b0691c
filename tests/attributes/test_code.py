import json

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes import KINDS, Wish, kept_from, kind_of
from shoal.attributes.base import in_one_part
from shoal.attributes.code_values import CodeValues
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.taxonomy_files import read_taxonomy
from shoal.errors import ShoalError
from shoal.table import Column
from trees import coded, grouped

CODE = KINDS["code"]
WORLD = read_taxonomy({"World": {"Europe": ["France", "Spain", "Italy"], "Asia": ["Japan", "China"]}})


def column(values, name="country"):
    return Column(name, nw.from_native(pd.Series(values, name=name), series_only=True))


def text_column(values, name="country"):
    table = pa.table({name: pa.chunked_array([values[:2], values[2:]], pa.string())})
    return Column(name, nw.from_native(table, eager_only=True)[name], table[name])


def attribute(values, taxonomy=WORLD, scaling="none", **wish):
    return CODE.attribute(column(values), scaling, 1.0, Wish(taxonomy=taxonomy, **wish))


def gathered(parts, wish=None, scaling="zscore", weight=1.0):
    """What a stream keeps of a column in parts, and the stored nodes."""
    gathering, stored, before = CODE.gathering("country", wish or Wish(taxonomy=WORLD)), [], 0
    for part in parts:
        stored.append(gathering.add(column(part), before))
        before += len(part)
    gathering.finish()
    kept, settle = gathering.kept(weight, lambda: iter(stored))
    nodes = [settle(part, 0) for part in stored]
    return kept.scaled(scaling, lambda: iter(nodes), False), np.concatenate(nodes)


def one_group(n):
    return np.arange(n), np.array([0, n])


def names_of(made, aggregate, order, starts):
    return made.common_values(np.asarray(order), np.asarray(starts), aggregate, False, None).native()


@st.composite
def tables(draw):
    taxonomy, codes = draw(coded())
    return taxonomy, codes, np.array(draw(grouped(len(codes))))


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


def test_codes_are_a_kind_that_must_be_asked_for():
    assert kind_of(column(["France"]), Wish(kind="code", taxonomy=WORLD)) is CODE
    assert kind_of(column(["France"])) is not CODE


def test_codes_without_a_taxonomy_are_an_error_that_tells_how_to_give_one():
    with pytest.raises(
        ShoalError, match="column 'icd' is of the kind 'code', but has no taxonomy; give one by --tax"
    ):
        CODE.gathering("icd", Wish(kind="code"))
    with pytest.raises(ShoalError, match="column 'icd' has a taxonomy and lengths of beginnings"):
        CODE.gathering("icd", Wish(taxonomy=WORLD, prefix=(1,)))
    with pytest.raises(ShoalError, match="whole numbers that rise"):
        CODE.gathering("icd", Wish(prefix=(3, 1)))


def test_the_common_values_of_a_small_table():
    made = attribute(["France", "France", "Spain", "Japan", "France", "Spain", "China", "Japan"])
    order, starts = np.arange(8), np.array([0, 4, 8])
    # In the first group two of four are French, which is not more than half: three are European.
    assert names_of(made, "mean", order, starts) == ["Europe", "World"]
    assert names_of(made, "median", order, starts) == ["Europe", "World"]
    assert names_of(made, "ancestor", order, starts) == ["World", "World"]
    assert names_of(made, "mode", order, starts) == ["France", "France"]
    assert names_of(made, "set", order, starts) == [
        "France or Spain or Japan",
        "France or Spain or Japan or China",
    ]
    assert names_of(made, "share", order, starts) == [
        "France 50 %, Spain 25 %, Japan 25 %",
        "France 25 %, Spain 25 %, Japan 25 %, China 25 %",
    ]


def test_codes_have_no_intervals():
    with pytest.raises(
        ShoalError, match="column 'country' is a code, which has no interval; choose one of mean, "
    ):
        attribute(["France", "Spain"]).common_values(*one_group(2), "interval", False, None)


def test_an_inner_node_may_be_a_code():
    made = attribute(["Europe", "France", "Europe"])
    assert names_of(made, "mean", *one_group(3)) == ["Europe"]
    assert names_of(made, "set", *one_group(3)) == ["Europe or France"]
    assert ((made.coordinates()[0] - made.coordinates()[1]) ** 2).sum() == pytest.approx(1.0)


def test_beginnings_of_codes_are_a_taxonomy():
    codes = ["I10.15", "I10.11", "I10", "I21", "E11"]
    made = CODE.attribute(column(codes), "none", 1.0, Wish(prefix=(1, 3, 5)))
    assert names_of(made, "mean", *one_group(5)) == ["I10"]
    assert names_of(made, "ancestor", np.arange(4), [0, 2, 4]) == ["I10.1", "I"]
    squared = ((made.coordinates() - made.coordinates()[0]) ** 2).sum(axis=1)
    assert squared == pytest.approx([0, 2, 2, 4, 6])  # to E11: four steps up to the root, two down


@pytest.mark.parametrize("scaling", ["zscore", "range", "robust", "none"])
@given(tables())
def test_loss_coordinates_and_sst_are_path_lengths_on_one_scale(scaling, drawn):
    taxonomy, codes, labels = drawn
    made = attribute(codes, taxonomy, scaling)
    number = [taxonomy.nodes.index(code) for code in codes]

    def path(a, b):
        return naive.path_length(taxonomy.parents, taxonomy.lengths, a, b)

    paths = [path(a, b) for a in number for b in number]
    unit = {"range": max(paths), "none": 1.0}.get(scaling, sum(paths) / len(paths) / 2) or 1.0
    points = made.coordinates()
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2).ravel()
    assert squared == pytest.approx(np.array(paths) / unit, rel=1e-9, abs=1e-9)
    if scaling in ("zscore", "robust") and not made.is_constant:
        assert points.var(axis=0).sum() == pytest.approx(1.0)
    for aggregate in ("mean", "ancestor", "mode"):
        common = made.common_values(*cut(labels), aggregate, False, None)
        released = [taxonomy.nodes.index(common.native()[label]) for label in labels]
        lost = sum(path(a, b) for a, b in zip(number, released, strict=True))
        best = min(sum(path(a, b) for a in number) for b in range(len(taxonomy.nodes)))
        assert made.squared_errors(common, labels) == pytest.approx((lost / unit, best / unit), rel=1e-9, abs=1e-9)
        assert made.placed(common).shape == (labels.max() + 1, points.shape[1])
    kept, nodes = gathered([codes], Wish(taxonomy=taxonomy), scaling)
    assert kept.sst == pytest.approx(best / unit, rel=1e-9, abs=1e-9)
    assert kept.attribute(nodes).coordinates() == pytest.approx(points)


@given(tables())
def test_a_mixture_counts_as_a_random_member_by_the_shares_that_are_shown(drawn):
    taxonomy, codes, labels = drawn
    made = attribute(codes, taxonomy)
    for aggregate in ("set", "share"):
        common = made.common_values(*cut(labels), aggregate, False, None)
        total = 0.0
        for group, text in enumerate(common.text()):
            mine = [code for code, label in zip(codes, labels, strict=True) if label == group]
            listed = text.split(" or " if aggregate == "set" else ", ")
            if aggregate == "set":
                shares = {name: 1 / len(listed) for name in listed}
                assert set(shares) == set(mine)
            else:
                shares = {part.split()[0]: int(part.split()[1]) / 100 for part in listed}
                assert sum(shares.values()) == pytest.approx(1)
                assert list(shares.values()) == sorted(shares.values(), reverse=True)
            for code in mine:
                for name, share in shares.items():
                    a, b = taxonomy.nodes.index(code), taxonomy.nodes.index(name)
                    total += share * naive.path_length(taxonomy.parents, taxonomy.lengths, a, b)
        assert made.squared_errors(common, labels)[0] == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_a_mixture_is_placed_at_the_mean_of_its_codes():
    made = attribute(["France", "France", "France", "Japan"])
    places = made.coordinates()
    share = made.common_values(*one_group(4), "share", False, None)
    either = made.common_values(*one_group(4), "set", False, None)
    assert made.placed(share)[0] == pytest.approx(places.mean(axis=0))
    assert made.placed(either)[0] == pytest.approx((places[0] + places[3]) / 2)


def test_one_code_only_is_constant_and_loses_nothing():
    made = attribute(["Japan"] * 3, scaling="zscore")
    assert made.is_constant
    assert made.coordinates().tolist() == [[0.0]] * 3
    common = made.common_values(*one_group(3), "mean", False, None)
    assert common.native() == ["Japan"]
    assert made.squared_errors(common, np.zeros(3, int)) == (0.0, 0.0)
    kept, _ = gathered([["Japan"]])
    assert (kept.is_constant, kept.stretch, kept.width) == (True, 0.0, 1)


def test_a_code_that_the_taxonomy_lacks_is_an_error_with_its_rows_and_the_cure():
    gathering = CODE.gathering("country", Wish(taxonomy=WORLD))
    gathering.add(column(["France", "Japan"]), 0)
    with pytest.raises(
        ShoalError,
        match=r"^quasi-identifier 'country' holds the code 'Frace', which its taxonomy does not have \(rows 4, 5\); "
        r"did you mean 'France'\? add what is missing to the taxonomy, or correct the table$",
    ):
        gathering.add(column(["Spain", "Frace", "Frace"]), 2)
    with pytest.raises(
        ShoalError, match=r"holds 2 codes that its taxonomy does not have, such as 'X9' \(rows 1, 3\)"
    ):
        attribute(["X9", "France", "Y7"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, 1.5], r"holds numbers such as 1.5 \(row 2\); codes are text or whole numbers"),
        ([1.0, float("inf")], r"holds numbers such as inf \(row 2\)"),
        ([True, False], "of type bool holds no codes; turn it into text or whole numbers first"),
        (pd.to_datetime(["2020-01-01"]), "of type timestamp.* holds no codes"),
        (["a", 2.5], r"holds values such as 2.5 \(row 2\); codes are text or whole numbers"),
        (["a", None], r"holds missing values \(row 2\)"),
        (["a", " "], r"holds empty codes \(row 2\)"),
    ],
)
def test_a_column_that_holds_no_codes_is_an_error(values, said):
    with pytest.raises(ShoalError, match=said):
        CODE.attribute(column(values), "zscore", 1.0, Wish(prefix=(1,)))


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([11, 12, 21]),
        pd.Series([11, 12, 21], dtype="UInt8"),
        pd.Series([11.0, 12.0, 21.0]),
        pd.Series(["11", "12 ", " 21"]),
        pd.Series(["11", "12", "21"], dtype="category"),
        pd.Series([11, 12, 21], dtype="category"),
        pd.Series([11, "12", "21"], dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_codes_are_text_or_whole_numbers_of_any_type(values):
    made = CODE.attribute(column(values), "none", 1.0, Wish(prefix=(1,)))
    assert names_of(made, "mode", np.arange(3), np.arange(4)) == ["11", "12", "21"]
    assert names_of(made, "ancestor", [0, 1], [0, 2]) == ["1"]


def test_the_text_of_a_file_is_read_chunk_by_chunk():
    codes = ["01", "02", "01", "11", "02"]
    made = CODE.attribute(text_column(codes), "none", 1.0, Wish(prefix=(1,)))
    assert names_of(made, "mode", np.arange(5), np.arange(6)) == codes


@given(tables(), st.integers(0, 30))
def test_a_stream_keeps_what_a_table_in_memory_has(drawn, place):
    taxonomy, codes, labels = drawn
    wish = Wish(taxonomy=taxonomy)
    parts = [part for part in (codes[:place], codes[place:]) if part]
    kept, nodes = gathered(parts, wish)
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert again == kept
    streamed, whole = (
        again.attribute(nodes),
        in_one_part(CODE.gathering("country", wish), column(codes), "zscore", 1.0),
    )
    assert np.array_equal(streamed.coordinates(), whole.coordinates())
    assert kept.width == whole.coordinates().shape[1]
    for aggregate in ("mean", "ancestor", "mode"):
        common = streamed.common_values(*cut(labels), aggregate, False, None)
        assert common.native() == whole.common_values(*cut(labels), aggregate, False, None).native()
        assert again.values(again.codes(common)).text() == common.text()
        assert streamed.squared_errors(common, labels) == whole.squared_errors(common, labels)


def test_the_beginnings_of_a_stream_are_those_of_all_its_parts():
    kept, nodes = gathered([["b2"], ["a1", "b1"], ["a1"]], Wish(prefix=(1,)))
    assert kept.taxonomy.nodes == ("*", "a1", "b", "b1", "b2")  # a alone is no other place than a1
    assert [kept.taxonomy.nodes[node] for node in nodes] == ["b2", "a1", "b1", "a1"]
    assert kept.counts == (0, 2, 0, 1, 1)


@pytest.mark.parametrize("aggregate", ["set", "share"])
def test_mixtures_cannot_be_streamed(aggregate):
    kept, nodes = gathered([["France", "Spain"]])
    common = kept.attribute(nodes).common_values(*one_group(2), aggregate, False, None)
    with pytest.raises(
        ShoalError, match=f"column 'country' cannot be streamed with the aggregate '{aggregate}'; use"
    ):
        kept.codes(common)


def test_ties_of_the_mode_go_by_the_whole_table_also_in_a_block():
    kept, nodes = gathered([["Spain", "France", "France", "Spain", "Spain"]])
    block = kept.attribute(nodes[:2])
    assert names_of(block, "mode", *one_group(2)) == ["Spain"]
    assert kept.typical(lambda: iter([nodes])) == nodes[0]
    assert kept.taxonomy.nodes[kept.typical(lambda: iter([nodes[:2]]))] == "France"


def test_blocks_are_cut_in_the_order_of_the_taxonomy():
    codes = ["Japan", "France", "Spain", "China", "Italy"]
    kept, nodes = gathered([codes], weight=2.0)
    assert [codes[place] for place in np.argsort(kept.along(nodes))] == [
        "France",
        "Spain",
        "Italy",
        "Japan",
        "China",
    ]
    along, points = kept.along(nodes), kept.attribute(nodes).coordinates()
    assert along.var() * kept.stretch == pytest.approx(2.0 * points.var(axis=0).max())


def test_the_common_value_of_all_records_has_its_place():
    kept, nodes = gathered([["Spain", "France", "Spain", "Japan", "Spain"]])
    assert np.array_equal(kept.overall(np.zeros(kept.width)), kept.attribute(nodes).coordinates()[0])


def test_an_attribute_without_records_can_be_asked():
    kept, _ = gathered([["Spain", "France"]])
    bare = kept.bare()
    assert bare.coordinates().shape == (0, kept.width)
    with pytest.raises(ShoalError, match="column 'country' holds no numbers, so it has no digits"):
        bare.check_digits({"country": 1})


# More codes than coordinates.

MANY = [f"{chapter}{number:02d}" for chapter in "ABCDEF" for number in range(20)]


def test_too_many_codes_are_said_to_be_approximate_and_how_they_become_exact():
    made = CODE.attribute(column(MANY, "icd"), "none", 1.0, Wish(prefix=(1,), coordinates=64))
    assert made.warning() == (
        "column 'icd' has 120 codes, which need 126 coordinates and get 64, so groups are formed by approximate "
        "distances (the loss is exact); coordinates=126 makes them exact, but takes longer"
    )
    assert made.said()["distances"] == "approximate"
    assert made.coordinates().shape == (120, 64)
    exact = CODE.attribute(column(MANY, "icd"), "none", 1.0, Wish(prefix=(1,), coordinates=126))
    assert exact.warning() is None
    assert exact.said() == {"values": 120, "distances": "exact"}


def test_approximate_distances_are_near_and_the_loss_is_exact():
    wish = Wish(prefix=(1,), coordinates=100)
    near, exact = (
        CODE.attribute(column(MANY), "zscore", 1.0, wish) for wish in (wish, Wish(prefix=(1,), coordinates=126))
    )
    order, starts = np.arange(120), np.arange(0, 121, 4)
    labels = np.repeat(np.arange(30), 4)
    common = near.common_values(order, starts, "mean", False, None)
    assert common.native() == exact.common_values(order, starts, "mean", False, None).native()
    assert near.squared_errors(common, labels) == exact.squared_errors(common, labels)
    found, true = (
        ((made.coordinates()[:, None] - made.coordinates()[None]) ** 2).sum(axis=2) for made in (near, exact)
    )
    assert np.abs(found - true)[true > 0].mean() < 0.2 * true.mean()
    assert found[true > true.mean()].mean() > found[(true > 0) & (true < true.mean())].mean()
    kept, nodes = gathered([MANY], wish)
    assert kept.warning(lambda: iter([nodes])) == near.warning()
    assert kept.width == 100
    assert near.placed(common).shape == (30, 100)


# What a report shows.


def test_a_report_shows_codes_and_inner_nodes_in_the_order_of_the_taxonomy():
    made = attribute(["Spain", "France", "Spain", "Japan"])
    labels = np.array([0, 0, 1, 1])
    profile = made.profile(made.common_values(*cut(labels), "mean", False, None), labels)
    assert profile.levels == ("World", "Europe", "France", "Spain", "Japan")
    assert [profile.levels[int(place)] for place in profile.before] == ["Spain", "France", "Spain", "Japan"]
    assert [profile.levels[int(place)] for place in profile.after] == ["Europe", "Europe", "World", "World"]


def test_a_report_shows_the_most_frequent_of_many_codes_and_the_others_together():
    codes = [*MANY, *["B07"] * 9]
    made = CODE.attribute(column(codes), "none", 1.0, Wish(prefix=(1,)))
    labels = np.arange(len(codes))
    profile = made.profile(made.common_values(*cut(labels), "mean", False, None), labels)
    assert len(profile.levels) == 21
    assert "B07" in profile.levels
    assert profile.levels[-1] == "others"
    assert (profile.before == 20).sum() == len(codes) - 19 - 10
    assert np.array_equal(profile.before, profile.after)


def test_a_report_shows_mixtures_by_their_members():
    made = attribute(["France", "France", "France", "Japan", "Spain", "China"])
    labels = np.array([0, 0, 0, 0, 1, 1])
    for aggregate, counts in (("share", [3, 1, 1, 1]), ("set", [2, 1, 2, 1])):
        profile = made.profile(made.common_values(*cut(labels), aggregate, False, None), labels)
        assert profile.levels == ("France", "Spain", "Japan", "China")
        assert np.bincount(profile.after.astype(int)).tolist() == counts


def test_names_of_nodes_come_from_the_taxonomy():
    made = attribute(["France"], Taxonomy(("*", "France"), (-1, 0), (0.0, 2.0)))
    assert isinstance(common := made.common_values(*one_group(1), "mean", False, None), CodeValues)
    assert common.floats().tolist() == common.raw.tolist() == [0.0]
