"""The last records to their cells: successive shortest paths over the points near the borders.

Each listed point knows the cells within reach of its best one (an arc: the cell and the squared distance to it).
What is too much in one cell goes along the cheapest chain of moves, point by point from cell to cell, to where
something is missing, and prices follow, so that every point stays where squared distance + price is least.

What is not listed is not forgotten. No arc left out can cost less than a known height above where its point sits;
of this each cell keeps its roof: a price that it must not rise above on the strength of the lists alone. A chain
that is longer than the roofs vouch for is not used; the cells in its way ask for longer lists.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.transport.blocks import BLOCK, Nearest, Plan, measure, sift
from shoal.kernels.transport.paths import begin, enter, forget, leave, new_ways, relax, visit

_KEPT = 128  # neighbours of a cell to which the cheapest move is kept


class Arcs(NamedTuple):
    """The cells that points near a border may go to."""

    starts: Array  # int64 (listed + 1,): where the arcs of each listed point start
    points: Array  # int64 (listed,): the point of the plan
    owner: Array  # int64 (arcs,): the listed point
    cells: Array  # int64 (arcs,)
    costs: Array  # float64 (arcs,): squared distance
    flow: Array  # int64 (arcs,): records of the point in this cell
    wall: Array  # float64 (listed,): every cell with squared distance + price up to this is there
    home: Array  # int64 (listed,): the best cell, whose reach made the wall


@kernel
def count_listed(near: Nearest, weights: Array, reach: Array) -> int:
    """How many points have their second best cell within reach."""
    count = 0
    for x in range(weights.size):
        count += weights[x] > 0 and near.gap[x] <= reach[near.best[x]]
    return count


@kernel
def fill_arcs(plan: Plan, centres: Array, prices: Array, near: Nearest, reach: Array, arcs: Arcs) -> int:
    """List the arcs of all points with a second best cell within reach; returns how many there are.

    If that is more than there is room for, the arcs are not complete.
    """
    blocks, cells = plan.points.shape[0], centres.shape[0]
    everyone = np.arange(cells)
    top, middle, few = np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int64)
    near_box = np.empty(cells)
    values = np.empty((cells, BLOCK))
    tops, middles, box, bigger = 0, 0, -1, -1
    listed, size = 0, 0
    for b in range(blocks):
        any_here = False
        for x in range(b * BLOCK, (b + 1) * BLOCK):
            any_here = any_here or (plan.weights[x] > 0 and near.gap[x] <= reach[near.best[x]])
        if not any_here:
            continue
        if b // 128 != bigger:
            bigger = b // 128
            tops = sift(plan, plan.first[2] + bigger, centres, prices, reach, everyone, cells, top, near_box)
        if b // 8 != box:
            box = b // 8
            middles = sift(plan, plan.first[1] + box, centres, prices, reach, top, tops, middle, near_box)
        count = sift(plan, b, centres, prices, reach, middle, middles, few, near_box)
        for i in range(count):
            measure(plan.points, b, centres[few[i]], 0.0, values[i])
        for lane in range(BLOCK):
            x = b * BLOCK + lane
            if plan.weights[x] == 0 or near.gap[x] > reach[near.best[x]]:
                continue
            wall = near.value[x] + reach[near.best[x]]
            arcs.starts[listed], arcs.points[listed] = size, x
            arcs.wall[listed], arcs.home[listed] = wall, near.best[x]
            for i in range(count):
                if values[i, lane] + prices[few[i]] <= wall:
                    if size < arcs.cells.size:
                        arcs.owner[size], arcs.cells[size], arcs.costs[size] = listed, few[i], values[i, lane]
                        arcs.flow[size] = plan.weights[x] if few[i] == near.best[x] else 0
                    size += 1
            listed += 1
    arcs.starts[listed] = size
    return size


def list_arcs(plan: Plan, centres: Array, prices: Array, near: Nearest, reach: Array) -> Arcs:
    """The arcs of all points whose second best cell is within reach of the best."""
    listed = count_listed(near, plan.weights, reach)
    room = 4 * listed + 16
    while True:
        owner, cells, flow = np.empty((3, room), np.int64)
        points, home = np.empty((2, listed), np.int64)
        wall, starts = np.empty(listed), np.empty(listed + 1, np.int64)
        arcs = Arcs(starts, points, owner, cells, np.empty(room), flow, wall, home)
        needed = fill_arcs(plan, centres, prices, near, reach, arcs)
        if needed <= room:
            return arcs
        room = needed


@kernel
def carry_over(old: Arcs, new: Arcs, counts: Array) -> None:
    """Put records where they were, as far as the new lists allow; `counts` follows."""
    at = 0
    for listed in range(new.points.size):
        while at < old.points.size and old.points[at] < new.points[listed]:
            at += 1
        if at == old.points.size:
            return
        if old.points[at] != new.points[listed]:
            continue
        home = new.starts[listed]
        while new.cells[home] != new.home[listed]:
            home += 1
        b = new.starts[listed]
        for a in range(old.starts[at], old.starts[at + 1]):
            while b < new.starts[listed + 1] and new.cells[b] < old.cells[a]:
                b += 1
            if b < new.starts[listed + 1] and new.cells[b] == old.cells[a] and b != home:
                new.flow[b] += old.flow[a]
                new.flow[home] -= old.flow[a]
                counts[new.cells[b]] += old.flow[a]
                counts[new.home[listed]] -= old.flow[a]


@inner
def partner(arcs: Arcs, a: int, cell: int) -> int:
    """The arc of the same point to another cell, -1 if there is none."""
    listed = arcs.owner[a]
    for b in range(arcs.starts[listed], arcs.starts[listed + 1]):
        if arcs.cells[b] == cell:
            return b
    return -1


@inner
def tied(arcs: Arcs, node: int, to: int, key: float, head: Array, after: Array) -> int:
    """How many records of a cell could move to another one as cheaply as the cheapest."""
    total = 0
    a = head[node]
    while a >= 0:
        b = partner(arcs, a, to)
        if b >= 0 and arcs.costs[b] - arcs.costs[a] <= key:
            total += arcs.flow[a]
        a = after[a]
    return total


class Moves(NamedTuple):
    """The cheapest move from each cell to each of its neighbours, kept until the cell gains or loses a point."""

    known: Array  # int64 (c,): neighbours; -1 if to be looked up anew, -2 if there are too many to keep
    to: Array  # int64 (c, width)
    key: Array  # float64 (c, width): what squared distance it adds
    arc: Array  # int64 (c, width): by which arc the point is in the cell now
    slot: Array  # int64 (c,): -1 between uses


@inner
def look_up(arcs: Arcs, node: int, moves: Moves, head: Array, after: Array) -> None:
    """Find the cheapest moves from a cell."""
    count, width = 0, moves.to.shape[1]
    a = head[node]
    while a >= 0 and count >= 0:
        listed = arcs.owner[a]
        for b in range(arcs.starts[listed], arcs.starts[listed + 1]):
            to, key = arcs.cells[b], arcs.costs[b] - arcs.costs[a]
            at = moves.slot[to]
            if at < 0 and to != node:
                if count == width:
                    count = -2
                    break
                at = count
                moves.slot[to], moves.to[node, at], moves.key[node, at] = at, to, np.inf
                count += 1
            if to != node and key < moves.key[node, at]:
                moves.key[node, at], moves.arc[node, at] = key, a
        a = after[a]
    for i in range(width if count < 0 else count):
        moves.slot[moves.to[node, i]] = -1
    moves.known[node] = count


@inner
def lower_roof(arcs: Arcs, a: int, roof: Array, holder: Array) -> None:
    """A cell takes in a point whose list may end lower than its own points' lists do."""
    cell, height = arcs.cells[a], arcs.wall[arcs.owner[a]] - arcs.costs[a]
    if height < roof[cell]:
        roof[cell], holder[cell] = height, arcs.home[arcs.owner[a]]


