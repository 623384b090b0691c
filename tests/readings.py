"""What the tests of all readers share: a file read in parts, and what it tells of its progress."""

import pyarrow as pa

from shoal.files import Said, batches, look


def nothing(done, total):
    pass


def streamed(path, **given):
    """All records of a file, put together again."""
    found = look(path, Said(**given), nothing)
    parts = list(found.batches(found.columns, nothing))
    assert all(part.num_rows == batches.GROUP for part in parts[:-1])
    return found, pa.concat_tables(parts)


def progress_of(reader):
    """How many bytes are said to be read after each part: never fewer than before, and all of them in the end."""
    steps = []
    for _ in reader.batches(reader.columns, lambda *step: steps.append(step)):
        pass
    done = [step[0] for step in steps]
    assert done == sorted(done)
    assert {total for _, total in steps} == {reader.file.size}
    assert done[-1] == reader.file.size
    return done


def comes_in_steps(done):
    """Whether progress is told some times before the end."""
    return len(set(done)) > 2 and 0 < done[0] < 0.9 * done[-1]
