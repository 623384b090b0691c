"""Codes with a taxonomy: near codes have a near ancestor in common.

The distance between two codes is the length of the path between them in the taxonomy. A code is a point with a
coordinate for each node of the taxonomy: the root of the length of the edge above the node, where the node is the
code itself or one of its ancestors; else 0. Then the squared distance between two points is exactly the path
length. Nodes that do not tell records apart need no coordinate, and a chain of nodes is one (`Taxonomy.among`). If
there are still more coordinates than asked for, the distances that groups are formed by are approximate
(`compact.py`). The loss never is: it is computed from path lengths.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.attributes.base import (
    Attribute,
    Chunks,
    Float,
    Gathering,
    Int,
    Kept,
    Kind,
    Profile,
    Settle,
    Stored,
    Wish,
)
from shoal.attributes.code_values import CodeValues, MixedValues
from shoal.attributes.common_values import CommonValues, refuse_aggregate
from shoal.attributes.grouped import whole_percents
from shoal.attributes.numbers import RowsError, missing_error, rows_error
from shoal.attributes.taxonomy import ROOT, Taxonomy, check_lengths
from shoal.attributes.tree import Tree
from shoal.attributes.weighing import Weights, counting
from shoal.errors import ShoalError, nearest_name, typed
from shoal.parameters import Aggregate, Scaling
from shoal.table import Column

MOST_LEVELS = 20
"""Codes that a report shows; the others are one bar."""

_NO_PLACE = Taxonomy((ROOT,), (-1,), (0.0,))


@dataclass(frozen=True, eq=False)
class CodeScale:
    """What is true of all records: where codes stand, how often each occurs, what distances are divided by."""

    tree: Tree
    counts: Int
    spread: float
    most: int  # coordinates

    @property
    def codes(self) -> int:
        """How many different codes there are."""
        return int(np.count_nonzero(self.counts))

    @property
    def needed(self) -> int:
        """How many coordinates tell all codes apart by their path lengths."""
        return max(1, len(self.tree) - 1)

    @property
    def is_exact(self) -> bool:
        """Whether there are so many."""
        return self.needed <= self.most

    @cached_property
    def places(self) -> Float:
        """The scaled coordinates of all nodes."""
        return self.tree.coordinates(self.counts, self.most) / self.spread

    def warning(self, name: str) -> str | None:
        """Distances are approximate."""
        if self.is_exact:
            return None
        return (
            f"column {name!r} has {self.codes} codes, which need {self.needed} coordinates and get {self.most}, "
            "so groups are formed by approximate distances (the loss is exact); "
            f"coordinates={self.needed} makes them exact, but takes longer"
        )


@dataclass(frozen=True, eq=False)
class CodeAttribute(Attribute):
    """Some records with a code each, as nodes of the taxonomy."""

    name: str
    weight: float
    scale: CodeScale
    nodes: Int

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return "code"

    @property
    def is_constant(self) -> bool:  # type: ignore[override]
        """Whether all records of the table have one code."""
        return len(self.scale.tree) == 1

    def coordinates(self) -> Float:
        """The places of the codes."""
        return self.scale.places[self.nodes]

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """The node nearest to the records of a group in all, or what else was asked for.

        Mean and median are the same here: the node of the least summed path length. It may be an inner node, which
        no record has. "ancestor" is the lowest node above all records, also those of the weight 0. "mode" is the
        most frequent code. "set" lists all codes of the group; it counts as one of them, taken at random. "share"
        lists them with their shares in whole percents, by which one is taken; codes of less than a percent may be
        left out.
        """
        tree = self.scale.tree
        match aggregate:
            case "mean" | "median":
                return CodeValues(tree, tree.medians(self.nodes, *counting(order, starts, weights)))
            case "ancestor":
                return CodeValues(tree, tree.ancestors(self.nodes, order, starts))
            case "mode":
                order, starts, counts = counting(order, starts, weights)
                return CodeValues(tree, tree.modes(self.nodes, order, starts, self.scale.counts, counts))
            case "set":
                return self._mixed(order, starts, None, False)
            case "share":
                return self._mixed(*counting(order, starts, weights), True)
        known: tuple[Aggregate, ...] = ("mean", "median", "ancestor", "mode", "set", "share")
        raise refuse_aggregate(self.name, "a code", aggregate, known)

    def _mixed(self, order: Int, starts: Int, counts: Weights | None, shows_shares: bool) -> MixedValues:
        tree = self.scale.tree
        members, records, begins = tree.members(self.nodes, order, starts, counts)
        sizes = np.diff(begins)
        if not shows_shares:
            return MixedValues(tree, members, np.repeat(1.0 / sizes, sizes), begins, False)
        percents = whole_percents(records, begins)
        listed = percents > 0
        begins = np.concatenate([[0], np.cumsum(listed)])[begins]
        return MixedValues(tree, members[listed], percents[listed] / 100, begins, True)

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """From path lengths, also where coordinates are approximate; 100 % is the nearest node to all records."""
        if self.is_constant:
            return 0.0, 0.0
        tree, square = self.scale.tree, self.scale.spread**2
        heavy = None if weights is None else weights.astype(np.float64)
        counts = np.bincount(self.nodes, heavy, minlength=len(tree))
        every = np.arange(len(tree))
        worst = float(counts @ tree.distances(every, np.full(len(tree), tree.middle(counts))))
        if isinstance(common, MixedValues):
            lost = tree.expected(self.nodes, labels, common.members, common.weights, common.begins, heavy)
        else:
            assert isinstance(common, CodeValues)
            paths = tree.distances(self.nodes, common.nodes[labels])
            lost = float((paths if heavy is None else heavy * paths).sum())
        return lost / square, worst / square

    def placed(self, common: CommonValues) -> Float:
        """The places of the released nodes; of a mixture the mean of its codes."""
        places = self.scale.places
        if isinstance(common, MixedValues):
            return np.asarray(
                np.add.reduceat(places[common.members] * common.weights[:, None], common.begins[:-1])
            )
        assert isinstance(common, CodeValues)
        return places[common.nodes]

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """Bars for the most frequent codes and inner nodes, in the order of the taxonomy; one for the others."""
        names = self.scale.tree.names
        if isinstance(common, MixedValues):
            after = common.drawn(labels)
        else:
            assert isinstance(common, CodeValues)
            after = common.nodes[labels]
        counts = np.bincount(self.nodes, minlength=len(names)) + np.bincount(after, minlength=len(names))
        shown = np.sort(np.argsort(-counts, kind="stable")[: min(MOST_LEVELS, np.count_nonzero(counts))])
        level = np.full(len(names), float(len(shown)))
        level[shown] = np.arange(len(shown))
        others = ("others",) if np.count_nonzero(counts) > len(shown) else ()
        levels = (*(names[node] for node in shown.tolist()), *others)
        return Profile(self.name, level[self.nodes], level[after], levels)

    def warning(self) -> str | None:
        """Distances are approximate."""
        return self.scale.warning(self.name)

    def said(self) -> dict[str, Any]:
        """How many codes there are, and whether the distances are exact."""
        return {"values": self.scale.codes, "distances": "exact" if self.scale.is_exact else "approximate"}


@dataclass(frozen=True)
class CodeKept(Kept):
    """Codes as nodes of what is needed of the taxonomy.

    Scaling: "zscore" divides distances by the root of half the mean path length between two records, which is the
    root of the sum of the variances of all coordinates; so does "robust", as codes have no quartiles. "range"
    divides by the root of the longest path between two codes that occur. With "none", a squared distance is a path
    length.
    """

    kind = "code"

    taxonomy: Taxonomy = _NO_PLACE
    counts: tuple[int, ...] = (1,)  # of the records at each node
    most: int = 256

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "CodeKept":
        """JSON has no tuples."""
        taxonomy = Taxonomy.from_dict(given["taxonomy"])
        return cls(**{**given, "taxonomy": taxonomy, "counts": tuple(given["counts"])})

    @cached_property
    def scale(self) -> CodeScale:
        """What is true of all records."""
        return CodeScale(Tree(self.taxonomy), np.array(self.counts, np.int64), self.spread, self.most)

    @property
    def width(self) -> int:
        """A coordinate for each node but the root, or as many as there may be."""
        return min(self.scale.needed, self.most)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The numbers of nodes."""
        return np.dtype(np.int64)

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> "CodeKept":
        """From how many records each code has; the order of the records does not matter."""
        tree, counts = Tree(self.taxonomy), self._counted(chunks)
        known = replace(self, counts=tuple(counts.tolist()))
        variance = float(tree.variance(counts).sum())
        if variance == 0.0:
            return replace(known, is_constant=True)
        match scaling:
            case "zscore" | "robust":
                spread = sqrt(variance)
            case "range":
                spread = sqrt(tree.widest(counts))
            case "none":
                spread = 1.0
        middle = np.full(len(tree), tree.middle(counts))
        sst = float(counts @ tree.distances(np.arange(len(tree)), middle)) / spread**2
        return replace(known, spread=spread, sst=sst)

    def _counted(self, chunks: Chunks) -> Int:
        counts = np.zeros(len(self.taxonomy.nodes), np.int64)
        for stored in chunks():
            counts += np.bincount(stored, minlength=len(counts))
        return counts

    def typical(self, chunks: Chunks) -> Any:
        """The most frequent code; of several the first."""
        return np.int64(self._counted(chunks).argmax())

    def overall(self, middle: Float) -> Float:
        """The place of the node nearest to all records."""
        return np.asarray(self.scale.places[self.scale.tree.middle(self.scale.counts)])

    def along(self, stored: Stored) -> Float:
        """In the order of the taxonomy, where near codes stand together."""
        return np.asarray(stored, np.float64)

    @property
    def stretch(self) -> float:
        """So that the axis varies as much as the coordinate that varies most: a cut can tell no more apart."""
        tree, counts = self.scale.tree, self.scale.counts
        if self.is_constant:
            return 0.0
        shares, place = counts / counts.sum(), np.arange(len(tree))
        spread = float(shares @ np.square(place - shares @ place))
        return self.weight * float(tree.variance(counts).max()) / (spread * self.spread**2)

    def attribute(self, stored: Stored) -> CodeAttribute:
        """Some records on the scale of all."""
        return CodeAttribute(self.name, self.weight, self.scale, stored)

    def codes(self, common: CommonValues) -> Stored:
        """The numbers of the nodes; a mixture has none."""
        if not isinstance(common, CodeValues):
            called = "share" if isinstance(common, MixedValues) and common.shows_shares else "set"
            raise ShoalError(
                f"column {self.name!r} cannot be streamed with the aggregate {called!r}; "
                "use mean, mode or ancestor, or give so much memory that the table fits"
            )
        return common.nodes

    def values(self, codes: Stored) -> CodeValues:
        """The nodes of these numbers."""
        return CodeValues(self.scale.tree, codes)

    def warning(self, chunks: Chunks) -> str | None:
        """Distances are approximate."""
        return self.scale.warning(self.name)


