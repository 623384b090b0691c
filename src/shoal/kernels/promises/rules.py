"""Privacy models as numbers: how far the confidential values of a group are from what is promised.

A group is a list of units, such as records or persons. A unit has pairs of a value and of somebody whom the models
count. The pairs of a group are gathered, sorted by their values, and compared with the distribution of the whole
table, of which prefix sums are kept: a group of g pairs takes time g log g, whatever the table has.

`value` is the figure of a model, such as a number of different values or a distance; `excess` is 0 where the group
keeps the promise, and otherwise says how far it is from that, so that a repair sees whether it comes nearer.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowing, counting
from shoal.kernels.compiled import Array, inner, kernel

DISTINCT, ENTROPY, RECURSIVE, LINE, EQUAL, HIERARCHICAL, INFORMATION, SHARE, LIKENESS, DISCLOSURE = range(10)

SLACK = 1e-9
"""What rounding may add to a distance or a share that is exactly as large as promised."""

_FEW = 24  # numbers that are sorted one by one


class Rules(NamedTuple):
    """The models that every group must satisfy, rule by rule; what is flat has an offset for each rule."""

    kind: Array  # int64 (rules,)
    limit: Array  # float64 (rules,): l, t, alpha, beta or delta
    factor: Array  # float64 (rules,): c of recursive diversity; the tree's distance to nobody; 1 where likeness
    # is enhanced, or where absent values are ignored
    start: Array  # int64 (rules, units + 1): where the pairs of a unit begin
    code: Array  # int32 (pairs,): the number of the value
    share: Array  # float64 (pairs,): how much of somebody's rows have it
    whose: Array  # int32 (pairs,): by whom
    single: Array  # bool (rules,): nobody has two values
    offset: Array  # int64 (rules + 1,): where the values of a rule begin
    part: Array  # float64 (values,): the share of the table that has the value
    having: Array  # float64 (values,): the share of those in the table who have it among others
    harmful: Array  # bool (values,)
    upto: Array  # float64 (values,): the share of the table that has this value or a lower one
    step: Array  # float64 (values,): how far the next value is; all steps are 1 together
    steps: Array  # float64 (values,): all steps before this one
    area: Array  # float64 (values,): these, times the shares up to where they begin
    leaf: Array  # int64 (values,): the node of the value
    above: Array  # int64 (nodes,): the parent of a node, -1 for a root
    edge: Array  # float64 (nodes,): half of how much higher the parent is above its leaves, against the tree
    mass: Array  # float64 (nodes,): the share of the table below it
    codes: Array  # int32 (most pairs,): scratch for a group
    shares: Array  # float64 (most pairs,)
    persons: Array  # int32 (most pairs,)
    below: Array  # float64 (nodes,): scratch, 0


def no_rules(units: int) -> Rules:
    """No models on so many units."""
    whole, real, short = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int32)
    mark, start = np.zeros(0, np.bool_), np.zeros((0, units + 1), np.int64)
    return Rules(
        whole, real, real, start, short, real, short, mark, np.zeros(1, np.int64), real, real, mark, real, real,
        real, real, whole, whole, real, real, short, real, short, real,
    )  # fmt: skip


class Judged(NamedTuple):
    """What a model finds in a group."""

    value: float
    excess: float


@borrowing
def add_unit(rules: Rules, r: int, unit: int, count: int) -> int:
    """Put the pairs of a unit behind so many in the scratch; returns how many there are then."""
    for p in range(rules.start[r, unit], rules.start[r, unit + 1]):
        rules.codes[count] = rules.code[p]
        if not rules.single[r]:
            rules.shares[count] = rules.share[p]
            rules.persons[count] = rules.whose[p]
        count += 1
    return count


@borrowing
def sort_pairs(rules: Rules, r: int, count: int) -> None:
    """Sort the pairs in the scratch by their values."""
    codes = rules.codes
    if count > _FEW or not rules.single[r]:
        sort_many(codes[:count], rules.shares[:count], rules.persons[:count], rules.single[r])
        return
    for i in range(1, count):
        code, at = codes[i], i
        while at > 0 and codes[at - 1] > code:
            codes[at] = codes[at - 1]
            at -= 1
        codes[at] = code


@counting
def sort_many(codes: Array, shares: Array, persons: Array, single: bool) -> None:
    """Sort pairs by their values; the shares and persons are used only where somebody has two values."""
    if single:
        codes.sort()
        return
    order = np.argsort(codes, kind="mergesort")
    codes[:] = codes[order]
    shares[:] = shares[order]
    persons[:] = persons[order]


@borrowing
def run_of(rules: Rules, r: int, at: int, count: int) -> tuple[int, float]:
    """Where the pairs of the same value end, and what they weigh together."""
    end, weight = at + 1, 1.0 if rules.single[r] else rules.shares[at]
    while end < count and rules.codes[end] == rules.codes[at]:
        weight += 1.0 if rules.single[r] else rules.shares[end]
        end += 1
    return end, weight


@borrowing
def judged(rules: Rules, r: int, count: int, people: float) -> Judged:
    """What a model finds in the pairs of the scratch, which are those of so many people."""
    kind = rules.kind[r]
    if kind == DISTINCT:
        return diversity(rules, r, count)
    if kind == ENTROPY:
        return entropy(rules, r, count, people)
    if kind == RECURSIVE:
        return recursive(rules, r, count)
    if count == 0:
        return absent_all(rules, r)
    if kind == LINE:
        value = line_distance(rules, r, count, people)
    elif kind == EQUAL:
        value = equal_distance(rules, r, count, people)
    elif kind == HIERARCHICAL:
        value = tree_distance(rules, r, count, people)
    elif kind == INFORMATION:
        value = information(rules, r, count, people)
    elif kind == SHARE:
        value = largest_share(rules, r, count, people)
    else:
        return likeness(rules, r, count, people) if kind == LIKENESS else disclosure(rules, r, count, people)
    return Judged(value, max(0.0, value - rules.limit[r] - SLACK))


@borrowing
def absent_all(rules: Rules, r: int) -> Judged:
    """A group of gaps only tells no value of anybody; but every value is absent from it."""
    if rules.kind[r] == DISCLOSURE and rules.factor[r] == 0.0:
        return Judged(np.inf, 1.0 * (rules.offset[r + 1] - rules.offset[r]))
    return Judged(0.0, 0.0)


@borrowing
def diversity(rules: Rules, r: int, count: int) -> Judged:
    """How many different values there are, each by somebody of their own."""
    base, harm, found, at = rules.offset[r], False, 0, 0
    while at < count:
        harm = harm or rules.harmful[base + rules.codes[at]]
        found += 1
        at = run_of(rules, r, at, count)[0]
    if not rules.single[r] and count > 0:
        found = matched(rules, r, count, found)
    excess = max(0.0, rules.limit[r] - found)
    return Judged(1.0 * found, 0.0 if count > 0 and not harm else excess)


@counting
def matched(rules: Rules, r: int, count: int, runs: int) -> int:
    """For how many values there is somebody each who has it and stands for no other: a largest matching."""
    starts, at = np.empty(runs + 1, np.int64), 0
    for run in range(runs):
        starts[run] = at
        at = run_of(rules, r, at, count)[0]
    starts[runs] = count
    people = np.unique(rules.persons[:count])
    own = np.searchsorted(people, rules.persons[:count])
    stands, came = np.full(people.size, -1, np.int64), np.empty(people.size, np.int64)
    seen, by = np.zeros(people.size, np.bool_), np.full(runs, -1, np.int64)
    path, found = np.empty(runs, np.int64), 0
    for run in range(runs):
        seen[:] = False
        found += augmented(run, starts, own, stands, by, seen, path, came)
    return found


@inner
def augmented(
    run: int, starts: Array, own: Array, stands: Array, by: Array, seen: Array, path: Array, came: Array
) -> int:
    """One value more that somebody stands for, if others can make room: 1, or 0 where not. Breadth first.

    `stands` has the value of each person, `by` the person of each value; `came` is where a person was seen from.
    """
    first, last = 0, 1
    path[0] = run
    while first < last:
        value = path[first]
        first += 1
        for p in range(starts[value], starts[value + 1]):
            person = own[p]
            if seen[person]:
                continue
            seen[person] = True
            came[person] = value
            if stands[person] >= 0:
                path[last] = stands[person]
                last += 1
                continue
            while person >= 0:
                value = came[person]
                before, by[value], stands[person] = by[value], person, value
                person = before
            return 1
    return 0


@borrowing
def entropy(rules: Rules, r: int, count: int, people: float) -> Judged:
    """The exponential of the entropy: as many values as if all were equally frequent."""
    total, at = 0.0, 0
    while at < count:
        at, weight = run_of(rules, r, at, count)
        total -= weight / people * np.log(weight / people)
    value = np.exp(total) if count > 0 else 0.0
    return Judged(value, max(0.0, rules.limit[r] - value - SLACK))


@counting
def recursive(rules: Rules, r: int, count: int) -> Judged:
    """How often the most frequent value occurs, against all from the l-th on."""
    sizes, runs, at = np.empty(count, np.int64), 0, 0
    while at < count:
        end = run_of(rules, r, at, count)[0]
        sizes[runs] = end - at
        runs += 1
        at = end
    wanted = int(min(rules.limit[r], 1.0 * count + 1.0))
    ranked = -np.sort(-sizes[:runs])
    tail = ranked[wanted - 1 :].sum() if runs >= wanted else 0
    if tail == 0:
        return Judged(np.inf, 1.0 + wanted - runs)
    value = ranked[0] / tail
    lacking = ranked[0] - rules.factor[r] * tail
    return Judged(value, 0.0 if lacking < 0.0 else lacking / count + SLACK)


@borrowing
def line_distance(rules: Rules, r: int, count: int, people: float) -> float:
    """The area between the two distribution functions, over values in a row."""
    base, values = rules.offset[r], rules.offset[r + 1] - rules.offset[r]
    total, reached, at, here = 0.0, 0.0, 0, 0
    while at < count:
        total += stretch(rules, base, here, rules.codes[at], reached / people)
        here = rules.codes[at]
        at, weight = run_of(rules, r, at, count)
        reached += weight
    return total + stretch(rules, base, here, values - 1, reached / people)


@borrowing
def stretch(rules: Rules, base: int, first: int, last: int, level: float) -> float:
    """The area between a level and the table's function from one value to a later one."""
    if first >= last:
        return 0.0
    low, high = first, last
    while low < high:  # the first value at which the table is above the level
        middle = (low + high) // 2
        if rules.upto[base + middle] > level:
            high = middle
        else:
            low = middle + 1
    under = level * (rules.steps[base + low] - rules.steps[base + first])
    under -= rules.area[base + low] - rules.area[base + first]
    over = rules.area[base + last] - rules.area[base + low]
    over -= level * (rules.steps[base + last] - rules.steps[base + low])
    return max(under, 0.0) + max(over, 0.0)


