"""The report's page: figures and columns of a release, put into the template."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Profile, profile_of
from shoal.errors import some
from shoal.privacy.persons import sizes_of
from shoal.report import plots
from shoal.templates import template

if TYPE_CHECKING:
    from shoal.release import Release

Float = NDArray[np.float64]

MOST_PLOTS = 30  # columns that are drawn one by one: a page with hundreds helps nobody


def statistics(column: Profile, weights: Float | None = None) -> list[tuple[str, str, str]]:
    """Some statistics, before and after; with sampling weights, records count by these in means and deviations."""
    both = [(known(part), of_known(weights, part)) for part in (column.before, column.after)]
    if not all(len(values) for values, _ in both):
        return []
    with np.errstate(over="ignore", invalid="ignore"):  # the largest doubles have no standard deviation
        before, after = (statistics_of(values, own) for values, own in both)
    weighted = "" if weights is None else "weighted "
    labels = f"{weighted}mean", f"{weighted}standard deviation", "lowest", "highest"
    return [(label, number(a), number(b)) for label, a, b in zip(labels, before, after, strict=True)]


def statistics_of(values: Float, weights: Float | None) -> list[float]:
    """The mean and the standard deviation, in which records count by their shares of the weights, and the ends."""
    if weights is None:
        mean, deviation = np.mean(values), np.std(values)
    else:
        mean = np.sum(values * weights)
        deviation = np.sqrt(np.sum(weights * np.square(values - mean)))
    return [float(each) for each in (mean, deviation, values.min(), values.max())]


def of_known(weights: Float | None, values: Float) -> Float | None:
    """The weights of the records that have a number, as shares of their sum; None where all count alike."""
    if weights is None:
        return None
    own = weights[~np.isnan(values)]
    return own / own.sum() if own.any() else None


def shares(column: Profile, weights: Float | None = None) -> list[tuple[str, str, str]]:
    """The shares of categories, before and after."""
    n = len(column.levels)
    counts = [np.bincount(part.astype(np.int64), weights, minlength=n) for part in (column.before, column.after)]
    before, after = (100 * part / part.sum() for part in counts)
    return [(level, f"{a:.2f} %", f"{b:.2f} %") for level, a, b in zip(column.levels, before, after, strict=True)]


def known(values: Float) -> Float:
    """Numbers without gaps."""
    return values[~np.isnan(values)]


def render(release: "Release") -> str:
    """The report of a release as HTML; everything that came with the table is text, never markup."""
    attributes = quasi_columns(release)
    drawn = attributes[:MOST_PLOTS]
    varying = varying_columns([*attributes, *confidential_columns(release)])[:MOST_PLOTS]
    losses = list(release.loss.attributes)
    if len(losses) > MOST_PLOTS:
        losses = sorted(losses, key=lambda part: -part.percent)[:MOST_PLOTS]
    design = release.design
    weights = None if design.weights is None else design.weights.floats
    filters = {"statistics": partial(statistics, weights=weights), "shares": partial(shares, weights=weights)}
    return template("report/page.html", number=number, **filters).render(
        manifest=release.manifest,
        whom=design.whom,
        weighted_by=None if design.weights is None else design.weights.name,
        roles=release.original.roles,
        constant=release.space.constant,
        figures=[figure for figure in release.shown_figures if figure.shown],
        left=[figure for figure in release.figures if figure.topic == "risk" and "columns" in figure.details],
        attributes=attributes,
        measured=[column for column in attributes if not column.levels],
        counted=[column for column in attributes if column.levels],
        kinds=release.manifest["attributes"],
        gaps=[figure.sentence for figure in release.figures if figure.name.startswith("gaps_")],
        noted=[column for column in attributes if column.notes],
        drawn=drawn,
        settings=settings_of(release),
        spectrum_plot=spectrum_plot(release.manifest["method"]),
        sizes_plot=plots.group_sizes(sizes_of(release.labels, design.counted), release.partition.k, design.whom),
        losses_plot=plots.losses([part.name for part in losses], [part.percent for part in losses]),
        losses=losses,
        distributions_plot=plots.distributions(drawn),
        correlations_plot=correlation_plot(varying, weights),
        largest_change=largest_change(varying, weights),
    )


def quasi_columns(release: "Release") -> list[Profile]:
    """The quasi-identifiers, in the units of the table."""
    return [each.profile(release.common[each.name], release.cells[each.name]) for each in release.space.attributes]


def confidential_columns(release: "Release") -> list[Profile]:
    """The confidential columns that can be correlated: how they go with the others is what people analyse."""
    found = (profile_of(release.original.column(name)) for name in release.original.roles.confidential)
    return [profile for profile in found if profile is not None]


def varying_columns(columns: list[Profile]) -> list[Profile]:
    """Those that have a correlation with others."""
    numbers = [column for column in columns if not column.levels and len(known(column.before))]
    return [column for column in numbers if known(column.before).min() < known(column.before).max()]


def correlation_matrices(columns: list[Profile], weights: Float | None = None) -> tuple[Float, Float]:
    """Correlations before and after; 0 with a column that a release made constant."""
    scales = [np.abs(known(column.before)).max() for column in columns]  # so that no square overflows
    before = correlated([column.before / scale for column, scale in zip(columns, scales, strict=True)], weights)
    after = correlated([column.after / scale for column, scale in zip(columns, scales, strict=True)], weights)
    return before, after


def correlated(columns: list[Float], weights: Float | None = None) -> Float:
    """The correlations of columns, each pair on the records that lack neither."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if not any(np.isnan(column).any() for column in columns):
            return coefficients(np.stack(columns), weights)
        found = np.eye(len(columns))
        for i, one in enumerate(columns):
            for j, other in enumerate(columns[:i]):
                both = ~np.isnan(one) & ~np.isnan(other)
                own = None if weights is None else weights[both]
                value = coefficients(np.stack([one, other])[:, both], own)[0, 1] if both.sum() > 1 else 0.0
                found[i, j] = found[j, i] = value
        return found


