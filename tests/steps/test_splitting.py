import numpy as np

from shoal import MDAV
from shoal.steps.splitting import split


def test_split_leaves_small_groups_alone_and_cuts_large_ones_as_mdav():
    X = np.random.default_rng(1).normal(size=(40, 3))
    labels = np.repeat([0, 1, 2], [5, 30, 5])
    parts = split(X, labels, 4, None)
    inside = MDAV(k=4).fit(X[5:35]).labels_
    assert parts.tolist() == [0] * 5 + (inside + 1).tolist() + [inside.max() + 2] * 5
