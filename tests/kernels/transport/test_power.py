import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from shoal.kernels.transport import power
from shoal.kernels.transport.blocks import nearest
from shoal.kernels.transport.flow import transport
from shoal.kernels.transport.power import assign, prepare, rows_of


def costs_of(X, centres):
    costs = np.zeros((len(X), len(centres)))
    for j in range(X.shape[1]):
        costs += (X[:, j : j + 1] - centres[:, j]) ** 2
    return costs


def certified(costs, labels, prices, sizes):
    """The total, if sizes are kept, prices give the labels back, and prove that no total is lower."""
    n, cells = costs.shape
    assert (np.bincount(labels, minlength=cells) == sizes).all()
    values = costs + prices
    scale = max(costs.max(), np.abs(prices).max())
    total = costs[np.arange(n), labels].sum()
    dual = values.min(axis=1).sum() - (sizes * prices).sum()
    assert total == pytest.approx(dual, rel=1e-9, abs=1e-12 * n * scale)
    excess = values[np.arange(n), labels] - values.min(axis=1)
    assert excess.max() <= 1e-12 * scale
    return total, scale


def dense_optimum(costs, sizes):
    """The same problem with a slot for every record a cell may hold, by an assignment solver."""
    slots = np.repeat(costs, sizes, axis=1)
    rows, columns = linear_sum_assignment(slots / (slots.max() or 1.0))
    return slots[rows, columns].sum()


def invented(rng, kind):
    """Records, centres (some alike, some outside), sizes from 1 up and prices to start from."""
    n, m = int(rng.integers(1, 41)), int(rng.integers(1, 4))
    cells = int(rng.integers(1, n + 1)) if rng.random() < 0.3 else int(rng.integers(1, min(n, 6) + 1))
    X = rng.normal(size=(n, m))
    if kind == "tied":
        X = np.round(X)
    elif kind == "constant":
        X = np.full((n, m), 2.5)
    elif kind == "extreme":
        X = rng.choice([0.0, -0.0, 1e-300, 5e-324, 1e140, -1e140, 1.0], size=(n, m))
    elif kind == "duplicated":
        X = X[rng.integers(0, n, n)]
    elif kind == "heavy":
        X = np.round(X * 2)
        X[rng.random(n) < 0.3] = 1.0
    elif kind == "scaled":
        X *= 10.0 ** rng.integers(-8, 8)
    centres = X[rng.integers(0, n, cells)]
    if rng.random() < 0.5:
        outside = 50 * (rng.random() < 0.2)
        centres = np.round(rng.normal(size=(cells, m)) * 3) * (X.std() + 1e-9) + outside
    sizes = 1 + rng.multinomial(n - cells, rng.dirichlet(np.ones(cells)))
    prices = None
    if rng.random() < 0.5:
        prices = rng.normal(size=cells) * 10.0 ** rng.integers(-3, 8) * (rng.random() < 0.8)
    return X, centres, sizes, prices


KINDS = ["random", "tied", "constant", "extreme", "duplicated", "heavy", "scaled"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("complete", [0, 20_000])
def test_no_other_assignment_costs_less(kind, complete, monkeypatch):
    monkeypatch.setattr(power, "_COMPLETE", complete)  # 0: every step that large tables take
    monkeypatch.setattr(power, "_SMALL", 0)
    rng = np.random.default_rng(KINDS.index(kind) + 100 * (complete > 0))
    for _ in range(200):
        X, centres, sizes, prices = invented(rng, kind)
        labels, found = assign(prepare(X), centres, sizes, prices)
        costs = costs_of(X, centres)
        total, scale = certified(costs, labels, found, sizes)
        assert total == pytest.approx(dense_optimum(costs, sizes), rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize(
    ("n", "cells", "m"),
    [(2000, 5, 2), (2000, 40, 1), (3000, 100, 2), (2500, 30, 4), (3000, 400, 2), (2000, 25, 13)],
)
@pytest.mark.parametrize("kind", ["round", "tied"])
def test_it_agrees_with_transport(n, cells, m, kind):
    rng = np.random.default_rng(n + cells)
    X = rng.normal(size=(n, m))
    if kind == "tied":
        X = np.round(X * 2) / 2
    centres = X[rng.choice(n, cells, replace=False)]
    sizes = 1 + rng.multinomial(n - cells, np.full(cells, 1 / cells))
    plan, costs = prepare(X), costs_of(X, centres)
    labels, prices = assign(plan, centres, sizes)
    total, _ = certified(costs, labels, prices, sizes)
    known = transport(X, centres, sizes, sizes, True)[0]
    assert total == pytest.approx(costs[np.arange(n), known].sum(), rel=1e-9)
    moved = centres + 0.05 * rng.normal(size=centres.shape)
    certified(costs_of(X, moved), *assign(plan, moved, sizes, prices), sizes)


def test_prices_alone_give_the_labels_where_nothing_is_tied():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30_000, 2))
    plan, centres, sizes = prepare(X), X[:60].copy(), np.full(60, 500)
    labels, prices = assign(plan, centres, sizes)
    assert (costs_of(X, centres) + prices).argmin(axis=1).tolist() == labels.tolist()


