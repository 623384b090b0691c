import json
from datetime import UTC, date, datetime, timedelta

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes import KINDS, AgainError, Wish, kept_from
from shoal.attributes.base import read_in_one
from shoal.attributes.ladder import DAY, HOUR, MINUTE, TICKS
from shoal.attributes.moment_stream import Settled
from shoal.errors import ShoalError
from shoal.table import Column


def column(values):
    native = values if isinstance(values, (pa.ChunkedArray, pd.Series, pl.Series)) else pa.chunked_array([values])
    return Column("x", nw.from_native(native, series_only=True))


def text(*values):
    held = pa.chunked_array([list(values)])
    return Column("x", nw.from_native(held, series_only=True), held)


def kept_of(kind, *parts, wish=None):
    """What is kept of a column in parts, and what is stored of its records."""
    gathering, stored, before = KINDS[kind].gathering("x", wish or Wish(kind)), [], 0
    for part in parts:
        stored.append(gathering.add(part, before))
        before += len(part)
    gathering.finish()
    kept, settle = gathering.kept(1.0, lambda: iter(stored))
    settled = [settle(part, sum(map(len, stored[:place]))) for place, part in enumerate(stored)]
    for part in settled:
        kept = kept.seen(part)
    return kept, settled


def ends_of(kept):
    """The lowest and the highest moment in text."""
    return kept.values(np.array([0, kept.highest])).text()


@given(st.lists(st.integers(-(10**16), 10**16), min_size=2, max_size=12), st.integers(1, 11), st.data())
def test_parts_make_the_same_whole_as_one(ticks, cut, data):
    held = pa.array(ticks).cast(pa.timestamp("us"))
    cut = min(cut, len(ticks) - 1)
    whole, (stored,) = kept_of("timestamp", column(held))
    parts, settled = kept_of("timestamp", column(held[:cut]), column(held[cut:]))
    assert parts == whole
    assert np.concatenate(settled).tolist() == stored.tolist()
    scaling = data.draw(st.sampled_from(["zscore", "range", "none"]))
    chunks = settled if len(set(ticks)) > 1 else [stored]
    one = whole.scaled(scaling, lambda: iter([stored]), True)
    two = whole.scaled(scaling, lambda: iter(chunks), False)
    assert (two.spread, two.is_constant) == pytest.approx((one.spread, one.is_constant), rel=1e-12)


def test_parts_of_text_with_other_digits_have_the_unit_of_the_finest():
    kept, settled = kept_of(
        "timestamp", text("1970-01-01 00:00:01"), text("1970-01-01 00:00:00.000000001", "1970-01-01 00:00:02")
    )
    assert (kept.tick, kept.finest) == (1, 1)
    assert [part.tolist() for part in settled] == [[999_999_999], [0, 1_999_999_999]]
    assert ends_of(kept) == ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:02.000000000"]


def test_spaces_around_text_are_nothing():
    assert KINDS["date"].takes(text(" 2024-01-31", "2024-02-01 "))
    kept, _ = kept_of("date", text(" 2024-01-31", "2024-02-01 "))
    assert ends_of(kept) == ["2024-01-31", "2024-02-01"]


def test_ticks_are_no_finer_than_the_column():
    held = pa.array([0, 86_400 * 10**9]).cast(pa.timestamp("ns"))
    kept, (stored,) = kept_of("timestamp", column(held))
    assert (kept.tick, kept.finest, stored.tolist()) == (TICKS["s"], DAY, [0, 86_400])
    tenths, _ = kept_of("timestamp", text("2024-01-01 00:00:00.1", "2024-01-01 00:00:00.3"))
    assert tenths.finest == 10**8
    common = tenths.attribute(np.array([0, 100, 200])).common_values(
        np.arange(3), np.array([0, 3]), "mean", False, None
    )
    assert common.text() == ["2024-01-01 00:00:00.2"]


def test_a_whole_of_several_offsets_is_as_fine_as_it_is_in_utc():
    kept, _ = kept_of("timestamp", text("2024-01-01 00:00+05:30"), text("2024-01-02 00:00+01:00"))
    assert kept.finest == MINUTE
    assert "several offsets from UTC (+01:00, +05:30); they are released in UTC" in kept.warning(
        lambda: iter([np.zeros(2, np.int64)])
    )
    one, _ = kept_of("timestamp", text("2024-01-01 00:00+05:30"), text("2024-01-02 00:00+05:30"))
    assert one.finest == DAY
    assert one.warning(lambda: iter([np.zeros(2, np.int64)])) is None


