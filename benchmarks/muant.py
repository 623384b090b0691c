"""The mixed example of µ-ANT: its published SSE beside that of Shoal's releases, in µ-ANT's own measure.

    python benchmarks/muant.py [FOLDER]                    the published figure, and releases of Shoal, which
                                                           are written to docs/tables/muant.md
    python benchmarks/muant.py [FOLDER] trials             groups on points that are made here
    python benchmarks/muant.py [FOLDER] RELEASE.csv ...    any release: a CSV file in the order of the rows

FOLDER (or SHOAL_MUANT) is a copy of µ-ANT's repository, CrisesUrv/microaggregation-based_anonymization_tool, or of
its part `data_anonymization_tool`. The files are not part of Shoal.

The example is Adult: 30 162 records, 12 quasi-identifiers (4 numbers, 8 categories with ontologies), k = 3. The
measure is the sum over the records and the quasi-identifiers of the squared distance between the original and the
released value, divided by the number of records. Numbers are divided by their standard deviation (n - 1). For
categories there are three readings:

flat       0 if equal, 1 if not. This is what the published figure is made of. µ-ANT looks its classes up under a
           name that misses a part, finds none, and every value is its own only ancestor: log2(1 + 2 / 2) = 1.
classes    log2(1 + |A xor B| / |A or B|), A and B the sets of ancestors of the two values, with the values
           themselves, in the classes of the ontologies. The values of education, occupation and native-country are
           no classes there, so they stay flat.
ontology   the same, where individuals inherit from the class they belong to. Names that an ontology does not have
           stay flat: all but one of occupation, and five countries.

A check shows that the figure is read right: µ-ANT's release is made anew here, and has the published SSE. Its
records are sorted by their distance from a record of zeros and roots, three neighbours are a group, means are
truncated, and medoids stand for categories. `k` is the least number of records that share all values of a release.

Reference: Sánchez, Martínez, Domingo-Ferrer, Soria-Comas, Batet: µ-ANT, Bioinformatics 2019.
"""

import csv
import os
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import shoal

PAGE = Path(__file__).parents[1] / "docs" / "tables" / "muant.md"

PUBLISHED, K = 2.9889675461355423, 3
READINGS = ("flat", "classes", "ontology")
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
RDFS = "{http://www.w3.org/2000/01/rdf-schema#}"
OWL = "{http://www.w3.org/2002/07/owl#}"


@dataclass(frozen=True)
class Example:
    """The table, and what µ-ANT's configuration says about it.

    Attributes
    ----------
    path : the table as a file
    columns : the quasi-identifiers, each with its values as text
    numeric : those that hold numbers
    parents : of each other column and reading, the parents of every node that has any
    """

    path: Path
    columns: dict[str, list[str]]
    numeric: list[str]
    parents: dict[str, dict[str, dict[str, list[str]]]]


def load(folder):
    folder = folder / "data_anonymization_tool" if (folder / "data_anonymization_tool").is_dir() else folder
    table, settings = folder / "datasets" / "adultData.txt", folder / "datasets" / "properties1Adult.xml"
    for path in (table, settings, folder / "ontologies"):
        if not path.exists():
            sys.exit(f"{path} is missing. Give the folder of µ-ANT's repository, or set SHOAL_MUANT to it.")
    with table.open(newline="") as file:
        head, *rows = csv.reader(file)
    values = {name: [row[i] for row in rows] for i, name in enumerate(head)}
    asked = {a.get("name"): a for a in ET.parse(settings).iter("attribute")}
    names = [name for name in head if asked[name].get("attribute_type") == "quasi_identifier"]
    numeric = [name for name in names if asked[name].get("data_type").startswith("numeric")]
    parents = {n: ontology(folder / asked[n].get("ontology")) for n in names if n not in numeric}
    return Example(table, {name: values[name] for name in names}, numeric, parents)


def ontology(path):
    """The parents of every node, in each reading of the file."""
    root = ET.parse(path).getroot()
    classes = links(root, OWL + "Class", RDFS + "subClassOf")
    return {
        "flat": {},
        "classes": classes,
        "ontology": links(root, OWL + "NamedIndividual", RDF + "type") | classes,
    }


