import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from samples import earthly
from shoal import MDAV, ShoalError
from shoal.attributes import KINDS, Wish, kept_from, kind_of
from shoal.attributes.place import PlaceGathering, PlaceKept
from shoal.table import Roles, Table

pytestmark = pytest.mark.usefixtures("same_key")

SCALINGS = ["zscore", "range", "robust", "none"]


def column(north, east, names=("lat", "lon"), frame=pd.DataFrame):
    table = frame({names[0]: north, names[1]: east})
    return Table.of(table, Roles.of(list(names))).column(*names)


def column_of_text(text, tmp_path):
    path = tmp_path / "places.csv"
    path.write_text(text)
    return Table.of(path, Roles.of(["lat", "lon"])).column("lat", "lon")


def place(north, east, scaling="zscore", **asked):
    return KINDS["place"].attribute(column(north, east, **asked), scaling, 1.0, Wish(kind="place"))


def in_parts(columns, scaling="zscore", alone=False):
    """What a stream keeps of columns that are the parts of one."""
    gathering, before, parts = PlaceGathering("lat, lon"), 0, []
    for part in columns:
        parts.append(gathering.add(part, before))
        before += len(part)
    gathering.finish()
    kept, settle = gathering.kept(1.0, lambda: iter(parts))
    settled, before = [], 0
    for part in parts:
        settled.append(settle(part, before))
        kept, before = kept.seen(settled[-1]), before + len(part)
    return kept.scaled(scaling, lambda: iter(settled), alone), np.concatenate(settled)


def test_two_columns_that_were_named_as_one_are_a_place():
    assert kind_of(column([1.0, 2.0], [3.0, 4.0])) is KINDS["place"]
    made = place([1.0, 2.0], [3.0, 4.0], names=("breite", "länge"))
    assert (made.name, made.columns) == ("breite, länge", ("breite", "länge"))


@given(earthly(), st.sampled_from(SCALINGS))
def test_distances_are_chords_times_one_number(places, scaling):
    degrees = [(north / 1e7, east / 1e7) for north, east in places]
    made = place(*zip(*degrees, strict=True), scaling)
    points = made.coordinates()
    for i, one in enumerate(degrees[:5]):
        for j, other in enumerate(degrees):
            apart = np.linalg.norm(points[i] - points[j]) * made.spread
            assert apart == pytest.approx(naive.chord(one, other), abs=1e-7)


def test_each_scaling_divides_by_what_it_says():
    rng = np.random.default_rng(1)
    north, east = rng.uniform(-80, 80, 50), rng.uniform(-180, 180, 50)
    assert place(north, east, "zscore").coordinates().var(axis=0).sum() == pytest.approx(1)
    assert np.array_equal(place(north, east, "robust").coordinates(), place(north, east, "zscore").coordinates())
    points = place(north, east, "range").coordinates()
    largest = max(np.linalg.norm(one - other) for one in points for other in points)
    assert 1 / np.sqrt(3) <= largest <= 1
    two = place([0, 0], [0, 10], "none").coordinates()
    assert np.linalg.norm(two[0] - two[1]) == pytest.approx(2 * np.sin(np.pi / 36) * 6.3710088)
    near = place([50, 50.001, 50.002], [8, 8.002, 8.001], "range").coordinates()
    assert 0.5 < np.linalg.norm(near[0] - near[1]) <= 1


@pytest.mark.parametrize("scaling", SCALINGS)
def test_parts_of_a_stream_are_scaled_as_a_column_in_memory(scaling):
    rng = np.random.default_rng(2)
    north, east = rng.uniform(-80, 80, 90).round(4), rng.uniform(0, 360, 90).round(3)
    whole = place(north, east, scaling)
    cuts = [slice(0, 1), slice(1, 40), slice(40, 90)]
    columns = [column(north[part], east[part]) for part in cuts]
    kept, stored = in_parts(columns, scaling, alone=True)
    assert np.array_equal(kept.attribute(stored).coordinates(), whole.coordinates())
    assert kept.form == whole.form
    kept, stored = in_parts(columns, scaling)
    assert np.allclose(kept.attribute(stored).coordinates(), whole.coordinates(), rtol=0, atol=1e-12)
    everywhere = whole.common_values(np.arange(90), np.array([0, 90]), "mean", True, None)
    assert kept.sst == pytest.approx(whole.squared_errors(everywhere, np.zeros(90, int))[1])
    assert kept.sst == pytest.approx(whole.squared_errors(everywhere, np.zeros(90, int))[0], abs=1e-6)