class CodeGathering(Gathering):
    """Codes by the order in which they appear, until all are known and have a place in the taxonomy."""

    kind = "code"

    def __init__(self, name: str, wish: Wish) -> None:
        self.name, self._wish = name, wish
        self._known = None if wish.taxonomy is None else frozenset(wish.taxonomy.nodes)
        self._seen: dict[str, int] = {}

    def add(self, column: Column, before: int) -> Stored:
        """The number of each code: how many others appeared before it."""
        try:
            codes = np.concatenate([np.zeros(0, np.int64), *self._numbered(codes_of(column))])
            self._refuse_unknown(codes)
        except RowsError as error:
            raise error.after(before) from None
        return codes

    def _numbered(self, texts: pa.ChunkedArray) -> Iterator[Int]:
        for chunk in texts.dictionary_encode().chunks:
            listed = chunk.dictionary.to_pylist()
            numbers = np.array([self._seen.setdefault(code, len(self._seen)) for code in listed], np.int64)
            yield numbers[chunk.indices.to_numpy(zero_copy_only=False)]

    def _refuse_unknown(self, codes: Int) -> None:
        """A code that the taxonomy does not have."""
        if self._known is None:
            if "" in self._seen:
                raise rows_error(self.name, "empty codes", codes == self._seen[""], "fill them in or drop them")
            return
        strange = [code for code in self._seen if code not in self._known]
        if not strange:
            return
        where = np.isin(codes, [self._seen[code] for code in strange])
        if len(strange) == 1:
            what = f"the code {strange[0]!r}, which its taxonomy does not have"
        else:
            what = f"{len(strange)} codes that its taxonomy does not have, such as {strange[0]!r}"
        hint = nearest_name(strange[0], self._known).removeprefix("; ")
        cure = "add what is missing to the taxonomy, or correct the table"
        raise rows_error(self.name, what, where, f"{hint} {cure}".strip())

    def joined(self, others: Sequence[Gathering]) -> "CodeGathering | None":
        """Codes of all parts."""
        them = [each for each in others if isinstance(each, CodeGathering)]
        if len(them) < len(others):
            return None
        made, numbers = copy(self), []
        made._seen = {}
        for each in (self, *them):
            found = [made._seen.setdefault(code, len(made._seen)) for code in each._seen]
            numbers.append(np.array(found, np.int64))
        made.new_numbers = numbers
        return made

    def finish(self) -> None:
        """Every code was looked at when it came."""

    def kept(self, weight: float, chunks: Chunks) -> tuple[CodeKept, Settle]:
        """The codes as nodes of what is needed of the taxonomy."""
        whole = self._wish.taxonomy or Taxonomy.of_prefixes(self._seen, self._wish.prefix)
        taxonomy = whole.among(self._seen)
        place = {name: node for node, name in enumerate(taxonomy.nodes)}
        nodes = np.array([place[code] for code in self._seen], np.int64)
        counts = (0,) * len(taxonomy.nodes)
        kept = CodeKept(self.name, weight, taxonomy=taxonomy, counts=counts, most=self._wish.coordinates)
        return kept, lambda stored, start: nodes[stored]


