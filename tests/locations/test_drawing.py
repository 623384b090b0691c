import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from locations import naive_drawing as naive
from shoal.locations.drawing import (
    Demand,
    People,
    cheapest,
    costs_for,
    draw,
    drift,
    kilometres,
    loss,
    redraw_freely,
    redraw_whole,
    regions_of,
)
from shoal.locations.fresh import halved, resized
from shoal.locations.merging import merged
from shoal.locations.people import means, renumbered
from shoal.locations.units import nearest_units


def vectors(latitude, longitude):
    latitude, longitude = np.deg2rad(latitude), np.deg2rad(longitude)
    across = np.cos(latitude)
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])


def city(n, seed, middle=(51.5, -0.1), degrees=0.1):
    rng = np.random.default_rng(seed)
    return vectors(*(centre + degrees * rng.normal(size=n) for centre in middle))


WHERE = {
    "city": lambda rng, n: vectors(51.5 + 0.1 * rng.normal(size=n), 0.1 * rng.normal(size=n)),
    "world": lambda rng, n: vectors(np.rad2deg(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)),
    "grid": lambda rng, n: vectors(rng.integers(0, 3, n) * 1.0, rng.integers(0, 3, n) * 1.0),
    "one point": lambda rng, n: np.repeat(vectors([48.0], [2.0]), n, axis=0),
    "antipodes": lambda rng, n: np.array([[1.0, 0, 0], [-1.0, 0, 0]])[rng.integers(0, 2, n)],
    "pole": lambda rng, n: vectors(90 - rng.uniform(0, 0.1, n), rng.uniform(-180, 180, n)),
    "date line": lambda rng, n: vectors(rng.uniform(-1, 1, n), 180 + rng.uniform(-1, 1, n)),
    "metres": lambda rng, n: vectors(51.5 + 1e-5 * rng.normal(size=n), 1e-5 * rng.normal(size=n)),
}


