from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes.layouts import (
    COMPACT,
    DATES,
    SWAPPED,
    Fields,
    Manner,
    checked_layout,
    civil,
    date_expression,
    has_short_year,
    layout_of,
    moment_expression,
    written,
)
from shoal.errors import ShoalError

EPOCH = date(1970, 1, 1).toordinal()


def spelled(day, layout):
    """A date by hand: Python's own strftime drops leading zeros of years."""
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    parts = {
        "%Y": f"{day.year:04d}",
        "%m": f"{day.month:02d}",
        "%d": f"{day.day:02d}",
        "%b": months[day.month - 1],
    }
    for token, text in parts.items():
        layout = layout.replace(token, text)
    return layout


@given(st.lists(st.dates(), min_size=1, max_size=20), st.sampled_from([*DATES, COMPACT, *SWAPPED.values()]))
def test_every_date_is_read_and_written_as_it_came(dates, layout):
    texts = [spelled(day, layout) for day in dates]
    days, possible = Fields.of(pa.array(texts), date_expression(layout)).days()
    assert possible.all()
    assert days.tolist() == [day.toordinal() - EPOCH for day in dates]
    zeros = np.zeros(len(days), np.int64)
    assert written(layout, days, zeros, 0, zeros) == texts


@given(st.integers(1, 9999), st.integers(0, 99), st.integers(0, 99))
def test_a_date_is_possible_where_the_calendar_has_it(year, month, day):
    _, possible = Fields.of(pa.array([f"{year:04d}-{month:02d}-{day:02d}"]), date_expression("%Y-%m-%d")).days()
    try:
        date(year, month, day)
    except ValueError:
        assert not possible[0]
    else:
        assert possible[0]


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(
    st.lists(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=OFFSETS), min_size=1, max_size=9),
    st.sampled_from(" T"),
)
def test_a_point_in_time_is_read_as_python_reads_it(moments, between):
    texts = [moment.isoformat(between) for moment in moments]
    fields = Fields.of(pa.array(texts), moment_expression("%Y-%m-%d"))
    (days, _), (seconds, _), (offsets, _) = fields.days(), fields.time(), fields.offsets()
    found = (days * 86_400 + seconds - offsets) * 10**6 + fields.nanoseconds() // 1000
    since = datetime(1970, 1, 1, tzinfo=UTC)
    assert found.tolist() == [(moment - since) // timedelta(microseconds=1) for moment in moments]


@given(st.lists(st.times(), min_size=1, max_size=9))
def test_a_time_of_day_is_written_as_python_writes_it(times):
    clock = np.array([(t.hour * 3600 + t.minute * 60 + t.second) * 10**9 + t.microsecond * 1000 for t in times])
    zeros = np.zeros(len(times), np.int64)
    assert written("%H:%M:%S", zeros, clock, 6, zeros) == [t.isoformat("microseconds") for t in times]


@given(st.lists(st.integers(-(10**7), 10**7), min_size=1))
def test_days_have_the_years_months_and_days_of_numpy(days):
    found = civil(np.array(days))
    texts = [str(np.datetime64(day, "D")) for day in days]
    assert [f"{y:04d}-{m:02d}-{d:02d}" for y, m, d in zip(*map(list, found), strict=True)] == texts


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("2024-01-31", "%Y-%m-%d"),
        ("2024/1/31", "%Y/%m/%d"),
        ("31.01.2024", "%d.%m.%Y"),
        ("1/31/2024", "%d/%m/%Y"),
        ("31-01-2024", "%d-%m-%Y"),
        ("31-Jan-2024", "%d-%b-%Y"),
        ("31JAN2024", "%d%b%Y"),
        ("20240131", None),
        ("31/01/24", None),
        ("2024-01", None),
        ("31-Foo-2024", None),
        ("2024-01-31 13:45", None),
    ],
)
def test_a_date_is_known_when_it_is_seen(text, layout):
    assert layout_of(text, False, False) == layout


def test_numbers_are_dates_only_where_that_is_said():
    assert layout_of("20240131", True, False) == COMPACT
    assert has_short_year("31/01/24")
    assert has_short_year("1-Jan-24")
    assert not has_short_year("31/01/2024")


def test_a_manner_keeps_missing_zeros_capital_letters_and_offsets():
    def manner(*texts, layout):
        return Fields.of(pa.array(texts), moment_expression(layout)).manner()

    assert manner("1/2/2024", "11/12/2024", layout="%d/%m/%Y").written("%d/%m/%Y") == "%-d/%-m/%Y"
    assert manner("01/02/2024", "1/2/2024", layout="%d/%m/%Y").written("%d/%m/%Y") == "%d/%m/%Y"
    assert manner("01-JAN-2024", layout="%d-%b-%Y").written("%d-%b-%Y") == "%d-%^b-%Y"
    assert manner("01-Jan-2024", layout="%d-%b-%Y").written("%d-%b-%Y") == "%d-%b-%Y"
    zones = {"Z": "Z", " Z": " Z", "+0100": "%z", "+01": "%+z", "+01:00": "%:z", "-05:30": "%:z"}
    for zone, suffix in zones.items():
        assert manner(f"2024-01-31 9:45{zone}", layout="%Y-%m-%d").suffix() == suffix
    both = manner("2024-01-31 9:45:10.5+01:00", layout="%Y-%m-%d").joined(
        manner("2024-01-31 9:45Z", layout="%Y-%m-%d")
    )
    assert (both.suffix(), both.time(), both.fraction) == ("%:z", "%-H:%M:%S", 1)
    assert Manner().suffix() == ""


def test_offsets_are_written_in_three_ways():
    zero, offset = np.zeros(1, np.int64), np.array([-19_800])
    assert written("%z|%:z|%+z", zero, zero, 0, offset) == ["-0530|-05:30|-05"]
    assert written("%:z", zero, zero, 0, np.array([3208])) == ["+00:53:28"]


def test_years_of_two_digits_are_those_of_posix():
    fields = Fields.of(pa.array(["68", "69", "00", "99"]), "^(?P<y>[0-9]{2})$")
    assert fields.year().tolist() == [2068, 1969, 2000, 1999]


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ("%d/%m", "has no '%Y'"),
        ("%d/%m/%Q", "the part '%Q', which is not known"),
        ("%d/%m/%Y %d", "has '%d' twice"),
        ("%Y", "has no '%m'"),
    ],
)
def test_a_layout_that_cannot_be_read_is_an_error(layout, said):
    with pytest.raises(ShoalError, match=said):
        checked_layout(layout, "Ymd")
    assert checked_layout("%d/%m/%y", "Ymd") == "%d/%m/%y"


def test_numbers_that_touch_have_all_their_digits():
    assert Fields.of(pa.array(["20240131", "2024131"]), date_expression(COMPACT)).matched.tolist() == [True, False]


def test_times_beyond_the_clock_are_impossible():
    texts = pa.array(["2024-01-31 24:00", "2024-01-31 12:60", "2024-01-31 12:00:60", "2024-01-31 23:59:59"])
    assert Fields.of(texts, moment_expression("%Y-%m-%d")).time()[1].tolist() == [False, False, False, True]
