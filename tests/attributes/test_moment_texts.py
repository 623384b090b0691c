import pyarrow as pa
import pytest

from shoal.attributes.base import AgainError
from shoal.attributes.ladder import DAY
from shoal.attributes.moment_texts import CalendarTexts, ClockTexts, LengthTexts, looks_like, texts_reader
from shoal.errors import ShoalError


def again():
    return AgainError(lambda: None)


def texts(*values):
    return pa.chunked_array([list(values)])


def calendar(family="date", asked=None, swapped=False):
    return texts_reader("x", family, again, asked, swapped)


def back(reader, *values):
    """What is written of what was read."""
    read = reader.add(texts(*values))
    reader.finish()
    return reader.form().texts(read.ticks, read.tick)


@pytest.mark.parametrize(
    ("values", "family"),
    [
        (["2024-01-31", "2023-12-01"], "date"),
        (["31.1.2024"], "date"),
        (["2024-13-01"], "date"),  # impossible, but it looks so
        (["2024-01-31", "31.01.2024"], "date"),
        (["2024-01-31 13:45", "2024-01-31"], "timestamp"),
        (["2024-01-31T13:45:10.123+01:00"], "timestamp"),
        (["31/01/2024 9:45"], "timestamp"),
        (["13:45", "9:45:10"], "time-of-day"),
        (["PT5M", "-P1D"], "duration"),
        (["1 days 02:03:04"], "duration"),
        (["26:15:00"], "time-of-day"),
        (["20240131"], None),
        (["31/01/24"], None),
        (["P", "PT"], None),
        (["2024-01-31", "x"], None),
        (["x", "2024-01-31"], None),
        (["2024-01"], None),
        ([], None),
    ],
)
def test_a_column_looks_like_one_family_at_most(values, family):
    column = pa.chunked_array([pa.array(values, pa.string())])
    assert [each for each in ("date", "timestamp", "time-of-day", "duration") if looks_like(column, each)] == (
        [family] if family else []
    )


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("date", ["2024-01-31", "0001-01-01", "9999-12-31", "1600-02-29"]),
        ("date", ["2024/01/31", "1969/12/31"]),
        ("date", ["31.1.2024", "1.12.2024"]),
        ("date", ["31/01/2024", "01/02/2024"]),
        ("date", ["01/31/2024", "01/02/2024"]),
        ("date", ["1/31/2024", "11/2/2024"]),
        ("date", ["31-01-2024"]),
        ("date", ["12-31-2024"]),
        ("date", ["31-JAN-2024", "01-FEB-1900"]),
        ("date", ["31Jan2024"]),
        ("timestamp", ["2024-01-31 13:45", "1969-01-31 09:05"]),
        ("timestamp", ["2024-01-31T13:45:10.123Z", "0001-01-01T00:00:00.000Z"]),
        ("timestamp", ["2024-01-31 13:45:10.123456789+01:00"]),
        ("timestamp", ["31/01/2024 9:45:10 -0530"]),
        ("timestamp", ["2024-01-31 13:45:10+02"]),
        ("time-of-day", ["13:45", "00:00"]),
        ("time-of-day", ["9:45:10.5", "13:45:10.0"]),
        ("duration", ["P1DT2H3M4S", "P3D", "-PT4S"]),
        ("duration", ["PT26H15M", "PT0.5S", "PT1M"]),
        ("duration", ["1 days 02:03:04", "-1 days +23:59:59"]),
    ],
)
def test_every_layout_is_written_back_as_it_came(family, values):
    assert back(texts_reader("x", family, again, None, False), *values) == values


def test_dates_that_need_to_be_said():
    assert back(calendar(asked=""), "20240131") == ["20240131"]
    assert back(calendar(asked="%d/%m/%Y"), "01/02/2024", "1/3/2024") == ["01/02/2024", "01/03/2024"]
    assert back(calendar(asked="%d.%m.%y"), "31.01.24", "31.12.69") == ["31.01.24", "31.12.69"]
    assert calendar(asked="%m/%d/%y").add(texts("01/02/70")).ticks.tolist() == [1]
    given = calendar("timestamp", "%d/%m/%Y %H:%M:%S")
    assert back(given, "01/02/2024 03:04:05", "01/03/2024 03:04:05") == [
        "01/02/2024 03:04:05",
        "01/03/2024 03:04:05",
    ]
    assert back(calendar("timestamp", "%Y%m%d%H%M"), "202401311345") == ["202401311345"]
    assert back(texts_reader("x", "duration", again, "", False), "26:15:00", "1:00:00") == ["26:15:00", "1:00:00"]


@pytest.mark.parametrize("family", ["date", "timestamp"])
def test_days_and_months_that_nothing_tells_apart_are_an_error_with_its_cure(family):
    reader = calendar(family)
    reader.add(texts("01/02/2024" + (" 12:00" if family == "timestamp" else "")))
    layout = "%d/%m/%Y" + (" %H:%M" if family == "timestamp" else "")
    with pytest.raises(ShoalError, match="no row tells whether the day or the month stands first") as error:
        reader.finish()
    assert f"--kind 'x={family}:{layout}' (kinds={{'x': '{family}:{layout}'}})" in str(error.value)
    assert "write them such as 2024-01-31" in str(error.value)


