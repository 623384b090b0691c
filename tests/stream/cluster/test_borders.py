"""Exchanges across borders, looked at in the folder of a job that is done."""

import shutil
from math import inf

import numpy as np
import pytest
from jobs import people, put, release

import shoal
from shoal.stream.cluster.borders import MOST_PAIRS, are_wanted, boxes_of, coordinate, cuts_of, leaves, overlap
from shoal.stream.cluster.grouping import block_of, cell_of
from shoal.stream.cluster.job import Job
from shoal.stream.groups import labels_in
from shoal.stream.spill import names_of, whole

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]

CELLS, RECORDS, K = 8, 900, 3


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A job whose folder is kept."""
    home, real = tmp_path_factory.mktemp("borders"), shoal.stream.work.Work.remove

    def kept(work):
        if work.state:
            shutil.copytree(work.folder, home / "job")
        real(work)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.stream.work.Work.remove", kept)
        method = shoal.Blocked(shoal.MDAV(k=K), max_size=300, sweeps=1)
        release(put(people(RECORDS, 3), home / "in", 3), home / "out", method=method, blocks=CELLS)
    return Job.at(str(home / "job"))


def records_of(job, path):
    """The rows and the scaled coordinates of some records."""
    columns = job.columns("scaled")
    rows, *stored = whole(path, names_of(len(columns)))
    points = [[coordinate(c, value) for value in values] for c, values in zip(columns, stored, strict=True)]
    return rows, np.array(points).T


def after(job, cell):
    return block_of(job, cell)[0]


def test_every_record_is_in_the_box_of_its_cell(job):
    boxes = boxes_of(job.tree, job.columns("scaled"))
    assert len(boxes) == CELLS
    for cell, box in enumerate(boxes):
        _, points = records_of(job, cell_of(job, cell))
        for axis, (low, high) in box.items():
            assert low <= points[:, axis].min()
            assert points[:, axis].max() <= high


def test_pairs_face_each_other_and_no_cell_has_too_many(job):
    boxes, pairs = job.borders.boxes, job.borders.pairs
    for pair in pairs:
        assert boxes[pair.left][pair.axis][1] == pair.at == boxes[pair.right][pair.axis][0]
        assert overlap(boxes[pair.left], boxes[pair.right], pair.axis) > 0
    for cell in range(CELLS):
        own = dict(job.borders.of(cell))
        assert 1 <= len(own) <= MOST_PAIRS
        assert all(cell in (pair.left, pair.right) for pair in own.values())
    assert len({(pair.left, pair.right) for pair in pairs}) == len(pairs)


def test_cuts_have_all_cells_on_their_sides(job):
    for _, left, right in cuts_of(job.tree):
        assert max(left) < min(right)
    assert leaves(job.tree) == list(range(CELLS))


def test_cells_that_share_nothing_do_not_overlap():
    assert overlap({0: (0, 1), 1: (-inf, 0.0)}, {0: (1, 2), 1: (0.5, inf)}, 0) == 0
    assert overlap({0: (0, 1)}, {0: (1, 2)}, 0) == 1
    assert 0 < overlap({1: (-inf, 0.0)}, {1: (-1.0, inf)}, 0) < 1


def test_no_record_is_lost_and_groups_stay_large_enough(job):
    rows = []
    for cell in range(CELLS):
        own, _ = records_of(job, after(job, cell))
        labels = labels_in(job.folder.file("regrouped", cell, ending=".npy"))
        assert len(own) == len(labels)
        assert np.bincount(labels).min() >= K
        assert (np.diff(own) > 0).all()
        rows += own.tolist()
    assert sorted(rows) == list(range(RECORDS))


def test_exchanges_move_records_between_cells_and_lower_the_spread(job):
    def spread(files, labels_name):
        total = 0.0
        for cell in range(CELLS):
            _, points = records_of(job, files(job, cell))
            labels = labels_in(job.folder.file(labels_name, cell, ending=".npy"))
            for group in range(labels.max() + 1):
                own = points[labels == group]
                total += np.square(own - own.mean(axis=0)).sum()
        return total

    moved = [job.folder.marked("exchange", number)["moved"] for number in range(len(job.borders.pairs))]
    assert sum(moved) > 0
    assert spread(after, "regrouped") < spread(cell_of, "labels")


def test_no_two_pairs_share_a_record(job):
    seen = []
    for number, pair in enumerate(job.borders.pairs):
        for cell in (pair.left, pair.right):
            with np.load(job.folder.file(f"edges/{number:06d}", cell, ending=".npz")) as file:
                seen += file["arr_0"].tolist()
    assert seen
    assert len(seen) == len(set(seen))


def test_only_methods_that_exchange_records_do_so_across_cells():
    assert are_wanted(shoal.Auto(k=5))
    assert not are_wanted(shoal.Auto(k=400))
    assert are_wanted(shoal.Blocked(shoal.MDAV(k=3), sweeps=1))
    assert not are_wanted(shoal.Blocked(shoal.MDAV(k=3), sweeps=0))
    assert not are_wanted(shoal.MDAV(k=3))