@borrowing
def equal_distance(rules: Rules, r: int, count: int, people: float) -> float:
    """Half the sum of all differences of shares: what is too much anywhere is too little elsewhere."""
    base, total, at = rules.offset[r], 0.0, 0
    while at < count:
        code = rules.codes[at]
        at, weight = run_of(rules, r, at, count)
        total += max(0.0, weight / people - rules.part[base + code])
    return total


@borrowing
def tree_distance(rules: Rules, r: int, count: int, people: float) -> float:
    """The differences of shares below each node, times the length of the edge above it."""
    base, at = rules.offset[r], 0
    while at < count:
        node = rules.leaf[base + rules.codes[at]]
        at, weight = run_of(rules, r, at, count)
        while node >= 0:
            rules.below[node] += weight / people
            node = rules.above[node]
    total = rules.factor[r]  # of a group without anybody; each node with somebody below it is put right once
    for p in range(count):
        node = rules.leaf[base + rules.codes[p]]
        while node >= 0 and rules.below[node] > 0.0:
            usual = rules.mass[node]
            total += rules.edge[node] * (abs(rules.below[node] - usual) - usual)
            rules.below[node] = 0.0
            node = rules.above[node]
    return max(total, 0.0)


@borrowing
def information(rules: Rules, r: int, count: int, people: float) -> float:
    """The Kullback-Leibler divergence of the group from the table, in nats."""
    base, total, at = rules.offset[r], 0.0, 0
    while at < count:
        code = rules.codes[at]
        at, weight = run_of(rules, r, at, count)
        total += weight / people * np.log(weight / people / rules.part[base + code])
    return max(total, 0.0)


