"""Persons, households, strata, weights and pseudonyms: what was promised, counted by hand on the bytes that left."""

import csv
import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import date, datetime
from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
import shoal
from shoal.catalogue import method_of
from shoal.errors import ShoalError
from shoal.methods import METHODS

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.ShoalWarning"), pytest.mark.usefixtures("same_key")]

GAPS = ["", "NA", "?", ".", " n/a ", "null"]
POLICIES = ("drop", "pattern", "blank", "value", "impute")
GRADES = ["none", "mild", "severe"]
NUMBER, WORD = ("median", "mode", "interval"), ("mode", "set", "share")


def to_the_minute(moment):
    """A point in time, or a time of day, as people write it."""
    return moment.replace(second=0, microsecond=0)


SORTS = {  # how the values of a column are drawn, what is asked for it, and which common values it can have
    "whole": (st.integers(-9, 40), {}, NUMBER),
    "tenths": (st.integers(0, 300).map(lambda units: units / 10), {}, NUMBER),
    "real": (st.integers(1, 40).map(lambda number: 100 / number), {}, NUMBER),
    "word": (st.sampled_from(["a", "b", "x,y", 'the "c"', "é"]), {}, WORD),
    "pain": (st.sampled_from(GRADES), {"orders": GRADES}, ("median", *WORD)),
    "group": (st.integers(1, 5), {"kinds": "nominal"}, WORD),
    "code": (st.sampled_from(["I10", "I11", "J10", "J99", "K52"]), {"prefixes": [1, 2]}, ("mode",)),
    "flag": (st.booleans(), {}, ("median", "mode")),
    "day": (st.dates(date(1950, 1, 1), date(2020, 12, 31)), {}, NUMBER),
    "seen": (st.datetimes(datetime(2020, 1, 1), datetime(2021, 1, 1)).map(to_the_minute), {}, NUMBER),
    "hour": (st.times().map(to_the_minute), {}, ()),
    "income": (st.integers(0, 500).map(lambda n: max(0, n - 250)), {"kinds": "semi-continuous"}, NUMBER),
    "lat": (st.integers(470, 550).map(lambda units: units / 10), {}, ()),
    "lon": (st.integers(60, 150).map(lambda units: units / 10), {}, ()),
}
NUMBERS, PLACE = ("real", "tenths", "whole"), ("lat", "lon")

WEIGHTS = [
    st.integers(0, 4),
    st.integers(1, 999).map(lambda units: units / 10),
    st.integers(100, 90000),
    st.sampled_from([0, 0, 1, 2.5]),
]

DESIGNS = {  # which columns say whose the rows are, and what is said of them
    "rows": {},
    "persons": {"person": "who"},
    "apart": {"person": "who", "person_rows": "apart"},
    "households": {"household": "home"},
    "households of persons": {"household": "home", "person": "who"},
    "persons in households": {"household": "home", "person": "who", "household_k": "persons"},
    "rows in households": {"household": "home", "household_k": "persons"},
}

QUICK = {
    "genetic": {"generations": 20, "population": 10},
    "refined": {"rounds": 2},
    "optimal": {"seconds": 0.1},
    "univariate-optimal": {"projection": "pca"},
}
WAY = st.sampled_from(["csv", "parquet", "pandas", "polars", "dictionary", "categories", "polars categories"])
SAME_AGAIN = sorted({*METHODS} - {"optimal"})  # not the one that is stopped by a clock


def quick(name, k):
    """A method of the catalogue that does not take long and that gives the same groups every time."""
    seed = {"random_state": 0} if "random_state" in METHODS[name]._parameters else {}
    return method_of(name, k, QUICK.get(name, {}) | seed)


