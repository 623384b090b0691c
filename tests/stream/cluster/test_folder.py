import contextlib
import os
import threading

import numpy as np

from shoal.stream.cluster.folder import Folder, all_whole, private, whole


def test_a_task_is_done_when_it_is_marked(tmp_path):
    folder = Folder(tmp_path)
    assert folder.marked("scan", 3) is None
    folder.mark("scan", 3, said={"records": 7})
    assert folder.marked("scan", 3) == {"records": 7}
    assert folder.marked("scan", 4) is None
    assert folder.marked("look", 3) is None


def test_objects_are_kept(tmp_path):
    Folder(tmp_path).keep("counts", (1, np.arange(3)))
    found = Folder(tmp_path).kept("counts")
    assert found[0] == 1
    assert found[1].tolist() == [0, 1, 2]


def test_folders_are_for_their_owner(tmp_path):
    before = os.umask(0)
    try:
        path = Folder(tmp_path / "job").file("cells/000001", 2, ending=".parquet")
        own = private(tmp_path)
    finally:
        os.umask(before)
    assert path == tmp_path / "job" / "cells" / "000001" / "000002.parquet"
    assert own.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    assert own != private(tmp_path)


def half(path):
    """A task that fails when it has begun to write."""
    with contextlib.suppress(ZeroDivisionError), whole(path) as part:
        part.write_text("half")
        part.write_text(f"all {1 / 0}")


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "file"
    half(path)
    assert not list(tmp_path.iterdir())
    with whole(path) as part:
        part.write_text("one")
        assert not path.exists()
    half(path)
    assert path.read_text() == "one"
    assert os.listdir(tmp_path) == ["file"]


def test_several_files_are_whole_or_not_there(tmp_path):
    def named(number):
        return tmp_path / str(number)

    with contextlib.suppress(ZeroDivisionError), all_whole(named) as path:
        path(1).write_text(f"half {1 / 0}")
    assert not list(tmp_path.iterdir())
    with all_whole(named) as path:
        for number in (1, 5):
            path(number).write_text(f"file {number}")
            assert not named(number).exists()
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"1": "file 1", "5": "file 5"}


def test_two_at_once_do_not_mix(tmp_path):
    path, ready = tmp_path / "file", threading.Barrier(4)

    def write(letter):
        for _ in range(20):
            with whole(path) as part, part.open("w") as file:
                ready.wait()
                file.write(letter * 70_000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    content = path.read_text()
    assert content == content[0] * 70_000
    assert os.listdir(tmp_path) == ["file"]
