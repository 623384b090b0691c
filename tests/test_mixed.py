"""Small tables that mix all kinds of columns, with gaps and policies; releases are read by readers that are not ours."""

import csv
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import date, datetime, time

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
import shoal
from shoal.errors import ShoalError

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.ShoalWarning"), pytest.mark.usefixtures("same_key")]

GAPS = ["", "NA", "?", ".", " n/a ", "null"]
"""How a CSV file may write a gap."""

WORDS = ["a", "b", "x,y", 'the "c"', "é", "two words", " b", "B"]
SCALE = ["low", "medium", "high"]
CODES = ["I10", "I11", "I20", "J10", "J99", "K52"]


@dataclass(frozen=True)
class Sort:
    """A sort of column: how its values are drawn, what is asked for it, and which common values it can have."""

    values: st.SearchStrategy
    asked: dict
    common: tuple = ("mode", "set", "share")

    is_number: bool = False


NUMBER, ORDER = ("median", "mode", "interval"), ("median", "mode", "interval", "set", "share")
SORTS = {
    "whole": Sort(st.integers(-9, 40), {}, NUMBER, True),
    "tenths": Sort(st.integers(0, 300).map(lambda units: units / 10), {}, NUMBER, True),
    "real": Sort(st.integers(1, 40).map(lambda number: 100 / number), {}, NUMBER, True),
    "flag": Sort(st.booleans(), {}, ("median", "mode")),
    "word": Sort(st.sampled_from(WORDS), {}),
    "rare": Sort(st.integers(0, 99).map(lambda number: f"v{number}"), {}),
    "level": Sort(st.sampled_from(SCALE), {}),
    "grade": Sort(st.sampled_from(["z", "y", "x", "w"]), {"orders": ["z", "y", "x", "w", "v"]}, ORDER),
    "number": Sort(st.integers(1, 5), {"kinds": "nominal"}),
    "pair": Sort(st.sampled_from(["yes", "no"]), {"kinds": "boolean"}),
    "code": Sort(st.sampled_from(CODES), {"prefixes": [1, 2]}, ("mode",)),
    "zip": Sort(st.sampled_from([10115, 10117, 10961, 80331]), {"prefixes": [1, 3]}, ("mode", "set", "share")),
    "day": Sort(st.dates(date(1950, 1, 1), date(2020, 12, 31)), {}, NUMBER),
    "moment": Sort(
        st.datetimes(datetime(1990, 1, 1), datetime(2030, 12, 31)).map(lambda at: at.replace(microsecond=0)),
        {},
        NUMBER,
    ),
    "hour": Sort(st.times().map(lambda at: at.replace(second=0, microsecond=0)), {}, ("median", "mode")),
    "income": Sort(
        st.integers(0, 500).map(lambda units: max(0, units - 200)), {"kinds": "semi-continuous"}, NUMBER, True
    ),
    "lat": Sort(st.integers(470, 550).map(lambda units: units / 10), {}, (), True),
    "lon": Sort(st.integers(60, 150).map(lambda units: units / 10), {}, (), True),
}
PLACE = ("lat", "lon")
REFUSED = "fewer than k|is more than there are records|so none is left|is not semi-continuous"


@dataclass(frozen=True)
class Drawn:
    """A table, None for gaps, and what is asked of it."""

    columns: dict
    policies: dict
    k: int
    options: dict

    @property
    def n(self):
        return len(next(iter(self.columns.values())))

    def gaps(self, name):
        """The records that lack a value; a place lacks both where it lacks one."""
        parts = [self.columns[part] for part in (PLACE if name in PLACE else (name,))]
        return [None in values for values in zip(*parts, strict=True)]

    def kept(self):
        """The records that are not dropped."""
        dropped = [name for name, policy in self.policies.items() if policy == "drop"]
        gaps = [self.gaps(name) for name in dropped]
        return [i for i in range(self.n) if not any(gap[i] for gap in gaps)]


