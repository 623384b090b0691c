import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes import ranks

NUMBERS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40).map(lambda v: np.array(v, np.int64)),
    st.lists(st.sampled_from([3, 4, 5]), min_size=1, max_size=40).map(lambda v: np.array(v, np.int64)),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=40).map(lambda v: np.array(v, np.float64) + 0.0),
)


@given(NUMBERS, st.data(), st.sampled_from([2, 1 << 20]))
def test_the_number_at_a_rank_and_how_many_are_less(monkeypatch, values, data, few):
    monkeypatch.setattr(ranks, "_FEW", few)
    rank = data.draw(st.integers(0, len(values) - 1))
    key, before = ranks.key_at(lambda: iter(np.array_split(values, 3)), rank)
    found = ranks.value_of(key, values.dtype)
    assert found == np.sort(values)[rank]
    assert before == (values < found).sum()


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_keys_have_the_order_of_the_values(kind):
    values = np.array([-(2**60), -1, 0, 1, 2**60], kind)
    assert (np.diff(ranks.keys_of(values).astype(object)) > 0).all()