@dataclass(frozen=True)
class Drawn:
    """A table, None for gaps, whose its rows are, and what is asked of it."""

    table: dict
    qis: list
    k: int
    options: dict
    persons: list  # the number of each row's person; a household has none in common with another
    households: list
    strata: list  # the number of each row's stratum, after those that are merged
    way: str  # how the table comes and leaves

    @property
    def n(self):
        return len(self.persons)

    @property
    def counted(self):
        """Whom k counts."""
        if "household" in self.options and self.options.get("household_k") != "persons":
            return self.households
        return self.persons if "person" in self.options else range(self.n)

    @property
    def units(self):
        """Whose rows stay together."""
        if "household" in self.options:
            return self.households
        return self.persons if "person" in self.options else range(self.n)

    @property
    def least(self):
        """The least number of households in a group."""
        return 2 if self.options.get("household_k") == "persons" else 1

    @property
    def confidential(self):
        return [name for name in ("sales", "ill", "pay") if name in self.table]

    @property
    def within(self):
        return self.options.get("within", [])

    def asked(self, name, option):
        return self.options.get(option, {}).get(name)

    def lacks(self, name, row):
        """Whether a value is missing; a place lacks both where it lacks one."""
        return any(self.table[part][row] is None for part in (PLACE if name in PLACE else (name,)))

    def enough(self, rows, k=None):
        """Whether these rows are a crowd."""
        persons, homes = {self.counted[row] for row in rows}, {self.households[row] for row in rows}
        return len(persons) >= (k or self.k) and len(homes) >= self.least

    def whole(self):
        """The rows that lack nothing in columns whose gaps are dropped."""
        dropped = [name for name in self.qis if self.asked(name, "gaps") == "drop"]
        return [row for row in range(self.n) if not any(self.lacks(name, row) for name in dropped)]

    def left(self):
        """The rows that leave: those of strata that are large enough, where small ones are dropped."""
        rows = self.whole()
        if self.options.get("small_strata") != "drop":
            return rows
        parts = by(rows, self.strata)
        return [row for row in rows if self.enough(parts[self.strata[row]])]

    def parts(self):
        """The rows that may share a group, by stratum and, where they are linked, by the rows of a person."""
        rows = self.left()
        own = Counter(self.units[row] for row in rows)
        name = self.options.get("household") or self.options.get("person")
        linked = name and name == self.options.get("pseudonym") and not self.options.get("accept_linkage")
        strata = self.strata if self.within else [0] * self.n
        return by(rows, {row: (strata[row], own[self.units[row]] if linked else 0) for row in rows})

    def patterns(self):
        """The same cut by the gaps that persons have, joined where these are too rare; None where they cannot be."""
        names = [name for name in self.qis if self.asked(name, "gaps") in ("pattern", "blank") and name != "lon"]
        free = [self.asked(name, "gaps") == "blank" for name in names]
        found = []
        for rows in self.parts().values():
            own = by(rows, self.units)
            lacking = [
                tuple(any(self.lacks(name, row) for row in each) for name in names) for each in own.values()
            ]
            persons = [len({self.counted[row] for row in each}) for each in own.values()]
            joined = naive.joined_patterns(lacking, free, self.k, persons, self.least)
            if joined is None:
                return None
            cut = defaultdict(list)
            for pattern, each in zip(joined, own.values(), strict=True):
                cut[pattern] += each
            found += cut.values()
        return found


def by(rows, keys):
    """Rows by what each of them has."""
    found = defaultdict(list)
    for row in rows:
        found[keys[row]].append(row)
    return found


