from datetime import date, time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.attributes import KINDS, kind_called, kind_of
from shoal.errors import ShoalError
from shoal.table import Roles, Table

pytestmark = pytest.mark.usefixtures("same_key")

QUASI = ["born", "seen", "zoned", "hour", "stay"]


@pytest.fixture
def people():
    """Sixty people with a column of every kind."""
    rng = np.random.default_rng(0)
    seen = np.datetime64("2024-03-01T00:00:00") + rng.integers(0, 86_400 * 60, 60)
    zoned = pd.Series(seen).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    return pd.DataFrame(
        {
            "born": [date(1950, 1, 1) + pd.Timedelta(days=int(day)) for day in rng.integers(0, 20_000, 60)],
            "seen": seen.astype("datetime64[ns]"),
            "zoned": zoned,
            "hour": [time(int(hour), int(hour)) for hour in rng.integers(0, 24, 60)],
            "stay": pd.to_timedelta(rng.integers(0, 10**6, 60), unit="s"),
            "ill": rng.choice(["no", "yes"], 60),
        }
    )


def kinds_in(data):
    made = Table.of(data, Roles.of(QUASI, "ill"))
    return [kind_of(made.column(name)).name for name in QUASI]


EXPECTED = ["date", "timestamp", "timestamp", "time-of-day", "duration"]


def test_types_have_their_kinds_in_every_dataframe(people):
    assert kinds_in(people) == EXPECTED
    assert kinds_in(pl.from_pandas(people)) == EXPECTED
    assert kinds_in(pa.Table.from_pandas(people)) == EXPECTED


def test_text_has_its_kind(tmp_path, people):
    people.to_csv(tmp_path / "in.csv", index=False)
    assert kinds_in(tmp_path / "in.csv") == EXPECTED
    assert kinds_in(people.astype(str)) == EXPECTED


