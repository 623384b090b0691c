from functools import partial

import numpy as np
import pyarrow as pa

import shoal
from shoal.attributes.numeric_stream import NumericKept
from shoal.estimator import Microaggregator
from shoal.space import Space
from shoal.stream.groups import Lost, group, read_together, seeded
from shoal.stream.groups import release as release_block
from shoal.stream.spill import SpillWriter, whole
from shoal.table import Roles, Table


def test_a_block_is_grouped_as_a_table_is(tmp_path):
    values = np.random.default_rng(0).integers(0, 99, 40)
    values[0] = 0
    with SpillWriter(tmp_path / "block", [np.int64, np.int64]) as writer:
        writer.write([np.arange(40), values])
    attribute = Space.of(Table.of(pa.table({"x": values}), Roles.of("x"))).attributes[0]
    column = NumericKept("x", 1.0, held="integer", units=True, centre=attribute.centre, spread=attribute.spread)
    block, labels = tmp_path / "block", tmp_path / "labels"
    done = group(block, 0, labels, [column], shoal.MDAV(k=3), "mean", lambda *_: None)
    spilling = partial(SpillWriter, tmp_path / "out", rows=7)
    lost = release_block(block, labels, spilling, [column], 3, "mean", False, 7)
    release = shoal.anonymize(pa.table({"x": values}), 3, "x", method="mdav")
    rows, codes = whole(tmp_path / "out", ["row", "q0"])
    assert np.array_equal(rows, np.arange(40))
    assert codes.tolist() == release.table["x"].to_pylist()
    assert (done.records, done.groups, done.smallest) == (40, 13, 3)
    assert lost == Lost([release.loss.attributes[0].sse], [release.loss.attributes[0].sst])
    assert done.squares == [release.space.squares(release.space.cells(release.labels))["x"]]


def test_blocks_have_seeds_that_follow_from_the_first():
    model: Microaggregator = shoal.Genetic(k=3, random_state=7)
    seeds = [seeded(model, number).random_state for number in (0, 1, 2, 1)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 3
    assert seeds[1] == seeds[3]
    assert seeded(shoal.MDAV(k=3), 1).k == 3


def test_many_blocks_are_merged_in_little_memory():
    assert read_together(1, 10) == 8192
    assert 256 * read_together(256, 10) * 88 <= 1 << 25
    assert read_together(10**9, 10) == 256
