import numpy as np
import pytest

import naive
from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.shell import farthest_from_moving, new_shell
from shoal.kernels.search_tree.tree import build_tree, lowest_id, remove


@kernel
def take_farthest(shell, tree, point):
    slot = farthest_from_moving(shell, tree, point)
    record = lowest_id(tree, slot)
    remove(tree, slot)
    return record


@pytest.mark.parametrize("shape", ["round", "grid", "sphere", "equal", "two"])
@pytest.mark.parametrize("speed", [0.0, 0.01, 1.0])
def test_the_farthest_record_is_found_however_the_point_moves(shape, speed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    if shape == "grid":
        X = np.round(X)
    elif shape == "sphere":  # more records tie than the list has room for
        X = np.sign(X)
    elif shape == "equal":
        X[:] = 1.5
    elif shape == "two":
        X[1500:] += 100
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    shell = new_shell(len(X), 3, 2)
    free, point, rows = set(range(len(X))), np.zeros(3), X.tolist()
    for _ in range(150):
        found = take_farthest(shell, tree, point)
        assert found == naive.farthest(rows, free, point.tolist())
        free.remove(found)
        point = point + speed * rng.normal(size=3)
