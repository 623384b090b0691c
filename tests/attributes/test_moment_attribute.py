from datetime import date, datetime
from fractions import Fraction
from math import fsum, sqrt
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes import KINDS, Wish
from shoal.attributes.ladder import DAY, HOUR, RUNGS, TICKS
from shoal.attributes.moment_attribute import decimal_years, drawn_unit
from shoal.errors import ShoalError
from shoal.space import total_of
from shoal.table import Column

DAYS = {
    "random": st.integers(-719_162, 2_932_896),
    "recent": st.integers(-20_000, 20_000),
    "tied": st.integers(0, 2),
    "leap": st.sampled_from([-719_162, -1, 0, 11_016, 19_782, 2_932_896]),
    "constant": st.just(11_016),
}
TICKS_OF = {
    "random": st.integers(-(10**15), 10**15),
    "close": st.integers(0, 5000),
    "hours": st.integers(-(10**5), 10**5).map(lambda hours: hours * 3_600_000_000),
    "midnights": st.integers(-(10**4), 10**4).map(lambda days: days * 86_400_000_000),
    "tied": st.integers(0, 3),
    "constant": st.just(7),
}


@st.composite
def grouped(draw, values, k=None):
    """Whole numbers of one sort in groups of at least k."""
    k = k or draw(st.integers(1, 4))
    element = values[draw(st.sampled_from(sorted(values)))]
    groups = draw(st.lists(st.lists(element, min_size=k, max_size=2 * k), min_size=1, max_size=5))
    return groups, k


def laid_out(groups):
    return np.arange(sum(map(len, groups))), np.concatenate([[0], np.cumsum([len(group) for group in groups])])


def attribute(held, kind, scaling="zscore"):
    column = Column("x", nw.from_native(pa.chunked_array([held]), series_only=True))
    return KINDS[kind].attribute(column, scaling, 1.0, Wish())


def nanoseconds_of(common):
    return [tick * common.tick for tick in common.ticks.tolist()]


def flat(groups):
    return [value for group in groups for value in group]


@given(grouped(DAYS), st.sampled_from(["mean", "median"]))
def test_the_common_date_is_the_nearest_day(case, aggregate):
    groups, k = case
    made = attribute(pa.array(flat(groups), pa.int32()).cast(pa.date32()), "date")
    order, starts = laid_out(groups)
    assert made.squares(order, starts, aggregate) == (0.0, 0)
    assert made.digits_used(None, Fraction(0), len(order), k) == {}
    common = made.common_values(order, starts, aggregate, False, None)
    exact = made.common_values(order, starts, aggregate, True, None)
    expected = [round(naive.middle_value(list(map(Fraction, group)), aggregate)) for group in groups]
    assert common.ticks.tolist() == exact.ticks.tolist() == expected
    assert common.text() == [str(np.datetime64(day, "D")) for day in expected]


@given(grouped(TICKS_OF), st.sampled_from(["mean", "median"]), st.sampled_from(["us", "ns", "ms"]))
def test_points_in_time_and_durations_are_rounded_to_what_their_spread_justifies(case, aggregate, unit):
    groups, k = case
    for kind, held in (("timestamp", pa.timestamp(unit)), ("duration", pa.duration(unit))):
        made = attribute(pa.array(flat(groups)).cast(held), kind)
        order, starts = laid_out(groups)
        used = made.digits_used(None, total_of([made.squares(order, starts, aggregate)]), len(order), k)
        nanoseconds = [[value * TICKS[unit] for value in group] for group in groups]
        finest = naive.finest_unit(flat(nanoseconds))
        squares = naive.squares_of_moments(nanoseconds, aggregate)
        wanted = {
            naive.unit_of_time(squares, len(order), k, finest, DAY, 1 + Fraction(sign, 10**9)) for sign in (-1, 1)
        }
        found = RUNGS[used["x"]] if used else finest
        assert found in wanted
        common = made.common_values(order, starts, aggregate, False, used.get("x"))
        ends = min(flat(nanoseconds)), max(flat(nanoseconds))
        expected = [
            naive.rounded_moment(naive.middle_value(list(map(Fraction, group)), aggregate), found, *ends)
            for group in nanoseconds
        ]
        assert nanoseconds_of(common) == expected
        assert all(ends[0] <= value <= ends[1] for value in expected)
        exact = made.common_values(order, starts, aggregate, True, None)
        assert all(value % finest == 0 for value in nanoseconds_of(exact))


ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]


