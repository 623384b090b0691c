"""Privacy models, measured: what they cost on Census and on Adult, their time on a million records, what they buy.

    python benchmarks/models.py                      all parts; adult and census take a quarter of an hour each
    python benchmarks/models.py census attacks       some of them: census, adult, million, attacks
    SHOAL_K=2,10,30 SHOAL_TURNS=1 SHOAL_LIMIT=60 python benchmarks/models.py      less of it: some k on Census,
                                                     turns on a million records, seconds for a case on Adult

Writes docs/tables/models_*.md and docs/pictures/models_*.svg. Census and Adult come from ../shared/data (or where
SHOAL_SHARED says); a part whose data are not there is skipped. What the groups promise on Census, and what the
attacks find on Adult, is counted here from the groups, by no code of Shoal's.
"""

import os
import sys
import warnings
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
from matplotlib.figure import Figure

import shoal
from shoal.methods.k_anonymity_first import KAnonymityFirst
from shoal.methods.t_closeness_first import TClosenessFirst
from shoal.methods.t_closeness_merging import TClosenessMerging
from shoal.privacy.coding import coding_for, column_of
from shoal.privacy.models import AlphaK, BetaLikeness, LDiversity, TCloseness
from shoal.privacy.rules import Rules

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLES, PICTURES = ROOT / "docs" / "tables", ROOT / "docs" / "pictures"
INK, SOFT, TEAL, AMBER = "#1f2933", "#cbd2d9", "#0f766e", "#d97706"


