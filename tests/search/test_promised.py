from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promises import demanding
from shoal import MDAV
from shoal.partition import sse_of
from shoal.privacy.coding import Coding
from shoal.privacy.models import LDiversity, TCloseness
from shoal.privacy.rules import Rules
from shoal.search.deadline import NEVER, Stops
from shoal.search.promised import STAGES, Cooled, Cooling, repaired
from shoal.search.weighted import Demands, alike, exchanged


def rules_on(codes, *models):
    """Models on numbers."""
    line = tuple(str(code) for code in range(int(max(codes)) + 1))
    coding = Coding("x", np.asarray(codes), line, np.arange(float(len(line))), True)
    return Rules.of(models, [coding] * len(models))


def random_table(n=300, k=4, seed=0):
    """Points, the demands of k records, l-diversity and t-closeness, and groups that keep them."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 2)), rng.integers(0, 5, n)
    rules = rules_on(codes, LDiversity(3, on="x"), TCloseness(0.3, "ordered", on="x"))
    demands = alike(n, k, rules)
    return X, demands, repaired(X, MDAV(k=k).fit(X).labels_, None, demands)


def without_gaps(labels):
    return sorted(set(labels.tolist())) == list(range(int(labels.max()) + 1))


@settings(max_examples=200)
@given(demanding(), st.sampled_from([1.0, 1e-200, 1e200]))
def test_repaired_groups_are_valid_and_numbered_from_0(case, unit):
    found = repaired(case.X, case.labels, case.weights * unit, case.demands)
    assert without_gaps(found)
    assert case.is_valid(found)
    assert np.array_equal(repaired(case.X, found, case.weights * unit, case.demands), found)


def test_groups_that_keep_the_promises_are_handed_back():
    X, demands, labels = random_table()
    assert repaired(X, labels, None, demands) is labels
    assert repaired(X, labels, None, alike(len(X), 4)) is labels


def cooled(case, labels, seed=3, records=None):
    work = Cooling(case.X, labels, case.weights, case.demands, 40.0, STAGES, Stops(NEVER))
    return work(Cooled(0, np.arange(len(labels)) if records is None else records, seed, 5.0))[0]


@settings(max_examples=60)
@given(demanding(), st.integers(0, 99))
def test_annealed_groups_are_valid_and_never_worse(case, seed):
    labels = repaired(case.X, case.labels, case.weights, case.demands)
    found = cooled(case, labels, seed=seed)
    assert without_gaps(found)
    assert case.is_valid(found)
    assert sse_of(case.X, found, case.weights) <= sse_of(case.X, labels, case.weights)
    assert np.array_equal(found, cooled(case, labels, seed=seed))


@settings(max_examples=60)
@given(demanding(), st.data())
def test_a_part_of_the_table_is_annealed_by_the_distribution_of_the_whole(case, data):
    labels = repaired(case.X, case.labels, case.weights, case.demands)
    some = data.draw(st.sets(st.integers(0, int(labels.max())), min_size=1))
    records = np.flatnonzero(np.isin(labels, sorted(some)))
    own = cooled(case, labels, records=records)
    whole = labels.copy()
    whole[records] = own + labels.max() + 1
    assert case.is_valid(whole)
    assert case.is_no_worse(whole, labels)


@pytest.mark.parametrize("looks", [1, 2, 7, 30, 70])
def test_annealing_that_ends_at_any_stage_is_valid_and_never_worse(looks):
    X, demands, labels = random_table()
    work = Cooling(X, labels, np.ones(300), demands, 400.0, STAGES, Stops(NEVER, (looks,)))
    found, stopped = work(Cooled(0, np.arange(300), 1, 5.0))
    assert stopped == looks
    assert np.bincount(found).min() >= 4
    assert not len(demands.rules.broken(found))
    assert sse_of(X, found) <= sse_of(X, labels)


def test_annealing_gains_beyond_exchanges_and_depends_on_the_seed_alone():
    X, demands, labels = random_table()
    swept = exchanged(X, labels, np.ones(300), demands, 20)
    work = Cooling(X, swept, np.ones(300), demands, 2000.0, STAGES, Stops(NEVER))
    everyone = np.arange(300)
    one, again, other = (work(Cooled(0, everyone, seed, 5.0))[0] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert sse_of(X, one) < sse_of(X, swept) < sse_of(X, labels)
    longer = replace(work, steps=10_000.0)(Cooled(0, everyone, 1, 5.0))[0]
    assert sse_of(X, longer) < sse_of(X, one)


def test_groups_without_error_are_left_alone():
    X, rules = np.zeros((9, 2)), rules_on([0, 1, 2] * 3, LDiversity(2, on="x"))
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    found = Cooling(X, labels, np.ones(9), alike(9, 3, rules), 400.0, STAGES, Stops(NEVER))(
        Cooled(0, np.arange(9), 1, 5.0)
    )[0]
    assert found.tolist() == labels.tolist()


def test_records_without_weight_are_annealed_too():
    X, demands, labels = random_table(60)
    weights = np.where(np.arange(60) < 30, 0.0, 1.0)
    found = Cooling(X, labels, weights, demands, 100.0, STAGES, Stops(NEVER))(Cooled(0, np.arange(60), 1, 5.0))[0]
    assert not len(demands.rules.broken(found))
    nothing = Cooling(X, labels, np.zeros(60), demands, 100.0, STAGES, Stops(NEVER))(
        Cooled(0, np.arange(60), 1, 5.0)
    )[0]
    assert np.array_equal(nothing, labels)


def test_households_are_counted_in_persons():
    X, demands, _ = random_table(120)
    counts = np.random.default_rng(1).integers(1, 4, 120)
    own = Demands(counts, 8, 2, demands.rules)
    labels = repaired(X, np.arange(120) // 8, None, own)
    found = Cooling(X, labels, np.ones(120), own, 100.0, STAGES, Stops(NEVER))(Cooled(0, np.arange(120), 1, 5.0))[
        0
    ]
    own.check(found)
    assert not len(demands.rules.broken(found))
    assert sse_of(X, found) < sse_of(X, labels)