def test_a_later_part_may_tell_days_and_months_apart():
    reader = calendar()
    reader.add(texts("01/02/2024"))
    reader.add(texts("31/01/2024"))
    reader.finish()
    assert reader.form().layout == "%d/%m/%Y"
    reader = calendar()
    reader.add(texts("01/02/2024"))
    with pytest.raises(AgainError):
        reader.add(texts("01/31/2024"))
    fresh = calendar(swapped=True)
    assert fresh.add(texts("01/02/2024")).ticks.tolist() == [19_724]
    fresh.add(texts("01/31/2024"))
    fresh.finish()
    assert fresh.form().layout == "%m/%d/%Y"


def test_days_and_months_in_both_orders_are_an_error_that_names_rows():
    with pytest.raises(
        ShoalError, match=r"day first \('31/01/2024'\).*month first.*\(rows 2, 3\); write all such"
    ):
        calendar().add(texts("01/02/2024", "31/01/2024", "01/31/2024"))
    reader = calendar()
    reader.add(texts("31/01/2024"))
    with pytest.raises(ShoalError, match=r"\(row 2\)"):
        reader.add(texts("01/02/2024", "01/31/2024"))


@pytest.mark.parametrize(
    ("family", "values", "said"),
    [
        ("date", ["2023-01-01", "2023-02-30"], r"impossible dates such as '2023-02-30' \(row 2\); correct"),
        ("date", ["2023-13-01"], r"impossible dates such as '2023-13-01' \(row 1\)"),
        ("date", ["0000-01-01"], "impossible dates"),
        ("date", ["31/13/2024", "31/12/2024"], r"impossible dates such as '31/13/2024' \(row 1\)"),
        ("date", ["31/04/2024"], "impossible dates"),
        ("timestamp", ["2023-01-01 24:00"], "impossible points in time such as '2023-01-01 24:00'"),
        ("timestamp", ["2023-01-01 12:00+25:00"], "impossible points in time"),
        (
            "time-of-day",
            ["12:00", "26:15:00"],
            r"impossible times of day such as '26:15:00' \(row 2\).*kind duration",
        ),
        (
            "duration",
            ["P1Y"],
            r"impossible durations such as 'P1Y' \(row 1\); months and years have no fixed length",
        ),
        ("duration", ["1 days 00:61:00"], "impossible durations"),
        ("date", ["2023-01-01", "01.02.2023"], r"text such as '01.02.2023' \(row 2\); write all dates in one way"),
        ("date", ["31/01/24"], "years have two digits and may be of two centuries.*date:%d/%m/%y"),
        ("date", ["x"], r"text such as 'x' \(row 1\)"),
        ("duration", ["26:15"], r"text such as '26:15' \(row 1\)"),
        ("time-of-day", ["noon"], r"text such as 'noon' \(row 1\); write all times of day in one way"),
        (
            "timestamp",
            ["2023-01-01 12:00", "2023-01-01 12:00Z"],
            r"with an offset from UTC \('2023-01-01 12:00Z'\) and others without .*\(row 1\)",
        ),
        ("timestamp", ["9999-01-01 12:00:00.123456789"], "nanoseconds and goes beyond the 292 years"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_the_row_and_the_value(family, values, said):
    with pytest.raises(ShoalError, match=said):
        texts_reader("x", family, again, "", False).add(texts(*values))


def test_a_part_without_offsets_after_parts_with_them_is_an_error():
    reader = calendar("timestamp")
    reader.add(texts("2023-01-01 12:00Z"))
    with pytest.raises(ShoalError, match=r"others without \('2023-01-01'\) \(row 1\)"):
        reader.add(texts("2023-01-01"))
    reader = calendar("timestamp")
    reader.add(texts("2023-01-01"))
    with pytest.raises(ShoalError, match=r"\(rows 1, 2\)"):
        reader.add(texts("2023-01-01 12:00Z", "2023-01-01 12:00Z"))


def test_several_offsets_become_utc():
    reader = calendar("timestamp")
    made = back(reader, "2024-01-31 13:45+01:00", "2024-07-31 13:45+02:00")
    assert made == ["2024-01-31 12:45+00:00", "2024-07-31 11:45+00:00"]
    assert reader.form().offsets == ("+01:00", "+02:00")
    assert reader.form().zone == "UTC"
    one = calendar("timestamp")
    assert back(one, "2024-01-31 13:45+01:00") == ["2024-01-31 13:45+01:00"]
    assert (one.form().zone, one.form().offsets) == ("+01:00", ())


def test_dates_among_points_in_time_are_midnights():
    assert back(calendar("timestamp"), "2024-01-31 13:45", "2024-01-30") == [
        "2024-01-31 13:45",
        "2024-01-30 00:00",
    ]
    assert back(calendar("timestamp"), "2024-01-31") == ["2024-01-31"]


def test_parts_are_read_in_units_of_their_own():
    reader = calendar("timestamp")
    assert reader.add(texts("1970-01-01 00:00:01")).tick == 1000
    assert reader.add(texts("1970-01-01 00:00:00.000000001")).ticks.tolist() == [1]
    assert reader.form().fraction == 9
    assert calendar().add(texts("1970-01-02", "1970-01-01", "1970-01-02")).ticks.tolist() == [1, 0, 1]
    assert calendar().add(texts("1970-01-02")).tick == DAY


def test_each_family_has_its_reader():
    made = [
        type(texts_reader("x", family, again, None, False))
        for family in ("date", "timestamp", "time-of-day", "duration")
    ]
    assert made == [CalendarTexts, CalendarTexts, ClockTexts, LengthTexts]
