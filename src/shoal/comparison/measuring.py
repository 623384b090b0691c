"""The figures of one setting: a release is made in memory, and what it loses and gives away is counted on it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.comparison.grid import Setting
from shoal.comparison.rows import Row
from shoal.engines.timing import Stopwatch
from shoal.errors import ShoalError
from shoal.grouping import with_k
from shoal.measures.pair import Pair, pair_column
from shoal.measures.risk.linkage import linked_by_all
from shoal.measures.risk.sampling import Rate
from shoal.parameters import Progress
from shoal.pipeline import released
from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.persons import sizes_of
from shoal.release import Release
from shoal.settings import Settings
from shoal.table import Column, arrow_of, framed

Int = NDArray[np.int64]

_TRIAL = 12  # records by which a method is made ready


def row_of(
    data: Any, setting: Setting, progress: Progress | None = None, compiling: Callable[[bool], None] | None = None
) -> Row:
    """The row of a setting: its figures, or why there are none.

    `compiling` is called with True when kernels begin to be compiled, and with False when that ends.
    """
    try:
        with Stopwatch(compiling) as watch:
            release = released(data, setting.settings, progress)
        if release.manifest["method"].get("interrupted"):
            raise KeyboardInterrupt  # the method has ended with what it had, which is not what was asked for
        return Row(setting.method, setting.k, "ok", seconds=watch.seconds, **figures_of(release))
    except ShoalError as error:
        return Row(setting.method, setting.k, "refused", str(error))
    except MemoryError:
        return Row(setting.method, setting.k, "failed", "out of memory")
    except Exception as error:  # one method that goes wrong does not take the others with it
        return Row(setting.method, setting.k, "failed", f"{type(error).__name__}: {error}")


def made_ready(setting: Setting) -> None:
    """Load what the method needs, by a release of a few records, so that the first one does not pay for it."""
    values = np.random.default_rng(0).normal(size=(2, _TRIAL))
    try:
        settings = Settings.of(quasi_identifiers=["a", "b"], method=with_k(setting.settings.method, 3))
        released(pa.table({"a": values[0], "b": values[1]}), settings)
    except Exception:  # what is wrong with the setting is said when the table is released
        return


def figures_of(release: Release) -> dict[str, Any]:
    """What a row says of a release."""
    table = arrow_of(framed(release.table))
    roles = release.settings.roles
    classes = groups_in(table, (*roles.quasi_identifiers, *release.settings.designed))
    sizes = sizes_of(classes, release.design.counted)
    linkage = linkage_of(release, classes)
    smallest = int(sizes.min())
    method = release.manifest["method"]
    chosen = f" ({method['chosen']['name']})" if "chosen" in method else ""
    return {
        "loss": float(release.information_loss),
        "records": len(release.labels),
        "groups": release.partition.n_groups,
        "smallest": smallest,
        "largest": int(sizes.max()),
        "prosecutor_highest": 100 / smallest,
        "prosecutor_mean": 100 * len(sizes) / float(sizes.sum()),
        "linkage": linkage.percent,
        "linkage_error": linkage.error,
        "single_value": single_value(classes, [groups_in(table, [name]) for name in roles.confidential]),
        "made_by": method["name"] + chosen,
        "seed": release.settings.random_state,
    }


def linkage_of(release: Release, classes: Int) -> Rate:
    """How many records an attacker finds who knows all quasi-identifiers of everybody."""
    after = framed(release.table)
    columns = [
        pair_column("quasi-identifier", release.original.column(name), Column(name, after[name]))[0]
        for name in release.settings.roles.quasi_identifiers
    ]
    return linked_by_all(Pair(tuple(columns), classes, matched=True))


def single_value(classes: Int, confidential: list[Int]) -> float | None:
    """The percentage of records in groups that have one value only in a confidential column."""
    if not confidential:
        return None
    told = np.zeros(classes.max() + 1, bool)
    first = np.unique(classes, return_index=True)[1]
    for codes in confidential:
        others = codes != codes[first][classes]
        told |= np.bincount(classes, others, minlength=len(told)) == 0
    return 100 * float(told[classes].mean())
