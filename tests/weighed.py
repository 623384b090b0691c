"""Groups of weighted records as the kernels of `kernels/exchanges/weighted.py` hold them: made and checked."""

import numpy as np
import pytest

import naive
from shoal.kernels.exchanges.repair import all_excess, repair
from shoal.kernels.exchanges.weighted import new_weighed
from shoal.kernels.promises.rules import no_rules


def sse(X, labels, weights):
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    return naive.sse(X.tolist(), groups, weights.tolist())


def start(n, k, seed=0):
    """Groups of k or more in no order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) // k, n // k - 1))


def ones(n):
    return np.ones(n, np.int64)


def weighed(X, labels, weights, counts, least_count, least_records, near=1000, rules=None):
    """Groups, without privacy models unless some are given."""
    compiled = no_rules(len(X)) if rules is None else rules.compiled_for(np.arange(len(X)))
    return new_weighed(X, labels, weights, counts, least_count, least_records, near, compiled)


def put_right(groups):
    """Put every broken group right, in place."""
    repair(groups, all_excess(groups))


def members_of(groups, g):
    """The records of a group, along its list."""
    found, i = [], groups.head[g]
    while i >= 0:
        assert groups.before[i] == (found[-1] if found else -1)
        found.append(int(i))
        i = groups.after[i]
    return found


def is_consistent(groups):
    """All that is known of a group is what its records say, the demands hold, and a neighbour is another group."""
    scale = float(np.abs(groups.rows).max()) + 1e-300
    listed = []
    for g in range(len(groups.size)):
        members = members_of(groups, g)
        listed += members
        assert len(members) == groups.size[g]
        assert groups.total[g] == groups.counts[members].sum()
        assert (groups.label[members] == g).all()
        near = [b for b in groups.near[g].tolist() if b >= 0]
        assert len({g, *near}) == 1 + len(near)
        if not members:
            continue
        assert groups.total[g] >= groups.least_count
        assert groups.size[g] >= groups.least_records
        weights = groups.weight[members]
        assert groups.mass[g] == pytest.approx(weights.sum())
        mean = naive.mean(groups.rows[members].tolist(), weights.tolist())
        assert groups.centre[g] == pytest.approx(mean, rel=1e-6, abs=1e-9 * scale)
        error = naive.group_sse(groups.rows.tolist(), members, groups.weight.tolist())
        assert groups.error[g] == pytest.approx(error, rel=1e-6, abs=1e-18 * scale**2)
    assert sorted(listed) == list(range(len(groups.label)))