def write(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    (TABLES / f"models_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"\n{name}", *lines, sep="\n", flush=True)


def data_file(name):
    """A file of the shared data, or nothing, with the reason said."""
    path = SHARED / "data" / name
    if not path.exists():
        print(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED", flush=True)
        return None
    return path


# Census: the published algorithms of t-closeness beside ours.

KS = tuple(int(k) for k in os.environ.get("SHOAL_K", "2,5,10,20,30").split(","))
TS = (0.01, 0.05, 0.09, 0.13, 0.17, 0.21, 0.25)
METHODS = {
    "t-closeness-merging": TClosenessMerging,
    "k-anonymity-first": KAnonymityFirst,
    "t-closeness-first": TClosenessFirst,
    "auto": shoal.Auto,
}
SIZES = dict(zip(TS, (49, 10, 6, 4, 3, 3, 2), strict=True))
"""The published sizes of the groups of t-closeness-first on Census, k = 2."""


def largest_distance(values, labels):
    """The largest earth mover's distance on ranks of any group, ties in the order of the file."""
    n = len(values)
    rank = np.empty(n, int)
    rank[np.argsort(values, kind="stable")] = np.arange(n)
    found = 0.0
    for group in range(labels.max() + 1):
        share = np.full(n, -1 / n)
        share[rank[labels == group]] += 1 / np.count_nonzero(labels == group)
        found = max(found, np.abs(np.cumsum(share)).sum() / (n - 1))
    return found


def census():
    """Losses of the published algorithms of t-closeness and of `auto`, distance on ranks."""
    if (path := data_file("census.csv")) is None:
        return
    table = pyarrow.csv.read_csv(path)
    X = np.column_stack([table[name].to_numpy() for name in ("TAXINC", "POTHVAL")]).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    losses, rows, seconds = {}, [], []
    for k in KS:
        for name in ("FEDTAX", "FICA"):
            for t in TS:
                losses[name, k, t], taken = census_case(X, table, name, k, t)
                seconds.append(taken)
    for (name, k, t), found in sorted(losses.items()):
        rows.append((name, k, t, *(f"{loss:.2f}" for loss in found)))
    write("census", ("confidential", "k", "t", *METHODS), rows)
    draw_census(losses)
    print(f"auto: {min(seconds):.1f} to {max(seconds):.1f} s, median {median(seconds):.1f} s", flush=True)
    above = [case for case, (*others, ours) in losses.items() if ours >= min(others)]
    gains = [1 - ours / min(others) for *others, ours in losses.values()]
    print(f"ours below the best of the three by {min(gains):.1%} to {max(gains):.1%}, median {median(gains):.1%}")
    assert not above, f"ours is not below all three at {above}"


def census_case(X, table, name, k, t):
    """The loss of each method, and the seconds of the last, its promises counted here."""
    model = TCloseness(t, "ranks", on=name)
    rules = Rules.of([model], [coding_for(model, column_of(name, table[name]))])
    found = []
    for method, kind in METHODS.items():
        begin = perf_counter()
        fitted = kind(k=k).fit(X, rules=rules)
        seconds = perf_counter() - begin
        sizes = np.bincount(fitted.labels_)
        assert sizes.min() >= k, f"{method}: a group of {sizes.min()}"
        distance = largest_distance(table[name].to_numpy(), fitted.labels_)
        assert distance <= t + 1e-9, f"{method}: a distance of {distance} above {t}"
        if (method, k) == ("t-closeness-first", 2):
            assert sizes.min() == SIZES[t], f"groups of {sizes.min()}, published {SIZES[t]}"
        found.append(fitted.information_loss_)
    print(name, k, t, *(f"{loss:.3f}" for loss in found), f"{seconds:.1f} s", flush=True)
    return found, seconds


def draw_census(losses):
    """Loss against t, for the smallest k and for 10."""
    names, ks = sorted({name for name, *_ in losses}), [k for k in (2, 10) if k in KS]
    figure = Figure(figsize=(9, 3.2 * len(ks)), layout="constrained")
    panels = figure.subplots(len(ks), len(names), sharex=True, sharey=True, squeeze=False)
    styles = list(zip(METHODS, ("s:", "^--", "d-.", "o-"), (INK, AMBER, "#6b7280", TEAL), strict=True))
    for line, k in zip(panels, ks, strict=True):
        for axes, name in zip(line, names, strict=True):
            for place, (method, style, colour) in enumerate(styles):
                loss = [losses[name, k, t][place] for t in TS]
                axes.plot(TS, loss, style, color=colour, ms=4, lw=1.2, label=method)
            axes.set_title(f"{name} confidential, k = {k}", fontsize=10, color=INK)
            axes.set_ylim(0, 105)
            axes.grid(axis="y", color=SOFT, lw=0.5)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        line[0].set_ylabel("information loss, %")
    for axes in panels[-1]:
        axes.set_xlabel("t")
        axes.set_xticks(TS, [f"{t:g}" for t in TS])
    panels[0][-1].legend(frameon=False, fontsize=8)
    figure.savefig(PICTURES / "models_census.svg", metadata={"Date": None})


# Adult: the price of each promise.

ADULT_K, LIMIT = 10, float(os.environ.get("SHOAL_LIMIT", "300"))
ADULT_CONFIDENTIAL = ["occupation", "income"]
DEMANDS = {
    "none": [],
    "l = 2 on income": [LDiversity(2, on="income")],
    "t = 0.15 on income": [TCloseness(0.15, on="income")],
    "l = 4 and t = 0.3 on occupation": [LDiversity(4, on="occupation"), TCloseness(0.3, on="occupation")],
}


def adult():
    """13 attributes, occupation and income confidential: loss before and after, groups, seconds."""
    if (path := data_file("adult.csv.gz")) is None:
        return
    header = (
        "models", "information loss, %", "loss of the points without models, %", "with them, %", "groups",
        "seconds",
    )  # fmt: skip
    rows = []
    for what in DEMANDS:
        found = within(LIMIT, adult_case, path, what)
        rows.append((what, *(found or ("", "", "", "", f"did not end in {LIMIT:.0f} s"))))
        write("adult", header, rows)  # after each: the next may take long


def adult_case(path, what):
    """A line of the table, after a small release that compiles what there is to compile."""
    table = pyarrow.csv.read_csv(path)
    with suppress(shoal.ShoalError):  # a small table may have too few values for the models
        adult_release(table.slice(0, 1000), what)
    begin = perf_counter()
    try:
        release = adult_release(table, what)
    except shoal.ShoalError as error:
        return "", "", "", "", f"refused: {error}"
    seconds = perf_counter() - begin
    figures = {figure.name: figure.value for figure in release.figures}
    after = figures["points_loss"]
    before = figures.get("loss_without_models", after)
    losses = (f"{loss:.2f}" for loss in (release.information_loss, before, after))
    return (*losses, release.labels.max() + 1, f"{seconds:.1f}")


def adult_release(table, what):
    quasi = [name for name in table.column_names if name not in ADULT_CONFIDENTIAL]
    return shoal.anonymize(
        table, k=ADULT_K, quasi_identifiers=quasi, confidential=ADULT_CONFIDENTIAL, gaps="value", method="auto",
        models=DEMANDS[what],
    )  # fmt: skip


def within(seconds, work, *given):
    """What the work returns, in a process of its own; nothing where it takes longer than this."""
    context = get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=answered, args=(answers, work, given))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        process.join()
        return None
    assert process.exitcode == 0, "the work ended with an error"
    return answers.get()


def answered(answers, work, given):
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    answers.put(work(*given))


# A million records: the time that a model takes.

TURNS = int(os.environ.get("SHOAL_TURNS", "2"))
MILLION = {"none": [], "l = 3": [LDiversity(3, on="diagnosis")]}


def large_table(n, values=20, seed=2):
    """Four numeric attributes and a confidential word, the most frequent one of two fifths of all records."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, values + 1) ** 1.4
    words = np.array([f"diagnosis {i}" for i in range(values)])
    columns = {f"x{i}": rng.normal(size=n).round(3) for i in range(4)}
    return pa.table({**columns, "diagnosis": words[rng.choice(values, n, p=shares / shares.sum())]})


def million(n=1_000_000):
    """Seconds without and with l-diversity, in turns."""
    table, times, found = large_table(n), {what: [] for what in MILLION}, {}
    for turn in range(-1, TURNS):
        for what, models in MILLION.items():
            part = table if turn >= 0 else table.slice(0, 20_000)
            begin = perf_counter()
            release = shoal.anonymize(
                part, k=5, quasi_identifiers=["x0", "x1", "x2", "x3"], confidential="diagnosis", method="auto",
                models=models,
            )  # fmt: skip
            if turn >= 0:
                times[what].append(perf_counter() - begin)
                found[what] = f"{release.information_loss:.3f}", release.labels.max() + 1
                print(what, f"{times[what][-1]:.1f} s", *found[what], flush=True)
    first = median(times["none"])
    rows = [
        (what, f"{median(taken):.1f}", f"{median(taken) / first:.2f}", *found[what])
        for what, taken in times.items()
    ]
    write("million", ("models", "seconds", "ratio", "information loss, %", "groups"), rows)


# Attacks: what each promise buys.

NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
HIGH = ">50K"
ATTACK_LIMIT = 60.0  # seconds: beta-likeness of hours that few people work leaves next to one group


def attack_models(on):
    """The models on a column; of income only the high one can be at most a half of a group."""
    harmful = (HIGH,) if on == "income" else ()
    return {
        "none": [],
        "l-diversity, l = 2": [LDiversity(2, on=on)],
        "entropy l-diversity, l = 1.5": [LDiversity(1.5, "entropy", on=on)],
        "t-closeness, t = 0.15": [TCloseness(0.15, on=on)],
        "beta-likeness, beta = 1": [BetaLikeness(1, on=on)],
        "alpha = 0.5": [AlphaK(0.5, on=on, sensitive_values=harmful)],
    }


def shares_in(values, labels):
    """The share of each value in the group of each record, counted."""
    known, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((labels.max() + 1, len(known)))
    np.add.at(counts, (labels, codes), 1)
    return dict(zip(known.tolist(), (counts / counts.sum(axis=1, keepdims=True))[labels].T, strict=True))


def homogeneity(shares):
    """The share of records in groups of one value, and in groups where one has more than 90 %."""
    most = np.max(list(shares.values()), axis=0)
    return np.mean(most == 1), np.mean(most > 0.9)


def skewness(values, shares):
    """How many times as probable a high income is, the group known: of those who have one, at most, above 2."""
    has = values == HIGH
    factor = shares[HIGH] / np.mean(has)
    return np.mean(factor[has]), factor.max(), np.mean(factor > 2)


def similarity(values, labels):
    """The share of records in groups whose values lie within a tenth of the range."""
    low, high = np.full(labels.max() + 1, np.inf), np.full(labels.max() + 1, -np.inf)
    np.minimum.at(low, labels, values)
    np.maximum.at(high, labels, values)
    return np.mean((high - low <= (values.max() - values.min()) / 10)[labels])


def attacks(n=10_000):
    """Homogeneity, skewness and similarity on Adult, before and after each model."""
    if (path := data_file("adult.csv.gz")) is None:
        return
    table = pyarrow.csv.read_csv(path).slice(0, n)
    income = np.array(table["income"].to_pylist())
    rows, alike, bars = [], [], {}
    for what, models in attack_models("income").items():
        release, seconds = attacked(table, [*NUMBERS, "sex", "race"], ["income", "occupation"], models)
        shares = shares_in(income, release.labels)
        same, nearly = homogeneity(shares)
        mean, largest, above = skewness(income, shares)
        bars[what] = [nearly, above]
        rows.append(
            (what, f"{release.information_loss:.2f}", release.labels.max() + 1, f"{same:.1%}", f"{nearly:.1%}",
             f"{mean:.2f}", f"{largest:.2f}", f"{above:.1%}")
        )  # fmt: skip
        print(rows[-1], f"{seconds:.1f} s", flush=True)
    header = (
        "model on income", "information loss, %", "groups", "records in groups of one value",
        "where one has above 90 %", f"factor of {HIGH}, mean of those who have it", "largest",
        "records with a factor above 2",
    )  # fmt: skip
    write("attacks", header, rows)
    for what in attack_models("hours-per-week"):
        if (found := within(ATTACK_LIMIT, alike_case, table, what)) is None:
            bars[what].append(np.nan)
            alike.append((what, "", "", f"did not end in {ATTACK_LIMIT:.0f} s"))
        else:
            *rest, close = found
            bars[what].append(close)
            alike.append((what, *rest, f"{close:.1%}"))
        print(alike[-1], flush=True)
    header = (
        "model on hours-per-week", "information loss, %", "groups", "records in groups within a tenth of the range"
    )  # fmt: skip
    write("similarity", header, alike)
    draw_attacks(bars)


def alike_case(table, what):
    """The loss, the groups and the similarity with a model on the hours."""
    quasi = [name for name in NUMBERS if name != "hours-per-week"]
    models = attack_models("hours-per-week")[what]
    release, _ = attacked(table, [*quasi, "sex", "race"], ["hours-per-week"], models)
    close = similarity(table["hours-per-week"].to_numpy(), release.labels)
    return f"{release.information_loss:.2f}", release.labels.max() + 1, close


def attacked(table, quasi, confidential, models):
    begin = perf_counter()
    release = shoal.anonymize(
        table, k=10, quasi_identifiers=quasi, confidential=confidential, method="auto", models=models,
        keep_order=True,
    )  # fmt: skip
    return release, perf_counter() - begin


def draw_attacks(bars):
    """The share of records that each attack tells something about, by model."""
    titles = (
        "homogeneity: one income has\nmore than 90 % of the group",
        f"skewness: {HIGH} more than\ntwice as probable",
        "similarity: hours within\na tenth of the range",
    )
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    names = list(bars)[::-1]
    for place, (axes, title) in enumerate(zip(figure.subplots(1, 3, sharey=True), titles, strict=True)):
        width = [100 * bars[name][place] for name in names]
        said = ["not measured" if np.isnan(each) else f"{each:.1f}" for each in width]
        shown = axes.barh(names, np.nan_to_num(width), color=[AMBER if name == "none" else TEAL for name in names])
        axes.bar_label(shown, said, padding=2, fontsize=8, color=INK)
        axes.set_xlim(0, 1.2 * max(np.nanmax(width), 1))
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xlabel("records, %")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(PICTURES / "models_attacks.svg", metadata={"Date": None})


PARTS = {"census": census, "adult": adult, "million": million, "attacks": attacks}

if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