@st.composite
def people(draw, design, k, strata, same):
    """Whose the rows are: a stratum, a household and a person for each, in any order; 6 to 40 rows."""
    found, home, person = [], 0, 0
    homes, several = "household" in DESIGNS[design], "person" in DESIGNS[design]
    same_size, same_rows = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    for stratum in range(strata):
        least = max(k, 6 // strata)
        for _ in range(draw(st.integers(least, least + (2 if homes else 4)))):
            size = (same_size if same else draw(st.integers(1, 3))) if homes else 1
            for _ in range(size):
                most = (2 if homes else 5) if several else 1
                found.append((stratum, home, person, min(same_rows, most) if same else draw(st.integers(1, most))))
                person += 1
            home += 1
    most = 40 // len(found)
    while sum(rows for *_, rows in found) > 40:
        widest = max(rows for *_, rows in found)
        found = [(*whose, min(rows, max(most, widest - 1))) for *whose, rows in found]
    rows = [whose for *whose, rows in found for _ in range(rows)]
    Random(draw(st.integers(0, 9))).shuffle(rows)
    return rows, home, person


def stratum_columns(numbers, two):
    """One column or two, and the name of each stratum."""
    regions = ["Coast", "Hills", "Plain", "Isle"]
    if not two:
        return {"region": [regions[number] for number in numbers]}, regions
    columns = {"region": [regions[number // 2] for number in numbers], "zone": [number % 2 for number in numbers]}
    return columns, [f"{regions[number // 2]}, {number % 2}" for number in range(4)]


@st.composite
def strata_of(draw, rows, strata):
    """Columns of strata with what is said of them, and the stratum of each row in the end."""
    numbers = [row[0] for row in rows]
    if not strata:
        return {}, {}, numbers
    columns, names = stratum_columns(numbers, draw(st.booleans()))
    options, into = {"within": list(columns)}, {}
    small = max(numbers) >= strata
    if strata > 1 and draw(st.integers(0, 4)) == 0:
        into[0] = 1
    if small:
        what = draw(st.sampled_from(["drop"] * 4 + ["merge"] * 4 + ["error"]))
        into |= {strata: 0} if what == "merge" else {}
        options |= {"small_strata": "drop"} if what == "drop" else {}
    if into:
        options["merge_strata"] = {names[a]: names[b] for a, b in into.items()}
    if draw(st.integers(0, 4)) == 0:
        options["identifiers"] = ["region"]
    ends = [into.get(into.get(number, number), into.get(number, number)) for number in numbers]
    return columns, options, ends


def names_of_ids(draw, numbers, word):
    """Identifiers as numbers, as words, or as words with spaces that do not count, before them or after."""
    style = draw(st.sampled_from(["number", "word", "spaces", "spaces"]))
    if style == "number":
        return [90000 + 7 * number for number in numbers]
    if style == "word":
        return [f"{word}-{number}" for number in numbers]
    return [
        f"{' ' * (place % 3 == 1)}{word}-{number}{' ' * (place % 3 == 2)}" for place, number in enumerate(numbers)
    ]


@st.composite
def columns_of(draw, rows, sorts, policies):
    """Quasi-identifiers that vary by row or by person, some with gaps, and what is said of them."""
    n, options = len(rows), defaultdict(dict)
    names = draw(st.lists(st.sampled_from(sorted({*sorts} - {"lon"})), min_size=1, max_size=4, unique=True))
    names += ["lon"] if "lat" in names else []
    options |= {"places": [PLACE]} if "lat" in names else {}
    lacking = draw(st.sampled_from(["none", "all", "some"]))
    homes = Counter(row[0] for row in {tuple(row[:2]) for row in rows})
    first = {stratum: min(row[1] for row in rows if row[0] == stratum) for stratum in homes}
    columns = {}
    for name in names:
        values, asked, aggregates = SORTS[name]
        of = [row[2] for row in rows] if draw(st.booleans()) else range(n)
        drawn = draw(st.lists(values, min_size=max(of) + 1, max_size=max(of) + 1))
        column = [drawn[each] for each in of]
        if policies and draw(st.integers(0, 2)) == 0:
            policy = draw(st.sampled_from(policies))
            if name == "lon" and "lat" in options["gaps"]:
                policy = options["gaps"]["lat"]
            options["gaps"][name] = "value" if name in PLACE and policy == "impute" else policy
            if options["gaps"][name] == "pattern":  # whole persons lack it, and enough of them
                some = [row[1] < first[row[0]] + homes[row[0]] // 2 for row in rows]
                gaps = {"none": [False] * n, "all": [True] * n, "some": some}[lacking]
            else:
                most = 1 if policy == "drop" else draw(st.sampled_from([2, 5]))
                gaps = [gap > 11 - most for gap in draw(st.lists(st.integers(0, 11), min_size=n, max_size=n))]
            column = [None if gap else value for gap, value in zip(gaps, column, strict=True)]
        columns[name] = column
        for option, value in asked.items():
            options[option][name] = value
        if aggregates and sorts is SORTS and draw(st.integers(0, 3)) == 0:
            options["aggregate"][name] = draw(st.sampled_from(aggregates))
    if "lat" in options["gaps"] or "lon" in options["gaps"]:  # a place is one attribute, which has one policy
        policy = options["gaps"].get("lat") or options["gaps"]["lon"]
        options["gaps"] |= {"lat": policy, "lon": policy}
    return columns, dict(options)


@st.composite
def designed(
    draw,
    designs=tuple(DESIGNS),
    sorts=SORTS,
    policies=POLICIES,
    methods=tuple(sorted(METHODS)),
    weighted=False,
    linked=None,
    larger=False,
):
    """A table of 6 to 40 rows, whose they are, and what is asked: the design, the method and the order."""
    design = draw(st.sampled_from(designs))
    options = {**DESIGNS[design]}
    homes, several = "household" in options, "person" in options
    k, strata = draw(st.integers(2, 3 if homes else 4)), draw(st.integers(0, 2 if homes else 3))
    rows, home, person = draw(people(design, k + larger, max(1, strata), linked is False or draw(st.booleans())))
    if strata and draw(st.integers(0, 3)) == 0:
        rows.append([strata, home, person])  # a stratum of one
    columns, said, ends = draw(strata_of(rows, strata))
    options |= said
    qis, said = draw(columns_of(rows, sorts, policies))
    options |= said | {"method": quick(draw(st.sampled_from(methods)), k)}
    table = columns | qis | {"sales": [1000 + row for row in range(len(rows))]}
    for use, word, place in (("household", "house", 1), ("person", "person", 2)):
        if use in options:
            table[options[use]] = names_of_ids(draw, [row[place] for row in rows], word)
    if weighted or draw(st.booleans()):
        own = draw(st.lists(draw(st.sampled_from(WEIGHTS)), min_size=len(rows), max_size=len(rows)))
        table["w"] = [own[0] or 3, *own[1:]]
        options |= {"sampling_weight": "w"}
        options |= {"released_weight": draw(st.sampled_from(["common", "common", "keep", "round", "drop"]))}
    if linked is not None:
        ids = [options[use] for use in ("person", "household") if use in options]
        options |= {"pseudonym": draw(st.sampled_from(ids)), "accept_linkage": linked}
    options |= {"exact": True} if sorts is not SORTS or draw(st.integers(0, 2)) == 0 else {}
    options |= draw(st.sampled_from([{"keep_order": True}, {"key": f"{k:032x}"}]))
    persons = [row[2] for row in rows] if several else list(range(len(rows)))
    made = Drawn(table, list(qis), k, options, persons, [row[1] for row in rows], ends, draw(WAY))
    return replace(made, options=options | {"also": draw(demands(made))}) if larger else made


@st.composite
def demands(draw, drawn):
    """A larger k for one or two choices of columns, mostly one that can be had."""
    parts = drawn.patterns() or [range(drawn.n)]
    most = max(min((len({drawn.counted[row] for row in part}) for part in parts), default=0), drawn.k + 1)
    return [
        (draw(st.integers(drawn.k + 1, most)), names)
        for names in draw(
            st.lists(
                st.lists(st.sampled_from(drawn.qis), min_size=1, max_size=2, unique=True),
                min_size=1, max_size=2, unique_by=lambda names: tuple(sorted(names)),
            )
        )
    ]  # fmt: skip


def write_csv(table, path):
    """The table as text; gaps are written in several ways."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        for row, values in enumerate(zip(*table.values(), strict=True)):
            writer.writerow(GAPS[row * row % len(GAPS)] if value is None else value for value in values)
    return path


def write_parquet(table, path):
    pa.parquet.write_table(pa.table(table), path)
    return path


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return {name: [row[place] for row in rows] for place, name in enumerate(header)}


def read_arrow_csv(path):
    """Every column as text, by another reader."""
    kinds = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(read_csv(path), pa.string()), strings_can_be_null=False
    )
    return pa.csv.read_csv(path, convert_options=kinds).to_pydict()


def read_parquet(path):
    return pa.parquet.ParquetFile(path).read().to_pydict()


def as_pandas(table, _=None):
    return pa.table(table).to_pandas(types_mapper=pd.ArrowDtype)


def as_polars(table, _=None):
    return pl.DataFrame(table, strict=False)


def words_of(table):
    """Identifiers and strata that are text, and so may be categories."""
    return [name for name in ("who", "home", "region") if isinstance(table.get(name, [0])[0], str)]


def write_dictionaries(table, path):
    """Parquet in which identifiers and strata are categories."""
    coded = {name: pa.array(table[name]).dictionary_encode() for name in words_of(table)}
    return write_parquet(table | coded, path.with_suffix(".parquet"))


def as_categories(table, _):
    return as_pandas(table).assign(**{name: pd.Categorical(table[name]) for name in words_of(table)})


def as_polars_categories(table, _):
    return as_polars(table).with_columns(pl.col(name).cast(pl.Categorical) for name in words_of(table))


WAYS = {
    "csv": (write_csv, "csv", read_csv),
    "parquet": (write_parquet, "parquet", read_parquet),
    "pandas": (as_pandas, "csv", read_arrow_csv),
    "polars": (as_polars, "parquet", read_parquet),
    "dictionary": (write_dictionaries, "parquet", read_parquet),
    "categories": (as_categories, "csv", read_arrow_csv),
    "polars categories": (as_polars_categories, "parquet", read_parquet),
}


def released(drawn, folder):
    """The release of a table, and what another reader finds in the file; a refusal leaves no file."""
    write, after, read = WAYS[drawn.way]
    target = folder / f"out.{after}"
    for path in folder.glob("out.*"):
        path.unlink()
    more = {"pseudonym_key": folder / "key"} if "pseudonym" in drawn.options else {}
    try:
        release = shoal.anonymize(
            write(drawn.table, folder / f"in.{drawn.way}"),
            drawn.k,
            drawn.qis,
            drawn.confidential,
            **(drawn.options | more),
        )
        verification = release.write(target)
    except ShoalError:
        assert not list(folder.glob("out.*"))
        raise
    return release, verification, read(target), target


def check_refusal(drawn, said, folder):
    """What a refusal says is true."""
    rows, left, weights = drawn.whole(), drawn.left(), drawn.table.get("w", [1] * drawn.n)
    strata, incomes = by(rows, drawn.strata), [drawn.table["income"][row] for row in left if "income" in drawn.qis]
    incomes = Counter(value for value in incomes if value is not None)
    if "the same rows, fewer than" in said:
        accepted = replace(drawn, options=drawn.options | {"accept_linkage": True})
        _, _, found, _ = released(accepted, folder)
        homes, persons = same_rows(accepted, found)
        assert min(persons) < drawn.k or min(homes) < drawn.least
        return
    there = {", ".join(str(drawn.table[name][row]) for name in drawn.within) for row in rows}
    parts, merged = drawn.patterns(), drawn.options.get("merge_strata", {})
    reasons = {
        "so none is left": not left,
        "is more than there are": not drawn.enough(left),
        "all rows are of one household": not drawn.enough(left),
        "or leave their records out": not all(drawn.enough(each) for each in strata.values()),
        "there is no stratum": {*merged, *merged.values()} - there,
        "cannot be grouped by their gaps": parts is None,
        "is not semi-continuous": incomes and max(incomes[min(incomes)], incomes[max(incomes)]) < 2,
        "it is 0 in every record": not any(weights[row] for row in left),
        "the number of rows alone singles out": not all(map(drawn.enough, drawn.parts().values())),
        "also asks for": any(
            not drawn.enough(part, k) for k, _ in drawn.options.get("also", ()) for part in parts or ()
        ),
    }
    assert [true for reason, true in reasons.items() if reason in said and true], said


def is_known(name, drawn):
    """Whether k is counted on a column too: a stratum that leaves, or the common weight."""
    if name in drawn.within:
        return name not in drawn.options.get("identifiers", ())
    return name == "w" and drawn.options["released_weight"] == "common"


def rows_in(found):
    """For each row of the table that left, its place in the file."""
    return {int(ref) - 1000: place for place, ref in enumerate(found["sales"])}


def tuples_of(drawn, found, names=None):
    """For each row of the table that left, what somebody can know of it; by default all that k is counted on."""
    if names is None:
        names = [*drawn.qis, *(name for name in found if name not in drawn.qis and is_known(name, drawn))]
    places = rows_in(found)
    assert sorted(places) == drawn.left()
    return {row: tuple(repr(found[name][places[row]]) for name in names) for row in places}


def same_rows(drawn, found):
    """How many households, and how many of whom k counts, have the same rows where these are linked."""
    tuples, link = tuples_of(drawn, found), drawn.options["pseudonym"]
    own = by(tuples, drawn.persons if link == drawn.options.get("person") else drawn.households)
    alike = defaultdict(list)
    for rows in own.values():
        alike[tuple(sorted(tuples[row] for row in rows))] += rows
    return tuple(
        [len({ids[row] for row in rows}) for rows in alike.values()] for ids in (drawn.households, drawn.counted)
    )


def least_on(drawn, found, names):
    """How many of whom k counts share these columns and the stratum at least, as far as that leaves."""
    known = tuples_of(drawn, found, [*names, *(name for name in drawn.within if is_known(name, drawn))])
    return min(Counter(values for values, _ in {(known[row], drawn.counted[row]) for row in known}).values())


def check(drawn, release, verification, found, target):
    """Everything that was promised."""
    tuples = tuples_of(drawn, found)
    if drawn.options.get("keep_order"):
        assert list(rows_in(found)) == drawn.left()
    combinations = by(tuples, tuples)
    sizes = [len({drawn.counted[row] for row in rows}) for rows in combinations.values()]
    assert all(drawn.enough(rows) for rows in combinations.values())
    assert verification.k == min(sizes) >= drawn.k
    labels = dict(zip(drawn.left(), release.labels.tolist(), strict=True))
    for rows in by(tuples, labels).values():
        assert drawn.enough(rows)
        assert len({tuples[row] for row in rows}) == 1
        assert len({drawn.strata[row] for row in rows}) == 1 or not drawn.within
    check_persons(drawn, found, tuples, labels)
    check_strata(drawn, found, combinations)
    if "sampling_weight" in drawn.options:
        check_weights(drawn, found, labels)
    check_totals(drawn, found)
    check_identifiers(drawn, found, target)
    assert all(least_on(drawn, found, names) >= k for k, names in drawn.options.get("also", ()))
    if "pseudonym" in drawn.options:
        homes, persons = same_rows(drawn, found)
        assert drawn.options["accept_linkage"] or (min(persons) >= drawn.k and min(homes) >= drawn.least)
        manifest = json.loads(target.with_name(f"{target.name}.manifest.json").read_text(encoding="utf-8"))
        assert manifest["figures"]["linked_k"]["value"] == min(persons)


def check_persons(drawn, found, tuples, labels):
    """Nobody is split; where rows may be apart, what is constant for every person stays so."""
    together = drawn.options.get("person_rows") != "apart"
    for name in drawn.qis:
        columns = PLACE if name in PLACE else (name,)
        own = by(tuples, drawn.units)
        before = {row: tuple(drawn.table[column][row] for column in columns) for row in tuples}
        after = tuples_of(drawn, found, columns)
        if together or all(len({before[row] for row in rows}) == 1 for rows in own.values()):
            assert all(len({after[row] for row in rows}) == 1 for rows in own.values())
    if together:
        assert all(len({tuples[row] for row in rows}) == 1 for rows in by(tuples, drawn.units).values())
        assert all(len({labels[row] for row in rows}) == 1 for rows in by(tuples, drawn.units).values())


def check_strata(drawn, found, combinations):
    """Strata leave with their values, merged ones with those of their target; no combination is in two."""
    kept = [name for name in drawn.within if is_known(name, drawn)]
    assert [name for name in drawn.within if name in found] == kept
    if not kept:
        return
    if kept == drawn.within:
        assert all(len({drawn.strata[row] for row in rows}) == 1 for rows in combinations.values())
    values, _ = stratum_columns(drawn.strata, len(drawn.within) == 2)
    for row, place in rows_in(found).items():
        assert all(str(found[name][place]) == str(values[name][row]) for name in kept)


def significant(value, digits):
    return float(f"{value:.{digits - 1}e}")


def check_weights(drawn, found, labels):
    """Weights are the means of groups, as they were, rounded, or not there."""
    how, weights = drawn.options["released_weight"], drawn.table["w"]
    assert ("w" in found) == (how != "drop")
    if how == "drop":
        return
    groups, places = by(labels, labels), rows_in(found)
    for row, label in labels.items():
        mean = math.fsum(weights[each] for each in groups[label]) / len(groups[label])
        expected = {"common": mean, "keep": weights[row], "round": significant(weights[row], 2)}[how]
        assert float(found["w"][places[row]]) == pytest.approx(expected, rel=6e-6 if how == "common" else 0)


def check_totals(drawn, found):
    """Weighted totals of numbers are what they were, where means are not rounded."""
    if not drawn.options.get("exact") or drawn.options.get("released_weight", "keep") in ("round", "drop"):
        return
    before, places = drawn.table.get("w", [1] * drawn.n), rows_in(found)
    after = found.get("w", [1] * len(places))
    exact = drawn.options.get("released_weight", "keep") == "keep"
    for name in {*NUMBERS} & {*drawn.qis}:
        if drawn.asked(name, "aggregate") or any(drawn.lacks(name, row) for row in places):
            continue
        terms = [before[row] * drawn.table[name][row] for row in places]
        total = math.fsum(float(after[place]) * float(found[name][place]) for place in places.values())
        assert abs(total - math.fsum(terms)) <= (1e-12 if exact else 1e-5) * math.fsum(map(abs, terms))


def check_identifiers(drawn, found, target):
    """Identifiers do not leave, and pseudonyms tell as much as they should."""
    link, data = drawn.options.get("pseudonym"), target.read_bytes()
    for use, ids in (("person", drawn.persons), ("household", drawn.households)):
        name = drawn.options.get(use)
        assert name is None or (name in found) == (name == link)
        if name is not None:
            texts = {str(value).strip() for value in drawn.table[name]}
            assert isinstance(drawn.table[name][0], int) or not any(text.encode() in data for text in texts)
        if name is not None and name == link:
            pairs = {(ids[row], found[name][place]) for row, place in rows_in(found).items()}
            assert len(pairs) == len({number for number, _ in pairs}) == len({made for _, made in pairs})
            assert texts.isdisjoint(made for _, made in pairs)


def every(examples, drawn_from, folder, checked=check):
    """Check so many releases; few tables are refused, and for true reasons only."""
    seen = Counter()

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(drawn_from)
    def each(drawn):
        try:
            made = released(drawn, folder)
        except ShoalError as error:
            check_refusal(drawn, str(error), folder)
            seen["refused"] += 1
        else:
            checked(drawn, *made)
            seen["released"] += 1

    each()
    assert seen["released"] >= 0.8 * examples, seen


def test_whoever_k_counts_is_hidden_among_k(tmp_path):
    every(150, designed(), tmp_path)


def test_rows_of_persons_may_be_apart(tmp_path):
    every(80, designed(designs=("apart",)), tmp_path)


def test_weighted_totals_are_kept(tmp_path):
    every(100, designed(sorts=NUMBERS, policies=("drop",), weighted=True), tmp_path)


def test_a_larger_k_holds_on_some_columns_and_nothing_else_changes(tmp_path):
    def with_and_without(drawn, release, verification, found, target):
        check(drawn, release, verification, found, target)
        data, asked = target.read_bytes(), drawn.options["also"]
        without = replace(drawn, options=drawn.options | {"also": ()})
        _, _, before, _ = released(without, tmp_path)
        if all(least_on(without, before, names) >= k for k, names in asked):
            assert data == target.read_bytes()
        named = {name for _, names in asked for name in names}
        named |= {*PLACE} if named & {*PLACE} else set()
        assert all(found[name] == before[name] for name in found if name not in named)

    every(90, designed(methods=SAME_AGAIN, larger=True), tmp_path, with_and_without)


LINKED = tuple(name for name, said in DESIGNS.items() if said)


@pytest.mark.parametrize("accepted", [False, True], ids=["refused", "accepted"])
def test_persons_whose_rows_are_linked_have_the_same_rows_as_others(tmp_path, accepted):
    policies = POLICIES if accepted else ("blank", "value", "impute")
    every(60, designed(designs=LINKED, policies=policies, linked=accepted), tmp_path)


@pytest.mark.parametrize("way", ["csv", "parquet"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_keeps_the_promises(tmp_path, method, way):
    rng = Random(7)
    persons = [person for person in range(20) for _ in range(1 + person % 3)]
    rng.shuffle(persons)
    n, strata = len(persons), [person % 2 for person in persons]
    values = {name: [rng.gauss(40, 12) for _ in range(n)] for name in NUMBERS}
    table = values | {"word": [rng.choice("abc") for _ in range(n)], "sales": [1000 + row for row in range(n)]}
    table |= stratum_columns(strata, False)[0]
    table |= {"who": [f"person-{person}" for person in persons], "w": [rng.randint(1, 900) for _ in range(n)]}
    options = {"person": "who", "within": ["region"], "sampling_weight": "w", "released_weight": "common"}
    options |= {"method": quick(method, 3), "exact": True, "keep_order": True}
    drawn = Drawn(table, [*NUMBERS, "word"], 3, options, persons, persons, strata, way)
    check(drawn, *released(drawn, tmp_path))
