"""What a model allows at the most, against all groupings of small tables."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy.coding import coding_for, column_of
from shoal.privacy.feasibility import by_diversity, least_by_ranks, most_groups, outlook
from shoal.privacy.models import AlphaK, DeltaDisclosure, LDiversity, TCloseness
from shoal.privacy.rules import Rules


def rules_for(model, values):
    column = column_of(model.on, pa.chunked_array([pa.array(values)]))
    return Rules.of([model], [coding_for(model, column)])


def most_by_taking_turns(counts, p):
    """The most groups of p different values: each takes one record of each of the p values with the most left."""
    left, groups = sorted(counts, reverse=True), 0
    while len(left) >= p and left[p - 1] > 0:
        left = sorted([count - 1 for count in left[:p]] + left[p:], reverse=True)
        groups += 1
    return groups


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 5))
def test_the_most_groups_of_different_values_are_those_that_can_be_made(counts, p):
    assert by_diversity(np.array(counts), p) == most_by_taking_turns(counts, p)


@given(st.integers(2, 9), st.floats(0.05, 0.6))
def test_no_smaller_group_is_within_t_by_ranks(n, t):
    rules = rules_for(TCloseness(t, "ranks", on="x"), list(range(n)))
    least = least_by_ranks(n, t)
    for size in range(1, least):
        for chosen in combinations(range(n), size):
            labels = np.ones(n, int)
            labels[list(chosen)] = 0
            if size < n:
                assert rules.judge(labels)[1][0, 0] > 0


@pytest.mark.parametrize(
    ("model", "values", "most"),
    [
        (LDiversity(2, on="x"), "aaaab", 1),
        (LDiversity(3, on="x"), "aabbcc", 2),
        (DeltaDisclosure(2, on="x"), "aaabbc", 1),
        (AlphaK(0.5, on="x"), "abababab", 4),
        (TCloseness(0.3, "equal", on="x"), "abab", None),
    ],
)
def test_models_allow_so_many_groups(model, values, most):
    rules = rules_for(model, list(values))
    assert most_groups(rules.models[0], rules.values[0], 2) == most


def partitions_of(records, k):
    """All groupings of some records into groups of k or more, as lists of groups."""
    if not records:
        yield []
        return
    first, *others = records
    for size in range(k - 1, len(others) + 1):
        for chosen in combinations(others, size):
            left = [record for record in others if record not in chosen]
            for rest in partitions_of(left, k):
                yield [[first, *chosen], *rest]


@pytest.mark.parametrize("seed", range(40))
def test_no_grouping_of_a_table_with_gaps_has_more_groups_than_the_model_allows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    values = [None if rng.random() < 0.5 else float(rng.integers(0, 3)) for _ in range(n - 1)] + [1.0]
    models = [
        TCloseness(float(rng.uniform(0.05, 0.4)), "ranks", on="x"), AlphaK(float(rng.uniform(0.3, 1)), on="x"),
        LDiversity(2, on="x"), DeltaDisclosure(2, on="x"),
    ]  # fmt: skip
    for model in models:
        rules = rules_for(model, values)
        allowed = most_groups(rules.models[0], rules.values[0], 2)
        for groups in partitions_of(list(range(n)), 2):
            labels = np.empty(n, int)
            for number, own in enumerate(groups):
                labels[own] = number
            assert len(rules.broken(labels)) or len(groups) <= allowed, (model, values)


def test_only_what_allows_fewer_groups_than_k_is_said():
    assert list(outlook(rules_for(LDiversity(2, on="x"), list("abababab")), 2)) == []
    (said,) = outlook(rules_for(LDiversity(2, on="x"), list("aaaaaaab")), 2)
    assert "at most 1 groups of 8" in said
