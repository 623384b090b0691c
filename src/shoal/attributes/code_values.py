"""The codes that groups are released with: one node for each, or a mixture of codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.attributes.common_values import CommonValues, Float, Int, taken
from shoal.attributes.tree import Tree
from shoal.table import is_text


@dataclass(frozen=True, eq=False)
class CodeValues(CommonValues):
    """One node of the taxonomy for each group."""

    tree: Tree
    nodes: Int

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """The numbers of the nodes."""
        return self.nodes.astype(np.float64)

    def native(self) -> list[str]:
        """The names of the nodes."""
        return [self.tree.names[node] for node in self.nodes.tolist()]

    def floats(self) -> Float:
        """The numbers of the nodes."""
        return self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """The names of the nodes."""
        return self.native()

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """Text; whole numbers where the column had them and all nodes that could be released are whole numbers."""
        return self.gapped(like, labels, None)

    def gapped(self, like: "nw.Series[Any]", labels: Int, gap: str | None) -> "nw.Series[Any]":
        """The same with gaps where a label is below 0."""
        if self.tree.are_whole and fits(like, [int(name) for name in self.tree.names]):
            numbers = [int(name) for name in self.native()]
            return filled(like, *with_gap(numbers, labels, None), type_of(like))
        return text_column(like, *with_gap(self.native(), labels, gap))


@dataclass(frozen=True, eq=False)
class MixedValues(CommonValues):
    """Several codes for each group, with their weights: group g has members[begins[g]:begins[g + 1]]."""

    tree: Tree
    members: Int
    weights: Float  # they add up to 1 in each group
    begins: Int
    shows_shares: bool

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """The numbers of the codes of most weight, the first of several."""
        groups = np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))
        ranked = np.lexsort((self.members, -self.weights, groups))
        return self.members[ranked[self.begins[:-1]]].astype(np.float64)

    def native(self) -> list[str]:
        """Such as A or B; or with shares, A 60 %, B 40 %."""
        names, percents = self.tree.names, np.rint(100 * self.weights).astype(int).tolist()
        members = self.members.tolist()
        if not self.shows_shares:
            return [" or ".join(names[node] for node in members[a:b]) for a, b in pairwise(self.begins.tolist())]
        ranked = (
            sorted(range(a, b), key=lambda place: -percents[place]) for a, b in pairwise(self.begins.tolist())
        )
        return [", ".join(f"{names[members[place]]} {percents[place]} %" for place in group) for group in ranked]

    def floats(self) -> Float:
        """The numbers of the codes of most weight."""
        return self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """As in a dataframe."""
        return self.native()

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """Text."""
        return self.gapped(like, labels, None)

    def gapped(self, like: "nw.Series[Any]", labels: Int, gap: str | None) -> "nw.Series[Any]":
        """The same with gaps where a label is below 0."""
        return text_column(like, *with_gap(self.native(), labels, gap))

    def drawn(self, labels: Int) -> Int:
        """A member for each record, each as often as its weight says; the same ones every time."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=len(self.begins) - 1)
        place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        sought = labels[order] + (place + 0.5) / sizes[labels[order]]
        members = np.searchsorted(np.cumsum(self.weights), sought)
        first, last = self.begins[labels[order]], self.begins[labels[order] + 1] - 1
        found = np.empty(len(labels), np.int64)
        found[order] = self.members[np.clip(members, first, last)]
        return found


def fits(like: "nw.Series[Any]", numbers: Sequence[int]) -> bool:
    """Whether a column is of whole numbers, and of a type that has room for these."""
    if not like.dtype.is_integer():
        return like.dtype.is_float() and max(map(abs, numbers)) < 2**11  # exact in every type of floats
    try:
        ends = np.iinfo(str(like.dtype).lower())
    except (TypeError, ValueError):  # wider than 64 bits
        return False
    return ends.min <= min(numbers) and max(numbers) <= ends.max


def type_of(like: "nw.Series[Any]") -> Any:
    """The type of a column in its own library."""
    native = like.to_native()
    return native.type if like.implementation.is_pyarrow() else native.dtype


def with_gap(values: Sequence[Any], labels: Int, gap: str | None) -> tuple[Sequence[Any], Int]:
    """Values of groups and the group of each record; a label below 0 means one group more, which has a gap."""
    if not (labels < 0).any():
        return values, labels
    return [*values, gap or None], np.where(labels < 0, len(values), labels)


def text_column(like: "nw.Series[Any]", texts: Sequence[str | None], labels: Int) -> "nw.Series[Any]":
    """The text of each record's group, in the type of a column of text or of categories that has all of them."""
    held = type_of(like)
    if like.implementation.is_pyarrow():
        inner = held.value_type if pa.types.is_dictionary(held) else held
        return filled(like, texts, labels, held if is_text(inner) else pa.string())
    if like.dtype in (nw.String, nw.Object):
        return filled(like, texts, labels, held)
    if like.dtype == nw.Enum or (like.dtype == nw.Categorical and not like.implementation.is_polars()):
        known = set(getattr(held, "categories", ()))
        return filled(like, texts, labels, held if known.issuperset({*texts} - {None}) else None)
    return filled(like, texts, labels, held if like.dtype == nw.Categorical else None)


def filled(like: "nw.Series[Any]", values: Sequence[Any], labels: Int, kind: Any) -> "nw.Series[Any]":
    """The value of each record's group as a column of a dataframe's own type; None for the usual one."""
    native, namespace = like.to_native(), like.__native_namespace__()
    new: Any
    if like.implementation.is_pyarrow():
        new = taken(pa.chunked_array([pa.array(values, type=kind)]), labels)
    elif like.implementation.is_polars():
        new = namespace.Series(like.name, values, dtype=kind).gather(labels)
    else:
        new = namespace.Series(values, name=like.name, dtype=kind).take(labels)
        new.index = native.index
    column: nw.Series[Any] = nw.from_native(new, series_only=True).alias(like.name)
    return column
