"""Refined against the lowest losses known of the 24 standard cases, with a lower bound of what is possible.

    python benchmarks/records.py                        all cases: an hour, more where records are hard to reach
    python benchmarks/records.py census:3,10 eia:5      chosen cases; they take the place of theirs in the table
    python benchmarks/records.py 20 census:3,10 eia:5   chosen cases, 20 s each; writes nothing
    python benchmarks/records.py small                  500 random tables of up to 20 records against the optimum

Every case is run three times, with 1, 5 and 60 seconds, and for k up to 6 with 300 seconds too if that of 60 s is
above the record. The bound is that of the longest run, or of `lower_bound` for 10 seconds more if that is higher.
The seed is fixed, two threads; everything is compiled before the clock runs. Writes
docs/methods/tables/refined_records.md and docs/pictures/refined_records.svg. Data and published figures are read
from ../shared (or where SHOAL_SHARED says).
"""

import os
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "tests" / "papers"))

from published import figures, points_of  # noqa: E402

import shoal  # noqa: E402
from shoal import Optimal, Refined  # noqa: E402

TABLE = ROOT / "docs" / "methods" / "tables" / "refined_records.md"
PICTURE = ROOT / "docs" / "pictures" / "refined_records.svg"
RECORDS = tomllib.loads((SHARED / "reference" / "records.toml").read_text())
IMHM = figures(SHARED)["casc"]["imhm"]
BUDGETS = (1, 5, 60, 300)
PROVING = 10
DRAWN = (("census", 3), ("tarragona", 5), ("eia", 5), ("census", 10))


@dataclass
class Case:
    """What was found of one table and k; losses and bounds in percent of its SST."""

    name: str
    k: int
    mdav: float = 0.0
    swept: float = 0.0
    imhm: float = 0.0
    record: float = 0.0
    bound: float = 0.0
    losses: dict[float, float] = field(default_factory=dict)
    history: list[tuple[float, float]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)

    @property
    def last(self):
        """The loss of the longest run."""
        return self.losses[max(self.losses)]

    @property
    def gap(self):
        """How far that can be above the optimum, in percent."""
        return 100 * (self.last / self.bound - 1)

    def run(self, budgets):
        """Refine with each budget, then prove."""
        X, place = points_of(SHARED, self.name), RECORDS["k"].index(self.k)
        self.imhm, self.record = IMHM[self.name][place], RECORDS[self.name][place]
        for seconds in budgets:
            if seconds > 60 and (self.k > 6 or self.is_met()):
                continue
            model = Refined(k=self.k, seconds=seconds).fit(X)
            percent = 100 / model.partition_.sst
            self.losses[seconds] = model.information_loss_
            self.history = [(when, sse * percent) for when, sse, _ in model.history_]
            self.bounds = [(when, bound * percent) for when, bound in model.bounds_]
        self.mdav = self.history[0][1]
        self.swept = min(sse * percent for _, sse, stage in model.history_ if stage in ("start", "exchanges"))
        proven = shoal.lower_bound(X, self.k, PROVING, partition=model.labels_, n_jobs=2)
        self.bound = max([float(proven) * percent, *(bound for _, bound in self.bounds)])
        return self

    def is_met(self):
        """Whether the record, which has four digits, is reached."""
        return round(self.last, 4) <= self.record

    def row(self, budgets):
        """Its line of the table."""
        digits = 5 if self.name == "eia" else 4
        cells = [f"{self.name.capitalize()} {self.k}"]
        cells += [f"{value:.{digits}f}" for value in (self.mdav, self.swept, self.imhm, self.record)]
        cells += [f"{self.losses[s]:.{digits}f}" if s in self.losses else "" for s in budgets]
        return [*cells, f"{self.bound:.{digits}f}", f"{self.gap:.2f} %"]


def everything():
    return [(name, k) for name in ("census", "tarragona", "eia") for k in RECORDS["k"]]


