from datetime import time
from fractions import Fraction
from itertools import combinations
from math import fsum, hypot, pi, sqrt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes import KINDS, Wish, kept_from
from shoal.attributes.clock import (
    RADIUS,
    ClockAttribute,
    ClockGathering,
    arcs,
    directions,
    longest_chord,
    medians,
    on_circle,
)
from shoal.attributes.ladder import DAY, HOUR, MINUTE, RUNGS
from shoal.errors import ShoalError
from shoal.space import total_of
from shoal.table import Column

TIMES = {
    "any": st.integers(0, DAY - 1),
    "seconds": st.integers(0, 86_399).map(lambda second: second * 10**9),
    "night": st.integers(-60, 60).map(lambda minute: minute * MINUTE % DAY),
    "quarters": st.integers(0, 3).map(lambda quarter: quarter * 6 * HOUR),
    "constant": st.just(7 * HOUR),
    "last": st.sampled_from([0, 1, DAY - 1, DAY // 2, DAY // 2 + 1]),
}


@st.composite
def grouped(draw, sorts=(*sorted(TIMES), "spread", "spread")):
    """Times of one sort in groups of at least k; some spread over the whole day."""
    k = draw(st.integers(1, 4))
    if (sort := draw(st.sampled_from(sorts))) == "spread":
        rng = np.random.default_rng(draw(st.integers(0, 10**6)))
        unit = draw(st.sampled_from([1, 10**9, HOUR]))
        sizes = rng.integers(k, 2 * k + 1, rng.integers(1, 6))
        return [(rng.integers(0, DAY // unit, size) * unit).tolist() for size in sizes], k
    groups = draw(st.lists(st.lists(TIMES[sort], min_size=k, max_size=2 * k), min_size=1, max_size=5))
    return groups, k


def laid_out(groups):
    return np.arange(sum(map(len, groups))), np.concatenate([[0], np.cumsum([len(group) for group in groups])])


def flat(groups):
    return np.array([value for group in groups for value in group])


def attribute(native, scaling="zscore"):
    column = Column("x", nw.from_native(native, series_only=True))
    made = KINDS["time-of-day"].attribute(column, scaling, 1.0, Wish())
    assert isinstance(made, ClockAttribute)
    return made


def of_times(times, scaling="zscore"):
    return attribute(pa.chunked_array([pa.array(times).cast(pa.time64("ns"))]), scaling)


def at(*texts):
    return [(time.fromisoformat(text).hour * 60 + time.fromisoformat(text).minute) * MINUTE for text in texts]


def test_ten_minutes_before_and_after_midnight_are_twenty_minutes_apart():
    made = of_times(at("23:50", "00:10", "12:00"), "none")
    a, b, noon = made.coordinates()
    assert hypot(*(a - b)) == pytest.approx(1 / 3, rel=1e-3)
    assert hypot(*(a - noon)) == pytest.approx(2 * RADIUS, rel=1e-3)


@given(st.lists(st.integers(0, DAY - 1), min_size=2, max_size=10))
def test_distances_are_chords(times):
    points = on_circle(np.array(times))
    for a, b in combinations(range(len(times)), 2):
        assert hypot(*(points[a] - points[b])) == pytest.approx(
            naive.chord_of_times(times[a], times[b]), abs=1e-12
        )


def near(a, b, within):
    return min((a - b) % DAY, (b - a) % DAY) <= within


@given(grouped())
def test_the_mean_is_the_mean_direction_or_a_member_where_there_is_none(case):
    groups, _ = case
    found = directions(flat(groups), *laid_out(groups))
    for group, value in zip(groups, found, strict=True):
        x, y = (fsum(part) / len(group) for part in (on_circle(np.array(group)) / RADIUS).T)
        if not 1e-10 < hypot(x, y) < 1e-8:  # at the border either is right
            assert near(value, naive.mean_time(group), 1 + 1e-2 / max(hypot(x, y), 1e-9))


def test_opposite_times_have_the_value_of_the_first_record():
    times = np.array(at("18:00", "06:00", "00:00", "08:00", "16:00"))
    found = directions(times, np.arange(5), np.array([0, 2, 5]))
    assert found.tolist() == [18 * HOUR, 0]


@given(grouped())
def test_the_median_is_the_member_with_the_least_sum_of_arcs(case):
    groups, _ = case
    assert medians(flat(groups), *laid_out(groups)).tolist() == [naive.median_time(group) for group in groups]


@given(grouped())
def test_the_interval_is_the_shortest_arc_that_holds_the_group(case):
    groups, _ = case
    first, last = arcs(flat(groups), *laid_out(groups))
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [naive.shortest_arc(group) for group in groups]


@given(grouped())
def test_the_mode_is_the_earliest_of_the_most_frequent(case):
    groups, _ = case
    common = of_times(flat(groups)).common_values(*laid_out(groups), "mode", False, None)
    assert common.ticks.tolist() == [naive.most_frequent(group) for group in groups]


@given(grouped(("seconds", "night", "quarters", "constant", "spread")), st.sampled_from(["mean", "median"]))
def test_times_are_rounded_to_what_their_spread_justifies(case, aggregate):
    groups, k = case
    made = of_times(flat(groups))
    order, starts = laid_out(groups)
    used = made.digits_used(None, total_of([made.squares(order, starts, aggregate)]), len(order), k)
    middle = naive.mean_time if aggregate == "mean" else naive.median_time
    chords = [naive.chord_of_times(value, middle(group)) * HOUR for group in groups for value in group]
    squares = Fraction(fsum(chord**2 for chord in chords))
    finest = min(HOUR, naive.finest_unit(flat(groups).tolist()))
    wanted = {
        naive.unit_of_time(squares, len(order), k, finest, HOUR, 1 + Fraction(sign, 10**6)) for sign in (-1, 1)
    }
    found = RUNGS[used["x"]] if used else finest
    assert found in wanted or squares < 1
    common = made.common_values(order, starts, aggregate, False, used.get("x"))
    assert (common.ticks % found == 0).all()
    assert ((common.ticks >= 0) & (common.ticks < DAY)).all()
    for group, value in zip(groups, common.ticks.tolist(), strict=True):
        resultant = hypot(*on_circle(np.array(group)).mean(axis=0)) / RADIUS
        if aggregate == "median" or resultant > 1e-6:
            assert near(value, middle(group), found / 2 + 1 + 0.05 / resultant if resultant else found / 2)


@given(grouped())
def test_the_loss_is_that_of_squared_chords(case):
    groups, _ = case
    times = flat(groups)
    made = of_times(times, "none")
    order, starts = laid_out(groups)
    labels = np.repeat(np.arange(len(groups)), np.diff(starts))
    common = made.common_values(order, starts, "mean", False, None)
    lost, overall = made.squared_errors(common, labels)
    if made.is_constant:
        assert (lost, overall) == (0.0, 0.0)
        return
    expected = fsum(
        naive.chord_of_times(a, b) ** 2 for a, b in zip(times.tolist(), common.ticks[labels].tolist(), strict=True)
    )
    assert lost == pytest.approx(expected, rel=1e-9, abs=1e-9)
    middle = naive.mean_time(times.tolist())
    assert overall == pytest.approx(
        fsum(naive.chord_of_times(a, middle) ** 2 for a in times.tolist()), rel=1e-6, abs=1e-9
    )
    whole = gathered(times).kept(1.0, lambda: iter([times]))[0].scaled("none", lambda: iter([times]), True)
    assert whole.sst == pytest.approx(overall, rel=1e-6, abs=1e-9)


def gathered(times):
    gathering = ClockGathering("x", Wish())
    held = pa.chunked_array([pa.array(times).cast(pa.time64("ns"))])
    gathering.add(Column("x", nw.from_native(held, series_only=True)), 0)
    gathering.finish()
    return gathering


@given(st.lists(st.integers(0, 86_399), min_size=2, max_size=12))
def test_the_longest_chord_is_that_of_all_pairs(seconds):
    times = [second * 10**9 for second in seconds]
    expected = max(naive.chord_of_times(a, b) for a, b in combinations(times, 2))
    assert longest_chord([np.array(times)]) == pytest.approx(expected, abs=1e-12)
    parts = [np.array(times[:1]), np.array(times[1:])]
    assert longest_chord(parts) == longest_chord([np.array(times)])


def test_both_coordinates_share_one_factor():
    times = np.random.default_rng(0).integers(0, DAY, 50)
    assert of_times(times).coordinates().var(axis=0).sum() == pytest.approx(1)
    assert np.array_equal(of_times(times, "robust").coordinates(), of_times(times).coordinates())
    ranged = of_times(times, "range").coordinates()
    assert max(hypot(*(a - b)) for a, b in combinations(ranged, 2)) == pytest.approx(1)
    assert np.hypot(*of_times(times, "none").coordinates().T) == pytest.approx(np.full(50, 24 / (2 * pi)))


def test_times_of_one_second_have_a_range():
    assert np.ptp(of_times([5, 5, 9], "range").coordinates(), axis=0).max() > 0.9


def test_what_is_kept_of_all_blocks_is_that_of_one():
    times = np.random.default_rng(0).integers(0, DAY, 1000)
    kept, settle = gathered(times).kept(2.0, lambda: iter([times]))
    assert np.array_equal(settle(times, 0), times)
    chunks = [times[:300], times[300:]]
    for scaling in ("zscore", "range", "robust", "none"):
        one = kept.scaled(scaling, lambda: iter(chunks), True)
        two = kept.scaled(scaling, lambda: iter(chunks), False)
        assert (two.spread, two.sst) == pytest.approx((one.spread, one.sst), rel=1e-12)
        assert kept_from(one.as_dict()) == one
        middle = one.attribute(times).coordinates().mean(axis=0)
        away = np.square(one.attribute(times).coordinates() - one.overall(middle)).sum()
        assert one.sst == pytest.approx(away)
        assert one.width == one.attribute(times).coordinates().shape[1]
    assert one.along(np.array([HOUR])).tolist() == [1.0]
    assert one.stretch == 2.0
    assert kept.scaled("zscore", lambda: iter([times[:1], times[:1]]), False).is_constant


def test_common_values_survive_being_stored():
    times = np.array(at("23:50", "00:10", "12:00"))
    kept = gathered(times).kept(1.0, lambda: iter([times]))[0]
    common = kept.attribute(times).common_values(np.arange(3), np.array([0, 2, 3]), "mean", False, None)
    assert common.text() == ["00:00:00", "12:00:00"]
    assert kept.values(kept.codes(common)).text() == common.text()
    arc = kept.attribute(times).common_values(np.arange(3), np.array([0, 2, 3]), "interval", False, None)
    assert arc.text() == ["23:50:00 to 00:10:00", "12:00:00"]
    assert arc.floats().tolist() == [0.0, 12.0]
    with pytest.raises(ShoalError, match="need the table in memory"):
        kept.codes(arc)


def test_the_common_value_of_all_lies_on_the_circle():
    times = np.array(at("06:00", "18:00"))
    kept = gathered(times).kept(1.0, lambda: iter([times]))[0].scaled("none", lambda: iter([times]), True)
    assert np.hypot(*kept.overall(np.zeros(2))) == pytest.approx(RADIUS)
    assert kept.overall(np.array([0.0, 0.1])) == pytest.approx([0, RADIUS])
    assert kept.sst == pytest.approx(4 * RADIUS**2)


@pytest.mark.parametrize(
    "native",
    [
        pd.Series([time(9, 30), time(10, 30)], dtype=object),
        pl.Series([time(9, 30), time(10, 30)]),
        pa.chunked_array([pa.array([time(9, 30), time(10, 30)], pa.time32("s"))]),
        pl.Series(["9:30", "10:30"]),
    ],
)
def test_times_keep_their_type(native):
    made = attribute(native)
    common = made.common_values(np.arange(2), np.array([0, 2]), "mean", False, None)
    column = common.column(nw.from_native(native, series_only=True), np.array([0, 0]), False)
    assert column.dtype == nw.from_native(native, series_only=True).dtype
    assert str(column.to_list()[0]) in ("10:00:00", "10:00")
    assert made.kind == "time-of-day"


@pytest.mark.parametrize("aggregate", ["set", "share", "ancestor"])
def test_aggregates_that_times_do_not_have_are_refused(aggregate):
    with pytest.raises(
        ShoalError, match=f"is a time of day, which has no {aggregate}; choose one of mean, median"
    ):
        of_times([0, 1]).common_values(np.arange(2), np.array([0, 2]), aggregate, False, None)


def test_a_midnight_that_is_far_too_frequent_is_worth_a_word():
    some = [hour * HOUR for hour in range(1, 12)]
    assert "holds 00:00 in 4 records" in of_times([0] * 4 + some).warning()
    assert of_times([0] * 2 + some).warning() is None
    assert of_times([HOUR] * 4 + some).warning() is None
    assert of_times([0] * 4 + some[:3]).warning() is None


def test_a_report_draws_hours():
    made = of_times(at("06:00", "07:00"))
    common = made.common_values(np.arange(2), np.array([0, 2]), "mean", True, None)
    profile = made.profile(common, np.zeros(2, np.int64))
    assert (profile.unit, profile.before.tolist(), profile.after.tolist()) == ("hour of the day", [6, 7], [6, 6])
    assert made.digits_said(4) == "1 min"
    assert sqrt(made.spread) > 0


def test_the_median_of_a_group_of_any_size_is_exact():
    few = np.array([7 * HOUR, 9 * HOUR, 23 * HOUR])
    counts = np.array([100_000, 100_001, 100_000])
    times = np.repeat(few, counts)
    assert medians(times, np.arange(len(times)), np.array([0, len(times)])).tolist() == [7 * HOUR]
    assert medians(few, np.arange(3), np.array([0, 3]), counts).tolist() == [7 * HOUR]
    assert medians(few, np.arange(3), np.array([0, 3]), counts * 10**13).tolist() == [7 * HOUR]