@given(
    grouped(
        {
            "year": st.integers(1_700_000_000, 1_732_000_000),
            "leap": st.integers(1_711_843_200, 1_711_864_800),
            "back": st.integers(1_729_980_000, 1_730_001_600),
            "old": st.integers(-1_000_000_000, 0),
        }
    ),
    st.sampled_from(ZONES),
    st.sampled_from([5, 6]),
)
def test_hours_and_days_are_those_of_the_clocks_of_the_zone(case, zone, rung):
    groups, _ = case
    groups = [*groups, [min(flat(groups)) - 10 * 86_400, max(flat(groups)) + 10 * 86_400]]
    made = attribute(pa.array(flat(groups)).cast(pa.timestamp("s", zone)), "timestamp")
    order, starts = laid_out(groups)
    common = made.common_values(order, starts, "mean", False, rung)
    nanoseconds = [[value * 10**9 for value in group] for group in groups]
    ends = min(flat(nanoseconds)), max(flat(nanoseconds))
    expected = [
        naive.moment_on_clocks(Fraction(sum(group), len(group)), RUNGS[rung], *ends, ZoneInfo(zone))
        for group in nanoseconds
    ]
    assert nanoseconds_of(common) == expected


def test_midnights_of_a_zone_stay_midnights():
    zone = ZoneInfo("Europe/Berlin")
    days = [datetime(2024, 3, day, tzinfo=zone) for day in (28, 31)] + [datetime(2024, 4, 1, tzinfo=zone)] * 2
    made = attribute(pa.array(days), "timestamp")
    assert made.numbers.finest == DAY
    common = made.common_values(np.arange(4), np.array([0, 2, 4]), "mean", False, None)
    assert common.text() == ["2024-03-30 00:00:00+01:00", "2024-04-01 00:00:00+02:00"]


def test_a_value_on_the_clocks_stays_between_the_ends_of_its_column():
    zone = "Europe/Berlin"
    low = int(datetime(2024, 5, 1, 13, tzinfo=ZoneInfo(zone)).timestamp())
    for seconds in ([0, 60, 120], [3 * 86_400 - 120, 3 * 86_400 - 60, 3 * 86_400]):
        whole = np.array([0, *seconds, 3 * 86_400]) + low
        made = attribute(pa.array(whole).cast(pa.timestamp("s", zone)), "timestamp")
        common = made.common_values(np.array([1, 2, 3]), np.array([0, 3]), "mean", False, 6)
        assert whole.min() <= common.ticks[0] * common.tick // 10**9 <= whole.max()
        assert " 00:00:00" in common.text()[0]


@given(grouped(TICKS_OF))
def test_the_mode_is_the_earliest_of_the_most_frequent(case):
    groups, _ = case
    made = attribute(pa.array(flat(groups)).cast(pa.timestamp("us")), "timestamp")
    common = made.common_values(*laid_out(groups), "mode", False, None)
    assert nanoseconds_of(common) == [naive.most_frequent(group) * 1000 for group in groups]
    assert made.squares(*laid_out(groups), "mode") == (0.0, 0)


@given(grouped(DAYS))
def test_an_interval_goes_from_the_first_date_to_the_last_and_counts_as_its_middle(case):
    groups, _ = case
    made = attribute(pa.array(flat(groups), pa.int32()).cast(pa.date32()), "date")
    common = made.common_values(*laid_out(groups), "interval", False, None)
    first, last = zip(*((min(group), max(group)) for group in groups), strict=True)
    assert (common.ticks.tolist(), common.last.tolist()) == (list(first), list(last))
    step = made.numbers.step
    middles = [(Fraction(a) + b) / 2 - made.numbers.origin for a, b in zip(first, last, strict=True)]
    assert common.raw.tolist() == [float(middle / step) for middle in middles]


@pytest.mark.parametrize("aggregate", ["set", "share", "ancestor"])
def test_aggregates_that_dates_do_not_have_are_refused(aggregate):
    made = attribute(pa.array([date(2024, 1, 1), date(2024, 1, 2)]), "date")
    with pytest.raises(ShoalError, match=f"'x' is a date, which has no {aggregate}; choose one of mean, median"):
        made.common_values(np.arange(2), np.array([0, 2]), aggregate, False, None)


@given(grouped(DAYS))
def test_the_loss_of_dates_is_that_of_their_days(case):
    groups, _ = case
    days = flat(groups)
    made = attribute(pa.array(days, pa.int32()).cast(pa.date32()), "date", "none")
    order, starts = laid_out(groups)
    labels = np.repeat(np.arange(len(groups)), np.diff(starts))
    common = made.common_values(order, starts, "mean", False, None)
    lost, overall = made.squared_errors(common, labels)
    mean = fsum(days) / len(days)
    assert lost == pytest.approx(fsum((a - b) ** 2 for a, b in zip(days, common.ticks[labels], strict=True)))
    assert overall == pytest.approx(fsum((day - mean) ** 2 for day in days), rel=1e-9, abs=1e-6)
    if not made.is_constant:
        assert made.coordinates()[:, 0] - made.coordinates()[0, 0] == pytest.approx(np.array(days) - days[0])
        away = np.array(days) - common.ticks[labels]
        assert made.placed(common)[labels] == pytest.approx(made.coordinates() - away[:, None])


