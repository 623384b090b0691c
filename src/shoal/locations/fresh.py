"""Cells drawn for people afresh, or from the centres and costs of present cells; regions of many homes.

Homes are cut into blocks of some hundred. In each, cells of k + slack homes begin as groups of MDAV, as PCL's
cells from there, and as PCL's cells from random homes; each time, homes then trade cells wherever that lowers the
loss, and what loses least stays. Then homes trade across the borders of blocks too, and cells that have too few
principals or places are merged with near ones. Each function loads what it needs when it is called, so that a
server which draws nothing stays light.

Guarantee: every cell that is drawn meets the demand, or none is drawn. The same people give the same cells.
Cost: a fifth of a millisecond a home at k = 5.
"""

from math import ceil

import numpy as np

from shoal.locations.distances import cheapest
from shoal.locations.merging import merged
from shoal.locations.people import Demand, Drawn, Float, Int, People, enough, means, renumbered

_SAMPLE = 100  # homes of a region from which its centre is found
_REGION_ROUNDS = 12
_REGION_GAIN = 1e-3
_BLOCK = 500  # homes; where crowded and empty places lie together, the assignment of many more takes long
_BLOCK_CELLS = 20  # a block has at least so many
_SWEEPS = 10  # rounds of exchanges


def regions_of(homes: Float, size: int) -> Int:
    """Macrocells of about `size` homes, numbered from 0 on; one up to 2 * size.

    The rounds of PCL are those of a sample. Then all homes go to their centres in one assignment.
    """
    from shoal.quantizing.distortions import Squared
    from shoal.quantizing.lloyd import exact_solver, first_cells, lloyd_rounds, shared_out

    n = len(homes)
    if n <= 2 * size:
        return np.zeros(n, np.int64)
    count = round(n / size)
    each = max(1, size // _SAMPLE)
    sample = np.ascontiguousarray(homes[::each])
    cells = first_cells(means(sample, halved(sample, count), count), len(sample))
    sizes = shared_out(len(sample), np.ones(count))
    for latest in lloyd_rounds(sample, sizes, cells, Squared(), exact_solver, 1.0, _REGION_ROUNDS, _REGION_GAIN):
        cells = latest
    if each > 1:
        sizes = shared_out(n, np.ones(count))
        return renumbered(exact_solver(np.ascontiguousarray(homes))(cells.centres, sizes, cells.costs)[0])
    return renumbered(cells.labels)


def halved(homes: Float, count: int) -> Int:
    """So many blocks of almost the same size, by cuts across the widest side again and again."""
    labels = np.zeros(len(homes), np.int64)
    work = [(np.arange(len(homes)), 0, count)]
    while work:
        rows, first, blocks = work.pop()
        if blocks == 1:
            labels[rows] = first
            continue
        some = homes[rows]
        column = some[:, int(np.argmax(some.max(axis=0) - some.min(axis=0)))]
        left = blocks // 2
        cut = len(rows) * left // blocks
        order = np.argsort(column, kind="stable")
        work.append((np.sort(rows[order[:cut]]), first, left))
        work.append((np.sort(rows[order[cut:]]), first + left, blocks - left))
    return labels


def draw(people: People, demand: Demand, seed: int = 0) -> Drawn:
    """Cells for all these people, or none if they are too few or too near for a single one."""
    if not enough(people, demand):
        return none_drawn()
    return drawn(people, groups_that_meet(people, demand, seed))


def groups_that_meet(people: People, demand: Demand, seed: int) -> Int:
    """Groups that may be cells, of people who may together.

    Where principals have several devices, groups of just enough homes often lack a principal, and merging two of
    them makes one that is too large. So groups of as many homes as enough principals have are tried, too.
    """
    each = len(people.homes) / len(np.unique(people.principals))
    tried = {demand.least, min(len(people.homes), ceil(demand.least * each))}
    found = [merged(people, first_groups(people.homes, least, seed), demand) for least in sorted(tried)]
    return min(found, key=lambda labels: squares(people.homes, labels))


def none_drawn() -> Drawn:
    """No cells."""
    return Drawn(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 3)), np.empty(0))


def drawn(people: People, labels: Int) -> Drawn:
    """These groups as cells."""
    centres = means(people.homes, labels, int(labels.max()) + 1)
    return Drawn(np.arange(len(labels)), labels, centres, costs_for(people.homes, labels, centres))


def first_groups(homes: Float, least: int, seed: int) -> Int:
    """Groups of at least so many homes, whoever lives there."""
    block = blocks_of(homes, least)
    groups, last = np.empty(len(homes), np.int64), 0
    for rows in members_of(block):
        some = groups_of_block(np.ascontiguousarray(homes[rows]), least, seed)
        groups[rows] = last + some
        last += int(some.max()) + 1
    return traded(homes, groups, least) if block.any() else groups


def blocks_of(homes: Float, least: int) -> Int:
    """The block of each home."""
    return halved(homes, max(1, round(len(homes) / max(_BLOCK, _BLOCK_CELLS * least))))