@inner
def shift(
    arcs: Arcs,
    a: int,
    b: int,
    amount: int,
    moves: Moves,
    roof: Array,
    holder: Array,
    head: Array,
    after: Array,
    before: Array,
) -> None:
    """Move some records of a point from arc a to arc b."""
    moves.known[arcs.cells[a]] = moves.known[arcs.cells[b]] = -1
    if arcs.flow[b] == 0:
        enter(b, arcs.cells[b], head, after, before)
        lower_roof(arcs, b, roof, holder)
    arcs.flow[b] += amount
    arcs.flow[a] -= amount
    if arcs.flow[a] == 0:
        leave(a, arcs.cells[a], head, after, before)


@inner
def move(
    arcs: Arcs,
    node: int,
    to: int,
    key: float,
    amount: int,
    moves: Moves,
    roof: Array,
    holder: Array,
    head: Array,
    after: Array,
    before: Array,
) -> None:
    """Move an amount of the cheapest records of a cell to another one."""
    a = head[node]
    while a >= 0 and amount > 0:
        following = after[a]
        b = partner(arcs, a, to)
        if b >= 0 and arcs.costs[b] - arcs.costs[a] <= key:
            some = min(amount, arcs.flow[a])
            shift(arcs, a, b, some, moves, roof, holder, head, after, before)
            amount -= some
        a = following


