from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import naive
from promises import Confidential, agree, confidential, every_model, figures_in, found_in, kept_in
from shoal.privacy.models import (
    DISTANCES,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    PSensitivity,
    TCloseness,
)

approx = pytest.approx


# Every model on every table.


@settings(max_examples=400)
@given(st.data(), confidential())
def test_figures_and_verdicts_are_the_twins(data, sample):
    models = data.draw(every_model(sample))
    values, excess = sample.rules(models).judge(np.array(sample.labels))
    for r, model in enumerate(models):
        agree(model, values[r], excess[r], sample.twins(model))


@pytest.mark.parametrize("several", [False, True])
def test_groups_of_hundreds_of_records_have_the_figures_of_the_twin(several):
    rng = np.random.default_rng(5)
    n = 300
    line = [str(place) for place in (0, 1, 3, 10, 11, 40, 41)]
    values = [line[place] for place in np.minimum(rng.geometric(0.3, n), 7) - 1]
    values = [None if gap else value for gap, value in zip(rng.random(n) < 0.1, values, strict=True)]
    persons = (rng.permutation(n) // 3 if several else rng.permutation(n)).tolist()
    labels = rng.integers(0, 3, max(persons) + 1).tolist()
    tree = {"all": {"0": {"1": {}, "3": {}}, "b": {"10": {}, "11": {"40": {}}}, "41": {}}}
    sample = Confidential(values, line, persons, persons, labels, tree)
    models = [TCloseness(0.05, distance, on="x") for distance in DISTANCES if distance != "hierarchical"]
    models += [TCloseness(0.05, "hierarchical", taxonomy=tree, on="x"), LDiversity(5, "entropy", on="x")]
    models += [LDiversity(7, on="x"), LDiversity(3, "recursive", c=2, on="x"), AlphaK(0.3, on="x")]
    models += [BetaLikeness(0.2, on="x"), DeltaDisclosure(0.3, on="x")]
    found = sample.rules(models).judge(np.array(labels))
    for r, model in enumerate(models):
        agree(model, found[0][r], found[1][r], sample.twins(model))
    again = sample.rules(models)
    for _ in range(2):  # what is left in the scratch does not matter
        assert np.array_equal(again.judge(np.array(labels)), found)


@given(confidential())
def test_the_whole_table_is_at_no_distance_from_itself(sample):
    models = [TCloseness(0, distance, on="x") for distance in DISTANCES if distance != "hierarchical"]
    models += [TCloseness(0, "hierarchical", taxonomy=sample.tree, on="x"), BetaLikeness(0, on="x")]
    models += [DeltaDisclosure(0.001, on="x")]
    values, excess = sample.rules(models).judge(np.zeros(len(sample.labels), np.int64))
    assert values == approx(0, abs=1e-12)
    assert not excess.any()


@given(confidential(), st.randoms(use_true_random=False))
def test_the_order_of_units_and_of_records_does_not_matter(sample, random):
    models = [LDiversity(2, on="x"), LDiversity(2, "entropy", on="x"), TCloseness(0.1, "wasserstein", on="x")]
    models += [TCloseness(0.1, "hierarchical", taxonomy=sample.tree, on="x"), DeltaDisclosure(1, on="x")]
    values, excess = sample.rules(models).judge(np.array(sample.labels))
    rows = list(range(len(sample.values)))
    random.shuffle(rows)
    units = list(range(len(sample.labels)))
    random.shuffle(units)  # the new number of each
    other = sample._replace(
        values=[sample.values[i] for i in rows],
        persons=[sample.persons[i] for i in rows],
        units=[units[sample.units[i]] for i in rows],
        labels=[sample.labels[units.index(number)] for number in range(len(units))],
    )
    found = other.rules(models).judge(np.array(other.labels))
    assert found[0] == approx(values, abs=1e-12)
    assert found[1] == approx(excess, abs=1e-12)


# Distances by hand.

SALARIES = [[3, 4, 5], [6, 8, 11], [7, 9, 10]]  # in thousands; Li, Li and Venkatasubramanian (2007)


def test_the_ordered_distance_of_the_salaries_is_that_of_li_et_al():
    # Up to each value, in ninths of the table: {3, 4, 5} has 2 4 6 5 4 3 2 1 0 too much: 27 / 9 / 8 = 3/8.
    # {6, 8, 11} has 1 2 3 1 2 0 1 2 0 too little: 12 / 9 / 8 = 1/6.
    # {7, 9, 10} has 1 2 3 4 2 3 1 too little, then 1 too much: 17 / 9 / 8 = 17/72.
    found = figures_in(TCloseness(0.2, "ordered", on="x"), SALARIES)
    assert found == approx([3 / 8, 1 / 6, 17 / 72])
    assert [round(figure, 3) for figure in found[:2]] == [0.375, 0.167]
    assert kept_in(TCloseness(0.2, "ordered", on="x"), SALARIES) == [False, True, False]


def test_salaries_that_are_evenly_apart_are_as_far_by_their_ranks_and_by_their_numbers():
    for distance in ("ranks", "wasserstein"):
        assert figures_in(TCloseness(0.2, distance, on="x"), SALARIES) == approx([3 / 8, 1 / 6, 17 / 72])


def test_the_ordered_distance_is_over_different_values_and_ranks_are_over_records():
    # Different values 0, 1, 10 with the shares 1/2, 1/4, 1/4.
    # {0, 1} has 0 too much up to 0, 1/4 up to 1: 1/4 / 2. {0, 10} has 0, then 1/4 too little: 1/4 / 2.
    groups = [[0, 1], [0, 10]]
    assert figures_in(TCloseness(0.2, "ordered", on="x"), groups) == approx([1 / 8, 1 / 8])
    # The ranks of 0 1 0 10 are 0 2 1 3. {0, 2}: 1/4, 0, 1/4 too much: 1/2 / 3. {1, 3}: -1/4, 0, -1/4: 1/2 / 3.
    assert figures_in(TCloseness(0.2, "ranks", on="x"), groups) == approx([1 / 6, 1 / 6])
    # From 0 to 1 nothing, from 1 to 10 a quarter: 9/4 of a range of 10.
    assert figures_in(TCloseness(0.2, "wasserstein", on="x"), groups) == approx([9 / 40, 9 / 40])


def test_records_of_the_same_value_have_ranks_in_the_order_of_the_table():
    # Rank 0 alone: 3/4 + 2/4 + 1/4 = 3/2 of 3 steps. Rank 1: 1/4 + 2/4 + 1/4. Rank 2: the same. Rank 3: as rank 0.
    assert figures_in(TCloseness(0.2, "ranks", on="x"), [[1], [1], [1], [2]]) == approx(
        [1 / 2, 1 / 3, 1 / 3, 1 / 2]
    )
    assert figures_in(TCloseness(0.2, "ranks", on="x"), [[2], [1], [1], [1]]) == approx(
        [1 / 2, 1 / 2, 1 / 3, 1 / 3]
    )


def test_the_equal_distance_is_half_of_all_differences():
    # The table has a 1/2, b 1/4, c 1/4. {a, a}: (1/2 + 1/4 + 1/4) / 2. {b, c}: (1/2 + 1/4 + 1/4) / 2.
    # {a, b}, {a, c}: (0 + 1/4 + 1/4) / 2.
    model = TCloseness(0.3, "equal", on="x")
    assert figures_in(model, ["aa", "bc"]) == approx([1 / 2, 1 / 2])
    assert figures_in(model, ["ab", "ac"]) == approx([1 / 4, 1 / 4])


DISEASES = {
    "all": {
        "respiratory": {
            "infection": {"flu": {}, "pneumonia": {}, "bronchitis": {}},
            "vascular": {"edema": {}, "embolism": {}},
        },
        "digestive": {
            "stomach": {"ulcer": {}, "cancer": {}, "gastritis": {}},
            "colon": {"colitis": {}, "polyp": {}},
        },
    }
}


def test_the_hierarchical_distance_of_diseases_by_hand():
    # In ninths the table has ulcer 1, gastritis 2, cancer 2, flu 1, bronchitis 2, pneumonia 1. Node by node:
    # 1. ulcer +2, gastritis -2, cancer +1: stomach carries 2 at 1/3; pneumonia +2, flu -1, bronchitis -2: infection
    #    carries 2 at 1/3; the root carries 1 at 1. (2/3 + 2/3 + 1) / 9 = 7/27.
    # 2. gastritis +1, ulcer -1, cancer -2: 1 at 1/3; flu +2, bronchitis +1, pneumonia -1: 1 at 1/3; the root 2.
    #    (1/3 + 1/3 + 2) / 9 = 8/27.
    # 3. gastritis +1, cancer +1, ulcer -1: 1 at 1/3; bronchitis +1, flu -1, pneumonia -1: 1 at 1/3; the root 1: 5/27.
    groups = [
        ["ulcer", "cancer", "pneumonia"],
        ["gastritis", "flu", "bronchitis"],
        ["gastritis", "bronchitis", "cancer"],
    ]
    model = TCloseness(0.27, "hierarchical", taxonomy=DISEASES, on="x")
    assert figures_in(model, groups) == approx([7 / 27, 8 / 27, 5 / 27])
    assert kept_in(model, groups) == [True, False, True]


@pytest.mark.parametrize(("other", "far"), [("bronchitis", 1 / 3), ("embolism", 2 / 3), ("cancer", 1)])
def test_two_diseases_are_as_far_apart_as_what_they_have_in_common_is_high(other, far):
    # Half of the table has the flu: half of the people have to be carried to the other disease.
    model = TCloseness(1, "hierarchical", taxonomy=DISEASES, on="x")
    assert figures_in(model, [["flu"], [other]]) == approx([far / 2, far / 2])


def test_a_value_inside_an_uneven_tree_stands_below_itself():
    # The root is at 2, lungs at 1. {flu, lungs}: flu +1/4, lungs itself +1/4, cough -1/4: lungs carries 1/4 at 1/2;
    # the root carries 1/4 at 1 to gout: 3/8. {cough, gout}: the same the other way.
    tree = {"all": {"lungs": {"flu": {}, "cough": {}}, "gout": {}}}
    model = TCloseness(1, "hierarchical", taxonomy=tree, on="x")
    assert figures_in(model, [["flu", "lungs"], ["cough", "gout"]]) == approx([3 / 8, 3 / 8])
    alone = TCloseness(1, "hierarchical", taxonomy={"all": {}}, on="x")
    assert figures_in(alone, [["all"], ["all"]]) == [0, 0]


def test_the_divergence_by_hand():
    # The table has a 3/4, b 1/4. {a, b}: 1/2 ln(2/3) + 1/2 ln 2. {a, a}: ln(4/3).
    model = TCloseness(0.2, "kullback-leibler", on="x")
    assert figures_in(model, ["ab", "aa"]) == approx([0.5 * log(4 / 3), log(4 / 3)])
    assert kept_in(model, ["ab", "aa"]) == [True, False]


def test_a_column_of_one_value_is_at_no_distance_unless_its_records_have_ranks():
    for distance in ("ordered", "wasserstein", "equal", "kullback-leibler"):
        assert figures_in(TCloseness(0, distance, on="x"), [[1, 1], [1, 1]]) == [0, 0], distance
    assert figures_in(TCloseness(0, "hierarchical", taxonomy={"all": ["1"]}, on="x"), [[1, 1], [1, 1]]) == [0, 0]
    # The ranks 0 and 1 of four: 1/4, 2/4, 1/4 too much over three steps.
    assert figures_in(TCloseness(0, "ranks", on="x"), [[1, 1], [1, 1]]) == approx([1 / 3, 1 / 3])


# Diversity by hand.


def test_different_values_are_counted():
    assert found_in(LDiversity(3, on="x"), ["aab", "abc", "a"]) == ([2, 3, 1], [1, 0, 2])
    assert found_in(PSensitivity(2, on="x"), ["aab", "abc", "a"]) == ([2, 3, 1], [0, 0, 1])


def test_entropy_counts_values_as_if_they_were_equally_frequent():
    # a 1/2, b 1/4, c 1/4: H = 1/2 ln 2 + 1/2 ln 4 = 3/2 ln 2, and exp(H) = 2 sqrt 2.
    model = LDiversity(2.5, "entropy", on="x")
    assert figures_in(model, ["aabc", "ab", "c"]) == approx([8**0.5, 2, 1])
    assert kept_in(model, ["aabc", "ab", "c"]) == [True, False, False]


def test_recursive_diversity_compares_the_most_frequent_value_with_the_rare_ones():
    # Counts 4, 2, 1: with l = 2 the rest is 2 + 1, with l = 3 it is 1.
    group = ["aaaabbc", "ab"]
    assert figures_in(LDiversity(2, "recursive", c=2, on="x"), group) == approx([4 / 3, 1])
    assert kept_in(LDiversity(2, "recursive", c=2, on="x"), group) == [True, True]
    assert figures_in(LDiversity(3, "recursive", c=5, on="x"), group) == [4, inf]
    assert kept_in(LDiversity(3, "recursive", c=5, on="x"), group) == [True, False]
    assert kept_in(LDiversity(3, "recursive", c=4, on="x"), group) == [False, False]  # 4 < 4 * 1 is wrong
    assert kept_in(LDiversity(1, "recursive", c=1, on="x"), group) == [True, True]  # 4 < 7
    assert kept_in(LDiversity(1, "recursive", c=1, on="x"), ["aa", "b"]) == [False, False]  # 2 < 2 is wrong


def test_nobody_has_more_values_than_a_whole_number_has_room_for():
    assert kept_in(LDiversity(10**19, "recursive", c=2, on="x"), ["aabb"]) == [False]


# Shares by hand.


def test_the_largest_share_leaves_gaps_out():
    assert figures_in(AlphaK(0.6, on="x"), [["a", "a", "b", None], ["b", None]]) == approx([2 / 3, 1])
    assert figures_in(AlphaK(0.6, on="x", sensitive_values="b"), [["a", "a", "b", None], ["a"]]) == approx(
        [1 / 3, 0]
    )


def test_likeness_by_hand():
    # a has 1/4 of the table, b 3/4. {a, b}: (1/2 - 1/4) / (1/4) = 1. {a}: (1 - 1/4) / (1/4) = 3. {b}: 1/3.
    groups = ["ab", "a", "b", "bbbb"]
    assert figures_in(BetaLikeness(1, on="x"), groups) == approx([1, 3, 1 / 3, 1 / 3])
    assert kept_in(BetaLikeness(1, on="x"), groups) == [True, False, True, True]
    # -ln(1/4) = 1.386 and -ln(3/4) = 0.288: b may not be the only value.
    assert figures_in(BetaLikeness(5, enhanced=True, on="x"), groups) == approx([1, 3, 1 / 3, 1 / 3])
    assert kept_in(BetaLikeness(5, enhanced=True, on="x"), groups) == [True, False, False, False]
    assert kept_in(BetaLikeness(0.5, enhanced=True, on="x"), groups) == [False, False, False, False]
    assert kept_in(BetaLikeness(0, on="x", sensitive_values="a"), groups) == [False, False, True, True]
    assert figures_in(BetaLikeness(0, on="x", sensitive_values="a"), groups) == approx([1, 3, 0, 0])


def test_disclosure_by_hand():
    # a has 1/4 of the table, b 3/4. {a, b}: ln(2) and ln(2/3) = -0.405. {b}: a is absent; ln(4/3) otherwise.
    groups = ["ab", "a", "b", "bbbb"]
    assert figures_in(DeltaDisclosure(0.7, on="x"), groups) == approx([log(2), inf, inf, inf])
    assert kept_in(DeltaDisclosure(0.7, on="x"), groups) == [True, False, False, False]
    assert kept_in(DeltaDisclosure(0.69, on="x"), groups) == [False, False, False, False]
    ignoring = DeltaDisclosure(0.7, absent="ignore", on="x")
    assert figures_in(ignoring, groups) == approx([log(2), log(4), log(4 / 3), log(4 / 3)])
    assert kept_in(ignoring, groups) == [True, False, True, True]
    # A value that is too rare is a breach as well: b has 1/8 of the second group and 1/2 of the table.
    rare = ["bbbbbb", "aaaaaaab", "ab"]
    assert figures_in(ignoring, rare) == approx([log(2), log(4), 0], abs=1e-12)
    # Only b does harm, and {a} has none of it.
    some = DeltaDisclosure(0.7, on="x", sensitive_values="b")
    assert figures_in(some, groups) == approx([log(3 / 2), inf, log(4 / 3), log(4 / 3)])


def test_disclosure_is_below_delta_and_not_at_it():
    # Every value has the share that it has in the table: |ln 1| = 0, which is not below 0.
    assert kept_in(DeltaDisclosure(0, on="x"), ["ab", "ab"]) == [False, False]
    assert kept_in(DeltaDisclosure(1e-12, on="x"), ["ab", "ab"]) == [True, True]


@pytest.mark.parametrize("m", [2, 3, 5, 7, 9, 11, 30, 49])
def test_what_is_exactly_as_much_as_promised_holds_in_spite_of_rounding(m):
    letters = [chr(ord("A") + place) for place in range(m)]
    assert kept_in(LDiversity(m, "entropy", on="x"), [letters]) == [True]
    assert kept_in(LDiversity(m + 1e-6, "entropy", on="x"), [letters]) == [False]
    # One value alone has the share 1/m in the table: (1 - 1/m) / (1/m) = m - 1, and 1 - 1/m of all must be carried.
    alone = [[letter] for letter in letters]
    for model in (BetaLikeness(m - 1, on="x"), TCloseness(1 - 1 / m, "equal", on="x")):
        assert kept_in(model, alone) == [True] * m
    for model in (BetaLikeness(m - 1 - 1e-6, on="x"), TCloseness(1 - 1 / m - 1e-6, "equal", on="x")):
        assert kept_in(model, alone) == [False] * m
    assert kept_in(AlphaK(1 / m, on="x"), [letters]) == [True]
    assert kept_in(AlphaK(1 / m - 1e-6, on="x"), [letters]) == [False]
    # The lowest value alone: (m - 1) / m + ... + 1 / m over m - 1 steps is one half, and ln m away.
    numbers = [[place] for place in range(m)]
    for distance in ("ordered", "ranks", "wasserstein"):
        assert kept_in(TCloseness(0.5, distance, on="x"), numbers)[0], distance
        assert not kept_in(TCloseness(0.5 - 1e-6, distance, on="x"), numbers)[0], distance
    assert kept_in(TCloseness(log(m), "kullback-leibler", on="x"), alone) == [True] * m
    flat = TCloseness(1 - 1 / m, "hierarchical", taxonomy={"*": letters}, on="x")
    assert kept_in(flat, alone) == [True] * m


def test_the_excess_says_how_far_a_group_is_from_what_is_promised():
    assert found_in(LDiversity(3, on="x"), ["aaa"])[1] == [2]
    assert found_in(LDiversity(3, "entropy", on="x"), ["aabb"])[1] == approx([1])
    assert found_in(TCloseness(0.1, "equal", on="x"), ["aa", "bb"])[1] == approx([0.4, 0.4])
    assert found_in(AlphaK(0.1, on="x"), ["ab"])[1] == approx([0.4])
    assert found_in(BetaLikeness(0.25, on="x"), ["aa", "bb"])[1] == approx([0.75, 0.75])
    assert found_in(BetaLikeness(9, enhanced=True, on="x"), ["aa", "bb"])[1] == approx([1 - log(2)] * 2)
    assert found_in(DeltaDisclosure(0.5, absent="ignore", on="x"), ["aa", "bb"])[1] == approx([log(2) - 0.5] * 2)
    # Of an infinite breach it counts the values that are absent: two here, and one there.
    assert found_in(DeltaDisclosure(9, on="x"), ["aa", "bc"])[1] == [2, 1]
    # Recursive: the people who are too many, as a share; or the values that are lacking, and one.
    assert found_in(LDiversity(2, "recursive", c=1, on="x"), ["aaab"])[1] == approx([2 / 4])
    assert found_in(LDiversity(3, "recursive", c=1, on="x"), ["aaab"])[1] == [2]


# Gaps.

NOTHING = [[None, None], ["a", "b", None]]


def test_a_group_of_gaps_has_no_different_values():
    for model in (LDiversity(1, on="x"), PSensitivity(1, on="x"), LDiversity(1, on="x", sensitive_values="a")):
        assert found_in(model, NOTHING) == ([0, 2], [1, 0])
    assert found_in(LDiversity(1, "entropy", on="x"), NOTHING)[0] == approx([0, 2])
    assert kept_in(LDiversity(1, "entropy", on="x"), NOTHING) == [False, True]
    assert figures_in(LDiversity(1, "recursive", c=9, on="x"), NOTHING) == [inf, 1 / 2]
    assert kept_in(LDiversity(1, "recursive", c=9, on="x"), NOTHING) == [False, True]


def test_a_group_of_gaps_tells_nothing_about_anybody_but_lacks_every_value():
    tree = {"all": ["a", "b"]}
    kept = [TCloseness(0, distance, on="x") for distance in DISTANCES if distance != "hierarchical"]
    kept += [TCloseness(0, "hierarchical", taxonomy=tree, on="x"), AlphaK(0.5, on="x"), BetaLikeness(0, on="x")]
    kept += [BetaLikeness(0, enhanced=True, on="x"), DeltaDisclosure(0.1, absent="ignore", on="x")]
    for model in kept:
        assert found_in(model, NOTHING)[0][0] == 0, model
        assert kept_in(model, NOTHING) == [True, True], model
    assert found_in(DeltaDisclosure(9, on="x"), NOTHING)[0] == [inf, 0]
    assert kept_in(DeltaDisclosure(9, on="x"), NOTHING) == [False, True]


def test_a_gap_counts_in_no_share():
    # Without gaps both groups are half a and half b, as the table is.
    groups = [["a", "b", None, None, None], ["a", "b"]]
    for distance in ("equal", "ordered", "kullback-leibler", "wasserstein"):
        assert figures_in(TCloseness(0, distance, on="x"), groups) == approx([0, 0], abs=1e-12)
    assert figures_in(LDiversity(2, "entropy", on="x"), groups) == approx([2, 2])


# Values that do harm, and others.


def test_a_group_without_a_harmful_value_is_no_harm():
    for model in (
        LDiversity(3, on="x", sensitive_values=["hiv"]),
        PSensitivity(3, on="x", sensitive_values="hiv"),
    ):
        groups = [["flu", "flu"], ["hiv", "flu"], ["hiv", "flu", "gout"], [None]]
        assert found_in(model, groups) == ([1, 2, 3, 0], [0, 1, 0, 3])


# Persons with several rows.


def test_shares_split_a_person_evenly_over_rows_that_have_a_value():
    # Person 1 has a, b and a gap, person 2 has b: a has 1/4, b has 3/4.
    groups, persons = [["a", "b", None, "b"]], [[1, 1, 1, 2]]
    expected = exp(-(1 / 4 * log(1 / 4) + 3 / 4 * log(3 / 4)))
    assert figures_in(LDiversity(2, "entropy", on="x"), groups, persons) == approx([expected])
    # Beside a group of one person who has a, the table has (1/2 + 0 + 1) / 3 = 1/2 of a.
    groups, persons = [*groups, ["a"]], [*persons, [3]]
    assert figures_in(TCloseness(1, "equal", on="x"), groups, persons) == approx([1 / 4, 1 / 2])
    # With a group of gaps of person 4 nothing changes.
    groups, persons = [*groups, [None]], [*persons, [4]]
    assert figures_in(TCloseness(1, "equal", on="x"), groups, persons) == approx([1 / 4, 1 / 2, 0])


def test_counts_of_people_count_everybody_who_has_the_value():
    # Person 1 has a, a and b, person 2 has b: a has 1 of 2 persons, b both of them; person 3 has no value.
    groups, persons = [["a", "a", "b", "b", None]], [[1, 1, 1, 2, 3]]
    assert figures_in(AlphaK(0.5, on="x"), groups, persons) == [1]
    assert figures_in(AlphaK(0.5, on="x", sensitive_values="a"), groups, persons) == [1 / 2]
    assert figures_in(LDiversity(2, "recursive", c=3, on="x"), groups, persons) == [2]
    # Beside persons 4 and 5 with a: a has 3 of 4 persons, b has 2 of 4.
    groups, persons = [*groups, ["a", "a"]], [*persons, [4, 5]]
    # First group: a has 1/2 (ln 2/3, gain -1/3), b all (ln 2, gain 1). Second: a all (ln 4/3, gain 1/3), b nobody.
    assert figures_in(BetaLikeness(1, on="x"), groups, persons) == approx([1, 1 / 3])
    assert figures_in(DeltaDisclosure(1, on="x"), groups, persons) == approx([log(2), inf])
    assert figures_in(DeltaDisclosure(1, absent="ignore", on="x"), groups, persons) == approx([log(2), log(4 / 3)])


def test_different_values_need_different_persons():
    model = LDiversity(2, on="x")
    assert figures_in(model, ["abc"], [[1, 1, 1]]) == [1]
    assert figures_in(model, ["aba"], [[1, 1, 2]]) == [2]  # person 2 stands for a, so person 1 for b
    assert figures_in(model, ["abcabd"], [[1, 1, 1, 2, 2, 3]]) == [3]
    assert figures_in(model, ["abab"], [[1, 1, 2, 2]]) == [2]
    # Who stands for a value has to make room in a row: 1 has a b, 2 has b c, 3 has c d, 4 has a.
    assert figures_in(model, ["abbccda"], [[1, 1, 2, 2, 3, 3, 4]]) == [4]
    assert kept_in(model, ["abc", "aba"], [[1, 1, 1], [2, 2, 3]]) == [False, True]


@settings(max_examples=300)
@given(st.data())
def test_the_matching_is_as_large_as_that_of_scipy(data):
    n = data.draw(st.integers(1, 60))
    persons = data.draw(st.lists(st.integers(0, 15), min_size=n, max_size=n))
    values = data.draw(st.lists(st.integers(0, 15), min_size=n, max_size=n))
    ones = csr_array((np.ones(n), (values, persons)), shape=(16, 16))
    largest = int((maximum_bipartite_matching(ones, perm_type="column") >= 0).sum())
    found = figures_in(LDiversity(2, on="x"), [values], [persons])
    assert found == [largest]


def test_the_twins_matching_is_that_of_scipy():
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(1, 20))
        persons, values = rng.integers(0, 6, n), rng.integers(0, 6, n)
        ones = csr_array((np.ones(n), (values, persons)), shape=(6, 6))
        largest = int((maximum_bipartite_matching(ones, perm_type="column") >= 0).sum())
        assert naive.different_values(values.tolist(), persons.tolist()) == largest