@borrowing
def largest_share(rules: Rules, r: int, count: int, people: float) -> float:
    """The largest share of people who have the same harmful value."""
    base, most, at = rules.offset[r], 0, 0
    while at < count:
        end = run_of(rules, r, at, count)[0]
        if rules.harmful[base + rules.codes[at]]:
            most = max(most, end - at)
        at = end
    return most / people


@borrowing
def likeness(rules: Rules, r: int, count: int, people: float) -> Judged:
    """By how much the share of a value exceeds that in the table, against the latter."""
    base, value, excess, at = rules.offset[r], 0.0, 0.0, 0
    while at < count:
        code = rules.codes[at]
        end = run_of(rules, r, at, count)[0]
        if rules.harmful[base + code]:
            usual = rules.having[base + code]
            gain = ((end - at) / people - usual) / usual
            most = rules.limit[r]
            if rules.factor[r] == 1.0:
                most = min(most, -np.log(usual))
            value = max(value, gain)
            excess = max(excess, gain - most - SLACK)
        at = end
    return Judged(value, excess)


@borrowing
def disclosure(rules: Rules, r: int, count: int, people: float) -> Judged:
    """The largest logarithm of the ratio of a share to that in the table; that of an absent value is infinite."""
    base, value, wanted, seen, at = rules.offset[r], 0.0, 0, 0, 0
    for code in range(rules.offset[r + 1] - base):
        wanted += rules.harmful[base + code]
    while at < count:
        code = rules.codes[at]
        end = run_of(rules, r, at, count)[0]
        if rules.harmful[base + code]:
            seen += 1
            value = max(value, abs(np.log((end - at) / people / rules.having[base + code])))
        at = end
    excess = 0.0 if value < rules.limit[r] else value - rules.limit[r] + SLACK
    if seen < wanted and rules.factor[r] == 0.0:
        return Judged(np.inf, excess + wanted - seen)
    return Judged(value, excess)


@borrowing
def people_in(rules: Rules, r: int, count: int) -> float:
    """How many people the pairs of the scratch are of, before they are sorted: those of one follow each other."""
    if rules.single[r]:
        return 1.0 * count
    people = 0
    for p in range(count):
        people += p == 0 or rules.persons[p] != rules.persons[p - 1]
    return 1.0 * people


@borrowing
def judged_group(rules: Rules, r: int, units: Array) -> Judged:
    """What a model finds in some units."""
    count = 0
    for unit in units:
        count = add_unit(rules, r, unit, count)
    people = people_in(rules, r, count)
    sort_pairs(rules, r, count)
    return judged(rules, r, count, people)


@kernel
def judge(rules: Rules, order: Array, starts: Array) -> tuple[Array, Array]:
    """Value and excess of each rule in each group; group g has the units order[starts[g]:starts[g + 1]]."""
    groups = starts.size - 1
    values, excess = np.empty((rules.kind.size, groups)), np.empty((rules.kind.size, groups))
    for r in range(rules.kind.size):
        for g in range(groups):
            found = judged_group(rules, r, order[starts[g] : starts[g + 1]])
            values[r, g] = found.value
            excess[r, g] = found.excess
    return values, excess