HARD = {
    "centres outside": lambda G: (G, G[:20] + 50.0),
    "centres far outside": lambda G: (G, G[:20] * 0.01 + 1e4),
    "centres nearly alike": lambda G: (G, np.vstack([G[:5], G[:5] + 1e-9])),
    "centres alike": lambda G: (G, np.vstack([G[:5], G[:5]])),
    "two clusters with the wrong shares": lambda G: (G + 100 * (G[:, :1] > 0), np.vstack([G[:8], G[8:10] + 100])),
    "a lattice": lambda G: (np.round(G * 2), np.round(G[:9] * 2) + 0.5),
    "heavy tails": lambda G: (np.exp(3 * G), np.exp(3 * G[:30])),
    "one place": lambda G: (np.ones_like(G), G[:30]),
    "two places": lambda G: (np.sign(G[:, :1]), G[:30, :1]),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_cases_are_solved_and_proven(case):
    X, centres = HARD[case](np.random.default_rng(6).normal(size=(4000, 2)))
    cells = len(centres)
    sizes = np.full(cells, len(X) // cells)
    sizes[: len(X) % cells] += 1
    certified(costs_of(X, centres), *assign(prepare(X), np.ascontiguousarray(centres), sizes), sizes)


@pytest.mark.parametrize("prices", [[1e300, -1e300, 0.0], [1e6, 0.0, -1e6], [-3.0, 2.0, 1.0], [5.0, 5.0, 5.0]])
def test_any_prices_will_do_to_start_from(prices):
    X = np.random.default_rng(7).normal(size=(20_000, 2))
    sizes = np.array([1, 9999, 10_000])
    labels, found = assign(prepare(X), X[:3].copy(), sizes, np.array(prices))
    total, _ = certified(costs_of(X, X[:3]), labels, found, sizes)
    known, again = assign(prepare(X), X[:3].copy(), sizes)
    assert total == pytest.approx(certified(costs_of(X, X[:3]), known, again, sizes)[0], rel=1e-9)


def test_the_lowest_records_of_a_point_go_to_the_lowest_cell():
    X = np.array([[1.0], [0.0], [0.0], [0.0], [0.0], [-1.0]])
    labels, _ = assign(prepare(X), np.array([[1.0], [-1.0]]), np.array([3, 3]))
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    labels, prices = assign(prepare(np.ones((5, 1))), np.ones((3, 1)), np.array([1, 2, 2]))
    assert labels.tolist() == [0, 1, 1, 2, 2]
    assert (prices == prices[0]).all()


def test_one_cell_takes_all():
    labels, prices = assign(prepare(np.arange(4.0)[:, None]), np.zeros((1, 1)), np.array([4]))
    assert labels.tolist() == [0, 0, 0, 0]
    assert prices.shape == (1,)


def test_the_same_input_gives_the_same_labels_and_prices():
    X = np.round(np.random.default_rng(8).normal(size=(5000, 2)), 1)
    before, sizes, start = X.copy(), np.full(50, 100), np.linspace(0, 1, 50)
    first = assign(prepare(X), X[:50], sizes, start)
    again = assign(prepare(X), X[:50], sizes, start)
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (before == X).all()
    assert (start == np.linspace(0, 1, 50)).all()


def test_sizes_must_fit():
    plan = prepare(np.arange(4.0)[:, None])
    for sizes in ([2, 1], [4, 0], [5, -1]):
        with pytest.raises(ValueError, match="sizes"):
            assign(plan, np.array([[0.0], [1.0]]), np.array(sizes))


def test_a_plan_gives_its_table_back():
    X = np.round(np.random.default_rng(9).normal(size=(300, 3)), 1)
    assert (rows_of(prepare(X)) == X).all()


def test_large_cells_are_proven():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(50_000, 3))
    plan, centres, sizes = prepare(X), X[:20].copy(), np.full(20, 2500)
    labels, prices = assign(plan, centres, sizes)
    assert (np.bincount(labels) == sizes).all()
    value = nearest(plan, centres, prices).value[: len(X)]
    assert ((X - centres[labels]) ** 2).sum() == pytest.approx(value.sum() - (sizes * prices).sum(), rel=1e-11)
