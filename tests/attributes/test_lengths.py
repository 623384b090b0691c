import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes.layouts import Fields
from shoal.attributes.lengths import LAYOUTS, length_layout_of, length_manner, length_text, lengths_of

NANOSECONDS = st.integers(-(10**17), 10**17) | st.integers(-(10**6), 10**6).map(lambda s: s * 10**9)


def read(texts, layout):
    fields = Fields.of(pa.array(texts), LAYOUTS[layout])
    assert fields.matched.all()
    seconds, rest, possible = lengths_of(fields, layout)
    return (seconds * 10**9 + rest)[possible].tolist()


@given(st.lists(NANOSECONDS, min_size=1, max_size=9), st.sampled_from(["iso", "iso with days", "days", "clock"]))
def test_every_duration_is_read_and_written_as_it_came(lengths, layout):
    texts = [length_text(length, layout, 9) for length in lengths]
    assert read(texts, layout.split()[0]) == lengths


@given(NANOSECONDS)
def test_durations_of_pandas_are_read_as_pandas_does(length):
    delta = pd.Timedelta(length, "ns")
    assert read([str(delta)], "days") == [length]
    assert pd.Timedelta(length_text(length, "days", 9)).value == length
    assert pd.Timedelta(length_text(length, "iso with days", 9)).value == length
    if length >= 0:
        assert read([delta.isoformat()], "iso") == [length]


@pytest.mark.parametrize(
    ("text", "layout", "asked"),
    [
        ("PT26H15M", "iso", "iso"),
        ("P1DT2H", "iso", "iso"),
        ("1 days 02:03:04", "days", "days"),
        ("-1 days +23:00:00", "days", "days"),
        ("3 days", "days", "days"),
        ("26:15:00", None, "clock"),
        ("26:15", None, None),
        ("P", None, None),
        ("PT", None, None),
        ("P1DT", None, None),
        ("days", None, None),
    ],
)
def test_a_duration_is_known_when_it_is_seen_or_said(text, layout, asked):
    assert length_layout_of(text, False) == layout
    assert length_layout_of(text, True) == asked


def test_years_months_and_sixty_minutes_are_no_lengths():
    assert read(["P1Y", "P2M", "P2W", "PT90M"], "iso") == [14 * 86_400 * 10**9, 90 * 60 * 10**9]
    assert read(["1 days 02:60:00", "1 days 25:00:00"], "days") == []
    assert read(["100:59:60", "100:59:59"], "clock") == [(101 * 3600 - 1) * 10**9]


@pytest.mark.parametrize(
    ("texts", "layout", "written", "zero"),
    [
        (["PT26H15M"], "iso", "iso", "PT0S"),
        (["P1DT2H", "PT3S"], "iso", "iso with days", "P0D"),
        (["3 days", "2 days"], "days", "days only", "0 days"),
        (["3 days", "2 days 00:00:01"], "days", "days", "0 days 00:00:00"),
        (["1:15:00", "26:00:00"], "clock", "short clock", "0:00:00"),
        (["01:15:00"], "clock", "clock", "00:00:00"),
    ],
)
def test_durations_are_written_in_the_manner_of_their_column(texts, layout, written, zero):
    manner = length_manner(Fields.of(pa.array(texts), LAYOUTS[layout]))
    assert manner.written(layout) == written
    assert length_text(0, written, 0) == zero
    assert manner.joined(manner) == manner


def test_the_longest_duration_that_is_read_does_not_overflow():
    fields = Fields.of(pa.array(["P999999W", "P9999999DT99999999H999999999M99999999999S"]), LAYOUTS["iso"])
    seconds = 9_999_999 * 86_400 + 99_999_999 * 3600 + 999_999_999 * 60 + 99_999_999_999
    assert lengths_of(fields, "iso")[0].tolist() == [999_999 * 7 * 86_400, seconds]
    assert seconds * 10**6 < 2**63