def codes_of(column: Column) -> pa.ChunkedArray:
    """The codes of a column as text: spaces around them do not count, and whole numbers may be codes."""
    name = column.name
    try:
        held = column.values()
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):  # text among numbers
        held = pa.chunked_array([texts_of_objects(name, column.series.to_list())])
    if held.null_count:
        raise missing_error(name, held.is_null().to_numpy())
    if pa.types.is_floating(held.type):
        whole = pc.equal(held, pc.floor(held)).to_numpy() & pc.is_finite(held).to_numpy()
        if not whole.all():
            first = held[int(np.argmin(whole))].as_py()
            raise rows_error(name, f"numbers such as {first!r}", ~whole, "codes are text or whole numbers")
        held = held.cast(pa.decimal128(38, 0))
    if not (pa.types.is_string(held.type) or pa.types.is_large_string(held.type)):
        if not (pa.types.is_integer(held.type) or (pa.types.is_decimal(held.type) and held.type.scale <= 0)):
            raise ShoalError(
                f"column {name!r} of type {held.type} holds no codes; turn it into text or whole numbers first"
            )
        held = held.cast(pa.string())
    return pc.utf8_trim_whitespace(held)


def texts_of_objects(name: str, values: list[Any]) -> pa.Array:
    """Text and whole numbers side by side, as text."""
    odd = np.array([isinstance(value, bool) or not isinstance(value, str | int) for value in values], bool)
    if odd.any():
        raise rows_error(
            name, f"values such as {values[int(odd.argmax())]!r}", odd, "codes are text or whole numbers"
        )
    return pa.array([str(value) for value in values], pa.string())


class Code(Kind):
    """Codes for which a taxonomy or the lengths of beginnings are given."""

    name = "code"
    kept = CodeKept

    def takes(self, column: Column) -> bool:
        """None that was not asked for: no column tells its taxonomy."""
        return False

    def gathering(self, name: str, wish: Wish) -> CodeGathering:
        """A column that comes in parts."""
        if wish.taxonomy is None and not wish.prefix:
            raise ShoalError(
                f"column {name!r} is of the kind 'code', but has no taxonomy; give one by "
                f"{typed('--taxonomy', name, 'FILE')}, or say which beginnings of a code are groups by "
                f"{typed('--prefix', name, '1,3,5')}"
            )
        if wish.taxonomy is not None and wish.prefix:
            raise ShoalError(f"column {name!r} has a taxonomy and lengths of beginnings; give one of them")
        if wish.prefix:
            check_lengths(wish.prefix)
        return CodeGathering(name, wish)