@pytest.mark.parametrize(
    "part",
    [
        column(pa.array([date(1, 1, 1), date(9999, 12, 31)])),
        column(pd.Series([datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])),
        column(pl.Series([timedelta(1), timedelta(-3)])),
        text("2024-01-31 13:45+01:00", "2024-07-31 13:45+02:00"),
    ],
)
def test_what_a_stream_keeps_comes_back_from_json(part):
    kind = next(kind.name for kind in reversed(KINDS.values()) if kind.takes(part))
    kept, _ = kept_of(kind, part)
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert again == kept
    assert ends_of(again) == ends_of(kept)
    assert (kept.width, kept.bare().kind) == (1, kind)


def test_common_values_survive_being_stored():
    kept, (stored,) = kept_of("date", text("31.01.2024", "02.02.2024"))
    common = kept.attribute(stored).common_values(np.arange(2), np.array([0, 2]), "mean", False, None)
    assert kept.values(kept.codes(common)).text() == common.text() == ["01.02.2024"]
    interval = kept.attribute(stored).common_values(np.arange(2), np.array([0, 2]), "interval", False, None)
    assert interval.text() == ["31.01.2024 to 02.02.2024"]
    with pytest.raises(ShoalError, match="need the table in memory"):
        kept.codes(interval)


def test_rows_are_counted_from_the_first_part_on():
    gathering = KINDS["date"].gathering("x", Wish())
    gathering.add(text("2024-01-01", "2024-01-02"), 0)
    with pytest.raises(ShoalError, match=r"'x' holds impossible dates such as '2024-02-30' \(row 4\)"):
        gathering.add(text("2024-01-01", "2024-02-30"), 2)


def test_a_month_that_shows_late_asks_for_another_reading():
    gathering = KINDS["date"].gathering("x", Wish())
    gathering.add(text("01/02/2024"), 0)
    with pytest.raises(AgainError) as again:
        gathering.add(text("01/31/2024"), 1)
    fresh = again.value.fresh()
    fresh.add(text("01/02/2024"), 0)
    fresh.add(text("01/31/2024"), 1)
    fresh.finish()
    kept, _ = fresh.kept(1.0, lambda: iter(()))
    assert ends_of(kept) == ["01/02/2024", "01/31/2024"]
    assert kept.origin == 19_724


def test_the_layout_is_that_of_the_wish():
    kept, _ = kept_of("date", text("01/02/2024", "01/03/2024"), wish=Wish("date:%m/%d/%Y"))
    assert (kept.origin, ends_of(kept)) == (19_724, ["01/02/2024", "01/03/2024"])
    kept, _ = kept_of("date", column(pa.array([20240131, 20240201])))
    assert ends_of(kept) == ["20240131", "20240201"]


@pytest.mark.parametrize(
    ("kind", "part", "said"),
    [
        (
            "date",
            column(pa.array([datetime(2024, 1, 1)])),
            "holds points in time, not dates; say the kind timestamp",
        ),
        ("timestamp", column(pa.array([date(2024, 1, 1)])), "holds dates, not points in time; say the kind date"),
        (
            "time-of-day",
            column(pa.array([1.5])),
            "of type Float64 cannot be read as times of day; leave the kind out",
        ),
        (
            "date",
            column(pd.Series(["2024-01-01"], dtype="category")),
            "cannot be read as dates; turn it into text",
        ),
        ("duration", column(pa.array([3])), "of type Int64 cannot be read as durations"),
        ("date", text("31/01/24"), "years have two digits"),
    ],
)
def test_a_kind_that_a_column_cannot_be_is_an_error(kind, part, said):
    with pytest.raises(ShoalError, match=said):
        read_in_one(KINDS[kind].gathering("x", Wish(kind)), part)


def test_nanoseconds_over_too_many_years_are_an_error():
    held = pa.array([-(2**62) - 1, 2**62]).cast(pa.timestamp("ns"))
    with pytest.raises(ShoalError, match="nanoseconds and spans more than 146 years"):
        kept_of("timestamp", column(held))
    with pytest.raises(ShoalError, match="nanoseconds and spans more than 146 years"):
        kept_of("timestamp", text("2024-01-01 00:00:00.000000001"), text("9999-01-01"))


def test_an_empty_part_has_nothing_to_keep():
    gathering = KINDS["date"].gathering("x", Wish())
    assert gathering.add(column(pa.array([], pa.date32())), 0).tolist() == []


def test_settling_may_begin_and_end_anywhere():
    settled = Settled([(2, 1000), (3, 1)], 1, 5)
    values = np.array([1, 2, 5, 6, 7])
    expected = [995, 1995, 0, 1, 2]
    assert settled(values, 0).tolist() == expected
    for start in range(5):
        for end in range(start, 6):
            assert settled(values[start:end], start).tolist() == expected[start:end]
    assert Settled([(1, 1)], HOUR, 0)(np.array([3 * HOUR]), 0).tolist() == [3]
