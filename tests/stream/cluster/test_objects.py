"""Object storage as input and output: a local server that speaks S3."""

import sys
from urllib.request import Request, urlopen

import pytest
from jobs import bytes_in, people, put, release

from shoal.errors import ShoalError
from shoal.stream.cluster.task import perform

s3fs = pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server")
pytestmark = [pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty bucket, and the table in it."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    files.mkdir("fish")
    put(people(200), tmp_path / "in", 3)
    for path in (tmp_path / "in").iterdir():
        files.put_file(str(path), f"fish/in/{path.name}")
    yield files
    running.stop()


def test_objects_come_in_and_go_out_as_files_do(store, tmp_path):
    release(tmp_path / "in", tmp_path / "local", blocks=2)
    made = release("s3://fish/in/*.parquet", "s3://fish/safe", blocks=2)
    names = sorted(store.ls("fish/safe", refresh=True))
    assert {name.rsplit("/", 1)[-1]: store.cat_file(name) for name in names} == bytes_in(tmp_path / "local")
    assert store.exists("fish/safe.manifest.json")
    assert made.verified_k >= 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "local", "local.manifest.json"]
    with pytest.raises(ShoalError, match="s3://fish/safe exists already"):
        release("s3://fish/in", "s3://fish/safe", k=4)
    release("s3://fish/in", "s3://fish/safe", k=4, overwrite=True)
    assert store.exists("fish/safe.manifest.json")


def test_an_object_that_changes_meanwhile_has_no_release(store, tmp_path, monkeypatch):
    def changed(task):
        if task.step == "group" and task.number == 0:
            store.put_file(str(tmp_path / "in" / "part-0.parquet"), "fish/in/part-1.parquet")
        return perform(task)

    monkeypatch.setattr("shoal.stream.cluster.steps.perform", changed)
    with pytest.raises(ShoalError, match="s3://fish/in/part-1.parquet has changed since the work began"):
        release("s3://fish/in/*.parquet", "s3://fish/safe", blocks=2)
    assert not store.find("fish/safe", refresh=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_nothing_stays_of_an_output_that_cannot_be_put_there(store, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files.objects.hash_at", lambda place: "another one")
    with pytest.raises(ShoalError, match="does not hold what was put there"):
        release("s3://fish/in/*.parquet", "s3://fish/safe", blocks=2)
    assert not store.find("fish/safe", refresh=True)
    assert not store.exists("fish/safe.manifest.json")


def test_there_is_no_such_object(store):
    with pytest.raises(ShoalError, match="there are no objects s3://fish/none"):
        release("s3://fish/none/*.parquet", "s3://fish/safe")


def test_without_fsspec_it_is_told_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ShoalError, match=r"pip install 'shoal\[objects\]'"):
        release("s3://fish/in/*.parquet", "s3://fish/safe")
