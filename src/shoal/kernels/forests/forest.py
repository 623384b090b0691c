"""The trees of mu-Approx: grown until each has k records, then cut into trees of bounded size.

`parent[u]` is the record that u's only outgoing edge leads to, -1 at the root of a tree. Every tree is cut from
its leaves upwards, so one pass finds all cuts. The seat of a record is the number of its group; a record without a
seat of its own sits where its parent sits.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.forests.components import find, join
from shoal.kernels.search_tree.heap import offer
from shoal.kernels.search_tree.tree import Tree, k_nearest
from shoal.kernels.sums.exact import Sums, add_row, centroid, clear, squared_distance

FIRST_LOOK = 2  # records asked for at first, itself and one more: for most that is enough


@inner
def nearest_outside(
    tree: Tree, rows: Array, u: int, k: int, leader: Array, d2: Array, ids: Array, slots: Array
) -> int:
    """The record nearest to u outside its component, which has fewer than k records; ties by index."""
    own = find(leader, u)
    wanted = min(FIRST_LOOK, k)
    while True:
        found = k_nearest(tree, rows[u], wanted, d2, ids, slots)
        best = -1
        for h in range(found):
            if find(leader, ids[h]) != own:
                if best < 0 or d2[h] < d2[best] or (d2[h] == d2[best] and ids[h] < ids[best]):
                    best = h
        if best >= 0:
            return ids[best]
        wanted = min(4 * wanted, k)


@kernel
def grow_forest(
    tree: Tree,
    rows: Array,
    k: int,
    order: Array,
    position: int,
    most: int,
    parent: Array,
    leader: Array,
    size: Array,
) -> int:
    """FOREST for up to `most` records of the order from `position` on; returns the position reached.

    A record whose turn comes has no outgoing edge yet, so it is the root of its tree; if that is too small, it
    gets one. A tree that is still too small has a root whose turn is yet to come.
    """
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    last = min(position + most, order.size)
    for place in range(position, last):
        u = order[place]
        own = find(leader, u)
        if size[own] < k:
            parent[u] = nearest_outside(tree, rows, u, k, leader, d2, ids, slots)
            join(leader, size, own, find(leader, parent[u]))
    return last


@inner
def list_children(order: Array, parent: Array, first: Array, following: Array, pending: Array) -> None:
    """The children of each record as a chain in the given order, and how many they are."""
    first[:] = -1
    pending[:] = 0
    for place in range(order.size - 1, -1, -1):
        u = order[place]
        if parent[u] >= 0:
            following[u] = first[parent[u]]
            first[parent[u]] = u
            pending[parent[u]] += 1


@inner
def leaves_first(order: Array, parent: Array, pending: Array, queue: Array) -> None:
    """All records, each after its children: the leaves in the given order, then whoever is ready first."""
    count = 0
    for u in order:
        if pending[u] == 0:
            queue[count] = u
            count += 1
    for place in range(order.size):
        above = parent[queue[place]]
        if above >= 0:
            pending[above] -= 1
            if pending[above] == 0:
                queue[count] = above
                count += 1


@inner
def fitting_subset(weights: Array, first: int, last: int, low: int, high: int, chosen: Array) -> bool:
    """Marks items from first to last - 1 that weigh low to high together, the first such set that turns up.

    Returns False if there is none.
    """
    via = np.full(high + 1, -1, np.int64)  # the item that first reached a sum
    for item in range(first, last):
        weight = weights[item]
        for total in range(high, weight - 1, -1):
            if via[total] >= 0 or not (total == weight or via[total - weight] >= 0):
                continue
            via[total] = item
            if total >= low:
                while total > 0:
                    chosen[via[total] - first] = True
                    total -= weights[via[total]]
                return True
    return False


@inner
def first_to_weigh(weights: Array, first: int, enough: int) -> tuple[int, int]:
    """The end of the shortest run of items from `first` on that weighs enough, and its weight."""
    total = 0
    while total < enough:
        total += weights[first]
        first += 1
    return first, total


@inner
def bring_forward(items: Array, weights: Array, count: int, wanted: int) -> None:
    """Moves the first item of the wanted weight, if there is one, in front of the others."""
    at = 0
    while at < count and weights[at] != wanted:
        at += 1
    if at < count:
        item = items[at]
        for i in range(at, 0, -1):
            items[i], weights[i] = items[i - 1], weights[i - 1]
        items[0], weights[0] = item, wanted


@inner
def cut_star(
    u: int, items: Array, weights: Array, count: int, total: int, k: int, most: int, seat: Array, seats: int
) -> int:
    """Cases 4c and 4d: seats the subtrees around u, none heavier than k - 1, in groups of k to `most` records.

    Where u has left with a group, a Steiner vertex without weight stands in its place. Then there may be no way to
    cut the last few subtrees; they stay together. Returns the number of the next group.
    """
    begin = 0
    if total <= most:
        seat[u] = seats
    else:
        bring_forward(items, weights, count, k - 1)
        begin, weight = first_to_weigh(weights, 0, k - 1)
        seat[items[:begin]] = seats
        total -= weight
        if total == k:  # k - 1 and u, who stays with them
            seat[u] = seats + 1
        else:
            seat[u] = seats
            total -= 1
        seats += 1
    while total > most:
        end, weight = first_to_weigh(weights, begin, k)
        if total - weight < k:
            chosen = np.zeros(count - begin, np.bool_)
            if fitting_subset(weights, begin, count, k, total - k, chosen):
                seat[items[begin:count][chosen]] = seats
                seat[items[begin:count][~chosen]] = seats + 1
                return seats + 2
            break
        seat[items[begin:end]] = seats
        begin = end
        total -= weight
        seats += 1
    seat[items[begin:count]] = seats
    return seats + 1


@kernel
def cut_trees(order: Array, parent: Array, leader: Array, size: Array, k: int, most: int, out: Array) -> int:
    """DECOMPOSE-COMPONENT: the group of each record into `out`; returns how many groups there are.

    The candidate is always the first record from the leaves upwards whose subtree has k records or more, so those
    of its children have fewer. If k are left above it, its subtree is cut off (4a); if that is too large itself,
    it is cut up around the candidate. If fewer are left above, the whole tree is cut up around the candidate.
    `size` of the leaders is spent.
    """
    n = order.size
    first, following = np.empty(n, np.int64), np.empty(n, np.int64)
    pending, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    list_children(order, parent, first, following, pending)
    leaves_first(order, parent, pending, queue)
    root = np.empty(n, np.int64)  # of the tree that a leader leads
    for u in range(n):
        if parent[u] < 0:
            root[find(leader, u)] = u
    weight, seat = np.ones(n, np.int64), np.full(n, -1, np.int64)
    items, weights = np.empty(n, np.int64), np.empty(n, np.int64)
    seats = 0
    for place in range(n):
        u = queue[place]
        own = find(leader, u)
        if size[own] > most and weight[u] >= k:
            count = 0
            child = first[u]
            while child >= 0:
                if weight[child] > 0:
                    items[count], weights[count] = child, weight[child]
                    count += 1
                child = following[child]
            above = size[own] - weight[u]
            if above >= k:
                seats = cut_star(u, items, weights, count, weight[u], k, most, seat, seats)
                size[own] = above
            else:
                if above > 0:
                    items[count], weights[count] = root[own], above
                    count += 1
                seats = cut_star(u, items, weights, count, size[own], k, most, seat, seats)
                size[own] = 0
            weight[u] = 0
        if parent[u] >= 0:
            weight[parent[u]] += weight[u]
        elif seat[u] < 0:
            seat[u] = seats
            seats += 1
    for place in range(n - 1, -1, -1):
        u = queue[place]
        out[u] = seat[u] if seat[u] >= 0 else out[parent[u]]
    return seats


@kernel
def split_groups(rows: Array, sums: Sums, members: Array, starts: Array, k: int, labels: Array) -> None:
    """Step 3: while a group has 2k records, the one farthest from its centroid leaves with its k - 1 nearest.

    Group g holds the records members[starts[g]:starts[g + 1]], which are rearranged; new groups are numbered on.
    """
    bits = rows.view(np.int64)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    d2, ids, places = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    label = starts.size - 1
    for group in range(starts.size - 1):
        begin, end = starts[group], starts[group + 1]
        while end - begin >= 2 * k:
            clear(sums)
            for place in range(begin, end):
                add_row(sums, bits, members[place], 1)
            centroid(sums, end - begin, centre, word)
            u, reach = -1, -1.0
            for place in range(begin, end):
                i = members[place]
                away = squared_distance(rows, i, centre)
                if away > reach or (away == reach and i < u):
                    u, reach = i, away
            labels[u] = label
            count = 0
            for place in range(begin, end):
                i = members[place]
                if i != u and k > 1:
                    count = offer(d2, ids, places, count, k - 1, squared_distance(rows, i, rows[u]), i, place)
            for h in range(count):
                labels[ids[h]] = label
            kept = begin
            for place in range(begin, end):
                if labels[members[place]] != label:
                    members[kept] = members[place]
                    kept += 1
            end = kept
            label += 1
