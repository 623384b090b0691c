"""Persons with several rows, strata, sampling weights and a larger k for some columns: what they cost.

    python benchmarks/persons.py                 all parts, about ten minutes
    python benchmarks/persons.py clinic also     some of them: clinic, scale, stages, strata, weights, also

Every table is made here, with a fixed seed. What a release promises is counted on its values by no code of
Shoal's. Times are medians of releases that take turns in one run, after a small one of each kind, so that nothing
is compiled in the time taken; the same release without the demand is the reference. The stages come from a profile
of one release each, which itself takes some time where functions are called a million times. Auto uses all cores.
"""

import cProfile
import pstats
import sys
import tempfile
import warnings
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa

import shoal

K = 5
TURNS = 3


def show(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    print(f"\n{name}\n", *lines, sep="\n", flush=True)


def numbered(table, names):
    """The number of each record's combination of values in these columns."""
    columns = [np.unique(np.array(table[name].to_pylist(), dtype=str), return_inverse=True)[1] for name in names]
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1)


def persons_per_group(groups, persons):
    """How many different persons each group has."""
    pairs = np.unique(np.column_stack([groups, persons]), axis=0)
    return np.bincount(pairs[:, 0])


def spread_rows(rng, rows, persons):
    """How many rows each person has, at least one and geometric, so many in all."""
    cuts = np.sort(rng.choice(rows - 1, persons - 1, replace=False)) + 1
    return np.diff([0, *cuts, rows])


# A clinic whose patients come 1 to 30 times.


def clinic_table(patients=2000, seed=1):
    rng = np.random.default_rng(seed)
    visits = np.minimum(rng.geometric(0.15, patients), 30)
    who = np.repeat(np.arange(patients), visits)
    regions = np.array([f"{10 * a + b}{c:02d}" for a in range(1, 6) for b in range(4) for c in range(5)])
    sex, born = rng.choice(["f", "m"], patients), rng.integers(1930, 2015, patients)
    region, heavy = rng.choice(regions, patients), rng.normal(26, 4.5, patients)
    first = rng.integers(0, 1200, patients)
    day = first[who] + np.concatenate([np.cumsum(rng.geometric(1 / 25, count)) for count in visits])
    diagnosis = np.array([f"{letter}{number}" for letter in "ABCEIJKM" for number in range(10, 20)])
    order = rng.permutation(len(who))
    columns = {
        "patient": who,
        "sex": sex[who],
        "born": born[who],
        "region": region[who],
        "visit": np.datetime64("2020-01-01") + day.astype("timedelta64[D]"),
        "bmi": np.maximum(heavy[who] + rng.normal(0, 0.6, len(who)), 13).round(1),
        "diagnosis": diagnosis[rng.integers(0, len(diagnosis), len(who))],
    }
    return pa.table({name: values[order] for name, values in columns.items()})


def clinic():
    """Groups of rows that are of a few patients only, with and without persons."""
    table = clinic_table()
    quasi, patients = ["sex", "born", "region", "visit", "bmi"], table["patient"].to_numpy()
    demands = {
        "none": {"identifiers": "patient"},
        "person": {"person": "patient"},
        "person, rows apart": {"person": "patient", "person_rows": "apart"},
    }
    rows = []
    for method in ("auto", "mdav"):
        reference = None
        for what, demand in demands.items():
            release = shoal.anonymize(
                table, k=K, quasi_identifiers=quasi, confidential="diagnosis", method=method, random_state=1,
                prefixes={"region": [1, 2]}, **demand,
            )  # fmt: skip
            groups = numbered(release.table, quasi)
            sizes = persons_per_group(groups, patients)
            alone = len(np.unique(patients[(sizes == 1)[groups]]))
            few = int((sizes < K)[groups].sum())
            assert what == "none" or (alone, few) == (0, 0), f"{what}: {alone} alone, {few} rows among few"
            loss = release.information_loss
            reference = reference or loss
            rows.append(
                (method, what, len(sizes), sizes.min(), alone, few, f"{loss:.2f}", f"{loss / reference:.2f}")
            )
    header = (
        "method", "demand", "groups", "fewest patients", "patients alone", f"rows among fewer than {K} patients",
        "information loss, %", "ratio",
    )  # fmt: skip
    show(f"Clinic: {table.num_rows} rows of {len(np.unique(patients))} patients, k = {K}", header, rows)


