from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes.ladder import DAY, TICKS
from shoal.attributes.moments import Form, MomentValues, family_of, instants_of, offsets_of, read_typed, texts_in
from shoal.errors import ShoalError
from shoal.table import Column

BERLIN = ZoneInfo("Europe/Berlin")
DATES = [date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]
STAMPS = [datetime(1903, 7, 1, 23, 59, 59), datetime(1969, 12, 31), datetime(2024, 3, 31, 1, 59, 59)]
ZONED = [datetime(2024, 3, 31, 0, 59, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, tzinfo=UTC)]
TIMES = [time(0), time(13, 45, 10), time(23, 59, 59)]
LENGTHS = [timedelta(days=-3, seconds=7), timedelta(0), timedelta(days=40_000)]


def columns_of(family):
    """The same moments in every dataframe and every type that there is for them."""
    values = {"date": DATES, "timestamp": STAMPS, "zoned": ZONED, "time-of-day": TIMES, "duration": LENGTHS}[
        family
    ]
    types = {
        "date": [pa.date32(), pa.date64()],
        "timestamp": [pa.timestamp(unit) for unit in TICKS],
        "zoned": [pa.timestamp(unit, "Europe/Berlin") for unit in TICKS],
        "time-of-day": [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
        "duration": [pa.duration(unit) for unit in TICKS],
    }[family]
    for kind in types:
        held = pa.chunked_array([pa.array(values).cast(kind)])
        yield held
        yield pd.Series(pd.arrays.ArrowExtensionArray(held))
        if kind != pa.date64():  # polars makes points in time of them
            yield pl.Series("x", held)
        made = held.to_pandas()
        if made.dtype != object:
            yield made
    objects = [value.astimezone(BERLIN) for value in values] if family == "zoned" else values
    yield pd.Series(objects, dtype=object)


def column(native):
    return Column("x", nw.from_native(native, series_only=True))


@pytest.mark.parametrize("family", ["date", "timestamp", "zoned", "time-of-day", "duration"])
def test_moments_come_back_in_the_type_that_they_came_in(family):
    for native in columns_of(family):
        read, form = read_typed(column(native))
        assert family_of(column(native)) == form.family == family.replace("zoned", "timestamp")
        like = nw.from_native(native, series_only=True)
        values = MomentValues(form, read.tick, read.ticks, np.zeros(3), np.zeros(3))
        for keep in (True, False):
            made = values.column(like, np.arange(len(native))[::-1], keep).to_native()
            assert type(made) is type(native)
            if isinstance(native, pa.ChunkedArray):
                assert made.type == native.type
                assert made.to_pylist() == native.to_pylist()[::-1]
            else:
                assert made.dtype == native.dtype
                assert made.to_list() == native.to_list()[::-1]


@pytest.mark.parametrize("family", ["date", "timestamp", "zoned", "time-of-day", "duration"])
def test_a_label_below_zero_is_a_gap(family):
    for native in columns_of(family):
        read, form = read_typed(column(native))
        values = MomentValues(form, read.tick, read.ticks, np.zeros(3), np.zeros(3))
        labels = np.where(np.arange(len(native)) == 1, -1, 0)
        like = nw.from_native(native, series_only=True)
        made = values.gapped(like, labels, "NA")
        assert made.is_null().to_list() == (labels < 0).tolist()
        assert made.dtype == like.dtype


def test_ticks_are_those_of_python():
    (days, _), (stamps, form) = (read_typed(column(pd.Series(values, dtype=object))) for values in (DATES, STAMPS))
    assert days.ticks.tolist() == [day.toordinal() - date(1970, 1, 1).toordinal() for day in DATES]
    assert stamps.tick == TICKS["us"]
    epoch = datetime(1970, 1, 1)
    assert stamps.ticks.tolist() == [(value - epoch) // timedelta(microseconds=1) for value in STAMPS]
    assert form == Form("timestamp", "us", None, "%Y-%m-%d %H:%M:%S")


def test_nanoseconds_of_pandas_are_kept():
    stamp, length = pd.Timestamp(1234567890123456789, unit="ns", tz="UTC"), pd.Timedelta(5, "ns")
    read, form = read_typed(column(pd.Series([stamp, stamp], dtype=object)))
    assert (read.tick, read.ticks.tolist(), form.zone) == (1, [1234567890123456789] * 2, "UTC")
    assert read_typed(column(pd.Series([length, -length], dtype=object)))[0].ticks.tolist() == [5, -5]
    early = pd.Timestamp("1500-01-01").as_unit("us")
    with pytest.raises(ShoalError, match="nanoseconds and years before 1678"):
        read_typed(column(pd.Series([stamp.tz_localize(None), early], dtype=object)))


def test_dates_among_points_in_time_are_midnights():
    for values in ([date(2024, 1, 2), datetime(2024, 1, 2, 3)], [datetime(2024, 1, 2, 3), date(2024, 1, 2)]):
        read, form = read_typed(column(pd.Series(values, dtype=object)))
        assert form.family == "timestamp"
        assert np.ptp(read.ticks) == 3 * 3600 * 10**6


def test_points_in_time_with_and_without_a_zone_do_not_mix():
    mixed = pd.Series([ZONED[0], STAMPS[0]], dtype=object)
    with pytest.raises(ShoalError, match=r"without a zone beside others with one \(row 2\)"):
        read_typed(column(mixed))
    with pytest.raises(ShoalError, match=r"times of day with a zone \(row 1\)"):
        read_typed(column(pd.Series([time(3, tzinfo=UTC)], dtype=object)))


def test_objects_of_several_zones_keep_their_instants_and_have_the_first_zone():
    east = timezone(timedelta(hours=2))
    values = [datetime(2024, 1, 1, 12, tzinfo=BERLIN), datetime(2024, 1, 1, 12, tzinfo=east)]
    read, form = read_typed(column(pd.Series(values, dtype=object)))
    assert form.zone == "Europe/Berlin"
    assert read.ticks[0] - read.ticks[1] == 3600 * 10**6


def test_other_columns_are_no_moments():
    for native in (pd.Series([1, 2]), pd.Series(["a"]), pd.Series([date(2024, 1, 1), "x"], dtype=object)):
        assert family_of(column(native)) is None
    assert family_of(column(pd.Series([time(1), timedelta(1)], dtype=object))) is None
    assert texts_in(column(pd.Series([1, 2]))) is None
    assert texts_in(column(pl.Series(["13:45"]))).to_pylist() == ["13:45"]


def test_a_gap_in_a_type_is_named():
    with pytest.raises(ShoalError, match=r"missing values \(row 2\)"):
        read_typed(column(pl.Series([date(2024, 1, 1), None])))


@given(st.lists(st.datetimes(datetime(1900, 1, 2), datetime(2037, 1, 1)), min_size=1, max_size=9))
def test_the_clocks_of_a_zone_are_those_of_python(moments):
    since = datetime(1970, 1, 1)
    ticks = np.array([(moment - since) // timedelta(microseconds=1) for moment in moments])
    offsets = offsets_of(ticks, TICKS["us"], "Europe/Berlin")
    aware = [moment.replace(tzinfo=UTC).astimezone(BERLIN) for moment in moments]
    assert offsets.tolist() == [moment.utcoffset().total_seconds() for moment in aware]
    assert offsets_of(ticks, TICKS["us"], None).tolist() == [0] * len(ticks)
    walls = ticks + offsets * 10**6
    back = instants_of(walls, TICKS["us"], "Europe/Berlin")
    first = [moment.replace(fold=0).astimezone(UTC).replace(tzinfo=None) for moment in aware]
    assert back.tolist() == [(moment - since) // timedelta(microseconds=1) for moment in first]


def test_a_time_that_clocks_leap_over_is_the_moment_of_the_leap():
    wall = np.array([(datetime(2024, 3, 31, 2, 30) - datetime(1970, 1, 1)) // timedelta(seconds=1)])
    leap = (datetime(2024, 3, 31, 1) - datetime(1970, 1, 1)) // timedelta(seconds=1)
    assert instants_of(wall, TICKS["s"], "Europe/Berlin").tolist() == [leap]


def test_text_has_the_offset_of_the_clocks():
    form = Form.of_type("timestamp", "s", "Europe/Berlin")
    ticks = np.array([int(moment.timestamp()) for moment in ZONED])
    assert form.texts(ticks, TICKS["s"]) == ["2024-03-31 01:59:00+01:00", "2024-10-27 02:30:00+01:00"]
    assert Form.of_type("date", "D", None).texts(np.array([-1, 0]), DAY) == ["1969-12-31", "1970-01-01"]


def test_a_form_comes_back_from_json():
    form = Form("timestamp", "", "UTC", "%Y", 3, ("+01:00", "+02:00"))
    assert Form.from_dict({**vars(form), "offsets": list(form.offsets)}) == form


def test_whole_numbers_stay_whole_numbers():
    form = Form("date", layout="%Y%m%d")
    values = MomentValues(form, DAY, np.array([0, 31]), np.zeros(2), np.zeros(2))
    for native in (pa.chunked_array([[1, 2]]), pl.Series([1, 2]), pd.Series([1, 2])):
        made = values.column(nw.from_native(native, series_only=True), np.array([1, 0]), True)
        assert made.to_list() == [19700201, 19700101]


def test_an_interval_is_text_whatever_came():
    form = Form.of_type("date", "D", None)
    values = MomentValues(form, DAY, np.array([0, 31]), np.zeros(2), np.zeros(2), np.array([1, 31]))
    for native in (pa.chunked_array([DATES]), pl.Series(DATES), pd.Series(DATES)):
        made = values.column(nw.from_native(native, series_only=True), np.array([0, 1, 0, 0]), True)
        assert made.to_list() == ["1970-01-01 to 1970-01-02", "1970-02-01", *["1970-01-01 to 1970-01-02"] * 2]
    assert values.native() == values.text()