def write(cases):
    """The table with the cases in the place of theirs."""
    header = ["case", "MDAV", "exchanges", "IMHM", "record", *(f"{s:g} s" for s in BUDGETS), "lower bound", "gap"]
    old = TABLE.read_text(encoding="utf-8").splitlines()[2:] if TABLE.is_file() else []
    rows = {line.split("|")[1].strip(): line for line in old}
    rows |= {case.row(BUDGETS)[0]: "| " + " | ".join(case.row(BUDGETS)) + " |" for case in cases}
    ordered = [rows[case] for case in (f"{name.capitalize()} {k}" for name, k in everything()) if case in rows]
    head = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header))]
    TABLE.write_text("\n".join([*head, *ordered]) + "\n", encoding="utf-8")


def summary(cases):
    gain = np.mean([100 * (1 - case.swept / case.mdav) for case in cases])
    print(f"exchanges alone: {gain:.1f} % below MDAV on average")
    for seconds in (5, 60):
        losses = [(case.losses[seconds], case) for case in cases if seconds in case.losses]
        if losses:
            below = sum(loss < case.imhm for loss, case in losses)
            above = max(100 * (loss / case.record - 1) for loss, case in losses)
            print(f"{seconds} s: below IMHM {below} of {len(losses)}; at most {above:.2f} % above the record")
    above = max(100 * (case.last / case.record - 1) for case in cases)
    met = sum(case.is_met() for case in cases)
    print(f"in the end at or below the record: {met} of {len(cases)}; at most {above:.2f} % above")


def draw(cases):
    """Loss and bound against time."""
    matplotlib.rcParams["svg.hashsalt"] = "shoal"
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    chosen = [case for case in cases if (case.name, case.k) in DRAWN]
    for axes, case in zip(figure.subplots(2, 2).flat, chosen, strict=True):
        end = max(case.losses)
        for points, colour, label in ((case.history, "#1f5a8a", "loss"), (case.bounds, "#b3541e", "lower bound")):
            if points:
                when, value = zip(*points, (end, points[-1][1]), strict=True)
                axes.step(np.maximum(when, 0.01), value, where="post", color=colour, label=label)
        axes.axhline(case.imhm, color="grey", linestyle=":", linewidth=1, label="IMHM, published")
        axes.set(xscale="log", xlim=(0.01, end), title=f"{case.name.capitalize()}, k = {case.k}")
        axes.set(xlabel="seconds", ylabel="information loss, %")
        axes.legend(fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})


def small(count=500):
    """Random tables of up to 20 records, with ties and duplicates among them, against the optimum."""
    rng, missed = np.random.default_rng(7), 0
    for number in range(count):
        n, k, m = int(rng.integers(4, 21)), int(rng.integers(2, 6)), int(rng.integers(1, 5))
        X = rng.normal(size=(n, m))
        X, k = [X, np.round(X), X[rng.integers(0, n, n)]][number % 3], min(k, n)
        least = Optimal(k=k).fit(X).sse_
        missed += Refined(k=k).fit(X).sse_ > least * (1 + 1e-9) + 1e-12
    print(f"the optimum in {count - missed} of {count}")


def main(arguments):
    if arguments == ["small"]:
        small()
        return
    points = np.random.default_rng(0).normal(size=(200, 3))
    for k, n in ((3, 90), (50, 200)):
        Refined(k=k, rounds=2).fit(points[:n])  # compiled before the clock runs
        shoal.lower_bound(points, k, 2, n_jobs=2)
    budgets = [float(arguments.pop(0))] if arguments and arguments[0].isdecimal() else BUDGETS
    chosen = [(spec.split(":")[0], int(k)) for spec in arguments for k in spec.split(":")[1].split(",")]
    cases = []
    for name, k in chosen or everything():
        cases.append(Case(name, k).run(budgets))
        print("| " + " | ".join(cases[-1].row(budgets)) + " |", flush=True)
        if budgets is BUDGETS:
            write(cases)
    summary(cases)
    if budgets is BUDGETS and {(case.name, case.k) for case in cases}.issuperset(DRAWN):
        draw(cases)


if __name__ == "__main__":
    main(sys.argv[1:])