def test_what_is_kept_comes_back_from_json():
    kept, stored = in_parts([column([1.5, 2.25], [200, 10])])
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert again == kept
    assert isinstance(again, PlaceKept)
    assert again.columns == ("lat", "lon")
    assert again.width == again.attribute(stored).coordinates().shape[1] == 3
    assert again.bare().coordinates().shape == (0, 3)


def test_blocks_are_cut_by_latitude():
    kept, stored = in_parts([column([10, -20, 30, 10], [5, 100, -100, 7], frame=pl.DataFrame)])
    assert kept.along(stored).tolist() == [10e7, -20e7, 30e7, 10e7]
    assert np.argsort(stored).tolist() == [1, 0, 3, 2]
    degrees = np.deg2rad(10) / kept.spread  # on a meridian, nearly a chord
    assert kept.stretch * (10e7) ** 2 == pytest.approx(degrees**2)
    assert in_parts([column([1, 1], [2, 2])])[0].stretch == 0


def test_the_common_value_of_all_records_is_the_mean_direction():
    kept, stored = in_parts([column([10, 20, 60], [0, 100, 200])])
    made = kept.attribute(stored)
    common = made.common_values(np.arange(3), np.array([0, 3]), "mean", True, None)
    assert kept.overall(made.coordinates().mean(axis=0)) == pytest.approx(made.placed(common)[0], abs=1e-7)


def test_equal_places_are_constant_also_at_a_pole():
    for north, east in ([5, 5], [7, 7]), ([90, 90], [7, 100]), ([5, 5], [-180, 180]):
        made = place(north, east)
        assert made.is_constant
        common = made.common_values(np.arange(2), np.array([0, 2]), "mean", False, None)
        assert made.squared_errors(common, np.zeros(2, int)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("north", "east", "said"),
    [
        (
            [10.0, 95.0, 91.0],
            [1.0, 2.0, 100.0],
            r"'lat' holds latitudes such as 95 \(rows 2, 3\); a latitude is between -90",
        ),
        ([10.0, -90.5], [1.0, 100.0], r"'lat' holds a latitude of -90.5 \(row 2\)"),
        ([10.0, 20.0], [1.0, 360.5], r"'lon' holds a longitude of 360.5 \(row 2\); a longitude is between -180"),
        ([10.0, 20.0], [-181, 3], r"'lon' holds a longitude of -181 \(row 1\)"),
        (
            [10.0, 120.0],
            [50.0, 51.0],
            r"latitude of 120 \(row 2\); the columns seem to be swapped.*name 'lon' first",
        ),
        ([5.1e6, 5.2e6], [4e5, 3e5], r"'lat' holds latitudes such as 5100000 .*metres of a map"),
        ([5.0, None], [4.0, 3.0], r"'lat' holds missing values \(row 2\)"),
        ([True, False], [4.0, 3.0], r"'lat' holds true and false, which are no degrees"),
        (["a", "b"], [4.0, 3.0], r"column 'lat' holds text"),
    ],
)
def test_what_is_no_place_is_an_error_that_names_column_value_row_and_cure(north, east, said):
    with pytest.raises(ShoalError, match=said):
        place(north, east)


def test_rows_in_later_parts_are_counted_from_the_first_record():
    with pytest.raises(ShoalError, match=r"latitude of 99 \(row 4\)"):
        in_parts([column([1, 2, 3], [4, 5, 6]), column([99, 3], [100, 6])])


def test_one_column_is_no_place():
    single = Table.of(pd.DataFrame({"lat": [1.0]}), Roles.of("lat")).column("lat")
    with pytest.raises(ShoalError, match="column 'lat' is no place: a place has two columns"):
        KINDS["place"].attribute(single, "zscore", 1.0, Wish(kind="place"))


