import numpy as np

from shoal.steps.neighbourhoods import Neighbourhoods
from shoal.steps.peeling import Peeling


class Noted(Neighbourhoods):
    """Takes the first free records; notes what it is asked for."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def make_room(self, tree):
        self.calls.append(("room", len(tree.rows)))

    def look_at(self, peeling, first, last):
        self.calls.append(("look", first, last))

    def rank(self, tree):
        self.calls.append(("rank",))

    def form(self, X, tree, watch, sums, own, labels, free, label, k, most):
        self.calls.append(("form", most))
        labels[np.flatnonzero(labels < 0)[:k]] = label
        return free - k, label + 1


def test_every_neighbourhood_of_a_tree_is_looked_at_once_before_groups_are_formed(monkeypatch):
    monkeypatch.setattr("shoal.steps.neighbourhoods._BATCH", 12)
    peeling = Peeling(np.random.default_rng(0).normal(size=(10, 2)), 3, None)
    steps = Noted()
    peeling.run(steps, floor=3)
    assert steps.calls == [
        ("room", 10),
        ("look", 0, 4),
        ("look", 4, 8),
        ("look", 8, 10),
        ("rank",),
        ("form", 4),
        ("form", 4),
        ("form", 4),
    ]
    assert peeling.free == 1
