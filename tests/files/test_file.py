import hashlib
import io
import json

import pytest

from readings import nothing
from shoal.errors import ShoalError
from shoal.files import Said, look
from shoal.files.file import File, hash_of

CONTENT = b"a,b\n1,2\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.csv").write_bytes(CONTENT)
    return tmp_path / "a.csv"


def test_bytes_are_the_same_on_the_disk_and_in_memory(path):
    held, stays = File.held(path), File.on_disk(path, nothing)
    for file in (held, stays):
        assert (file.name, file.path, file.size) == ("a.csv", path.resolve(), len(CONTENT))
        assert file.sha256 == hashlib.sha256(CONTENT).hexdigest()
        assert file.start == CONTENT[:8]
        with file.open() as opened:
            assert opened.read() == CONTENT
    assert (held.content, stays.content) == (CONTENT, None)
    assert File.from_dict(json.loads(json.dumps(stays.as_dict()))) == stays


def test_standard_input_is_held(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONTENT)))
    file = File.held("-")
    assert (file.name, file.path, file.content) == ("standard input", None, CONTENT)
    assert file.is_unchanged()
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ShoalError, match="standard input is closed"):
        File.held("-")


@pytest.mark.parametrize("way", [File.held, lambda path: File.on_disk(path, nothing)])
def test_what_is_not_there_or_no_file(tmp_path, way):
    with pytest.raises(ShoalError, match="there is no file"):
        way(tmp_path / "x.csv")
    with pytest.raises(ShoalError, match="is a folder; name a file"):
        way(tmp_path)
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(ShoalError, match="cannot read .*: Not a directory"):
        way(tmp_path / "a" / "b.csv")


def test_a_file_that_changes_is_refused(path):
    found = look(path, Said(), nothing)
    held = File.held(path)
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ShoalError, match="has changed"):
        list(found.batches(["a"], nothing))
    assert held.is_unchanged()


def test_progress_of_hashing_rises_to_the_size(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files.file._PIECE", 100)
    (tmp_path / "a").write_bytes(bytes(1000))
    steps = []
    assert hash_of(tmp_path / "a", lambda *step: steps.append(step)) == hashlib.sha256(bytes(1000)).hexdigest()
    assert steps == [(done, 1000) for done in range(100, 1001, 100)]
