import numpy as np
import pytest

from shoal.kernels.compiled import kernel
from shoal.kernels.sums.lanes import LANES, far_boxes, far_points, lowest_bit, near_boxes, near_points, prefetch


@kernel
def near(points, block, query, head, limit, out):
    return near_points(points, block, query, head, limit, out)


@kernel
def near_box(boxes, block, query, head, limit, out):
    return near_boxes(boxes, block, query, head, limit, out)


@kernel
def far(points, block, query, starts, offset, limit, out):
    return far_points(points, block, query, starts, offset, limit, out)


@kernel
def far_box(boxes, block, query, starts, offset, limit, out):
    return far_boxes(boxes, block, query, starts, offset, limit, out)


@kernel
def lowest(mask):
    return lowest_bit(mask)


@kernel
def fetch(points):
    prefetch(points, 0)
    return points[0, 0, 0]


def bits(passing):
    return sum(1 << lane for lane in np.flatnonzero(passing))


@pytest.mark.parametrize("m", [1, 2, 3, 8, 13])
def test_lanes_do_what_numpy_does(m):
    rng = np.random.default_rng(m)
    points = rng.normal(size=(3, m, LANES)).astype(np.float32)
    points[:, :, 5] = np.nan  # a dead record
    low = points[:, :, None, :] - np.float32(0.5)
    boxes = np.ascontiguousarray(np.concatenate([low, low + 1], axis=2))
    query = rng.normal(size=m).astype(np.float32)
    starts = rng.random((3, LANES)).astype(np.float32)
    out = np.empty(LANES, np.float32)
    for block in range(3):
        d2 = ((points[block] - query[:, None]) ** 2).sum(axis=0)
        limit = np.float32(np.nanmedian(d2) + 1e-3)
        for head in range(1, m + 1):
            assert near(points, block, query, head, limit, out) == bits(d2 <= limit)
            assert np.allclose(out, d2, equal_nan=True, atol=1e-4)
            assert near(points, block, query, head, np.float32(-1), out) == 0
        below, above = boxes[block, :, 0], boxes[block, :, 1]
        gap = np.maximum(np.maximum(below - query[:, None], query[:, None] - above), 0)
        d2 = (gap**2).sum(axis=0)
        dead = np.isnan(below[0])
        limit = np.float32(np.median(d2[~dead]) + 1e-3)
        mask = near_box(boxes, block, query, 1, limit, out)
        assert mask & ~(1 << 5) == bits((d2 <= limit) & ~dead)
        sums = starts[block] + 2 + (points[block] * query[:, None]).sum(axis=0)
        limit = np.float32(np.nanmedian(sums) + 1e-3)
        assert far(points, block, query, starts, np.float32(2), limit, out) == bits(sums >= limit)
        corner = np.where(query[:, None] > 0, above, below)
        sums = starts[block] + 2 + (corner * query[:, None]).sum(axis=0)
        limit = np.float32(np.nanmedian(sums) + 1e-3)
        assert far_box(boxes, block, query, starts, np.float32(2), limit, out) == bits(sums >= limit)


def test_the_lowest_bit_and_a_prefetch():
    assert [lowest(np.int64(mask)) for mask in (1, 2, 12, 1 << 15)] == [0, 1, 2, 15]
    assert fetch(np.ones((1, 1, LANES), np.float32)) == 1