@st.composite
def crowds(draw, most=60):
    """People of one kind, some principals with many devices, some buildings with many homes; and a demand."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, most))
    homes = WHERE[draw(st.sampled_from(sorted(WHERE)))](rng, n)
    principals = np.arange(n) * 7 - 50
    if draw(st.booleans()):
        principals = rng.integers(0, max(1, n // draw(st.integers(1, 5))), n)
    if draw(st.integers(0, 4)) == 0:
        principals[: n // 2] = 3
    places = np.unique(homes, axis=0, return_inverse=True)[1].reshape(-1)
    if draw(st.integers(0, 4)) == 0:
        places[: n - n // 4] = -1
    k = draw(st.integers(2, 6))
    demand = Demand(k, draw(st.integers(0, 2)), draw(st.integers(1, min(k, 3))))
    return People(homes, principals.astype(np.int64), places.astype(np.int64)), demand


@st.composite
def histories(draw, most=60):
    """People in atoms within cells, some of which have too few by now or are withdrawn; and a demand."""
    people, demand = draw(crowds(most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = len(people.homes)
    near = np.argsort(people.homes @ rng.normal(size=3), kind="stable")
    atoms = np.empty(n, np.int64)
    size = draw(st.integers(1, 3 * demand.k))
    atoms[near] = np.arange(n) // size
    if draw(st.booleans()):
        atoms = rng.integers(0, max(1, n // size), n)
    cells = rng.permutation(1000)[: atoms.max() + 1][atoms // draw(st.integers(1, 3))] + 5
    if draw(st.booleans()):
        cells[rng.permutation(atoms.max() + 1)[atoms] == 0] = -1
    return people, atoms * 3 + 11, cells, demand


def is_a_drawing(people, demand, found):
    n = len(people.homes)
    if not naive.meets(people, range(n), demand):
        assert len(found.members) == len(found.cells) == len(found.centres) == len(found.costs) == 0
        return
    assert np.array_equal(found.members, np.arange(n))
    groups = naive.groups_of(found.cells)
    assert sorted(groups) == list(range(len(found.centres)))
    assert all(naive.meets(people, rows, demand) for rows in groups.values())
    firsts = [groups[cell][0] for cell in sorted(groups)]
    assert firsts == sorted(firsts)
    for cell, rows in groups.items():
        np.testing.assert_allclose(found.centres[cell], naive.mean(people.homes[rows].tolist()), atol=1e-14)
    assert np.isfinite(found.costs).all()
    assert abs(found.costs.sum()) <= 1e-9 * max(1.0, np.abs(found.costs).max())


class TestDraw:
    @given(crowds())
    def test_every_new_cell_meets_the_demand_and_has_everybody(self, crowd):
        people, demand = crowd
        is_a_drawing(people, demand, draw(people, demand))

    @given(crowds())
    def test_the_same_people_give_the_same_cells(self, crowd):
        for a, b in zip(draw(*crowd, seed=4), draw(*crowd, seed=4), strict=True):
            assert np.array_equal(a, b)

    def test_cells_are_as_small_as_the_demand_allows(self):
        people = People(city(600, 0), np.arange(600), np.arange(600))
        sizes = np.bincount(draw(people, Demand(5, 1, 3)).cells)
        assert sizes.min() >= 6
        assert sizes.mean() < 6.5

    def test_cells_lose_less_than_those_of_mdav(self):
        from shoal import MDAV

        for n, k in ((30, 3), (250, 5), (1500, 5)):
            gains = []
            for seed in range(5):
                people = People(city(n, seed), np.arange(n), np.arange(n))
                found = draw(people, Demand(k, 0, 1))
                mdav = MDAV(k=k).fit(people.homes)
                gains.append(1 - loss(people.homes, found.cells, found.centres) * n / mdav.sse_)
            assert np.mean(gains) > 0.07

    def test_no_building_is_a_cell(self):
        homes = np.concatenate([np.repeat(city(1, 1), 40, axis=0), city(30, 2)])
        places = np.r_[np.zeros(40, int), np.arange(1, 31)]
        people = People(homes, np.arange(70), places)
        found = draw(people, Demand(5, 1, 3))
        assert min(len(np.unique(places[found.cells == cell])) for cell in range(len(found.centres))) >= 3

    def test_a_principal_with_many_devices_counts_once(self):
        people = People(city(30, 3), np.r_[np.zeros(25, int), np.arange(1, 6)], np.arange(30))
        found = draw(people, Demand(5, 1, 1))
        assert found.cells.tolist() == [0] * 30
        assert len(draw(people, Demand(6, 1, 1)).members) == 0


class TestMerging:
    @given(crowds(most=25), st.integers(1, 9), st.booleans(), st.integers(0, 2**32))
    def test_the_pair_that_loses_least_is_merged_each_time(self, crowd, count, some_fine, seed):
        people, demand = crowd
        rng = np.random.default_rng(seed)
        labels = np.unique(rng.integers(0, count, len(people.homes)), return_inverse=True)[1]
        fine = rng.random(labels.max() + 1) < (0.3 if some_fine else -1)
        expected = naive.merged(people, labels, demand, set(np.flatnonzero(fine).tolist()))
        assert merged(people, labels, demand, fine).tolist() == expected


class TestRedrawWhole:
    @given(histories())
    def test_atoms_move_whole_or_in_parts_that_may_be_cells(self, history):
        people, atoms, cells, demand = history
        naive.check_redraw(people, atoms, cells, demand, redraw_whole(people, atoms, cells, demand))

    @given(histories())
    def test_the_loss_is_not_above_that_of_present_cells_that_may_stay(self, history):
        people, atoms, cells, demand = history
        assume(naive.meets(people, range(len(cells)), demand._replace(slack=0)))
        cells = np.array(naive.merged(people, renumbered(cells), demand._replace(slack=0)))
        found = redraw_whole(people, atoms, cells, demand)
        after = np.where(found.cells >= 0, found.cells, len(cells) + cells)
        now = naive.total(people.homes, cells)
        assert naive.total(people.homes, after) <= now * (1 + 1e-9) + 1e-20

    @given(histories())
    def test_the_same_input_gives_the_same_redraw(self, history):
        people, atoms, cells, demand = history
        once, again = (redraw_whole(people, atoms, cells, demand, seed=3) for _ in range(2))
        for a, b in zip(once, again, strict=True):
            assert np.array_equal(a, b)

    @given(st.integers(0, 2**32), st.integers(2, 7))
    def test_it_is_near_the_best_of_all_redraws_of_a_few_atoms(self, seed, count):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 5, count)
        atoms = np.repeat(np.arange(count), sizes)
        homes = np.repeat(city(count, seed), sizes, axis=0) + 0.0003 * rng.normal(size=(len(atoms), 3))
        homes /= np.linalg.norm(homes, axis=1, keepdims=True)
        people = People(homes, np.arange(len(atoms)), np.arange(len(atoms)))
        demand = Demand(3, 1, 2)
        cells = rng.integers(0, 1 + count // 2, count)[atoms]
        found = redraw_whole(people, atoms, cells, demand)
        best = naive.least_loss(people, atoms, cells, demand)
        assume(np.isfinite(best))
        after = naive.total(homes, np.where(found.cells >= 0, found.cells, 1000 + cells))
        assert best * (1 - 1e-9) <= after <= 1.6 * best + 1e-15

    def test_a_large_atom_is_split_where_nothing_else_could_be_better(self):
        homes = np.concatenate([city(8, 1, (50, 0), 0.01), city(8, 2, (50, 1), 0.01)])
        people = People(homes, np.arange(16), np.arange(16))
        found = redraw_whole(people, np.zeros(16, int), np.full(16, 9), Demand(5, 1, 3))
        assert found.kept.tolist() == []
        assert found.cells.tolist() == found.parts.tolist() == [0] * 8 + [1] * 8

    def test_an_atom_at_one_place_stays_whole(self):
        people = People(np.repeat(city(1, 1), 16, axis=0), np.arange(16), np.zeros(16, int))
        found = redraw_whole(people, np.zeros(16, int), np.full(16, 9), Demand(5, 1, 1))
        assert found.kept.tolist() == [9]
        assert found.parts.tolist() == [0] * 16

    def test_atoms_that_cannot_be_split_stay_as_they_are(self):
        homes = np.concatenate([city(5, 1, (50, 0), 0.01), city(5, 2, (50, 1), 0.01)])
        people = People(homes, np.arange(10), np.arange(10))
        found = redraw_whole(people, np.zeros(10, int), np.full(10, 9), Demand(5, 1, 3))
        assert found.kept.tolist() == [9]
        assert found.cells.tolist() == [-1] * 10
        assert found.parts.tolist() == [0] * 10
        assert found.centres.shape == (0, 3)

    def test_a_cell_below_k_is_merged_with_the_nearest_one(self):
        homes = np.concatenate([city(6, 1, (50, 0), 0.01), city(4, 2, (50, 0.2), 0.01), city(6, 3, (50, 2), 0.01)])
        people, cells = People(homes, np.arange(16), np.arange(16)), np.repeat([30, 20, 10], [6, 4, 6])
        found = redraw_whole(people, cells, cells, Demand(5, 1, 3))
        assert found.kept.tolist() == [10]
        assert found.cells.tolist() == [0] * 10 + [-1] * 6
        assert found.parts.tolist() == [0] * 6 + [1] * 4 + [2] * 6

    def test_too_few_for_any_new_cell_keep_what_may_stay(self):
        people = People(city(5, 1), np.arange(5), np.arange(5))
        cells = np.array([4, 4, 4, 4, 4])
        assert redraw_whole(people, cells, cells, Demand(5, 1, 3)).kept.tolist() == [4]
        found = redraw_whole(people.some(np.arange(4)), cells[:4], cells[:4], Demand(5, 1, 3))
        assert found.kept.tolist() == []
        assert found.cells.tolist() == [-1] * 4

    def test_nobody_is_no_cell(self):
        none = np.empty(0, np.int64)
        found = redraw_whole(People(np.empty((0, 3)), none, none), none, none, Demand(5, 1, 3))
        assert [len(field) for field in found] == [0] * 5


class TestRedrawFreely:
    @given(crowds(), st.integers(1, 20), st.integers(0, 2**32))
    def test_every_new_cell_meets_the_demand(self, crowd, count, seed):
        people, demand = crowd
        rng = np.random.default_rng(seed)
        centres, costs = city(count, seed), 1e-6 * rng.normal(size=count)
        cells = rng.integers(-1, count, len(people.homes))
        is_a_drawing(people, demand, redraw_freely(people, cells, centres, costs, demand))

    def test_it_loses_no_more_than_a_fresh_drawing(self):
        demand = Demand(5, 1, 1)
        for seed in range(5):
            before = People(city(120, seed), np.arange(120), np.arange(120))
            old = draw(before, demand)
            people = People(
                np.concatenate([before.homes[20:], city(40, 50 + seed)]), np.arange(140), np.arange(140)
            )
            cells = np.r_[old.cells[20:], np.full(40, -1)]
            free = redraw_freely(people, cells, old.centres, old.costs, demand)
            fresh = draw(people, demand)
            homes = people.homes
            assert loss(homes, free.cells, free.centres) <= loss(homes, fresh.cells, fresh.centres)

    @given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32))
    def test_centres_are_left_out_or_added(self, before, count, seed):
        rng = np.random.default_rng(seed)
        homes, centres, costs = city(40, seed), city(before, seed + 1), rng.normal(size=before) * 1e-6
        found, paid = resized(homes, centres, costs, count)
        assert (len(found), len(paid)) == (count, count)
        if count <= before:
            left = list(range(before))
            while len(left) > count:
                pairs = [(naive.square(centres[a], centres[b]), a) for a in left for b in left if a != b]
                left.remove(min(pairs)[1])
            assert found.tolist() == centres[left].tolist()
            assert paid.tolist() == costs[left].tolist()
        else:
            assert np.array_equal(found[:before], centres)
            assert set(map(tuple, found[before:].tolist())) <= set(map(tuple, homes.tolist()))
            assert set(paid.tolist()) <= set(costs.tolist())


class TestRegions:
    @given(st.sampled_from(sorted(WHERE)), st.integers(1, 300), st.integers(2, 60), st.integers(0, 99))
    def test_regions_have_about_the_size_asked_for(self, kind, n, size, seed):
        homes = WHERE[kind](np.random.default_rng(seed), n)
        regions = regions_of(homes, size)
        sizes = np.bincount(regions)
        assert len(regions) == n
        if n <= 2 * size:
            assert sizes.tolist() == [n]
        else:
            assert sizes.max() - sizes.min() <= 1
            assert len(sizes) == round(n / size)

    def test_regions_are_compact(self):
        homes = city(3000, 0)
        blocks, regions = halved(homes, 15), regions_of(homes, 200)
        assert naive.total(homes, regions) < 0.95 * naive.total(homes, blocks)

    @given(st.integers(1, 100), st.integers(1, 20), st.integers(0, 99))
    def test_blocks_differ_little_in_size(self, n, count, seed):
        assume(count <= n)
        sizes = np.bincount(halved(city(n, seed), count), minlength=count)
        assert sizes.sum() == n
        assert sizes.min() >= 1
        assert sizes.max() <= 2 * -(-n // count)


class TestTheRule:
    @given(st.sampled_from(sorted(WHERE)), st.integers(1, 40), st.integers(1, 12), st.integers(0, 99))
    def test_a_home_goes_where_distance_and_cost_are_least(self, kind, n, count, seed):
        rng = np.random.default_rng(seed)
        homes, centres = WHERE[kind](rng, n), WHERE[kind](rng, count)
        costs = rng.choice([0.0, 1e-5, 0.5], count)
        assert cheapest(homes, centres, costs).tolist() == naive.cheapest(homes, centres.tolist(), costs)

    def test_it_is_the_same_in_chunks(self):
        homes, centres, costs = city(2000, 1), city(700, 2), np.zeros(700)
        whole = np.square(homes[:, None] - centres).sum(axis=2).argmin(axis=1)
        assert np.array_equal(cheapest(homes, centres, costs), whole)

    @given(
        st.integers(4, 60), st.integers(2, 5), st.sampled_from(["city", "world", "metres", "pole", "date line"])
    )
    def test_costs_bring_about_the_sizes(self, n, k, kind):
        people = People(WHERE[kind](np.random.default_rng(n), n), np.arange(n), np.arange(n))
        found = draw(people, Demand(k, 0, 1))
        assume(len(found.members))
        there = cheapest(people.homes, found.centres, found.costs)
        sizes = np.bincount(found.cells)
        assert np.array_equal(np.bincount(there, minlength=len(sizes)), sizes)

    @given(crowds())
    def test_nobody_would_be_better_off_with_the_same_sizes(self, crowd):
        """The duality: cells of least total distance for these sizes cost as much as the prices say."""
        people, demand = crowd
        found = draw(people, demand)
        assume(len(found.members))
        sizes = np.bincount(found.cells)
        away = np.square(people.homes[:, None] - found.centres).sum(axis=2)
        proof = (away + found.costs).min(axis=1).sum() - (sizes * found.costs).sum()
        from scipy.optimize import linear_sum_assignment

        columns = np.repeat(np.arange(len(sizes)), sizes)
        rows, chosen = linear_sum_assignment(away[:, columns])
        assert proof == pytest.approx(away[rows, columns[chosen]].sum(), rel=1e-6, abs=1e-18)

    def test_one_cell_or_nobody_costs_nothing(self):
        assert costs_for(city(5, 0), np.zeros(5, int), city(1, 0)).tolist() == [0.0]
        assert costs_for(np.empty((0, 3)), np.empty(0, int), np.empty((0, 3))).tolist() == []


class TestFigures:
    @given(st.sampled_from(["city", "world", "metres", "pole", "date line", "one point"]), st.integers(1, 30))
    def test_loss_and_kilometres_are_those_of_the_twins(self, kind, n):
        rng = np.random.default_rng(n)
        homes, labels = WHERE[kind](rng, n), rng.integers(0, 4, n)
        centres = 0.5 * WHERE[kind](rng, 4)
        assert loss(homes, labels, centres) == pytest.approx(
            naive.loss(homes, labels, centres.tolist()), rel=1e-12
        )
        assert kilometres(homes, labels, centres) == pytest.approx(
            naive.kilometres(homes, labels, centres.tolist()), rel=1e-6, abs=1e-6
        )

    def test_a_cell_of_antipodes_is_a_quarter_of_the_globe_away(self):
        homes = np.array([[1.0, 0, 0], [-1.0, 0, 0]])
        assert kilometres(homes, np.zeros(2, int), np.zeros((1, 3))) == pytest.approx(10_007.5, abs=0.1)

    def test_nobody_loses_nothing(self):
        none = np.empty((0, 3))
        assert loss(none, np.empty(0, int), none) == kilometres(none, np.empty(0, int), none) == 0.0

    @pytest.mark.parametrize(
        ("now", "then", "n_now", "n_then", "expected"),
        [
            (1.0, 1.0, 100, 100, 0.0),
            (1.0, 1.0, 120, 100, 0.2),
            (1.2, 1.0, 100, 100, 0.2),
            (1.0, 1.0, 50, 100, 0.0),
            (0.0, 0.0, 50, 100, 0.0),
            (1.0, 0.0, 50, 100, 1000.0),
            (1.0, 1.0, 0, 100, 0.0),
            (1.0, 1.0, 100, 0, 1000.0),
        ],
    )
    def test_drift_is_the_share_above_a_fresh_drawing(self, now, then, n_now, n_then, expected):
        assert drift(now, then, n_now, n_then) == pytest.approx(expected)

    def test_a_fresh_drawing_has_little_drift(self):
        demand, drawn = Demand(5, 1, 1), []
        for n in (1000, 2000):
            people = People(city(n, n), np.arange(n), np.arange(n))
            found = draw(people, demand)
            drawn.append(loss(people.homes, found.cells, found.centres))
        assert drift(drawn[1], drawn[0], 2000, 1000) < 0.1


class TestSmallParts:
    @given(st.lists(st.integers(-5, 5), min_size=1))
    def test_groups_are_numbered_by_their_first_members(self, labels):
        seen = list(dict.fromkeys(labels))
        assert renumbered(np.array(labels)).tolist() == [seen.index(label) for label in labels]

    @given(st.integers(1, 30), st.integers(0, 99))
    def test_means_keep_the_digits_of_homes_that_are_metres_apart(self, n, seed):
        homes = WHERE["metres"](np.random.default_rng(seed), n)
        away = means(homes, np.zeros(n, int), 1)[0] - naive.mean(homes.tolist())
        assert np.abs(away).max() <= 2.3e-16

    @given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(["city", "grid", "one point"]))
    def test_near_units_come_by_distance_then_number(self, n, count, kind):
        middle = WHERE[kind](np.random.default_rng(n), n)
        found = nearest_units(middle, count)
        for one, near in enumerate(found.tolist()):
            away = [naive.square(middle[one], other) for other in middle.tolist()]
            others = sorted(other for other in range(n) if other != one)
            expected = sorted(others, key=lambda other: (away[other], other))[:count]
            assert sorted(away[other] for other in near) == pytest.approx([away[other] for other in expected])
            assert [(away[other], other) for other in near] == sorted((away[other], other) for other in near)


def test_a_server_that_draws_nothing_loads_no_compiler():
    program = (
        "import sys, numpy as np; from shoal.locations import drawing; "
        "drawing.cheapest(np.eye(3), np.eye(3), np.zeros(3)); "
        "print([m for m in ('numba', 'sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