@kernel
def exchange(arcs: Arcs, surplus: Array, prices: Array, roof: Array, short: Array) -> None:
    """Move records until no cell has too many, as far as the lists go; marks the cells whose lists are too short.

    Changes flow, surplus, prices and roof.
    """
    cells = prices.size
    head = np.full(cells, -1, np.int64)
    after, before = np.empty(arcs.flow.size, np.int64), np.empty(arcs.flow.size, np.int64)
    holder = np.arange(cells)  # whose lists would have to be longer to raise the roof
    for a in range(arcs.starts[-1]):
        if arcs.flow[a] > 0:
            enter(a, arcs.cells[a], head, after, before)
            lower_roof(arcs, a, roof, holder)
    ways = new_ways(cells)
    distance, final, origin, via = ways.distance, ways.final, ways.origin, ways.via
    short[:] = False
    width = min(cells, _KEPT)
    to_cell, by_arc = np.empty((cells, width), np.int64), np.empty((cells, width), np.int64)
    moves = Moves(np.full(cells, -1), to_cell, np.empty((cells, width)), by_arc, np.full(cells, -1))
    for source in range(cells):
        while surplus[source] > 0:
            target, count, size = -1, 0, begin(ways, source)
            horizon, reached = np.inf, np.inf
            while size > 0:
                node = visit(ways, size, count)
                size -= 1
                count += 1
                if distance[node] > horizon:
                    reached = distance[node]
                    break
                if surplus[node] < 0:
                    target = node
                    break
                horizon = min(horizon, distance[node] + roof[node] - prices[node])
                if moves.known[node] == -1:
                    look_up(arcs, node, moves, head, after)
                for i in range(moves.known[node]):
                    to = int(moves.to[node, i])
                    if not final[to]:
                        new = distance[node] + max(moves.key[node, i] + prices[to] - prices[node], 0.0)
                        if new < distance[to]:
                            size = relax(ways, to, new, node, moves.arc[node, i], size)
                a = int(head[node]) if moves.known[node] < 0 else -1
                while a >= 0:
                    here = arcs.costs[a] + prices[node]
                    listed = arcs.owner[a]
                    for b in range(arcs.starts[listed], arcs.starts[listed + 1]):
                        to = int(arcs.cells[b])
                        if not final[to]:
                            new = distance[node] + max(arcs.costs[b] + prices[to] - here, 0.0)
                            if new < distance[to]:
                                size = relax(ways, to, new, node, a, size)
                    a = after[a]
            amount = surplus[source]
            if target >= 0:
                amount = min(amount, -surplus[target])
                node = int(target)
                while node != source:  # what ties let through
                    if arcs.flow[via[node]] < amount:
                        b = partner(arcs, via[node], node)
                        key = arcs.costs[b] - arcs.costs[via[node]]
                        amount = min(amount, tied(arcs, origin[node], node, key, head, after))
                    node = origin[node]
                reached = distance[target]
                node = int(target)
                while node != source:
                    a = via[node]
                    b = partner(arcs, a, node)
                    if arcs.flow[a] >= amount:
                        shift(arcs, a, b, amount, moves, roof, holder, head, after, before)
                    else:
                        key = arcs.costs[b] - arcs.costs[a]
                        move(arcs, origin[node], node, key, amount, moves, roof, holder, head, after, before)
                    node = origin[node]
            for i in range(count):
                node = ways.visited[i]
                if target >= 0:
                    prices[node] += reached - distance[node]
                elif distance[node] + roof[node] - prices[node] < reached:
                    short[holder[node]] = True
            forget(ways, size, count)
            if target < 0:
                break
            surplus[source] -= amount
            surplus[target] += amount