@st.composite
def mixed(draw, policies=("drop", "pattern", "blank", "value", "impute"), most=40):
    """A table of 8 records or more with one to five columns, some of which have gaps."""
    n, k = draw(st.integers(8, most)), draw(st.integers(2, 5))
    names = draw(st.lists(st.sampled_from(sorted({*SORTS} - {"lon"})), min_size=1, max_size=5, unique=True))
    names += ["lon"] if "lat" in names else []
    columns, chosen, options = {}, {}, defaultdict(dict)
    for name in names:
        column = draw(st.lists(SORTS[name].values, min_size=n, max_size=n))
        if share := draw(st.sampled_from([0, 0, 1, 3, 6])):
            chosen[name] = draw(st.sampled_from(policies))
            gaps = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
            column = [None if gap < share else value for gap, value in zip(gaps, column, strict=True)]
        columns[name] = column
        for option, value in SORTS[name].asked.items():
            options[option][name] = value
        if SORTS[name].common and draw(st.integers(0, 3)) == 0:
            options["aggregate"][name] = draw(st.sampled_from(SORTS[name].common))
    if {*PLACE} & {*chosen}:  # a place is one attribute, which has one policy
        policy = chosen.get("lat") or chosen["lon"]
        chosen["lon"] = chosen["lat"] = "value" if policy == "impute" else policy  # no place is typical
    options["scaling"] = draw(st.sampled_from(["zscore", "zscore", "range", "none"]))
    return Drawn(columns, chosen, k, dict(options))


def asked_of(drawn):
    """The arguments of `anonymize`."""
    roles = {"quasi_identifiers": list(drawn.columns), "confidential": ["ref", "note"]}
    return {"k": drawn.k, "gaps": drawn.policies, "method": "mdav"} | roles | drawn.options


def others(n):
    """Columns that stay as they are; `ref` tells the records apart."""
    return {"ref": [str(1000 + i) for i in range(n)], "note": [["", "NA", "=1", "x, y"][i % 4] for i in range(n)]}


def write_csv(drawn, path):
    """The table as text; gaps are written in several ways, one of them mostly."""
    columns = {
        name: [GAPS[(i * i) % len(GAPS)] if value is None else str(value) for i, value in enumerate(column)]
        for name, column in drawn.columns.items()
    }
    columns |= others(drawn.n)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return {name: [row[place] for row in rows] for place, name in enumerate(header)}


def write_parquet(drawn, path):
    pa.parquet.write_table(pa.table(drawn.columns | others(drawn.n)), path)
    return path


def read_parquet(path):
    return pa.parquet.ParquetFile(path).read().to_pydict()


