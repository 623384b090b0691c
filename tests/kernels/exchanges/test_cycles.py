import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.exchanges.cycles import ARCS, LENGTH, close_cycles, new_found, new_graph


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)])


@st.composite
def partitions(draw, tied):
    """Groups of k to 2k - 1, so few that every place is looked at and no search ends early."""
    k = draw(st.integers(1, 4))
    sizes = draw(
        st.lists(st.integers(k, 2 * k - 1), min_size=2, max_size=4).filter(lambda sizes: sum(sizes) <= ARCS)
    )
    labels = np.array(draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m = draw(st.integers(1, 3))
    X = rng.integers(0, 3, (len(labels), m)) if tied else rng.normal(size=(len(labels), m))
    return X.astype(float), labels, k


@pytest.mark.parametrize("tied", [False, True])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_begins_with_each_record_gains_as_much_as_by_the_sse_anew(tied, data):
    X, labels, k = data.draw(partitions(tied))
    graph, found = new_graph(X, labels, k), new_found(len(X))
    close_cycles(graph, found, k, 1e-9)
    for s in range(len(X)):
        change = found.change[s] if found.length[s] else 0.0
        assert change == pytest.approx(naive.best_chain(X, labels.tolist(), k, s, LENGTH, 1e-9), abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 30), st.booleans())
def test_every_pass_gains_until_nothing_is_left(seed, k, groups, tied):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(groups), rng.integers(k, 2 * k, groups)))
    X = rng.integers(0, 3, (len(labels), 2)).astype(float) if tied else rng.normal(size=(len(labels), 2))
    graph, found = new_graph(X, labels, k), new_found(len(X))
    error = sse(X, labels)
    for _ in range(300):
        if close_cycles(graph, found, k, 1e-9) == 0:
            break
        sizes = np.bincount(graph.label)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        assert sse(X, graph.label) < error
        error = sse(X, graph.label)
    else:
        pytest.fail("It goes on and on.")


def test_a_cycle_of_four_that_no_swap_leads_to():
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
    X = np.concatenate([corners + offset for offset in ([0, 0], [0.1, 0], [0, 0.1])])
    labels = np.concatenate([np.arange(4), np.arange(4), (np.arange(4) + 1) % 4])
    graph, found = new_graph(X, labels, 3), new_found(len(X))
    assert close_cycles(graph, found, 3, 1e-9) == 1
    assert found.length.max() == 4
    assert sse(X, graph.label) == pytest.approx(4 * naive.group_sse(X.tolist(), [0, 4, 8]))