def links(root, tag, to):
    found = {}
    for node in root.iter(tag):
        if node.get(RDF + "about"):
            above = [last(e.get(RDF + "resource")) for e in node.findall(to) if e.get(RDF + "resource")]
            found.setdefault(last(node.get(RDF + "about")), []).extend(a for a in above if a != "NamedIndividual")
    return found


def last(address):
    return address.rpartition("#")[2]


def ancestors(node, parents):
    """The node and all above it."""
    return frozenset({node}).union(*(ancestors(parent, parents) for parent in parents.get(node, [])))


def between(values, others, parents):
    """The distance of every value to every other one."""
    of, to = [ancestors(v, parents) for v in values], [ancestors(v, parents) for v in others]
    return np.log2([[1 + len(a ^ b) / len(a | b) for b in to] for a in of])


def evaluate(example, released, reading):
    """The part of each quasi-identifier in the SSE a record; `released` holds the values of each as text."""
    parts = {}
    for name, values in example.columns.items():
        if name in example.numeric:
            old, new = np.array(values, float), np.array(released[name], float)
            parts[name] = (((old - new) / old.std(ddof=1)) ** 2).mean()
        else:
            (kinds, old), (others, new) = (np.unique(v, return_inverse=True) for v in (values, released[name]))
            parts[name] = (between(kinds, others, example.parents[name][reading])[old, new] ** 2).mean()
    return parts


def released_by(example, labels, mean, common):
    """One value a group: `mean` of numbers, `common` of the codes of categories."""
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    released = {}
    for name, values in example.columns.items():
        numeric = name in example.numeric
        kinds, codes = (None, np.array(values, int)) if numeric else np.unique(values, return_inverse=True)
        chosen = np.empty(len(values), object)
        for group in groups:
            chosen[group] = mean(codes[group]) if numeric else kinds[common(name, kinds, codes[group])]
        released[name] = list(chosen)
    return released


def mode(name, kinds, codes):
    return np.bincount(codes).argmax()


def medoids(example, reading):
    """Of the values in a group the first with the least sum of distances."""
    known = {}

    def medoid(name, kinds, codes):
        if name not in known:
            known[name] = between(kinds, kinds, example.parents[name][reading])
        return codes[known[name][np.ix_(codes, codes)].sum(axis=1).argmin()]

    return medoid


def sorted_groups(example):
    """µ-ANT's groups: records in the order of their distance from zeros and roots, three at a time."""
    squares = np.zeros(len(next(iter(example.columns.values()))))
    for name, values in example.columns.items():
        if name in example.numeric:
            numbers = np.array(values, float)
            squares += (numbers / numbers.std(ddof=1)) ** 2
        else:
            squares += 1.0
    labels = np.empty(len(squares), int)
    labels[np.argsort(np.sqrt(squares), kind="stable")] = np.minimum(
        np.arange(len(squares)) // K, len(squares) // K - 1
    )
    return labels


def points(example, reading, unit):
    """Records as points: z-scores, and for categories a column for each node, 1 for a value and all above it.

    A category has a total variance of 1, as a number has, or, if `unit`, two nodes with nothing above them have
    a distance of 1.
    """
    blocks = []
    for name, values in example.columns.items():
        if name in example.numeric:
            numbers = np.array(values, float)
            block = ((numbers - numbers.mean()) / numbers.std(ddof=1))[:, None]
        else:
            kinds, codes = np.unique(values, return_inverse=True)
            sets = [ancestors(kind, example.parents[name][reading]) for kind in kinds]
            nodes = sorted(frozenset().union(*sets))
            block = np.array([[node in s for node in nodes] for s in sets], float)[codes]
            block = block[:, block.std(axis=0) > 0]
            block /= np.sqrt(2.0 if unit else block.var(axis=0).sum())
        blocks.append(block)
    return np.ascontiguousarray(np.hstack(blocks))


def line(example, name, released, seconds=None):
    """One row of the table: the SSE in every reading."""
    losses = [sum(evaluate(example, released, reading).values()) for reading in READINGS]
    k = min(Counter(zip(*released.values(), strict=True)).values())
    took = "" if seconds is None else f"{seconds:.0f}"
    shown(f"| {name} | {k} | {' | '.join(f'{loss:.5f}' for loss in losses)} | {took} |")
    return losses