def test_a_place_is_not_imputed():
    kept, stored = in_parts([column([1, 2], [3, 4])])
    with pytest.raises(ShoalError, match="'lat, lon' cannot be imputed"):
        kept.typical(lambda: iter([stored]))


def test_text_is_read_with_the_signs_of_the_file(tmp_path):
    made = KINDS["place"].attribute(
        column_of_text("lat;lon\n51,50;-0,125\n48,20;2,35\n", tmp_path), "zscore", 1.0, Wish()
    )
    assert made.form.decimals == 3
    common = made.common_values(np.arange(2), np.array([0, 1, 2]), "mean", False, 2)
    assert common.of("lat").text(",") == ["51,50", "48,20"]
    assert common.of("lon").text(",") == ["-0,12", "2,35"]


def test_degrees_with_three_decimals_are_not_in_doubt(tmp_path):
    made = KINDS["place"].attribute(
        column_of_text("lat,lon\n51.505,1.125\n48.203,2.352\n", tmp_path), "none", 1.0, Wish()
    )
    assert made.form.decimals == 3


@pytest.mark.parametrize("scaled", ["51.5e0", "51.500000000000000000000"])
def test_decimals_do_not_hang_on_how_a_file_is_cut_into_parts(tmp_path, scaled):
    lines = [f"{scaled},1", "48.20,2", "48.10,2.5"]
    whole = KINDS["place"].attribute(
        column_of_text("lat,lon\n" + "\n".join(lines) + "\n", tmp_path), "none", 1.0, Wish()
    )
    parts = [column_of_text(f"lat,lon\n{line}\n", tmp_path) for line in lines]
    assert in_parts(parts)[0].form == whole.form


@pytest.mark.parametrize("seed", [1, 2])
def test_mdav_groups_places_by_their_true_distances(seed):
    """Around the date line and around a pole, where degrees are no distances."""
    rng = np.random.default_rng(seed)
    line = np.column_stack([rng.normal(0, 15, 1000), (180 + rng.normal(0, 8, 1000) + 180) % 360 - 180])
    pole = np.column_stack([90 - np.abs(rng.normal(0, 6, 1000)), rng.uniform(-180, 180, 1000)])
    places = np.vstack([line, pole])[rng.permutation(2000)].round(5)
    labels = MDAV(k=10).fit(place(*places.T).coordinates()).labels_
    expected = naive.labels_of(naive.mdav_on_sphere([tuple(each) for each in places.tolist()], 10))
    assert np.array_equal(np.unique(labels, return_inverse=True)[1], relabelled(expected, labels))
    widest = max(
        naive.kilometres(places[one], places[other])
        for members in (np.flatnonzero(labels == label) for label in range(labels.max() + 1))
        for one in members
        for other in members
    )
    assert widest < 4000
    east = places[:, 1]
    assert any(np.ptp(east[labels == label]) > 300 for label in range(labels.max() + 1))


def relabelled(labels, like):
    """The same groups with the numbers of others, if they are the same groups."""
    numbers = dict(zip(labels, like, strict=True))
    assert len(set(numbers.values())) == len(numbers)
    return [numbers[label] for label in labels]