def test_distances_without_scaling_are_days_and_hours():
    stamps = attribute(pa.array([0, 43_200]).cast(pa.timestamp("s")), "timestamp", "none")
    lengths = attribute(pa.array([0, 5400]).cast(pa.duration("s")), "duration", "none")
    assert np.diff(stamps.coordinates()[:, 0]) == pytest.approx([0.5])
    assert np.diff(lengths.coordinates()[:, 0]) == pytest.approx([1.5])


def test_scalings_are_those_of_numbers():
    days = np.array([0, 1, 2, 10, 40])
    held = pa.array(days, pa.int32()).cast(pa.date32())
    assert attribute(held, "date").coordinates().std() == pytest.approx(1)
    assert np.ptp(attribute(held, "date", "range").coordinates()) == pytest.approx(1)
    assert np.diff(attribute(held, "date", "robust").coordinates()[:2, 0]) == pytest.approx([1 / 9])
    assert sqrt(days.var()) == pytest.approx(np.ptp(days) / np.ptp(attribute(held, "date").coordinates()))


def test_digits_of_a_date_are_an_error_and_units_have_names():
    made = attribute(pa.array([date(2024, 1, 1), date(2024, 1, 2)]), "date")
    made.check_digits(2)
    with pytest.raises(ShoalError, match="holds no numbers, so it has no digits"):
        made.check_digits({"x": 2})
    assert (made.digits_said(5), made.digits_said(None)) == ("1 h", None)
    assert made.kind == "date"


def shown(values, kind, held):
    made = attribute(pa.array(values).cast(held), kind)
    common = made.common_values(np.arange(len(values)), np.array([0, len(values)]), "mean", True, None)
    return made.profile(common, np.zeros(len(values), np.int64))


def test_a_report_draws_years_or_the_time_since_the_first_moment():
    long = shown([0, 366 * 86_400, 1461 * 86_400], "timestamp", pa.timestamp("s"))
    assert (long.unit, long.before[0], long.before[2]) == ("year", 1970.0, 1974.0)
    short = shown([0, 5 * 86_400, 10 * 86_400], "timestamp", pa.timestamp("s"))
    assert (short.unit, short.start, short.before.tolist()) == ("days", "1970-01-01 00:00:00", [0, 5, 10])
    assert short.after.tolist() == [5, 5, 5]
    lengths = shown([3600, 7200, 14_400], "duration", pa.duration("s"))
    assert (lengths.unit, lengths.before.tolist()) == ("hours", [1, 2, 4])


@pytest.mark.parametrize(
    ("size", "word"), [(3 * DAY, "days"), (3 * HOUR, "hours"), (HOUR, "minutes"), (10**9, "seconds")]
)
def test_a_length_is_drawn_in_a_unit_of_its_size(size, word):
    assert drawn_unit(size)[1] == word


def test_decimal_years_begin_and_end_with_the_year():
    days = np.array([-719_162, 0, 365, 366 + 365 + 365 + 366 / 2 - 1])
    assert decimal_years(days).tolist() == [1.0, 1970.0, 1971.0, 1973.0 + 181 / 365 + 1 / 365]


def warning(held, kind="date"):
    return attribute(held, kind).warning()


def dates(*texts):
    return pa.array([date.fromisoformat(text) for text in texts])


def test_the_first_of_january_in_all_records_is_worth_a_word():
    years = [f"{1950 + year}-01-01" for year in range(12)]
    assert "has 1 January in all records: probably only years are known" in warning(dates(*years))
    months = [f"1950-{month:02d}-01" for month in range(1, 13)]
    assert "has the first of a month in all records: probably only months are known" in warning(dates(*months))
    assert warning(dates(*years[:-1], "1961-01-02")) is None
    assert warning(dates(*years[:9])) is None
    stamps = [datetime(1950 + year, 1, 1, 12) for year in range(12)]
    assert warning(pa.array(stamps), "timestamp") is None


def test_a_date_that_stands_for_a_missing_one_is_worth_a_word():
    some = [f"1980-03-{day:02d}" for day in range(1, 15)]
    found = warning(dates(*some, "9999-12-31", "9999-12-31"))
    assert "holds 9999-12-31 in 2 records: that looks like a mark for 'missing'" in found
    assert "holds 1900-01-01 in 3 records" in warning(dates(*["1900-01-01"] * 3, "1900-01-05", *some))
    assert warning(dates(*some, "9999-12-31")) is None
    assert warning(dates("1900-01-01", "1900-01-01", *[f"1900-{month:02d}-05" for month in range(1, 13)])) is None
