"""Drawn cells against the rule that sends a home to one: whoever wins a place has it in its polygon, and nobody else."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attributes.sphere import RADIUS
from shoal.locations.errors import RefusedError
from shoal.locations.geojson import feature_collection
from shoal.locations.homes import points
from shoal.locations.rings import area, degrees, plane_area, polygons

EARTH = 4 * np.pi * RADIUS**2


@dataclass(frozen=True)
class Cell:
    id: int
    latitude: float
    longitude: float
    cost: float = 0.0
    k: int = 5


def naive_winners(cells, places):
    """The rule, said plainly: the row of the winner, and by how many radians it wins at least."""
    centroids = points(np.array([[cell.latitude, cell.longitude] for cell in cells]))
    at = points(places)
    paid = ((at[:, None] - centroids) ** 2).sum(axis=2) + np.array([cell.cost for cell in cells])
    best = paid.argmin(axis=1)
    apart = np.sqrt(((centroids[best][:, None] - centroids) ** 2).sum(axis=2))
    lead = (paid - paid.min(axis=1)[:, None]) / (2 * np.maximum(apart, 1e-15))
    lead[np.arange(len(best)), best] = np.inf
    same = apart < 1e-12
    lead[same] = np.inf
    chord = np.sqrt(((at - centroids[best]) ** 2).sum(axis=1))
    return best, lead.min(axis=1), 2 * np.arcsin(np.clip(chord / 2, 0, 1))


def in_ring(ring, places):
    """Whether places (latitude, longitude) are in a ring on a flat map."""
    x, y = places[:, 1], places[:, 0]
    found = np.zeros(len(places), bool)
    for (a, b), (c, d) in pairwise(ring):
        straddles = (b > y) != (d > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            found ^= straddles & (x < a + (y - b) / (d - b) * (c - a))
    return found


def polygons_of(geometry):
    if geometry is None:
        return []
    return [geometry["coordinates"]] if geometry["type"] == "Polygon" else geometry["coordinates"]


def covered(geometry, places):
    """Whether places are in a geometry: in an exterior ring and in no hole."""
    found = np.zeros(len(places), bool)
    for exterior, *holes in polygons_of(geometry):
        here = in_ring(exterior, places)
        for hole in holes:
            here &= ~in_ring(hole, places)
        found |= here
    return found


def drawn(cells, **options):
    """The outlines by number, with their properties."""
    features = feature_collection(cells, **options)["features"]
    return {each["properties"]["cell"]: each for each in features if each["id"].startswith("cell-")}


def widths(outline):
    """The extent of an outline in radians, at least."""
    rings = [np.array(ring) for shape in polygons_of(outline["geometry"]) for ring in shape]
    if not rings:
        return 0.0
    at = np.concatenate([points(ring[:, ::-1]) for ring in rings])
    return float(np.sqrt(((at - at[0]) ** 2).sum(axis=1)).max())


def check_rules(outlines):
    """RFC 7946: closed rings, exteriors counterclockwise, holes clockwise, within the bounds, none over the date line."""
    for outline in outlines.values():
        for shape in polygons_of(outline["geometry"]):
            for number, ring in enumerate(shape):
                assert len(ring) >= 4
                assert ring[0] == ring[-1]
                assert ring[0] is not ring[-1]
                x, y = np.array(ring).T
                assert (np.abs(x) <= 180).all()
                assert (np.abs(y) <= 90).all()
                turn = (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2
                assert (turn > 0) == (number == 0)
                assert all(here != there for here, there in pairwise(ring))


def check_agreement(cells, places):
    """Every place is in the polygon of its winner as far as this reaches, and in no other; returns the share drawn."""
    outlines = drawn(cells)
    check_rules(outlines)
    best, lead, far = naive_winners(cells, places)
    inside = np.array([covered(outlines[cell.id]["geometry"], places) for cell in cells])
    reach = np.array([outlines[cell.id]["properties"]["reach_km"] for cell in cells]) / RADIUS
    tolerance = 3e-4 * np.array([widths(outlines[cell.id]) for cell in cells]).max() + 1e-7
    clear = (lead > tolerance) & (np.abs(far - reach[best]) > tolerance)
    expected = (np.arange(len(cells))[:, None] == best) & (far < reach[best])
    wrong = np.argwhere(((inside != expected) & clear).T)
    assert wrong.tolist() == [], [(places[row], cells[cell]) for row, cell in wrong[:3]]
    return float((inside.any(axis=0) & clear).sum() / max(1, clear.sum()))


def around(rng, count, latitude, longitude, wide):
    """Random places around one, on the sphere, so many degrees away at most."""
    distance, bearing = np.deg2rad(wide) * np.sqrt(rng.random(count)), rng.uniform(0, 2 * np.pi, count)
    low = np.deg2rad(latitude)
    up = np.arcsin(
        np.clip(np.sin(low) * np.cos(distance) + np.cos(low) * np.sin(distance) * np.cos(bearing), -1, 1)
    )
    turn = np.arctan2(
        np.sin(bearing) * np.sin(distance) * np.cos(low), np.cos(distance) - np.sin(low) * np.sin(up)
    )
    return np.column_stack([np.rad2deg(up), (longitude + np.rad2deg(turn) + 180) % 360 - 180])


def cells_at(rng, places, share=0.3):
    """Cells with costs that shift their borders, and a few past their centroids."""
    places = np.where(places == -180, 180, places)  # as the service writes it: equal places are equal numbers
    at = points(places)
    apart = ((at[:, None] - at) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.where(np.isfinite(apart.min(axis=1)), apart.min(axis=1), 0)
    costs = share * rng.normal(size=len(at)) * near
    return [
        Cell(i + 1, float(a), float(o), float(c)) for i, ((a, o), c) in enumerate(zip(places, costs, strict=True))
    ]


MIDDLES = {
    "a city": (51.5, -0.1, 0.2), "the equator": (0.0, 10.0, 3.0), "the date line": (-17.0, 179.9, 2.0),
    "the date line far north": (71.0, -179.0, 20.0), "the north pole": (89.9, 30.0, 4.0),
    "the south pole": (-90.0, 0.0, 25.0), "a house": (48.2, 16.37, 0.002),
}  # fmt: skip


@pytest.mark.parametrize("where", MIDDLES)
@pytest.mark.parametrize("count", [2, 3, 12, 60])
def test_a_place_is_in_the_polygon_of_its_winner_alone(where, count):
    latitude, longitude, wide = MIDDLES[where]
    rng = np.random.default_rng(count)
    cells = cells_at(rng, around(rng, count, latitude, longitude, wide))
    check_agreement(cells, around(rng, 2000, latitude, longitude, 1.5 * wide))


def test_cells_over_the_whole_earth_agree_with_the_rule():
    rng = np.random.default_rng(3)
    cells = cells_at(rng, around(rng, 150, 0, 0, 179))
    share = check_agreement(cells, around(rng, 4000, 90, 0, 180))
    assert share > 0.97


def test_cells_between_others_cover_everything_once():
    rng = np.random.default_rng(8)
    cells = cells_at(rng, around(rng, 400, 47, 179.9, 3))
    assert check_agreement(cells, around(rng, 3000, 47, 179.9, 2.5)) == 1.0


def test_the_areas_of_cells_over_the_whole_earth_are_that_of_the_earth():
    rng = np.random.default_rng(4)
    up = np.rad2deg(np.arcsin(rng.uniform(-1, 1, 500)))
    cells = cells_at(rng, np.column_stack([up, rng.uniform(-180, 180, 500)]), 0.1)
    outlines = drawn(cells)
    assert not any(each["properties"]["open"] for each in outlines.values())
    total = sum(each["properties"]["area_km2"] for each in outlines.values())
    assert total == pytest.approx(EARTH, rel=1e-3)


@pytest.mark.parametrize("far", [1.0, 30.0])
@pytest.mark.parametrize(("latitude", "longitude"), [(45.0, 7.0), (90.0, 0.0), (-89.99, 120.0), (3.0, 180.0)])
def test_the_area_of_a_cell_that_is_limited_on_all_sides_is_that_of_a_cap(latitude, longitude, far):
    rng = np.random.default_rng(1)
    other = around(rng, 1, latitude, longitude, far)[0]
    cells = [Cell(1, latitude, longitude), Cell(2, float(other[0]), float(other[1]), cost=4.0)]
    outlines = drawn(cells)
    assert outlines[2]["geometry"] is None
    one = outlines[1]["properties"]
    assert one["open"]
    assert one["area_km2"] == pytest.approx(
        2 * np.pi * (1 - np.cos(one["reach_km"] / RADIUS)) * RADIUS**2, rel=2e-3
    )


def test_a_cell_that_is_all_alone_is_a_circle_of_fifty_kilometres():
    (one,) = drawn([Cell(7, 52.0, 13.0, 0.5)]).values()
    assert one["properties"] == {
        "cell": 7, "k": 5, "size": "5 or more", "area_km2": one["properties"]["area_km2"], "reach_km": 50.0, "open": True,
    }  # fmt: skip
    assert one["properties"]["area_km2"] == pytest.approx(np.pi * 50**2, rel=2e-3)
    check_agreement([Cell(7, 52.0, 13.0, 0.5)], around(np.random.default_rng(0), 1000, 52, 13, 1))


def test_of_two_cells_each_has_its_side_of_the_middle():
    cells = [Cell(1, 10.0, 179.5), Cell(2, 10.0, -179.5)]
    outlines = drawn(cells)
    check_rules(outlines)
    for number, side in ((1, 1), (2, -1)):
        shapes = polygons_of(outlines[number]["geometry"])
        assert len(shapes) == 1  # the border lies on the antimeridian: nothing is left on the other side
        assert (side * np.array(shapes[0][0])[:, 0] > 0).all()
    check_agreement(cells, around(np.random.default_rng(0), 1000, 10, 180, 3))


def test_equal_centroids_leave_the_cell_to_the_cheaper_or_the_older_one():
    cells = [Cell(9, 40, 20), Cell(4, 40, 20), Cell(6, 41, 20), Cell(5, 41, 20, 1e-5), Cell(8, 40.5, 21)]
    outlines = drawn(cells)
    assert {number for number, each in outlines.items() if each["geometry"] is None} == {5, 9}
    ordered = sorted(cells, key=lambda cell: cell.id)
    check_agreement(ordered, around(np.random.default_rng(2), 1000, 40.5, 20.3, 2))
    assert all(each["geometry"] is None for each in list(drawn([Cell(i, 1, 1) for i in range(4)]).values())[1:])


def test_a_pole_is_one_place_whatever_its_longitude_is():
    outlines = drawn([Cell(1, 90, 0), Cell(2, 90, 120), Cell(3, 80, 10)])
    assert [outlines[number]["geometry"] is None for number in (1, 2, 3)] == [False, True, False]
    check_rules(outlines)
    assert max(y for _, y in polygons_of(outlines[1]["geometry"])[0][0]) == 90


@pytest.mark.parametrize("count", [3, 4, 5, 8])
@pytest.mark.parametrize("turned", [0.0, 37.0, 90.0, 180.0])
@pytest.mark.parametrize("side", [1, -1])
def test_cells_that_meet_at_a_pole_share_it_out(count, turned, side):
    ways = [(turned + 360 * each / count + 180) % 360 - 180 for each in range(count)]
    cells = [Cell(number, side * 80.0, way) for number, way in enumerate(ways)]
    places = around(np.random.default_rng(count), 1500, side * 90, 0, 12)
    assert check_agreement(cells, places) == 1.0


def test_no_corner_is_on_the_antimeridian():
    longitudes = degrees(points(np.array([[1.0, 179.0], [2.0, 180.0], [3.0, -180.0], [4.0, 179.0]])))[:, 0]
    assert longitudes == pytest.approx([179, -180, -180, 179])
    assert (longitudes > -180).all()


def test_a_ring_through_a_pole_gets_a_piece_of_its_edge_of_the_map():
    east, west = [89.0, 10.0], [89.0, -20.0]  # with the pole on the way from east to west: the inside is between
    ring = degrees(points(np.array([east, [90.0, 77.0], west])))
    assert ring == pytest.approx(np.array([[10, 89], [10, 90], [-20, 90], [-20, 89]]))
    ring = degrees(points(np.array([west, [90.0, 77.0], east])))  # the other way round: all but what is between
    assert ring == pytest.approx(
        np.array([[-20, 89], [-20, 90], [-102.5, 90], [175, 90], [92.5, 90], [10, 90], [10, 89]])
    )


@pytest.mark.parametrize("seed", [1979, 2408])
def test_a_cell_that_wins_everything_leaves_nothing_to_the_others(seed):
    rng = np.random.default_rng(seed)
    count, wide = int(rng.integers(2, 25)), float(rng.choice([1, 20, 179]))
    places = around(rng, count, float(rng.choice([0, 50, 89])), 0, wide)
    cells = cells_at(rng, places, float(rng.choice([0.1, 1, 4, 20])))
    check_agreement(cells, around(rng, 4000, *places.mean(axis=0), 1.5 * wide))


def test_centroids_on_a_grid_have_square_cells():
    cells = [Cell(10 * i + j, i / 10, j / 10) for i in range(-4, 5) for j in range(-4, 5)]
    outlines = drawn(cells)
    check_rules(outlines)
    for cell in cells:
        if abs(cell.latitude) < 0.35 and abs(cell.longitude) < 0.35:
            (ring,) = polygons_of(outlines[cell.id]["geometry"])[0]
            x, y = np.array(ring).T
            assert [x.min(), x.max()] == pytest.approx([cell.longitude - 0.05, cell.longitude + 0.05], abs=1e-5)
            assert [y.min(), y.max()] == pytest.approx([cell.latitude - 0.05, cell.latitude + 0.05], abs=1e-5)
            assert not outlines[cell.id]["properties"]["open"]


def ring_at(latitude, east, steps=24):
    """A ring along a parallel, eastward or westward."""
    way = np.arange(steps) * 360 / steps - 180 + 1e-3
    return np.column_stack([way if east else way[::-1], np.full(steps, latitude)])


def test_a_belt_between_two_parallels_is_cut_at_the_antimeridian():
    north, south = ring_at(70.0, east=False), ring_at(40.0, east=True)  # the inside is on the left
    shapes = polygons([north, south])
    assert len(shapes) == 1
    places = np.array([[55.0, 0.0], [55.0, 179.9], [55.0, -179.9], [80.0, 10.0], [20.0, 10.0], [90.0, 0.0]])
    closed = [[[*ring, ring[0]] for ring in shape] for shape in shapes]
    assert covered({"type": "MultiPolygon", "coordinates": closed}, places).tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize("latitude", [-60.0, 0.0, 35.0])
def test_the_area_on_the_left_of_a_parallel_is_that_of_its_pole(latitude):
    north = 2 * np.pi * (1 - np.sin(np.deg2rad(latitude)))
    assert area(ring_at(latitude, east=True)) == pytest.approx(north)
    assert area(ring_at(latitude, east=False)) == pytest.approx(4 * np.pi - north)


def test_a_hole_belongs_to_the_ring_around_it():
    square = np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]])
    hole, far = square[::-1] / 3 + 3, square / 3 + [20, 0]
    shapes = polygons([far, hole, square])
    assert sorted(len(shape) for shape in shapes) == [1, 2]
    whole = next(shape for shape in shapes if len(shape) == 2)
    assert whole[0] == [tuple(each) for each in square.tolist()]
    assert plane_area(whole[1]) == -9
    assert [len(shape) for shape in polygons([hole])] == [2]  # all the earth but the hole


def test_every_centroid_is_a_point_with_the_properties_of_its_cell_and_sizes_stay_unknown():
    cells = [Cell(3, 50.123, 8.5, 1e-9, k=20), Cell(1, 50.0, 8.25)]
    features = feature_collection(cells)["features"]
    assert [each["id"] for each in features] == ["cell-1", "centroid-1", "cell-3", "centroid-3"]
    assert [each["geometry"] for each in features[1::2]] == [
        {"type": "Point", "coordinates": [8.25, 50.0]}, {"type": "Point", "coordinates": [8.5, 50.123]},
    ]  # fmt: skip
    assert [each["properties"] for each in features[1::2]] == [
        {"cell": 1, "k": 5, "size": "5 or more"}, {"cell": 3, "k": 20, "size": "20 or more"},
    ]  # fmt: skip
    assert {name for each in features for name in each["properties"]} == {
        "cell", "k", "size", "area_km2", "reach_km", "open",
    }  # fmt: skip


def test_classes_are_drawn_apart():
    cells = [Cell(1, 50.0, 8.0), Cell(2, 50.0, 8.4), Cell(3, 50.0, 8.1, k=20)]
    together = drawn(cells)
    assert together[3] == drawn([cells[2]])[3]
    assert together[1] == drawn(cells[:2])[1]


def test_no_cells_are_an_empty_collection():
    assert feature_collection([]) == {"type": "FeatureCollection", "features": []}


def test_a_box_gives_the_same_outlines_of_what_it_shows():
    rng = np.random.default_rng(5)
    cells = cells_at(rng, around(rng, 500, -17, 179.8, 2))
    whole = drawn(cells)
    for box in [(179.5, -17.5, -179.9, -16.8), (-180, -90, 180, 90), (179.0, -17.2, 179.6, -17.0)]:
        west, south, east, north = box
        part = drawn(cells, box=box)
        assert all(each == whole[number] for number, each in part.items())
        wide = (east - west) % 360 or 360
        places = np.column_stack(
            [rng.uniform(south, north, 500), (west + wide * rng.random(500) + 180) % 360 - 180]
        )
        best, lead, _ = naive_winners(cells, places)
        assert {cells[row].id for row in best[lead > 0.0005]} <= set(part)
        if wide < 360:
            assert len(part) < 120


@pytest.mark.parametrize("box", [(1, 2, 3), (0, 5, 1, 4), (0, 0, 181, 1), (0, 0, float("nan"), 1), (0, -91, 1, 1)])
def test_an_impossible_box_is_refused(box):
    with pytest.raises(RefusedError, match="box"):
        feature_collection([Cell(1, 0, 0)], box)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 14), latitude=st.sampled_from([0.0, 50.0, 89.0, -90.0]),
    longitude=st.sampled_from([0.0, 180.0, -90.0]), wide=st.sampled_from([0.01, 1.0, 20.0, 179.0]),
    digits=st.sampled_from([0, 1, 3, 6]), share=st.sampled_from([0.0, 0.1, 1.0, 4.0]),
)  # fmt: skip
def test_any_cells_agree_with_the_rule(seed, count, latitude, longitude, wide, digits, share):
    rng = np.random.default_rng(seed)
    places = around(rng, count, latitude, longitude, wide).round(digits)
    cells = cells_at(rng, places, share)
    check_agreement(cells, around(rng, 400, latitude, longitude, min(180, 1.5 * wide + 0.01)))