# A million rows.


def large_table(rows=1_000_000, persons=300_000, text=False, seed=2):
    rng = np.random.default_rng(seed)
    who = np.repeat(rng.permutation(persons), spread_rows(rng, rows, persons))[rng.permutation(rows)]
    points = rng.normal(size=(persons, 4))[who] + rng.normal(scale=0.5, size=(rows, 4))
    columns = {f"x{i}": points[:, i].round(3) for i in range(4)}
    ids = np.char.add("P", np.char.zfill(who.astype(str), 9)) if text else who
    return pa.table({"id": ids, **columns, "diagnosis": rng.integers(0, 50, rows)})


DEMANDS = {
    "none": {"identifiers": "id"},
    "person": {"person": "id"},
    "person, rows apart": {"person": "id", "person_rows": "apart"},
}


def released(table, method, demand):
    quasi = ["x0", "x1", "x2", "x3"]
    return shoal.anonymize(
        table, k=K, quasi_identifiers=quasi, confidential="diagnosis", method=method, **DEMANDS[demand]
    )


def timed(table, method, folder):
    """Seconds in memory and with the writing of a Parquet file, by demand, and the last losses."""
    times, losses = {demand: [] for demand in DEMANDS}, {}
    for turn in range(-1, TURNS):
        for demand, taken in times.items():
            begin = perf_counter()
            release = released(table.slice(0, 20_000) if turn < 0 else table, method, demand)
            grouped = perf_counter()
            release.write(Path(folder) / "release.parquet", overwrite=True)
            if turn >= 0:
                taken.append((grouped - begin, perf_counter() - begin))
            losses[demand] = release.information_loss
    return {
        demand: [median(column) for column in zip(*taken, strict=True)] for demand, taken in times.items()
    }, losses


