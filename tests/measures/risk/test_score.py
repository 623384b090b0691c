import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, deviation, drawn_pair, linked, plain
from shoal.measures.risk import intervals, probabilistic
from shoal.measures.risk import score as fast


@given(
    st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_the_score_is_the_weighted_sum_of_its_parts(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    losses = []
    for column in (c for c in pair.quasi_identifiers if c.is_number):
        before, after, spread = plain(column.before), plain(column.after), deviation(plain(column.before))
        known = [(x, y) for x, y in zip(before, after, strict=True) if None not in (x, y)]
        losses += [abs(x - y) / (math.sqrt(2) * spread) for x, y in known if spread > 0]
    figures = list(fast.overall_score(pair))
    if not losses:
        assert not figures
        return
    (shown,) = figures
    ranks = [each.ranks for each in intervals.intervals_of(pair)]
    expected = 0.5 * min(100 * sum(losses) / len(losses), 100) + 0.25 * sum(ranks) / len(ranks)
    expected += 0.125 * linked(pair.quasi_identifiers, n)
    expected += 0.125 * probabilistic.linked_by_weights(pair).rate.percent
    assert shown.value == pytest.approx(expected)
    assert sum(row[3] for row in shown.table.rows) == pytest.approx(shown.value)
    assert 0 <= shown.value <= 100