@kernel
def near_moves(arcs: Arcs, prices: Array, limit: float) -> tuple[Array, Array, Array]:
    """(from, to, key) of the moves that cost at most `limit`; the cost is key + prices[to] - prices[from]."""
    count = 0
    for fill in range(2):
        if fill:
            source, target, keys = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
            count = 0
        for a in range(arcs.starts[-1]):
            if arcs.flow[a] == 0:
                continue
            listed = arcs.owner[a]
            for b in range(arcs.starts[listed], arcs.starts[listed + 1]):
                key = arcs.costs[b] - arcs.costs[a]
                if b != a and key + prices[arcs.cells[b]] - prices[arcs.cells[a]] <= limit:
                    if fill:
                        source[count], target[count], keys[count] = arcs.cells[a], arcs.cells[b], key
                    count += 1
    return source, target, keys


@kernel
def spread_slack(starts: Array, to: Array, out: Array, back: Array, room: float, prices: Array) -> None:
    """Move each price to the middle of where it may be, its neighbours' fixed, a few times around.

    Cell q has the neighbours to[starts[q]:starts[q + 1]]; `out` and `back` are the keys of the cheapest move there
    and from there. No price changes by more than `room` in all.
    """
    given = prices.copy()
    for _ in range(200):
        tight = False
        for q in range(prices.size):
            up, down = given[q] + room - prices[q], prices[q] - given[q] + room
            for e in range(starts[q], starts[q + 1]):
                up = min(up, out[e] + prices[to[e]] - prices[q])
                down = min(down, back[e] + prices[q] - prices[to[e]])
            tight = tight or up <= 0.0 or down <= 0.0
            if up != down:  # both may be infinite
                prices[q] += (max(up, 0.0) - max(down, 0.0)) / 2
        if not tight:
            return


def part_ties(arcs: Arcs, prices: Array, room: float) -> None:
    """Move prices off the ties that the last moves left, where that is possible without moving a record.

    Chains of moves end with prices at which some records cost the same in two cells. Mostly prices can change by
    some amount with all records staying where they are; in the middle of it no record is on a border.
    """
    cells = len(prices)
    source, target, keys = near_moves(arcs, prices, 2 * room)
    # Every pair once in each direction, with the cheapest move there and back.
    pairs, place = np.unique(
        np.concatenate([source * cells + target, target * cells + source]), return_inverse=True
    )
    out, back = np.full((2, len(pairs)), np.inf)
    np.minimum.at(out, place[: len(keys)], keys)
    np.minimum.at(back, place[len(keys) :], keys)
    starts = np.searchsorted(pairs, np.arange(cells + 1) * cells)
    spread_slack(starts, pairs % cells, out, back, room, prices)