def scale():
    """The time that persons take, as a ratio to a release of the same rows without them."""
    cases = {
        "300 000 persons": large_table(),
        "300 000 persons, texts": large_table(text=True),
        "1 000 000 persons": large_table(persons=1_000_000),
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, table in cases.items():
            for method in ("auto", "mdav"):
                times, losses = timed(table, method, folder)
                for demand, (grouped, written) in times.items():
                    first, last = times["none"]
                    rows.append(
                        (what, method, demand, f"{grouped:.1f}", f"{grouped / first:.2f}", f"{written:.1f}",
                         f"{written / last:.2f}", f"{losses[demand]:.2f}")
                    )  # fmt: skip
                print(*rows[-len(times) :], sep="\n", flush=True)
    header = (
        "1 000 000 rows of", "method", "demand", "seconds", "ratio", "with writing", "ratio", "information loss, %"
    )  # fmt: skip
    show(f"Scale: a million rows, 4 numeric quasi-identifiers, k = {K}, median of {TURNS} turns", header, rows)


STAGES = {
    "reading identifiers": ("design.py", "read_design"),
    "points of the quasi-identifiers": ("space.py", "of"),
    "columns left as they are": ("pipeline.py", "left_by"),
    "grouping": ("pipeline.py", "grouped_as_designed"),
    "of it: the method": ("grouping.py", "fitted"),
    "of it: means of persons": ("grouping.py", "gathered"),
    "of it: levels of rows apart": ("person_rows.py", "levels_of"),
    "common values": ("space.py", "common_values"),
    "information loss": ("loss.py", "information_loss"),
    "anonymize in all": ("pipeline.py", "released"),
    "writing": ("release.py", "_write_to"),
    "reading back and verifying": ("release.py", "_verified"),
    "of it: order of the rows": ("release.py", "_whose"),
    "of it: counting persons": ("verification.py", "counted_persons"),
    "persons counted, wherever": ("persons.py", "persons_in"),
}


def stages():
    """Where the time of a release goes."""
    table, columns = large_table(), {}
    with tempfile.TemporaryDirectory() as folder:
        for demand in DEMANDS:
            released(table.slice(0, 20_000), "auto", demand)
            profile = cProfile.Profile()
            with profile:
                released(table, "auto", demand).write(Path(folder) / "release.parquet", overwrite=True)
            found = pstats.Stats(profile).stats
            columns[demand] = [
                sum(
                    each[3]
                    for (path, _, function), each in found.items()
                    if (Path(path).name, function) == place and "shoal" in Path(path).parts
                )
                for place in STAGES.values()
            ]
    rows = [(stage, *(f"{taken[i]:.2f}" for taken in columns.values())) for i, stage in enumerate(STAGES)]
    show("Stages: seconds of one profiled release each, auto, 300 000 persons", ("stage", *columns), rows)


# Strata of which three are too small.


def strata():
    """The error that small strata are, and the loss with each way out of it."""
    rng = np.random.default_rng(3)
    counts = np.concatenate([[2, 3, 4], rng.integers(40, 160, 47)])
    names = np.array([f"R{i:02d}" for i in range(1, 51)])
    region = np.repeat(rng.permutation(50), counts[rng.permutation(50)])
    n = len(region)
    table = pa.table(
        {
            "region": names[region],
            "age": rng.integers(18, 90, n),
            "income": np.exp(rng.normal(10 + region / 100, 0.5)).round(-2),
            "size": rng.integers(1, 7, n),
        }
    )
    sizes = dict(zip(names.tolist(), np.bincount(region).tolist(), strict=True))
    small = [name for name, count in sizes.items() if count < K]
    large = [name for name in sizes if name not in small]
    merged = {name: min(large, key=lambda other, name=name: abs(int(other[1:]) - int(name[1:]))) for name in small}

    def made(**demand):
        roles = {"identifiers": "region"} if not demand else {}
        names = ["age", "income", "size"]
        return shoal.anonymize(table, k=K, quasi_identifiers=names, method="mdav", **roles, **demand)

    said = refusal(lambda: made(within="region"))
    print(f"\n{said}", flush=True)
    assert all(repr(name) in said for name in small), "not all small strata are named"
    ways = {
        "none, region left out": {},
        "merged: " + ", ".join(f"{a} into {b}" for a, b in merged.items()): {"merge_strata": merged},
        "small ones dropped": {"small_strata": "drop"},
    }
    rows, reference = [], None
    for what, way in ways.items():
        release = made(**({"within": "region"} | way if way else {}))
        within = ["region"] if way else []
        groups = numbered(release.table, ["age", "income", "size", *within])
        assert np.bincount(groups).min() >= K
        loss, reference = release.information_loss, reference or release.information_loss
        n_strata = len(set(release.table["region"].to_pylist())) if way else ""
        rows.append((what, release.table.num_rows, n_strata, f"{loss:.2f}", f"{loss / reference:.2f}"))
    header = ("strata", "records", "strata left", "information loss, %", "ratio")
    show(f"Strata: {n} records of 50 regions, {len(small)} of them with fewer than {K}, MDAV", header, rows)


def refusal(work):
    """What the error says that this work must end with."""
    try:
        work()
    except shoal.ShoalError as error:
        return str(error)
    raise AssertionError("not refused")


# Sampling weights.


def weights():
    """Weighted means and totals, and the groups, with weights and without them."""
    rng = np.random.default_rng(4)
    n, names = 20_000, ["age", "income", "rooms"]
    age = rng.integers(18, 95, n)
    income = np.exp(rng.normal(10 - (age - 50) ** 2 / 4000, 0.6)).round(-1)
    rooms = rng.poisson(3, n) + 1
    weight = np.exp(rng.normal(4 - np.log(income / 2e4) / 2, 0.8)).round(2)
    table = pa.table({"age": age, "income": income, "rooms": rooms, "weight": weight})
    plain = shoal.anonymize(table, k=K, quasi_identifiers=names, confidential="weight", method="mdav")
    kinds = {
        "no": (plain, "kept"),
        "yes": (weighted_release(table, names, "common"), "common"),
        "yes, too": (weighted_release(table, names, "keep"), "kept"),
    }
    rows = []
    for what, (release, leaving) in kinds.items():
        out, found = release.table, []
        after = out["weight"].to_numpy()
        for name in names:
            before, now = weight @ table[name].to_numpy(), after @ out[name].to_numpy()
            found += [now / before - 1, (now / after.sum()) / (before / weight.sum()) - 1]
        moved = n_moved(plain.labels, release.labels)
        rows.append(
            (what.removesuffix(", too"), leaving, *(f"{100 * each:+.4f}" for each in found), moved,
             f"{own_loss(table, out, names, None):.3f}", f"{own_loss(table, out, names, weight):.3f}")
        )  # fmt: skip
    header = (
        "weighted MDAV", "weights leave",
        *(f"{what} of {name}, %" for name in names for what in ("total", "mean")), "grouped differently",
        "plain loss, %", "weighted loss, %",
    )  # fmt: skip
    show(f"Weights: {n} records, k = {K}; weighted totals and means against the original", header, rows)


def weighted_release(table, names, leaving):
    return shoal.anonymize(
        table, k=K, quasi_identifiers=names, method="mdav", sampling_weight="weight", released_weight=leaving
    )


def n_moved(before, after):
    """How many records have not the same companions in both."""
    pairs = np.unique(np.column_stack([before, after]), axis=0, return_inverse=True)[1].reshape(-1)
    both = np.bincount(pairs)[pairs]
    return int(((both < np.bincount(before)[before]) | (both < np.bincount(after)[after])).sum())


def own_loss(table, out, names, weight):
    """100 * SSE / SST of standardized columns, each record times its weight."""
    sse = sst = 0.0
    for name in names:
        values, released = (np.asarray(each[name].to_numpy(), float) for each in (table, out))
        sse += np.average((values - released) ** 2, weights=weight) / values.var()
        sst += np.average((values - np.average(values, weights=weight)) ** 2, weights=weight) / values.var()
    return 100 * sse / sst


# A larger k for some of the columns.


def also():
    """The smallest number of records on some columns before and after more is asked for, and the extra loss."""
    rng = np.random.default_rng(5)
    n = 10_000
    table = pa.table(
        {
            "age": np.clip(rng.normal(45, 20, n), 0, 99).astype(int),
            "sex": rng.choice(["f", "m"], n),
            "income": np.exp(rng.normal(10, 0.6, n)).round(-2),
            "rooms": rng.poisson(3, n) + 1,
        }
    )
    cases = [
        [(10, ["age", "sex"])],
        [(50, ["age", "sex"])],
        [(20, ["age"]), (20, ["income"])],
        [(10, ["age", "sex"]), (50, ["age"])],
    ]
    rows = []
    for method in ("mdav", "auto"):
        settings = {"quasi_identifiers": table.column_names, "method": method, "random_state": 1}
        plain = shoal.anonymize(table, k=K, **settings)
        for demands in cases:
            begin = perf_counter()
            release = shoal.anonymize(table, k=K, also=demands, **settings)
            seconds = perf_counter() - begin
            found = []
            for each in (plain, release):
                counts = [np.bincount(numbered(each.table, names)).min() for _, names in demands]
                found.append(", ".join(map(str, counts)))
            assert all(np.bincount(numbered(release.table, names)).min() >= k for k, names in demands)
            assert np.bincount(numbered(release.table, table.column_names)).min() >= K
            asked = "; ".join(f"{k} on {', '.join(names)}" for k, names in demands)
            losses = plain.information_loss, release.information_loss
            rows.append(
                (method, asked, *found, *(f"{loss:.2f}" for loss in losses), f"{losses[1] - losses[0]:+.2f}",
                 f"{seconds:.2f}")
            )  # fmt: skip
    header = (
        "method", "asked", "k there before", "after", "loss before, %", "after, %", "extra", "seconds with it"
    )  # fmt: skip
    show(f"Also: {n} records, k = {K}", header, rows)


PARTS = {"clinic": clinic, "scale": scale, "stages": stages, "strata": strata, "weights": weights, "also": also}

if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
