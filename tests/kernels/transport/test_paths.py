import numpy as np
import pytest

from shoal.kernels.compiled import kernel
from shoal.kernels.transport.paths import begin, enter, forget, leave, new_ways, relax, visit


@kernel
def all_distances(lengths, out):
    """Dijkstra from every node in turn with one set of lists; returns whether they were clean in between."""
    nodes = lengths.shape[0]
    ways = new_ways(nodes)
    for source in range(nodes):
        count, size = 0, begin(ways, source)
        while size > 0:
            node = visit(ways, size, count)
            size -= 1
            count += 1
            for to in range(nodes):
                if not ways.final[to] and lengths[node, to] < np.inf:
                    size = relax(ways, to, ways.distance[node] + lengths[node, to], node, to, size)
        out[source] = ways.distance
        forget(ways, size, count)
        if ways.final.any() or (ways.distance < np.inf).any():
            return False
    return True


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_floyd_and_warshall_search_after_search(seed):
    rng = np.random.default_rng(seed)
    lengths = np.where(rng.random((12, 12)) < 0.3, rng.integers(0, 9, (12, 12)), np.inf)
    found = np.empty((12, 12))
    assert all_distances(lengths, found)
    expected = lengths.copy()
    np.fill_diagonal(expected, 0.0)
    for via in range(12):
        expected = np.minimum(expected, expected[:, [via]] + expected[via])
    assert np.array_equal(found, expected)


@kernel
def seated(moves, head, after, before):
    """Records enter a group, after leaving another one if they have been in one."""
    for record, group, old in moves:
        if old >= 0:
            leave(record, old, head, after, before)
        enter(record, group, head, after, before)


def test_records_enter_and_leave_the_lists_of_their_groups():
    head = np.full(3, -1, np.int32)
    after, before = np.empty(20, np.int32), np.empty(20, np.int32)
    rng = np.random.default_rng(0)
    group = np.full(20, -1)
    moves = []
    for record in [*range(20), *rng.integers(0, 20, 60).tolist()]:
        new = int(rng.integers(0, 3))
        moves.append((record, new, group[record]))
        group[record] = new
    seated(np.array(moves), head, after, before)
    for number in range(3):
        found, record = [], head[number]
        while record >= 0:
            found.append(int(record))
            record = after[record]
        assert sorted(found) == np.flatnonzero(group == number).tolist()