@pytest.mark.parametrize("frame", [lambda table: table, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_moments_are_released_in_their_types_and_between_their_ends(people, frame, exact):
    data = frame(people)
    release = shoal.anonymize(data, 3, QUASI, "ill", method="mdav", exact=exact)
    assert release.verified_k >= 3
    if isinstance(data, pd.DataFrame):
        assert (release.table.dtypes == data.dtypes).all()
    else:
        assert release.table.schema == data.schema
    made = release.table if isinstance(data, pd.DataFrame) else pl.DataFrame(release.table).to_pandas()
    for name in ("born", "seen", "zoned", "stay"):
        low, high = pd.Series(people[name]).min(), pd.Series(people[name]).max()
        values = made[name].dt.date if name == "born" and made[name].dtype != object else made[name]
        assert values.min() >= low
        assert values.max() <= high
    assert 0 < release.information_loss < 100
    assert {part.name for part in release.loss.attributes} == set(QUASI)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_manifest_and_the_report_say_the_units(tmp_path, people):
    release = shoal.anonymize(people, 3, QUASI, "ill", method="mdav")
    assert release.manifest["digits"]["used"]["seen"] == "1 day"
    assert release.manifest["digits"]["used"]["hour"] == "1 h"
    assert {name: said["kind"] for name, said in release.manifest["attributes"].items()} == dict(
        zip(QUASI, EXPECTED, strict=True)
    )
    page = release.report(tmp_path / "report.html").read_text()
    assert "seen: to 1 day" in page
    assert "hour of the day" in page
    assert "days after 2024-03-0" in page


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("aggregate", ["mean", "median", "mode"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_stream_gives_the_same_bytes(tmp_path, people, suffix, aggregate, monkeypatch):
    monkeypatch.setattr("shoal.files.batches.GROUP", 16)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 16)
    source = tmp_path / f"in.{suffix}"
    people.to_csv(source, index=False) if suffix == "csv" else people.to_parquet(source, index=False)
    asked = {"k": 3, "quasi_identifiers": QUASI, "confidential": "ill", "method": "mdav", "aggregate": aggregate}
    whole = shoal.anonymize(source, **asked)
    whole.write(tmp_path / f"whole.{suffix}")
    streamed = shoal.anonymize_file(source, tmp_path / f"one.{suffix}", blocks=1, **asked)
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()
    assert streamed.information_loss == pytest.approx(whole.information_loss, rel=1e-12)
    assert streamed.manifest["digits"] == whole.manifest["digits"]
    cut = shoal.anonymize_file(source, tmp_path / f"two.{suffix}", blocks=2, **asked)
    assert (cut.verified_k, cut.blocks) == (3, 2)
    assert 0 < cut.information_loss < 100


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_an_interval_is_text_and_needs_memory(tmp_path, people):
    release = shoal.anonymize(people, 3, QUASI, "ill", method="mdav", aggregate="interval")
    assert release.verified_k >= 3
    assert release.table["born"].str.fullmatch(r"\d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?").all()
    people.to_parquet(tmp_path / "in.parquet", index=False)
    with pytest.raises(ShoalError, match="need the table in memory"):
        shoal.anonymize_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", 3, QUASI, "ill", blocks=1, aggregate="interval"
        )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("gaps", ["value", "impute", "pattern", "drop"])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_gaps_among_moments_stay_gaps(tmp_path, people, suffix, gaps):
    people.loc[people.index % 4 == 1, QUASI] = None
    source = tmp_path / f"in.{suffix}"
    people.to_csv(source, index=False) if suffix == "csv" else people.to_parquet(source, index=False)
    asked = {"k": 3, "quasi_identifiers": QUASI, "confidential": "ill", "method": "mdav", "gaps": gaps}
    release = shoal.anonymize(source, **asked)
    assert release.verified_k >= 3
    assert len(release.table) == (45 if gaps == "drop" else 60)
    release.write(tmp_path / f"whole.{suffix}", report=tmp_path / "report.html")
    if suffix == "parquet":
        made = pq.read_table(tmp_path / "whole.parquet")
        assert made.schema.types == pq.read_table(source).schema.types
        assert made["born"].null_count == (15 if gaps == "pattern" else made["born"].null_count)
    if gaps != "drop":
        shoal.anonymize_file(source, tmp_path / f"one.{suffix}", blocks=1, **asked)
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()


def write_csv(path, column, name="x"):
    ages = range(len(column))
    path.write_text(f"age,{name}\n" + "".join(f"{age},{value}\n" for age, value in zip(ages, column, strict=True)))
    return path


@pytest.mark.parametrize("blocks", [None, 1])
def test_an_impossible_date_is_an_error_and_never_text(tmp_path, blocks):
    path = write_csv(tmp_path / "in.csv", ["2023-01-01"] * 5 + ["2023-02-30"])
    with pytest.raises(ShoalError, match=r"impossible dates such as '2023-02-30' \(row 6\)"):
        shoal.anonymize_file(path, tmp_path / "out.csv", 2, ["age", "x"], blocks=blocks)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_order_of_day_and_month_may_be_said(tmp_path):
    path = write_csv(tmp_path / "in.csv", ["01/02/2024", "03/02/2024", "05/02/2024", "07/02/2024"])
    with pytest.raises(ShoalError, match="no row tells whether the day or the month stands first"):
        shoal.anonymize(path, 2, ["age", "x"])
    release = shoal.anonymize(path, 2, ["age", "x"], kinds={"x": "date:%d/%m/%Y"}, method="mdav")
    assert release.table["x"].to_pylist() == ["02/02/2024", "02/02/2024", "06/02/2024", "06/02/2024"]
    swapped = shoal.anonymize(path, 2, ["age", "x"], kinds={"x": "date:%m/%d/%Y"}, method="mdav")
    assert swapped.table["x"].to_pylist() == ["02/01/2024", "02/01/2024", "06/02/2024", "06/02/2024"]
    assert release.manifest["kinds"] == {"x": "date:%d/%m/%Y"}
    with pytest.raises(ShoalError, match=r"the kind 'nominal' has no layouts.*leave ':%d' out"):
        shoal.anonymize(path, 2, ["age", "x"], kinds={"x": "nominal:%d"})
    with pytest.raises(ShoalError, match="has no '%Y'"):
        shoal.anonymize(path, 2, ["age", "x"], kinds={"x": "date:%d/%m"})
    assert kind_called("date:%d") is KINDS["date"]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_numbers_may_be_said_to_be_dates(tmp_path):
    path = write_csv(tmp_path / "in.csv", ["20240131", "20240201", "20240301", "20240302"])
    asked = {"k": 2, "quasi_identifiers": ["age", "x"], "kinds": {"x": "date"}, "method": "mdav"}
    release = shoal.anonymize(path, **asked)
    assert release.table["x"].to_pylist() == [20240201, 20240201, 20240302, 20240302]
    release.write(tmp_path / "whole.parquet")
    shoal.anonymize_file(path, tmp_path / "one.parquet", blocks=1, **asked)
    assert pq.read_table(tmp_path / "one.parquet").equals(pq.read_table(tmp_path / "whole.parquet"))


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_dates_that_turn_out_to_be_points_in_time_or_text_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files.batches.GROUP", 4)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 4)
    days = [f"2024-01-{day:02d}" for day in range(1, 9)]
    for last, kind in (("2024-01-09 12:00", "timestamp"), ("unknown", "nominal")):
        path = write_csv(tmp_path / f"{kind}.csv", [*days, last, last])
        asked = {"k": 2, "quasi_identifiers": ["age", "x"], "method": "mdav"}
        whole = shoal.anonymize(path, **asked)
        assert whole.manifest["attributes"]["x"]["kind"] == kind
        whole.write(tmp_path / f"whole-{kind}.csv")
        streamed = shoal.anonymize_file(path, tmp_path / f"one-{kind}.csv", blocks=1, **asked)
        assert streamed.manifest["attributes"]["x"]["kind"] == kind
        assert (tmp_path / f"one-{kind}.csv").read_bytes() == (tmp_path / f"whole-{kind}.csv").read_bytes()


def test_times_with_several_offsets_are_released_in_utc_and_said(tmp_path):
    path = write_csv(tmp_path / "in.csv", ["2024-01-01 12:00+01:00", "2024-07-01 12:00+02:00"] * 2)
    with pytest.warns(shoal.ShoalWarning, match="several offsets from UTC"):
        release = shoal.anonymize(path, 2, ["age", "x"], method="mdav")
    assert all(text.endswith("+00:00") for text in release.table["x"].to_pylist())