def members_of(labels: Int) -> list[Int]:
    """The rows of each group, in rising order."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def groups_of_block(homes: Float, least: int, seed: int) -> Int:
    """The groups that lose least, of those that three starts lead to."""
    if len(homes) < 2 * least:
        return np.zeros(len(homes), np.int64)
    from shoal.methods.mdav import MDAV

    count = len(homes) // least
    mdav = MDAV(k=least).fit(homes).labels_
    drawn_lots = np.random.default_rng(seed).choice(len(homes), count, replace=False)
    starts = means(homes, mdav, count), homes[drawn_lots]
    begun = [mdav, *(lloyd(homes, centres, np.zeros(count)) for centres in starts)]
    found = [traded(homes, labels, least) for labels in begun]
    return min(found, key=lambda labels: squares(homes, labels))


def squares(homes: Float, labels: Int) -> float:
    """The sum of squared distances to the means of groups."""
    return float(np.square(homes - means(homes, labels, int(labels.max()) + 1)[labels]).sum())


def lloyd(homes: Float, centres: Float, costs: Float) -> Int:
    """PCL's rounds without noise from given centres and costs, to cells that differ by a home at most."""
    from dataclasses import replace

    from shoal.quantizing.distortions import Squared
    from shoal.quantizing.lloyd import exact_solver, first_cells, lloyd_rounds, shared_out

    sizes = shared_out(len(homes), np.ones(len(centres)))
    cells = replace(first_cells(centres, len(homes)), costs=costs)
    for latest in lloyd_rounds(homes, sizes, cells, Squared(), exact_solver, 1.0, 100, 1e-6):
        cells = latest
    return renumbered(cells.labels)


def traded(homes: Float, labels: Int, least: int) -> Int:
    """The groups after homes went to other groups or traded places wherever that lowers the loss."""
    from shoal.search.exchanges import Exchanges

    if labels.max() == 0:
        return labels
    for better, _ in Exchanges(least, 1).rounds(homes, labels, _SWEEPS):
        labels = better
    return renumbered(labels)


def redraw_freely(
    people: People, cells: Int, centres: Float, costs: Float, demand: Demand, seed: int = 0
) -> Drawn:
    """Cells for all these people with no history kept: by PCL from the present centres and costs, or afresh.

    The present cells are those that centres and costs lead to, whichever cell each home was in (`cells`). What
    loses less is taken, the cells from the present ones if both lose the same.
    """
    fresh = draw(people, demand, seed)
    if not len(fresh.members) or not len(centres):
        return fresh
    homes = np.ascontiguousarray(people.homes)
    labels = merged(people, groups_from(homes, centres, costs, demand.least), demand)
    return fresh if squares(homes, fresh.cells) < squares(homes, labels) else drawn(people, labels)


def groups_from(homes: Float, centres: Float, costs: Float, least: int) -> Int:
    """Groups of at least so many homes, from present centres and costs; each in the block of its nearest home."""
    block = blocks_of(homes, least)
    where = block[cheapest(centres, homes, np.zeros(len(homes)))]
    groups, last = np.empty(len(homes), np.int64), 0
    for number, rows in enumerate(members_of(block)):
        some, own = np.ascontiguousarray(homes[rows]), where == number
        if own.any():
            labels = lloyd(some, *resized(some, centres[own], costs[own], max(1, len(rows) // least)))
        else:
            labels = groups_of_block(some, least, 0)
        groups[rows] = last + labels
        last += int(labels.max()) + 1
    return traded(homes, groups, least)


def resized(homes: Float, centres: Float, costs: Float, count: int) -> tuple[Float, Float]:
    """So many centres with their costs, of those of the present cells.

    Of too many, one of the two nearest to each other goes, again and again. Where there are too few, the home
    farthest from the centre of its cell becomes one, at the cost of that cell.
    """
    if len(centres) > count:
        stays = apart(centres, count)
        return centres[stays], costs[stays]
    added, paid = np.empty(count - len(centres), np.int64), np.empty(count - len(centres))
    cells = cheapest(homes, centres, costs)
    away, price = np.square(homes - centres[cells]).sum(axis=1), costs[cells]
    for place in range(len(added)):
        far = int(away.argmax())
        added[place], paid[place] = far, price[far]
        there = np.square(homes - homes[far]).sum(axis=1)
        price = np.where(there < away, price[far], price)
        away = np.minimum(away, there)
    return np.concatenate([centres, homes[added]]), np.concatenate([costs, paid])


def apart(centres: Float, count: int) -> Int:
    """So many of the centres: of the two nearest to each other the first goes, again and again."""
    between = np.square(centres[:, None] - centres).sum(axis=2)
    np.fill_diagonal(between, np.inf)
    stays, nearest = np.ones(len(centres), np.bool_), between.min(axis=1)
    for _ in range(len(centres) - count):
        gone = int(nearest.argmin())
        stays[gone], nearest[gone] = False, np.inf
        touched = (between[gone] <= nearest) & stays
        between[gone], between[:, gone] = np.inf, np.inf
        nearest[touched] = between[touched].min(axis=1)
    return np.flatnonzero(stays)


def costs_for(homes: Float, labels: Int, centres: Float) -> Float:
    """Costs under which `cheapest` gives every centre as many homes as it has now, up to ties; 0 on average.

    These are the prices of a transport problem: homes to centres at the least sum of squared chords, with the
    sizes given.
    """
    count = len(centres)
    if count < 2 or not len(homes):
        return np.zeros(count)
    from shoal.quantizing.lloyd import exact_solver

    sizes = np.bincount(labels, minlength=count)
    assign = exact_solver(np.ascontiguousarray(homes))
    prices = assign(np.ascontiguousarray(centres), sizes, np.zeros(count))[1]
    return np.asarray(prices - prices.mean())
