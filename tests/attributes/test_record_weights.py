"""Weights of records, kind by kind: what a weight means, and that equal weights change nothing."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import gcd

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from columns import held_column, made_of
from samples import earthly, weights
from shoal.attributes import Wish, attribute_of
from shoal.attributes import numbers as numeric
from shoal.attributes.clock import on_circle
from shoal.attributes.ladder import DAY, HOUR
from shoal.attributes.numeric_attribute import NumericAttribute
from shoal.attributes.place_attribute import PlaceAttribute
from shoal.attributes.place_values import Form
from shoal.attributes.sphere import packed

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")

ORDER = ("none", "mild", "severe", "fatal")
COVERING = ("interval", "set", "ancestor")
"""Common values that all records are within, whatever they weigh."""


def held(values, kind):
    return attribute_of(held_column(pa.chunked_array([pa.array(values).cast(kind)])), Wish(), "zscore", 1.0)[0]


def places(values):
    stored = packed(*np.array(values, np.int64).T)
    return PlaceAttribute("lat, lon", 1.0, Form(("lat", "lon")), stored, np.zeros(3), 1.0, False)


def whole(values):
    numbers = numeric.Fixed.of(np.array(values, object), 0, "integer")
    return NumericAttribute.of("x", numbers, "zscore", 1.0)


NUMBERS = ("mean", "median", "mode", "interval")
MADE = {
    "whole": (st.integers(-5, 5), whole, NUMBERS),
    "wide": (st.integers(-(2**70), 2**70), whole, NUMBERS),
    "tenths": (st.integers(-9, 99).map(lambda x: x / 10), lambda own: made_of(own, from_file=False), NUMBERS),
    "real": (st.floats(-1e6, 1e6).map(lambda x: x + 1 / 3), lambda own: made_of(own, from_file=False), NUMBERS),
    "date": (st.integers(0, 30_000), lambda own: held(pa.array(own, pa.int32()), pa.date32()), NUMBERS),
    "moment": (st.integers(0, 10**13), lambda own: held(own, pa.timestamp("us", "Europe/Berlin")), NUMBERS),
    "length": (st.integers(0, 10**6), lambda own: held(own, pa.duration("ms")), NUMBERS),
    "clock": (st.integers(0, DAY - 1), lambda own: held(own, pa.time64("ns")), NUMBERS),
    "hours": (st.integers(0, 23).map(lambda x: x * HOUR), lambda own: held(own, pa.time64("ns")), NUMBERS),
    "place": (earthly().map(lambda own: own[0]), places, NUMBERS[:3]),
    "nominal": (st.sampled_from("abcd"), made_of, ("mode", "set", "share")),
    "ordinal": (
        st.sampled_from(ORDER),
        lambda own: made_of(own, order=ORDER, kind="ordinal"),
        ("median", "mode", "interval", "set", "share"),
    ),
    "code": (
        st.sampled_from(["a1x", "a1y", "a2x", "a1", "b1x", "b2x"]),
        lambda own: made_of(own, kind="code", prefix=(1, 2)),
        ("mean", "mode", "ancestor", "set", "share"),
    ),
    "massed": (
        st.integers(0, 6).map(lambda x: max(0, x - 2)),
        lambda own: made_of([*own, 0, 0], from_file=False, kind="semi-continuous"),
        NUMBERS,
    ),
}
DOUBLES = ("real", "clock", "hours", "place")
"""Kinds whose means are rounded sums of doubles: they know proportions only."""


@st.composite
def cases(draw, kinds=tuple(MADE), sorts=None):
    """Values of a kind, their attribute, groups, weights, and an aggregate."""
    kind = draw(st.sampled_from(kinds))
    element, make, aggregates = MADE[kind]
    values = draw(st.lists(element, min_size=1, max_size=14))
    if draw(st.booleans()):
        values += draw(st.lists(st.sampled_from(values), max_size=10))
    made = make(values)
    if kind == "massed":
        values = [*values, 0, 0]
    labels = draw(
        st.lists(st.integers(0, draw(st.sampled_from([0, 2]))), min_size=len(values), max_size=len(values))
    )
    labels = np.unique(labels, return_inverse=True)[1]
    given_weights = draw(weights(labels.tolist(), sorts) if sorts else weights(labels.tolist()))
    return kind, values, made, labels, given_weights, draw(st.sampled_from(aggregates))


def as_array(given_weights):
    return np.array(given_weights, np.int64 if max(given_weights) < 2**63 else object)


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


def groups_of(values, labels):
    return [[value for value, own in zip(values, labels, strict=True) if own == g] for g in range(max(labels) + 1)]


def shown(common):
    """All that leaves, bit by bit."""
    return common.text(), np.asarray(common.raw).tobytes()


def repeated(labels, given_weights):
    """The records group by group, each as often as its weight says."""
    parts = [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]
    order = [naive.repeated(part.tolist(), [given_weights[i] for i in part]) for part in parts]
    return np.array(list(chain(*order))), np.concatenate([[0], np.cumsum([len(part) for part in order])])


def in_lowest_terms(labels, given_weights):
    shared = [gcd(*own) for own in groups_of(given_weights, labels)]
    return [weight // shared[label] for weight, label in zip(given_weights, labels, strict=True)]


def of_records(made, kind, records):
    """The same attribute of other records of the table."""
    match kind:
        case "place":
            return replace(made, places=made.places[records])
        case "clock" | "hours":
            return replace(made, times=made.times[records])
        case "nominal":
            return replace(made, codes=made.codes[records])
        case "ordinal":
            return replace(made, ranks=made.ranks[records])
        case "code":
            return replace(made, nodes=made.nodes[records])
        case "massed":
            return replace(made, stored=made.stored[records])
    field = "values" if isinstance(made.numbers, numeric.Real) else "offsets"
    part = replace(made.numbers, **{field: getattr(made.numbers, field)[records]})
    return replace(made, numbers=part)


@given(cases(), st.sampled_from([1, 3, 10**12, 2**62 + 1, 10**40]), st.booleans())
def test_equal_weights_change_nothing(case, weight, exact):
    _, values, made, labels, _, aggregate = case
    plain = made.common_values(*cut(labels), aggregate, exact, None)
    weighted = made.common_values(*cut(labels), aggregate, exact, None, as_array([weight] * len(values)))
    assert shown(weighted) == shown(plain)


@given(cases(sorts=("few", "mostly none")), st.booleans())
def test_a_record_of_a_whole_weight_counts_as_so_many_records(case, exact):
    kind, _, made, labels, given_weights, aggregate = case
    assume(aggregate not in COVERING)
    counts = in_lowest_terms(labels, given_weights) if kind in DOUBLES else given_weights
    expected = made.common_values(*repeated(labels, counts), aggregate, exact, None)
    found = made.common_values(*cut(labels), aggregate, exact, None, as_array(given_weights))
    assert shown(found) == shown(expected)


@given(cases(), st.integers(2, 10**9))
def test_only_proportions_matter(case, factor):
    _, _, made, labels, given_weights, aggregate = case
    found = made.common_values(*cut(labels), aggregate, False, None, as_array(given_weights))
    more = as_array([weight * factor for weight in given_weights])
    assert shown(made.common_values(*cut(labels), aggregate, False, None, more)) == shown(found)


@given(cases())
def test_intervals_sets_and_ancestors_hold_all_records(case):
    _, _, made, labels, given_weights, aggregate = case
    assume(aggregate in COVERING)
    plain = made.common_values(*cut(labels), aggregate, False, None)
    assert shown(made.common_values(*cut(labels), aggregate, False, None, as_array(given_weights))) == shown(plain)


@given(cases(sorts=("few", "mostly none")))
def test_the_loss_is_that_of_so_many_records(case):
    kind, _, made, labels, given_weights, aggregate = case
    common = made.common_values(*cut(labels), aggregate, False, None, as_array(given_weights))
    records, _ = repeated(labels, given_weights)
    # In the order of the table: where all directions cancel out, the first record stands for them.
    records = np.sort(records)
    expected = of_records(made, kind, records).squared_errors(common, labels[records])
    found = made.squared_errors(common, labels, as_array(given_weights))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(cases())
def test_weights_of_1_lose_what_no_weights_lose(case):
    _, values, made, labels, _, aggregate = case
    common = made.common_values(*cut(labels), aggregate, False, None)
    plain = made.squared_errors(common, labels)
    assert made.squared_errors(common, labels, np.ones(len(values), int)) == pytest.approx(plain, rel=1e-12, abs=0)


@given(
    cases(("whole", "wide", "tenths", "real", "date", "length", "clock", "place", "nominal", "ordinal", "code"))
)
def test_the_loss_is_the_weighted_sum_of_squared_distances(case):
    _, _, made, labels, given_weights, aggregate = case
    assume(aggregate in ("mean", "median", "mode"))
    heavy = as_array(given_weights)
    common = made.common_values(*cut(labels), aggregate, False, None, heavy)
    points, placed = made.coordinates(), made.placed(common)
    expected = naive.weighted_loss(points, placed[labels], given_weights)
    if made.is_constant:
        expected = 0.0
    assert made.squared_errors(common, labels, heavy)[0] == pytest.approx(
        expected, rel=1e-9, abs=1e-9 * sum(given_weights)
    )


@given(cases(("whole", "wide", "real", "date", "length", "ordinal", "nominal")))
def test_the_total_loss_is_about_the_weighted_common_value_of_all(case):
    kind, _, made, labels, given_weights, _ = case
    assume(not made.is_constant)
    heavy = as_array(given_weights)
    points = made.coordinates()
    middle = np.array(naive.weighted_direction(points.tolist(), given_weights))
    if kind in ("ordinal", "nominal"):
        every = np.arange(len(points)), np.array([0, len(points)])
        middle = made.placed(made.common_values(*every, "median", False, None, heavy))[0]
    expected = naive.weighted_loss(points, [middle] * len(points), given_weights)
    common = made.common_values(*cut(labels), "mode", False, None, heavy)
    found = made.squared_errors(common, labels, heavy)[1]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * sum(given_weights))


# Against the twins, with weights of every sort.


@given(cases(("whole", "wide")), st.sampled_from(["mean", "median"]))
def test_the_common_value_of_whole_numbers_is_the_exact_one_to_the_nearest_unit(case, aggregate):
    _, values, made, labels, given_weights, _ = case
    middles = [
        naive.weighted_middle(own, heavy, aggregate)
        for own, heavy in zip(groups_of(values, labels), groups_of(given_weights, labels), strict=True)
    ]
    found = made.common_values(*cut(labels), aggregate, False, None, as_array(given_weights))
    assert found.text() == [str(round(middle)) for middle in middles]
    exact = made.common_values(*cut(labels), aggregate, True, None, as_array(given_weights))
    assert exact.native().tolist() == list(map(float, middles))
    ends = min(values), max(values)
    tens = made.common_values(*cut(labels), aggregate, False, -1, as_array(given_weights))
    assert tens.text() == [str(naive.rounded_value(middle, -1, *map(Fraction, ends))) for middle in middles]


@given(cases(("real",)), st.sampled_from(["mean", "median"]))
def test_the_common_value_of_floats_is_that_of_the_twin(case, aggregate):
    _, values, made, labels, given_weights, _ = case
    found = made.common_values(*cut(labels), aggregate, True, None, as_array(given_weights)).native()
    for value, own, heavy in zip(
        found.tolist(), groups_of(values, labels), groups_of(given_weights, labels), strict=True
    ):
        largest = max(map(abs, own))
        expected = float(naive.weighted_middle(own, heavy, aggregate))
        assert value == pytest.approx(expected, rel=1e-15, abs=largest * 1e-15)


@given(cases(("whole", "tenths", "real", "date", "length", "clock", "hours")))
def test_the_mode_has_the_largest_weight_and_is_the_lowest_of_several(case):
    _, values, made, labels, given_weights, _ = case
    found = made.common_values(*cut(labels), "mode", True, None, as_array(given_weights))
    positive = [i for i, weight in enumerate(given_weights) if weight]
    for group, raw in enumerate(found.raw.tolist()):
        own = [i for i in positive if labels[i] == group]
        mode = naive.weighted_mode([values[i] for i in own], [given_weights[i] for i in own])
        record = values.index(mode)
        alone = made.common_values(np.array([record]), np.array([0, 1]), "mode", True, None)
        assert raw == alone.raw[0]


@given(cases(("date", "length")), st.sampled_from(["mean", "median"]))
def test_moments_are_rounded_once(case, aggregate):
    _, values, made, labels, given_weights, _ = case
    found = made.common_values(*cut(labels), aggregate, False, None, as_array(given_weights))
    unit = made.numbers.finest // made.numbers.tick
    for tick, own, heavy in zip(
        found.ticks.tolist(), groups_of(values, labels), groups_of(given_weights, labels), strict=True
    ):
        middle = naive.weighted_middle(own, heavy, aggregate)
        scale = Fraction(made.numbers.tick, DAY if made.kind == "date" else 10**6)
        assert tick * scale == naive.rounded_moment(middle, unit * scale, min(values), max(values))


@given(cases(("clock", "hours")))
def test_times_of_day_are_those_of_the_twin(case):
    _, values, made, labels, given_weights, _ = case
    heavy = as_array(given_weights)
    medians = made.common_values(*cut(labels), "median", True, None, heavy).ticks.tolist()
    means = made.common_values(*cut(labels), "mean", True, None, heavy).ticks.tolist()
    for mean, median, own, often in zip(
        means, medians, groups_of(values, labels), groups_of(given_weights, labels), strict=True
    ):
        assert median == naive.weighted_median_time(own, often)
        expected = naive.weighted_mean_time(own, often)
        if expected is None:
            assert mean in [time for time, weight in zip(own, often, strict=True) if weight]
        else:
            x, y = naive.weighted_direction(on_circle(np.array(own)).tolist(), often)
            shaky = 1e-2 * DAY * 1e-12 / np.hypot(x, y)  # the nearer to the centre, the less a direction is known
            assert naive.arc(mean, expected) <= made.finest / 2 + 1 + shaky


@given(cases(("place",)))
def test_places_are_those_of_the_twin(case):
    _, values, made, labels, given_weights, _ = case
    heavy = as_array(given_weights)
    degrees = [(north / 1e7, east / 1e7) for north, east in values]
    means, medians = (
        [(common.of("lat").floats()[g], common.of("lon").floats()[g]) for g in range(max(labels) + 1)]
        for common in (made.common_values(*cut(labels), name, True, None, heavy) for name in ("mean", "median"))
    )
    for mean, median, own, often in zip(
        means, medians, groups_of(degrees, labels), groups_of(given_weights, labels), strict=True
    ):
        candidates = [place for place, weight in zip(own, often, strict=True) if weight]
        sums = [naive.weighted_chords(place, own, often) for place in candidates]
        assert naive.weighted_chords(median, own, often) <= min(sums) + 1e-8
        expected = naive.weighted_mean_place(own, often)
        if expected is None:
            assert naive.weighted_chords(mean, own, often) <= min(sums) + 1e-8
        else:
            assert naive.haversine(mean, expected) < 1e-7


@given(cases(("nominal",)))
def test_categories_are_those_of_the_twin(case):
    _, values, made, labels, given_weights, _ = case
    heavy = as_array(given_weights)
    modes = made.common_values(*cut(labels), "mode", False, None, heavy)
    shares = made.common_values(*cut(labels), "share", False, None, heavy)
    for group, (own, often) in enumerate(
        zip(groups_of(values, labels), groups_of(given_weights, labels), strict=True)
    ):

        def rank(value):
            return -values.count(value), value

        assert modes.text()[group] == naive.weighted_mode(own, often, rank)
        found = {
            made.kept.levels[i]: s
            for g, i, s in zip(shares.group, shares.level, shares.share, strict=True)
            if g == group
        }
        expected = {
            value: float(share) for value, share in naive.weighted_shares(own, often, rank).items() if share
        }
        assert found == pytest.approx(expected)


@given(cases(("ordinal",)))
def test_ordered_categories_have_the_lower_weighted_median(case):
    _, values, made, labels, given_weights, _ = case
    found = made.common_values(*cut(labels), "median", False, None, as_array(given_weights)).text()
    ranks = groups_of(list(map(ORDER.index, values)), labels)
    expected = map(naive.weighted_middles, ranks, groups_of(given_weights, labels))
    assert found == [ORDER[lower] for lower, _ in expected]


@given(cases(("code",)))
def test_codes_are_those_of_the_twin(case):
    _, _, made, labels, given_weights, _ = case
    heavy, tree = as_array(given_weights), made.scale.tree
    taxonomy = tree.taxonomy.parents, tree.taxonomy.lengths
    nodes = groups_of(made.nodes.tolist(), labels)
    often = groups_of(given_weights, labels)
    means = made.common_values(*cut(labels), "mean", False, None, heavy).nodes.tolist()
    # With weights far apart the twin cannot tell two nodes apart that are nearly as good.
    if max(given_weights) < 10**6:
        assert means == [naive.weighted_node(*taxonomy, *each) for each in zip(nodes, often, strict=True)]
    for node, own, counts in zip(means, nodes, often, strict=True):
        below = [
            sum(c for n, c in zip(own, counts, strict=True) if v in naive.way_up(taxonomy[0], n))
            for v in range(len(tree))
        ]
        enough = [v for v in range(len(tree)) if 2 * below[v] > sum(counts)]
        assert node == max(enough, key=lambda v: len(naive.way_up(taxonomy[0], v)))
    modes = made.common_values(*cut(labels), "mode", False, None, heavy).nodes.tolist()
    everywhere = made.nodes.tolist()
    assert modes == [
        naive.weighted_mode(*each, lambda node: (-everywhere.count(node), node))
        for each in zip(nodes, often, strict=True)
    ]
    shares = made.common_values(*cut(labels), "share", False, None, heavy)
    for group, each in enumerate(zip(nodes, often, strict=True)):
        part = slice(shares.begins[group], shares.begins[group + 1])
        found = dict(zip(shares.members[part].tolist(), shares.weights[part].tolist(), strict=True))
        expected = {node: float(share) for node, share in naive.weighted_shares(*each).items() if share}
        assert found == pytest.approx(expected)


@given(cases(("massed",)), st.sampled_from(["mean", "median"]))
def test_the_mass_is_released_where_half_of_the_weight_is_there(case, aggregate):
    _, values, made, labels, given_weights, _ = case
    found = made.common_values(*cut(labels), aggregate, True, None, as_array(given_weights))
    mass = made.kept.shown
    for value, own, heavy in zip(
        found.floats().tolist(), groups_of(values, labels), groups_of(given_weights, labels), strict=True
    ):
        others = [(each, weight) for each, weight in zip(own, heavy, strict=True) if each != int(mass)]
        if 2 * sum(weight for _, weight in others) <= sum(heavy):
            assert value == int(mass)
        else:
            assert value == float(naive.weighted_middle(*zip(*others, strict=True), aggregate))


# Gaps.


@st.composite
def gapped(draw):
    values = draw(st.lists(st.sampled_from([None, None, 1, 2, 5, 9]), min_size=3, max_size=16))
    assume(None in values and len(set(values)) > 2)
    labels = np.unique(
        draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values))), return_inverse=True
    )[1]
    return values, labels, draw(weights(labels.tolist()))


def made_with_gaps(values):
    return made_of(["" if value is None else str(value) for value in values], gaps="value")


@given(gapped(), st.sampled_from(["mean", "median"]))
def test_gaps_are_counted_in_records_and_values_by_their_weights(case, aggregate):
    values, labels, given_weights = case
    found = made_with_gaps(values).common_values(*cut(labels), aggregate, True, None, as_array(given_weights))
    for value, own, heavy in zip(
        found.floats().tolist(), groups_of(values, labels), groups_of(given_weights, labels), strict=True
    ):
        there = [(each, weight) for each, weight in zip(own, heavy, strict=True) if each is not None]
        if 2 * len(there) < len(own):
            assert np.isnan(value)
            continue
        numbers, often = zip(*there, strict=True)
        assert value == float(naive.weighted_middle(numbers, often if any(often) else [1] * len(often), aggregate))


@given(gapped(), st.booleans())
def test_the_loss_with_gaps_is_the_weighted_sum_of_squared_distances(case, as_categories):
    values, labels, given_weights = case
    made = made_of(
        ["" if value is None else f"{'v' if as_categories else ''}{value}" for value in values], gaps="value"
    )
    heavy = as_array(given_weights)
    common = made.common_values(*cut(labels), "mean", True, None, heavy)
    points, placed = made.coordinates(), made.placed(common)
    lost = naive.weighted_loss(points, placed[labels], given_weights)
    every = np.arange(len(values)), np.array([0, len(values)])
    overall = made.placed(made.common_values(*every, "mean", True, None, heavy))
    whole = naive.weighted_loss(points, overall[np.zeros(len(values), int)], given_weights)
    tiny = 1e-12 * sum(given_weights)
    assert made.squared_errors(common, labels, heavy) == pytest.approx((lost, whole), rel=1e-9, abs=tiny)
    plain = made.squared_errors(common, labels)
    assert made.squared_errors(common, labels, np.ones(len(values), int)) == pytest.approx(plain, rel=1e-12, abs=0)


@given(gapped(), st.sampled_from([1, 6, 10**30]))
def test_equal_weights_change_nothing_among_gaps(case, weight):
    values, labels, _ = case
    made = made_with_gaps(values)
    plain = made.common_values(*cut(labels), "mean", False, None)
    found = made.common_values(*cut(labels), "mean", False, None, as_array([weight] * len(values)))
    assert shown(found) == shown(plain)