def test_records_that_are_0_0_are_warned_of():
    assert "is 0, 0 in 2 records" in place([0, 0, 5], [0, 0, 5]).warning()
    assert place([0, 5], [5, 0]).warning() is None
    kept, stored = in_parts([column([0, 5], [0, 5])])
    assert "is 0, 0 in a record" in kept.warning(lambda: iter([stored]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("north", "east", "kind"),
    [
        (np.array([51.5, 48.25], np.float32), np.array([0.5, 2.25], np.float32), "float32"),
        (np.array([51, 48]), np.array([200, 2]), "int64"),
        ([Decimal("51.50"), Decimal("48.25")], [Decimal("1.125"), Decimal("2.500")], None),
    ],
)
def test_released_columns_have_the_type_of_those_that_came(frame, north, east, kind):
    asked = column(north, east, frame=frame)
    made = KINDS["place"].attribute(asked, "zscore", 1.0, Wish())
    common = made.common_values(np.arange(2), np.array([0, 1, 2]), "mean", False, None)
    for part in asked.parts:
        new = common.column(part.series, np.array([1, 1]), True)
        assert new.name == part.name
        assert new.dtype == part.series.dtype
        if kind:
            assert str(new.to_numpy().dtype) == kind
        else:
            assert [str(round(value, 2)) for value in new.to_list()] == [["48.25", "2.50"][part.name == "lon"]] * 2


def test_a_column_of_whole_degrees_holds_no_decimals_of_the_other():
    asked = column(np.array([51, 48]), np.array([0.125, 2.25]))
    made = KINDS["place"].attribute(asked, "zscore", 1.0, Wish())
    common = made.common_values(np.arange(2), np.array([0, 2]), "mean", False, None)
    assert common.text() == ["50, 1"]
    assert [common.column(part.series, np.array([0, 0]), True).dtype for part in asked.parts] == [
        part.series.dtype for part in asked.parts
    ]


def test_a_file_of_whole_degrees_stays_one_of_whole_degrees(tmp_path):
    asked = column_of_text("lat,lon\n51,200\n49,2\n49,4\n", tmp_path)
    made = KINDS["place"].attribute(asked, "zscore", 1.0, Wish())
    common = made.common_values(np.arange(3), np.array([0, 1, 3]), "mean", False, None)
    assert common.text() == ["51, 200", "49, 3"]
    assert common.native() == [(51, 200), (49, 3)]


@pytest.fixture
def homes():
    """People on both sides of the date line."""
    rng = np.random.default_rng(3)
    east = (180 + rng.normal(0, 3, 200) + 180) % 360 - 180
    return pd.DataFrame(
        {
            "home_lat": rng.normal(-17, 2, 200).round(5),
            "age": rng.integers(20, 90, 200),
            "home_lon": east.round(5),
            "ill": rng.choice(["no", "yes"], 200),
        }
    )


ASKED = {
    "k": 4,
    "quasi_identifiers": ["home_lat", "home_lon", "age"],
    "confidential": "ill",
    "places": [("home_lat", "home_lon")],
    "method": "mdav",
}


def test_places_go_all_the_way_in_memory(homes, tmp_path):
    release = shoal.anonymize(homes, **ASKED)
    assert release.verified_k >= 4
    assert list(release.table.columns) == list(homes.columns)
    assert release.table.dtypes.equals(homes.dtypes)
    for both in zip(
        homes[["home_lat", "home_lon"]].to_numpy(), release.table[["home_lat", "home_lon"]].to_numpy(), strict=True
    ):
        assert naive.kilometres(*both) < 700
    assert [part.name for part in release.loss.attributes] == ["home_lat, home_lon", "age"]
    release.write(tmp_path / "safe.csv", report=tmp_path / "report.html")
    assert "largest distance from original to released place" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_places_go_all_the_way_in_a_stream(homes, tmp_path, suffix):
    source = tmp_path / f"in.{suffix}"
    homes.to_csv(source, index=False) if suffix == "csv" else homes.to_parquet(source, index=False)
    shoal.anonymize(source, **ASKED).write(tmp_path / f"whole.{suffix}")
    shoal.anonymize_file(source, tmp_path / f"one.{suffix}", blocks=1, **ASKED)
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()
    cut = shoal.anonymize_file(source, tmp_path / f"two.{suffix}", blocks=2, **ASKED)
    assert (cut.verified_k, cut.blocks) == (4, 2)


def test_a_place_that_lacks_one_of_its_numbers_is_missing(homes):
    homes.loc[::5, "home_lon"] = np.nan
    homes.loc[0:1, "home_lat"] = np.nan
    release = shoal.anonymize(homes, gaps="pattern", **ASKED)
    assert release.verified_k >= 4
    lacking = release.table[["home_lat", "home_lon"]].isna()
    assert lacking["home_lat"].equals(lacking["home_lon"])
    assert lacking["home_lat"].sum() == 41
    place = release.space.attributes[0]
    profile = place.profile(release.common[place.name], release.labels)
    assert (profile.name, len(profile.notes)) == ("home_lat", 3)
