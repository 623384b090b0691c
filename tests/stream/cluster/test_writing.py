import errno
import io
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.stream.cluster.writing import Dealing


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), max_size=5), st.integers(1, 7))
def test_hashes_go_to_their_partitions(tmp_path_factory, coming, partitions):
    folder = tmp_path_factory.mktemp("dealt")
    with ExitStack() as stack:
        dealing = Dealing(lambda number: folder / str(number), partitions, stack)
        for hashes in coming:
            dealing.add(np.array(hashes, np.uint64))
    found = {int(path.name): np.fromfile(path, np.uint64).tolist() for path in folder.iterdir()}
    every = [each for hashes in coming for each in hashes]
    assert found == {
        number: own
        for number in range(partitions)
        if (own := [each for each in every if each % partitions == number])
    }


class FullDisk(io.BytesIO):
    """A file whose last bytes find no room."""

    def close(self):
        super().close()
        raise OSError(errno.ENOSPC, "No space left on device")


def test_all_files_are_closed_though_one_has_no_room(tmp_path, monkeypatch):
    made = []

    def writing(path):
        made.append(FullDisk() if path.name == "0" else path.open("wb"))
        return made[-1]

    monkeypatch.setattr("shoal.stream.cluster.writing.writing", writing)
    with pytest.raises(OSError, match="No space"), ExitStack() as stack:
        Dealing(lambda number: tmp_path / str(number), 3, stack).add(np.arange(9, dtype=np.uint64))
    assert len(made) == 3
    assert all(file.closed for file in made)