def is_gap(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and value.strip().lower() in ("", "na", "?", ".", "n/a", "null")


def must_refuse(drawn):
    """Whether there is no release: too few records are left, share their gaps, or are at an end of the incomes."""
    kept = drawn.kept()
    if len(kept) < drawn.k:
        return True
    incomes = [drawn.columns["income"][i] for i in kept] if "income" in drawn.columns else []
    incomes = sorted(value for value in incomes if value is not None)
    if incomes and max(incomes.count(incomes[0]), incomes.count(incomes[-1])) < 2:
        return True
    apart = {
        name: drawn.policies[name] for name in drawn.columns if drawn.policies.get(name) in ("pattern", "blank")
    }
    gaps = {name: [drawn.gaps(name)[i] for i in kept] for name in apart if name != "lon"}
    gaps = {name: column for name, column in gaps.items() if any(column)}
    if not gaps:
        return False
    patterns = list(zip(*gaps.values(), strict=True))
    return naive.joined_patterns(patterns, [apart[name] == "blank" for name in gaps], drawn.k) is None


def check(drawn, release, found):
    """What left, as a reader that is not ours has it."""
    kept = drawn.kept()
    kept_as_they_are = others(drawn.n)
    rows = {ref: place for place, ref in enumerate(found["ref"])}
    assert sorted(rows) == [kept_as_they_are["ref"][i] for i in kept]
    assert list(found) == [*drawn.columns, "ref", "note"]
    places = [rows[kept_as_they_are["ref"][i]] for i in kept]
    assert [found["note"][place] for place in places] == [kept_as_they_are["note"][i] for i in kept]
    released = {name: [found[name][place] for place in places] for name in drawn.columns}
    counts = Counter(zip(*released.values(), strict=True))
    assert min(counts.values()) >= drawn.k
    assert release.partition.sizes.min() >= drawn.k
    by_group = defaultdict(set)
    refs = map(str, release.original.frame["ref"].to_list())
    labels = dict(zip(refs, release.labels.tolist(), strict=True))
    for i, values in zip(kept, zip(*released.values(), strict=True), strict=True):
        by_group[labels[kept_as_they_are["ref"][i]]].add(values)
    assert all(len(values) == 1 for values in by_group.values())
    for name in drawn.columns:
        check_column(drawn, name, kept, released[name])


def plain(value):
    """A value as text; a number without its decimals where it is whole."""
    if isinstance(value, bool):
        return str(value)
    try:
        number = float(value)
        return str(int(number) if number.is_integer() else number)
    except (ValueError, TypeError):
        return str(value)


def check_column(drawn, name, kept, released):
    """Gaps are where the policy has them; the other values exist in the column."""
    gaps, policy = [is_gap(value) for value in released], drawn.policies.get(name)
    came = [drawn.gaps(name)[i] for i in kept]
    if not any(came) or (policy in ("drop", "impute") and not all(came)):
        assert not any(gaps)
    if policy == "pattern":
        assert gaps == came
    if policy == "blank":
        assert all(gap for gap, before in zip(gaps, came, strict=True) if before)
    present = [drawn.columns[name][i] for i, gap in zip(kept, came, strict=True) if not gap]
    aggregate = drawn.options.get("aggregate", {}).get(name, "mean")
    values = {value for value, gap in zip(released, gaps, strict=True) if not gap}
    if SORTS[name].is_number and aggregate in ("mean", "median"):
        more = 0.5 if name in PLACE else 0.0  # the middle of two places on a parallel is nearer to the pole
        assert all(min(present) - more <= float(value) <= max(present) + more for value in values)
    elif name == "hour" and aggregate in ("mean", "median"):  # on a circle there is no lowest and no highest
        assert all(isinstance(time.fromisoformat(str(value)), time) for value in values)
    elif name in ("day", "moment") and aggregate != "interval":
        assert all(str(min(present)) <= str(value) <= str(max(present)) for value in values)
    elif name in ("code", "zip") and aggregate == "mean":
        codes = [*map(str, present)]
        assert all(value == "*" or any(code.startswith(str(value)) for code in codes) for value in values)
    elif aggregate in ("mean", "median", "mode"):
        assert {*map(plain, values)} <= {*map(plain, present)}
    else:
        words = {*map(str, present)}
        assert all(any(word in str(value) for word in words) for value in values)


def from_pandas(drawn, path):
    """The same in memory, in the types of pandas that have gaps."""
    return pa.table(drawn.columns | others(drawn.n)).to_pandas(types_mapper=pd.ArrowDtype)


def from_polars(drawn, path):
    return pl.DataFrame(drawn.columns | others(drawn.n))


WAYS = {
    "csv": (write_csv, "csv", read_csv),
    "parquet": (write_parquet, "parquet", read_parquet),
    "pandas": (from_pandas, "csv", read_csv),
    "polars": (from_polars, "parquet", read_parquet),
}


@settings(max_examples=400, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
@given(mixed(), st.sampled_from(sorted(WAYS)))
def test_every_release_of_a_mixed_table_keeps_its_promises(tmp_path, drawn, way):
    write, after, read = WAYS[way]
    source, target = tmp_path / f"in.{way}", tmp_path / f"out.{after}"
    data = write(drawn, source)
    if must_refuse(drawn):
        with pytest.raises(ShoalError, match=REFUSED):
            shoal.anonymize(data, **asked_of(drawn))
        return
    release = shoal.anonymize(data, **asked_of(drawn))
    release.write(target, overwrite=True)
    check(drawn, release, read(target))


def streamable(drawn):
    """The same without what a stream cannot have."""
    aggregates = drawn.options.get("aggregate", {}).items()
    plain = {name: each for name, each in aggregates if each not in ("interval", "set", "share")}
    return replace(drawn, options=drawn.options | {"aggregate": plain})


@settings(max_examples=60, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
@given(mixed(policies=("value", "impute", "pattern", "blank")), st.sampled_from(["csv", "parquet"]))
def test_one_block_of_a_stream_is_the_release_in_memory(tmp_path, drawn, kind):
    drawn = streamable(drawn)
    write, after, _ = WAYS[kind]
    source, whole, target = (tmp_path / f"{name}.{after}" for name in ("in", "memory", "stream"))
    write(drawn, source)
    if must_refuse(drawn):
        with pytest.raises(ShoalError, match=REFUSED):
            shoal.anonymize_file(source, target, blocks=1, overwrite=True, **asked_of(drawn))
        return
    release = shoal.anonymize(source, **asked_of(drawn))
    release.write(whole, overwrite=True)
    streamed = shoal.anonymize_file(source, target, blocks=1, overwrite=True, **asked_of(drawn))
    assert target.read_bytes() == whole.read_bytes()
    assert streamed.manifest["attributes"] == release.manifest["attributes"]
    assert streamed.information_loss == pytest.approx(release.information_loss, rel=1e-9, abs=1e-9)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
@given(mixed(policies=("value", "impute")), st.sampled_from(["csv", "parquet"]))
def test_several_blocks_of_a_stream_keep_the_promises_too(tmp_path, drawn, kind):
    drawn = streamable(drawn)
    write, after, read = WAYS[kind]
    source, target = (tmp_path / f"{name}.{after}" for name in ("in", "stream"))
    write(drawn, source)
    streamed = shoal.anonymize_file(source, target, blocks=2, overwrite=True, **asked_of(drawn))
    found = read(target)
    assert min(Counter(zip(*(found[name] for name in drawn.columns), strict=True)).values()) >= drawn.k
    assert streamed.verified_k >= drawn.k
    places = {ref: place for place, ref in enumerate(found["ref"])}
    for name in drawn.columns:
        released = [found[name][places[ref]] for ref in others(drawn.n)["ref"]]
        check_column(drawn, name, range(drawn.n), released)


EXAMPLES = {
    "whole": [3, 9, 4, 1, 7, 30],
    "tenths": [0.5, 1.5, 9.0, 2.5, 2.5, 7.1],
    "flag": [True, False, False, True, False, False],
    "word": ["a", "b", "b", "c", "b", "x"],
    "level": ["low", "high", "medium", "low", "low", "high"],
    "grade": ["z", "y", "z", "w", "w", "w"],
    "number": [1, 2, 2, 2, 5, 5],
    "pair": ["yes", "no", "no", "no", "yes", "no"],
    "code": ["I10", "I11", "I11", "J10", "J99", "I11"],
    "income": [0, 0, 0, 5, 7, 30],
    "day": [date(1950 + 3 * year, 1, 1 + year) for year in (1, 4, 4, 9, 12, 20)],
    "lat": [47.0, 48.5, 51.0, 52.5, 54.5, 47.5],
    "lon": [6.0, 8.5, 10.0, 12.5, 14.5, 9.5],
}
ATTRIBUTES = [name for name in EXAMPLES if name != "lon"]


def example(*names, gaps=()):
    """Columns, the records of `gaps` without values."""
    columns = [column for name in names for column in (PLACE if name == "lat" else (name,))]
    return {name: [None if i in gaps else value for i, value in enumerate(EXAMPLES[name])] for name in columns}


def options_of(columns):
    """What is asked for these columns."""
    options = defaultdict(dict)
    for name in columns:
        for option, value in SORTS[name].asked.items():
            options[option][name] = value
    return dict(options)


@pytest.mark.parametrize("gaps", [(), (1,), (0, 1, 2, 4)], ids=["no gaps", "a gap", "mostly gaps"])
@pytest.mark.parametrize("scaling", ["zscore", "range", "none"])
@pytest.mark.parametrize("name", [*ATTRIBUTES, "all"])
def test_nothing_is_lost_where_nothing_changes_and_everything_where_all_get_one_value(name, scaling, gaps):
    columns = example(*(ATTRIBUTES if name == "all" else [name]), gaps=gaps)
    if "income" in columns and len(gaps) > 1:
        columns["income"] = [0, None, None, 0, None, 5]
    asked = options_of(columns) | {"scaling": scaling, "gaps": "value", "exact": True, "method": "mdav"}
    table = pa.table(columns)
    unchanged = shoal.anonymize(table, 1, list(columns), **asked)
    assert unchanged.information_loss == pytest.approx(0, abs=1e-9)
    assert all(part.percent == pytest.approx(0, abs=1e-9) for part in unchanged.loss.attributes)
    one = shoal.anonymize(table, 6, list(columns), **asked)
    assert one.information_loss == pytest.approx(100, abs=1e-6)
    for part in one.loss.attributes:
        assert part.percent == pytest.approx(100, abs=1e-6)


@pytest.mark.parametrize("gaps", [(), (1, 4)], ids=["no gaps", "gaps"])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_the_variances_of_an_attribute_sum_up_to_1_with_z_scores(name, gaps):
    columns = example(name, gaps=gaps)
    release = shoal.anonymize(pa.table(columns), 2, list(columns), gaps="value", **options_of(columns))
    assert release.space.points.var(axis=0).sum() == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("policy", ["value", "impute", "pattern", "drop"])
def test_a_table_in_any_form_has_the_same_groups_and_values(tmp_path, policy):
    columns = example(*(name for name in ATTRIBUTES if name not in ("lat", "number")), gaps=(1, 4))
    columns = {name: column * 3 for name, column in columns.items()} | {"ref": list(range(18))}
    drawn = Drawn({name: column for name, column in columns.items() if name != "ref"}, {}, 2, {})
    asked = options_of(drawn.columns) | {"k": 2, "gaps": policy, "method": "mdav", "keep_order": True}
    asked |= {"quasi_identifiers": list(drawn.columns)}
    table = pa.table(columns)
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    forms = {
        "arrow": table,
        "pandas": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns),
        "parquet": tmp_path / "t.parquet",
        "csv": write_csv(drawn, tmp_path / "t.csv"),
    }
    found = {form: shoal.anonymize(data, **asked) for form, data in forms.items()}
    for release in found.values():
        assert release.labels.tolist() == found["arrow"].labels.tolist()
        assert release.information_loss == pytest.approx(found["arrow"].information_loss, rel=1e-12)
        for name in drawn.columns:
            mine, other = release.common[name].text(), found["arrow"].common[name].text()
            assert ["" if is_gap(text) else plain(text) for text in mine] == [plain(text) for text in other]


def test_what_a_stream_cannot_do_is_said_before_anything_is_written(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = "".join(f"{number},{'' if number % 3 else 'ab'[number % 2]}\n" for number in range(40))
    source.write_text("age,sex\n" + rows)
    asked = {"k": 2, "quasi_identifiers": ["age", "sex"]}
    for options, said in (
        ({"gaps": "drop"}, "records with gaps in 'age', 'sex' cannot be dropped from a streamed table"),
        (
            {"gaps": "pattern", "blocks": 2},
            "cannot be grouped by the gaps in 'sex' in a table that is streamed in 2",
        ),
        ({"gaps": {"sex": "blank"}, "blocks": 2}, "cannot be grouped by the gaps in 'sex'"),
        (
            {"gaps": "value", "aggregate": {"sex": "set"}},
            "'sex': intervals, sets and shares need the table in memory",
        ),
        ({"gaps": "value", "aggregate": {"age": "ancestor"}}, "'age' is numeric, which has no ancestor"),
        ({}, r"quasi-identifier 'sex' holds missing values \(rows 2, 3, 5, 6, 8 and 21 more\)"),
    ):
        with pytest.raises(ShoalError, match=said):
            shoal.anonymize_file(source, target, **({"blocks": 1} | asked | options))
        assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["low"] * 10 + ["high"] * 10 + ["medium"] * 10, "ordinal"),
        (["low", "medium", "high"] * 5 + ["other"] * 15, "nominal"),
        (["true", "false"] * 10 + ["perhaps"] * 10, "nominal"),
        ([""] * 10 + ["a", "b"] * 10, "nominal"),
        ([""] * 10 + ["1", "2"] * 10, "numeric"),
    ],
)
def test_a_stream_finds_the_kind_that_all_records_show(tmp_path, monkeypatch, values, kind):
    monkeypatch.setattr("shoal.files.batches.GROUP", 5)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 5)
    source = tmp_path / "in.csv"
    source.write_text("x,y\n" + "".join(f"{value},{number}\n" for number, value in enumerate(values)))
    asked = {"k": 3, "quasi_identifiers": ["x", "y"], "gaps": "value", "method": "mdav"}
    release = shoal.anonymize(source, **asked)
    release.write(tmp_path / "memory.csv")
    streamed = shoal.anonymize_file(source, tmp_path / "stream.csv", blocks=1, **asked)
    assert streamed.manifest["attributes"]["x"] == release.manifest["attributes"]["x"]
    assert streamed.manifest["attributes"]["x"]["kind"] == kind
    assert (tmp_path / "stream.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(8, 60), st.integers(2, 5))
def test_mdav_of_a_mixed_table_is_the_twin_on_the_full_distance(data, n, k):
    ages = data.draw(st.lists(st.integers(20, 40), min_size=n, max_size=n))
    towns = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=n, max_size=n))
    sexes = data.draw(st.lists(st.sampled_from("fm"), min_size=n, max_size=n))
    pains = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    table = pa.table({"age": ages, "town": towns, "sex": sexes, "pain": [SCALE[pain] for pain in pains]})
    release = shoal.anonymize(table, k, table.column_names, method="mdav", orders={"pain": SCALE})
    points = release.space.points
    for a, b in [(0, n - 1), (n // 2, n // 3), (1, n // 2)]:
        expected = naive.mixed_distance([ages], [towns, sexes], [pains], a, b)
        assert naive.squared_distance(points[a], points[b]) == pytest.approx(expected, abs=1e-9)
    assert release.labels.tolist() == naive.labels_of(naive.mdav(points, k))