def coefficients(rows: Float, weights: Float | None) -> Float:
    """The correlations of rows of numbers; 0 with what is constant."""
    if weights is None or not weights.any():
        return np.asarray(np.nan_to_num(np.corrcoef(rows)))
    covariances = np.cov(rows, aweights=weights / weights.sum(), ddof=0)
    deviations = np.sqrt(np.diag(covariances))
    return np.asarray(np.nan_to_num(np.clip(covariances / np.outer(deviations, deviations), -1, 1)))


def correlation_plot(columns: list[Profile], weights: Float | None = None) -> str | None:
    """The plot of correlations, if there are two columns to correlate."""
    if len(columns) < 2:
        return None
    return plots.correlations([c.name for c in columns], *correlation_matrices(columns, weights))


def largest_change(columns: list[Profile], weights: Float | None = None) -> tuple[str, str, float, float] | None:
    """The pair of columns whose correlation changed most, with both values."""
    if len(columns) < 2:
        return None
    before, after = correlation_matrices(columns, weights)
    row, column = np.unravel_index(int(np.abs(after - before).argmax()), before.shape)
    return columns[row].name, columns[column].name, float(before[row, column]), float(after[row, column])


def spectrum_plot(method: dict[str, Any]) -> str | None:
    """The variance along the principal axes, if the method looked at them."""
    spectrum = np.array(method.get("spectrum", []))
    return plots.spectrum(spectrum, method["axes_kept"]) if spectrum.any() else None


def method_text(method: dict[str, Any]) -> str:
    """A method as one would write it, with the method inside if there is one."""
    parameters = (
        f"{key}={method_text(value) if isinstance(value, dict) else value}"
        for key, value in method["parameters"].items()
    )
    return f"{method['name']}({', '.join(parameters)})"


def settings_of(release: "Release") -> list[tuple[str, str]]:
    """What was done, a line each."""
    manifest = release.manifest
    lines = [("method", method_text(manifest["method"])), *release.settings.lines()]
    if used := manifest["digits"]["used"]:
        listed = some((f"{name}: {shown_digits(digits)}" for name, digits in used.items()), MOST_PLOTS)
        lines.append(("decimals", listed))
    if "chosen" in manifest["method"]:
        lines.append(("chosen", f"{manifest['method']['chosen']['name']}: {manifest['method']['reason']}"))
    lines += [(figure.label, figure.details["says"]) for figure in release.figures if figure.name == "certificate"]
    source = manifest["input"]
    lines.append(("input", f"{source.get('name') or source['kind']}, SHA-256 {source['sha256']}"))
    if manifest["output"]:
        lines.append(("output", f"{manifest['output']['name']}, SHA-256 {manifest['output']['sha256']}"))
    return lines


def shown_digits(digits: int | str | None) -> str:
    """The decimals that a column was rounded to, or the unit."""
    if digits is None:
        return "as they came"
    if isinstance(digits, str):
        return f"to {digits}"
    return str(digits) if digits >= 0 else f"0 (to the next {number(float(10**-digits))})"


def number(value: float) -> str:
    """A number to read: six significant digits, thousands apart."""
    if value != 0 and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.5g}"
    text = f"{value:,.{max(0, 5 - int(np.floor(np.log10(abs(value) or 1))))}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(",", "\u2009")