def head():
    shown(f"| release | k | {' | '.join(READINGS)} | seconds |")
    shown(f"|---|{'--:|' * (len(READINGS) + 2)}")


LINES = []  # of the table, as it is shown


def shown(text):
    LINES.append(text)
    print(text, flush=True)


def published(example):
    """µ-ANT's release made anew; stops if it has not the published SSE."""
    released = released_by(
        example, sorted_groups(example), lambda v: int(v.sum()) // len(v), medoids(example, "flat")
    )
    losses = line(example, "µ-ANT (published: flat, 2.98897)", released)
    if not np.isclose(losses[0], PUBLISHED, rtol=1e-12, atol=0):  # sums in another order
        sys.exit(f"That release should have an SSE of {PUBLISHED}: the measure is not read right.")


def trials(example):
    """Groups of Shoal's methods on points made here, with several common values."""
    for reading, unit in [("flat", True), ("flat", False), ("ontology", True), ("ontology", False)]:
        X = points(example, reading, unit)
        for method in (shoal.MDAV(k=K), shoal.Auto(k=K)):
            start = time.perf_counter()
            labels = method.fit(X).labels_
            seconds = time.perf_counter() - start
            name = f"{type(method).__name__} on {reading} points, {'distance' if unit else 'variance'} 1"
            line(example, f"{name}, mode", released_by(example, labels, np.mean, mode), seconds)
            line(example, f"{name}, medoid", released_by(example, labels, np.mean, medoids(example, "ontology")))


def tree(example, name):
    """The ontology of a column as edges to the first parent; what it does not know stands below its root."""
    parents = example.parents[name]["ontology"]
    root = next(node for node, above in parents.items() if not above)
    nodes = frozenset().union(*(ancestors(value, parents) for value in set(example.columns[name])))
    above = {node: parents.get(node, [root])[:1] for node in nodes | {root}}

    def below(node):
        return {child: below(child) for child in sorted(above) if above[child] == [node] and child != node}

    return {root: below(root)}


def releases(example):
    """Shoal's own releases, without and with the ontologies as taxonomies."""
    with example.path.open(newline="") as file:
        others = [name for name in next(csv.reader(file)) if name not in example.columns]
    trees = {name: tree(example, name) for name in example.parents}
    ways = {
        "nominal": {},
        "taxonomies": {"taxonomies": trees},  # records that agree in nothing share a node above them
        "taxonomies, mode": {"taxonomies": trees, "aggregate": dict.fromkeys(trees, "mode")},
    }
    for method in ("mdav", "auto"):
        for said, options in ways.items():
            start = time.perf_counter()
            release = shoal.anonymize(
                example.path, K, list(example.columns), identifiers=others, method=method, **options
            )
            text = {name: np.array(release.by_column[name].text(), object) for name in example.columns}
            released = {name: list(values[release.labels]) for name, values in text.items()}
            line(example, f"shoal.anonymize, {method}, {said}", released, time.perf_counter() - start)


def read(example, path):
    """A release in the same order of rows, with at least the quasi-identifiers."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    missing = [name for name in example.columns if not rows or name not in rows[0]]
    records = len(next(iter(example.columns.values())))
    if missing:
        sys.exit(f"{path} lacks the columns {', '.join(missing)}.")
    if len(rows) != records:
        sys.exit(
            f"{path} has {len(rows)} records; it needs those of {example.path.name}, in their order: {records}."
        )
    return {name: [row[name] for row in rows] for name in example.columns}


def main(arguments):
    folder = os.environ.get("SHOAL_MUANT")
    if arguments and Path(arguments[0]).is_dir():
        folder = arguments.pop(0)
    if not folder:
        sys.exit("Give the folder of µ-ANT's repository, or set SHOAL_MUANT to it.")
    example = load(Path(folder))
    head()
    published(example)
    if arguments == ["trials"]:
        trials(example)
        return
    for path in arguments:
        line(example, Path(path).name, read(example, path))
    if not arguments:
        releases(example)
        PAGE.write_text("\n".join([*LINES, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
