from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jobs import people, put, release

import shoal
from shoal.stream.cluster.folder import Folder
from shoal.stream.cluster.job import Counts, Job, Plan, on_one, pieces

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=9))
def test_every_record_has_its_row_in_the_whole_table(records):
    counts = Counts(tuple(records), (), 1, 1, 1.0)
    found = [
        row for start, size in zip(counts.starts, records, strict=False) for row in range(start, start + size)
    ]
    assert found == list(range(counts.total))
    assert counts.starts[-1] == counts.total == sum(records)


@pytest.mark.parametrize(("outputs", "bits"), [(1, 0), (2, 1), (4, 2), (1024, 10)])
def test_parts_of_the_output_are_told_apart_by_so_many_bits(outputs, bits):
    assert Counts((9,), (), 1, outputs, 1.0).bits == bits


def test_a_task_has_one_processor_and_the_groups_are_the_same():
    points = np.random.default_rng(0).normal(size=(200, 2))
    asked = shoal.Blocked(shoal.PCL(k=3, n_starts=2, n_jobs=2, random_state=1), max_size=60, n_jobs=2)
    made = on_one(asked)
    assert made.n_jobs == made.method.n_jobs == 1
    assert asked.n_jobs == asked.method.n_jobs == 2
    assert made.fit(points).labels_.tolist() == asked.fit(points).labels_.tolist()


def test_pieces_come_in_order_and_hidden_ones_not_at_all(tmp_path):
    folder = Folder(tmp_path)
    for number in (12, 3, 100):
        folder.file("dealt/000002", number, ending=".arrow").touch()
    (tmp_path / "dealt" / "000002" / ".half.part").touch()
    assert [path.name for path in pieces(folder, "dealt", 2)] == ["000003.arrow", "000012.arrow", "000100.arrow"]
    assert list(pieces(folder, "dealt", 9)) == []


def test_what_all_tasks_know_is_read_from_the_folder(tmp_path, monkeypatch):
    seen = []

    def looked(work):
        job = Job.at(str(work.folder))
        seen.append((job.plan, job.counts, [c.name for c in job.columns("scaled")], job.tree, job.name(3)))
        seen.append([job.part(number).name for number in range(2)])
        real(work)

    real = shoal.stream.work.Work.remove
    monkeypatch.setattr("shoal.stream.work.Work.remove", lambda work: looked(work) if work.state else real(work))
    release(put(people(40), tmp_path / "in", 2), tmp_path / "out")
    (plan, counts, columns, tree, name), parts = seen[:2]
    assert isinstance(plan, Plan)
    assert [Path(each).name for each in plan.files] == parts == ["part-0.parquet", "part-1.parquet"]
    assert counts.total == 40
    assert columns == ["age", "weight"]
    assert tree == 0
    assert name == "part-00003.parquet"
