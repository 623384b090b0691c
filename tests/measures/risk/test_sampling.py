import gc

import numpy as np
import pytest

from naive_risk import drawn_pair
from shoal.measures.risk.sampling import Rate, drawn, once


def test_few_records_are_all_taken_and_many_are_drawn_once_each_in_order():
    assert drawn(5, 10, 0).tolist() == [0, 1, 2, 3, 4]
    some = drawn(1000, 50, 3)
    assert len(set(some.tolist())) == 50
    assert (np.diff(some) > 0).all()
    assert some.tolist() == drawn(1000, 50, 3).tolist() != drawn(1000, 50, 4).tolist()


def test_the_standard_error_is_that_of_a_sample_without_replacement():
    """Shares 0, 0, 1, 1 of 16: variance 1/3, error 100 * sqrt(1/3 / 4 * 12/16) = 25."""
    rate = Rate.of_shares(np.array([0.0, 0, 1, 1]), 16)
    assert (rate.percent, rate.records, rate.of) == (50, 4, 16)
    assert rate.error == pytest.approx(25)
    assert "4 records" in rate.sample_said
    assert "25.00 %" in rate.sample_said


def test_whole_tables_have_no_error():
    rate = Rate.of_shares(np.array([0.0, 1]), 2)
    assert rate.error == 0
    assert rate.sample_said == "all records were looked for"
    assert Rate.of_shares(np.array([0.5]), 9).error == 0


def test_the_error_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth = (rng.random(5000) < 0.2).astype(float)
    rates = [Rate.of_shares(truth[drawn(5000, 400, seed)], 5000) for seed in range(200)]
    inside = np.mean([abs(rate.percent - 100 * truth.mean()) < 1.96 * rate.error for rate in rates])
    assert 0.9 < inside < 0.99


def test_a_function_is_computed_once_for_each_pair_and_forgets_those_that_are_gone():
    calls = []

    @once
    def looked(pair):
        calls.append(pair.n_after)
        return pair.n_after

    pair = drawn_pair(0, 6, 2, ["number"])
    assert looked(pair) == looked(pair) == 6
    assert calls == [6]
    other = drawn_pair(0, 8, 2, ["number"])
    assert looked(other) == 8
    del pair, other
    gc.collect()
    assert len(looked.__closure__[1].cell_contents if len(looked.__closure__) > 1 else ()) == 0
