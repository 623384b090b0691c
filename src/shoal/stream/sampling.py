"""A sample of what a stream reads and writes, for its report: whole groups, so counts within them are right."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes import Kept, Stored
from shoal.files import Reader
from shoal.measures.pair import Pair, Role, pair_column
from shoal.privacy.k_anonymity import groups_in
from shoal.table import Column, Roles, Table, framed

MOST_SAMPLED = 50_000  # records, about
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Sample:
    """The records of some groups, before and after, gathered while they are written.

    A record is chosen by a hash of the values that it is released with, so a group is in the sample as a whole or
    not at all, in whichever parts of the file its records stand.
    """

    def __init__(self, source: Reader, roles: Roles, columns: Sequence[Kept], records: int, exact: bool) -> None:
        self._signs = source.dialect.signs
        self._is_text = source.format.is_text
        self._roles, self._columns, self._exact = roles, columns, exact
        self.records = records
        self._share = MOST_SAMPLED / records
        self._before: list[pa.Table] = []
        self._after: list[pa.Table] = []

    def add(self, table: Table, codes: Sequence[Stored], texts: dict[str, pa.Array] | None) -> None:
        """Look at some more records, with the numbers that they are released with, or with the text of these."""
        chosen = chosen_rows(codes, self._share)
        if not chosen.any():
            return
        part, names = table.where(chosen), self._roles.quasi_identifiers
        kept = [*names, *self._roles.confidential]
        self._before.append(part.shown(kept))
        if texts is not None:
            self._after.append(
                pa.table([texts[name].filter(pa.array(chosen)) for name in names], names=list(names))
            )
            return
        rows = np.arange(len(part))
        released = {
            name: column.values(values[chosen]).of(name).column(part.frame[name], rows, not self._exact)
            for column, values in zip(self._columns, codes, strict=True)
            for name in column.columns
        }
        self._after.append(
            pa.table([pa.chunked_array(released[name].to_arrow()) for name in names], names=list(names))
        )

    def pair(self) -> Pair | None:
        """What was gathered; None where no group was chosen."""
        if not self._before:
            return None
        before, after = pa.concat_tables(self._before), pa.concat_tables(self._after)
        roles: tuple[tuple[Role, tuple[str, ...], pa.Table], ...] = (
            ("quasi-identifier", self._roles.quasi_identifiers, after),
            ("confidential", self._roles.confidential, before),
        )
        columns = [
            pair_column(role, self._column(before, name), self._column(side, name))[0]
            for role, names, side in roles
            for name in names
        ]
        return Pair(tuple(columns), groups_in(after, self._roles.quasi_identifiers), True)

    def _column(self, table: pa.Table, name: str) -> Column:
        series: nw.Series[pa.ChunkedArray] = framed(table)[name]
        return Column(name, series, table[name] if self._is_text else None, self._signs)


def chosen_rows(codes: Sequence[Stored], share: float) -> NDArray[np.bool_]:
    """About such a share of the different rows of numbers, with all of their copies."""
    if share >= 1:
        return np.ones(len(codes[0]), bool)
    found = np.zeros(len(codes[0]), np.uint64)
    for values in codes:
        found = (found ^ np.ascontiguousarray(values).view(np.uint64)) * _ODD
        found ^= found >> np.uint64(29)
    found = found * _ODD
    return np.asarray(found >> np.uint64(11) < np.uint64(share * 2**53))
