"""Jobs on a Dask cluster, whose workers are threads of this process; what its scheduler and its logs may see."""

import io
import logging

import pytest
from jobs import bytes_in, people, put, release

import shoal
from schedulers import cluster_of
from shoal.errors import ShoalError
from shoal.stream.cluster import task as tasks

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.filterwarnings("ignore")]

BLOCKED = {"method": shoal.Blocked(shoal.MDAV(k=3), max_size=60, sweeps=1), "blocks": 4}


def test_the_bytes_are_those_of_threads_for_any_number_of_workers(tmp_path):
    source = put(people(300), tmp_path / "in", 3)
    release(source, tmp_path / "threads", **BLOCKED)
    for workers in (1, 2, 4):
        with cluster_of(workers) as cluster:
            target, scheduler = tmp_path / f"out{workers}", cluster.scheduler_address
            made = release(source, target, engine="dask", scheduler=scheduler, **BLOCKED)
            names = set(cluster.scheduler.task_prefixes)
        assert bytes_in(target) == bytes_in(tmp_path / "threads")
        assert names == set(made.times)


def test_a_frame_of_dask_is_a_table():
    frames = pytest.importorskip("dask.dataframe")
    table = people(90)
    spread = frames.from_pandas(table.to_pandas(), npartitions=3)
    given = {"quasi_identifiers": ["age", "weight"], "identifiers": "name", "method": "mdav", "keep_order": True}
    found, expected = (shoal.anonymize(each, 3, **given).table for each in (spread, table.to_pandas()))
    assert found.to_dict() == expected.to_dict()


def test_nothing_of_the_table_is_seen_by_the_scheduler_or_in_logs(tmp_path, monkeypatch):
    source, heard = put(people(300), tmp_path / "in", 3), io.StringIO()

    def failing(job, number):
        raise ValueError("person 7 weighs 71.3")

    monkeypatch.setitem(tasks.STEPS, "release", failing)
    handler = logging.StreamHandler(heard)
    logging.getLogger("distributed").addHandler(handler)
    try:
        with cluster_of(2) as cluster:
            with pytest.raises(ShoalError, match="step release failed on part 0"):
                release(source, tmp_path / "out", engine="dask", scheduler=cluster.scheduler_address, **BLOCKED)
            told = repr(cluster.scheduler.get_events()) + repr(cluster.get_logs())
    finally:
        logging.getLogger("distributed").removeHandler(handler)
    for word in ("71.3", "person 7", "flu"):
        assert word not in heard.getvalue()
        assert word not in told


def test_a_lost_scheduler_ends_the_job_clearly_and_another_one_resumes_it(tmp_path, monkeypatch):
    source = put(people(300), tmp_path / "in", 3)
    release(source, tmp_path / "threads", **BLOCKED)
    real, patience = tasks.STEPS["group"], {"distributed.comm.timeouts.connect": "2s"}
    with dask.config.set(patience), cluster_of(2) as cluster:

        def lost(job, number):
            if number == 1:
                cluster.loop.add_callback(cluster.scheduler.close)
            return real(job, number)

        monkeypatch.setitem(tasks.STEPS, "group", lost)
        with pytest.raises(ShoalError, match="the workers were lost .*; it resumes here"):
            release(source, tmp_path / "out", engine="dask", scheduler=cluster.scheduler_address, **BLOCKED)
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == [".out.shoal"]
    monkeypatch.setitem(tasks.STEPS, "group", real)
    with cluster_of(1) as cluster:
        release(source, tmp_path / "out", engine="dask", scheduler=cluster.scheduler_address, **BLOCKED)
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "threads")
