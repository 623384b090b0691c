from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from promises import Confidential, agree, confidential, every_model, figures_in, kept_in, rows_of
from shoal.errors import ShoalError
from shoal.kernels.promises.rules import judge
from shoal.privacy.coding import Coding
from shoal.privacy.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    PSensitivity,
    TCloseness,
)
from shoal.privacy.rules import Rules, check_feasible, pairs_of, values_of

approx = pytest.approx


def words(texts, places=None, measured=False):
    """The coding of some texts, which may be without an order; `.` is a gap."""
    line = sorted(set(texts) - {"."})
    codes = np.array([-1 if text == "." else line.index(text) for text in texts])
    return Coding("x", codes, tuple(line), None if places is None else np.array(places, float), measured)


# Who has which value.


@given(confidential())
def test_pairs_are_who_has_which_value_unit_by_unit(sample):
    codes = sample.coding.codes
    there = codes >= 0
    units, people = np.array(sample.units), np.array(sample.persons)
    n_units = max(sample.units) + 1
    pairs = pairs_of(units[there], people[there], codes[there], n_units)
    assert len(pairs.start) == n_units + 1
    for unit in range(n_units):
        rows = [i for i in range(len(codes)) if units[i] == unit and codes[i] >= 0]
        own = slice(pairs.start[unit], pairs.start[unit + 1])
        found = zip(pairs.whose[own].tolist(), pairs.code[own].tolist(), pairs.share[own].tolist(), strict=True)
        expected = {}
        for i in rows:
            of_person = [j for j in rows if people[j] == people[i]]
            same = sum(codes[j] == codes[i] for j in of_person)
            expected[people[i], codes[i]] = same / len(of_person)
        found = list(found)
        assert {(person, code): share for person, code, share in found} == approx(expected)
        assert len(found) == len(expected)
        changes = sum(a[0] != b[0] for a, b in pairwise(found))
        assert changes == max(0, len({person for person, _, _ in found}) - 1)  # those of a person stand together


def test_pairs_by_hand():
    # Unit 0 is person 5 with 1, 1 and 0; unit 1 has nothing; unit 2 is persons 2 and 3.
    units, people = np.array([2, 0, 0, 2, 0, 2]), np.array([3, 5, 5, 2, 5, 3])
    pairs = pairs_of(units, people, np.array([4, 1, 0, 4, 1, 2]), 3)
    assert pairs.start.tolist() == [0, 2, 2, 5]
    assert pairs.whose.tolist() == [5, 5, 2, 3, 3]
    assert pairs.code.tolist() == [0, 1, 4, 2, 4]
    assert pairs.share.tolist() == approx([1 / 3, 2 / 3, 1, 1 / 2, 1 / 2])


@given(confidential())
def test_the_distribution_of_the_table_is_the_twins(sample):
    people = np.array(sample.persons)
    found = values_of(AlphaK(1, on="x"), sample.coding, people)
    part, having = naive.value_shares(sample.values, sample.persons), naive.having(sample.values, sample.persons)
    assert dict(zip(sample.line, found.part, strict=True)) == approx({v: float(p) for v, p in part.items()})
    assert dict(zip(sample.line, found.having, strict=True)) == approx({v: float(p) for v, p in having.items()})
    assert found.harmful.all()


def test_values_that_do_harm_are_found_by_their_text():
    found = values_of(AlphaK(1, on="x", sensitive_values=("b", " c ")), words("abcd"), np.arange(4))
    assert found.harmful.tolist() == [False, True, True, False]


def test_steps_are_those_of_the_distance():
    coding = Coding("x", np.array([0, 1, 1, 2, -1]), ("0", "1", "10"), np.array([0.0, 1.0, 10.0]), True)
    people = np.arange(5)
    assert values_of(TCloseness(0, "ordered", on="x"), coding, people).step.tolist() == [1 / 2, 1 / 2, 0]
    assert values_of(TCloseness(0, "wasserstein", on="x"), coding, people).step.tolist() == [1 / 10, 9 / 10, 0]
    ranks = values_of(TCloseness(0, "ranks", on="x"), coding, people)
    assert ranks.step.tolist() == approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert ranks.codes.tolist() == [0, 1, 2, 3, -1]
    assert ranks.part.tolist() == [1 / 4] * 4


def test_the_share_below_every_node_of_a_tree_is_added_up():
    tree = {"all": {"b": {"a": {}, "c": {}}, "d": {}}}
    model = TCloseness(0, "hierarchical", taxonomy=tree, on="x")
    found = values_of(model, words("abcdabcd"), np.arange(8))
    assert model.taxonomy.nodes == ("all", "b", "a", "c", "d")
    # b stands below itself, as node 5.
    assert found.leaf.tolist() == [2, 5, 3, 4]
    assert found.above.tolist() == [-1, 0, 1, 1, 0, 1]
    assert found.mass.tolist() == approx([1, 3 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 4])
    # Heights 2, 1, 0, 0, 0, 0: half of each difference to the node above, of a height of 2.
    assert found.edge.tolist() == approx([0, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 4])


# Rules of a table.


def test_every_record_is_a_unit_and_a_person_unless_others_are_named():
    rules = Rules.of([LDiversity(2, on="x")], [words("aab.")])
    assert rules.units.tolist() == rules.people.tolist() == [0, 1, 2, 3]
    assert (len(rules), rules.n_units, rules.codings[0].gaps) == (1, 4, 1)
    assert rules.broken(np.array([0, 1, 1, 0])).tolist() == [0]
    assert rules.judge(np.array([0, 1, 1, 0]))[0].tolist() == [[1, 2]]


def test_where_persons_are_named_and_units_are_not_the_persons_are_the_units():
    rules = Rules.of([LDiversity(2, on="x")], [words("abab")], people=np.array([1, 0, 1, 0]))
    assert rules.units.tolist() == rules.people.tolist() == [1, 0, 1, 0]
    assert rules.n_units == 2
    assert rules.judge(np.array([0, 1]))[0].tolist() == [[1, 1]]  # each has one value, twice


def test_the_distance_is_settled_by_the_column():
    ordered, unordered = words("abc", [0, 1, 2]), words("abc")
    rules = Rules.of([TCloseness(1, on="x"), TCloseness(1, on="x")], [ordered, unordered])
    assert [model.distance for model in rules.models] == ["ordered", "equal"]
    # {a, b} and {c}: 1/6 and 1/3 too much up to a and b, over two steps; 1/3 by equal distances. {c}: 1/3 + 2/3; 2/3.
    assert rules.judge(np.array([0, 0, 1]))[0] == approx(np.array([[1 / 4, 1 / 2], [1 / 3, 2 / 3]]))


def test_models_on_columns_with_gaps_of_their_own_do_not_disturb_each_other():
    models = [LDiversity(2, on="x"), AlphaK(0.5, on="y"), TCloseness(0.2, "equal", on="x")]
    rules = Rules.of(models, [words("ab.a"), words("..cd"), words("ab.a")])
    assert [coding.gaps for coding in rules.codings] == [1, 2, 1]
    values, excess = rules.judge(np.array([0, 0, 1, 1]))
    # x is a, b and a: {a, b} has 1/6 too much of b, {a} has 1/3 too much of a.
    assert values == approx(np.array([[2, 1], [0, 1 / 2], [1 / 6, 1 / 3]]))
    assert (excess > 0).tolist() == [[False, True], [False, False], [False, True]]
    assert rules.broken(np.array([0, 0, 1, 1])).tolist() == [1]


def test_groups_are_of_units_and_units_of_several_records():
    # Units 0: a a, 1: b, 2: c b. As records: {a, a, b} and {c, b}.
    rules = Rules.of([LDiversity(2, "entropy", on="x")], [words("aabcb")], np.array([0, 0, 1, 2, 2]))
    values, _ = rules.judge(np.array([0, 0, 1]))
    assert values[0] == approx([27 ** (1 / 3) / 2 ** (2 / 3), 2])  # H = ln 3 - 2/3 ln 2


@given(st.data(), confidential())
def test_a_part_of_the_table_is_judged_by_the_distribution_of_the_whole(data, sample):
    models = data.draw(every_model(sample))
    units = data.draw(st.lists(st.integers(0, max(sample.units)), min_size=1, unique=True))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(units), max_size=len(units)))
    labels[0] = 2  # the others may be groups of nobody
    rules = sample.rules(models)
    part = rules.part(np.array(units))
    assert part.n_units == len(units)
    values, excess = part.judge(np.array(labels))
    own = dict(zip(units, labels, strict=True))
    groups = [[i for i in range(len(sample.units)) if own.get(sample.units[i]) == group] for group in range(3)]
    for r, model in enumerate(models):
        agree(model, values[r], excess[r], sample.twins(model, groups))
    order, starts = np.argsort(labels, kind="stable"), np.searchsorted(np.sort(labels), range(4))
    found = judge(rules.compiled_for(np.array(units)), order, starts)
    assert np.array_equal(found, [values, excess])


@given(confidential(), st.data())
def test_the_pairs_of_some_units_are_those_of_their_records(sample, data):
    units = data.draw(st.lists(st.integers(0, max(sample.units)), unique=True))
    rules = sample.rules([AlphaK(1, on="x")])
    found = rules.pairs(0).of(np.array(units, np.int64))
    if units:
        for one, other in zip(found, rules.part(np.array(units)).pairs(0), strict=True):
            assert one.tolist() == other.tolist()
    else:
        assert [each.tolist() for each in found] == [[0], [], [], []]


def test_a_part_of_gaps_only_is_judged_too():
    rules = Rules.of([LDiversity(1, on="x"), TCloseness(0, "equal", on="x")], [words("ab..")] * 2)
    part = rules.part(np.array([2, 3]))
    assert part.judge(np.array([0, 0]))[1].tolist() == [[1], [0]]


# What holds for two groups holds for both together.


def joinable(models):
    """All but the one that two groups may keep and both together may break; see below."""
    return [model for model in models if getattr(model, "absent", None) != "ignore"]


@settings(max_examples=200)
@given(st.data(), confidential())
def test_what_holds_for_two_groups_holds_for_both_together(data, sample):
    models = joinable(data.draw(every_model(sample)))
    rules, labels = sample.rules(models), np.array(sample.labels)
    excess = rules.judge(labels)[1]
    for one, other in combinations(range(labels.max() + 1), 2):
        together = rules.judge(np.where(labels == other, one, labels))[1][:, one]
        for r, model in enumerate(models):
            if excess[r, one] == excess[r, other] == 0:
                assert together[r] < 1e-12, model


def worse_together(sample, models):
    """The models whose figure is worse in two groups together than in each of them: no limit lies between these."""
    rules, labels = sample.rules(models), np.array(sample.labels)
    figures, found = rules.judge(labels)[0], []
    for one, other in combinations(range(labels.max() + 1), 2):
        together = rules.judge(np.where(labels == other, one, labels))[0][:, one]
        for r, model in enumerate(models):
            least, most = sorted(figures[r, [one, other]])
            if (
                together[r] < least - 1e-9
                if model.at_least and not is_recursive(model)
                else together[r] > most + 1e-9
            ):
                found.append(model)
    return found


def is_recursive(model):
    return getattr(model, "kind", None) == "recursive"  # its figure is a ratio that is to be small


@settings(max_examples=200)
@given(st.data(), confidential())
def test_two_groups_together_are_never_worse_than_both_whatever_is_asked(data, sample):
    assert worse_together(sample, joinable(data.draw(every_model(sample)))) == []


def test_random_tables_show_that_ignored_values_are_the_exception():
    rng = np.random.default_rng(0)
    models, found = [DeltaDisclosure(1, absent="ignore", on="x"), DeltaDisclosure(1, on="x")], set()
    for _ in range(100):
        n = int(rng.integers(4, 30))
        values, labels = rng.integers(0, 3, n), rng.integers(0, 3, n)
        line = sorted(set(map(str, values)))
        rows = list(range(n))
        sample = Confidential([str(value) for value in values], line, rows, rows, labels.tolist(), {})
        found |= {model.absent for model in worse_together(sample, models)}
    assert found == {"ignore"}


def test_where_absent_values_are_ignored_two_groups_that_hold_may_not_hold_together():
    # Half of the table has a. {a, b} is as the table. {b, b, b, b} has ln 2 too much of b, and a is ignored there.
    # Together 1 of 6 has a: ln(1/3) = -1.1.
    model = DeltaDisclosure(0.7, absent="ignore", on="x")
    apart, together = ["ab", "bbbb", "aaaa"], ["abbbbb", "aaaa"]
    assert figures_in(model, apart) == approx([0, log(2), log(2)])
    assert kept_in(model, apart) == [True, True, True]
    assert figures_in(model, together) == approx([log(3), log(2)])
    assert kept_in(model, together) == [False, True]


@settings(max_examples=200)
@given(st.data(), confidential())
def test_where_any_groups_hold_the_whole_table_holds(data, sample):
    models = data.draw(every_model(sample))
    rules = sample.rules(models)
    excess, whole = rules.judge(np.array(sample.labels))[1], rules.judge(np.zeros(len(sample.labels), np.int64))[1]
    for r, model in enumerate(models):
        if not excess[r].any():
            assert whole[r, 0] < 1e-12, model


# What cannot be had.


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (PSensitivity(4, on="x"), "p = 4 on 'x' (p-sensitivity) cannot be had: even the whole table as one group has p = 3"),
        (LDiversity(3, "entropy", on="x"), "even the whole table as one group has l = 2.828"),
        (LDiversity(3, "recursive", c=2, on="x"), "as one group has most frequent : rest = 2"),
        (AlphaK(0.4, on="x"), "alpha = 0.4 on 'x' (alpha) cannot be had: even the whole table as one group has alpha = 0.5"),
        (DeltaDisclosure(0, on="x"), "as one group has delta = 0"),
    ],
)  # fmt: skip
def test_what_even_the_whole_table_does_not_have_cannot_be_had(model, said):
    with pytest.raises(ShoalError) as error:
        check_feasible(Rules.of([AlphaK(1, on="x"), model], [words("aabc")] * 2))
    assert said in str(error.value)


def test_a_part_that_cannot_have_it_is_named():
    rules = Rules.of([LDiversity(2, on="x")], [words("aabb")])
    check_feasible(rules)
    with pytest.raises(ShoalError, match="even stratum 'north' as one group has l = 1"):
        check_feasible(rules.part(np.array([0, 1])), "stratum 'north'")


def test_distances_and_gains_can_always_be_had():
    models = [TCloseness(0, "equal", on="x"), BetaLikeness(0, on="x"), DeltaDisclosure(1e-9, on="x")]
    check_feasible(Rules.of(models, [words("aab.")] * 3))


# Numbers that are out of range.


def test_an_infinite_number_is_no_reason_to_hold():
    # By numbers it is refused; see `tests/privacy/test_coding.py`.
    coding = Coding("x", np.array([0, 1, 2, 3]), ("1", "2", "4", "inf"), np.array([1, 2, 4, np.inf]), True)
    for distance in ("ordered", "ranks", "equal"):
        rules = Rules.of([TCloseness(0.1, distance, on="x")], [coding])
        assert rules.broken(np.array([0, 0, 1, 1])).tolist() == [0, 1]


def test_a_range_that_is_too_wide_for_a_double_is_no_reason_to_hold():
    coding = Coding("x", np.array([0, 1, 2, 2]), ("a", "b", "c"), np.array([-1.7e308, 0, 1.7e308]), True)
    rules = Rules.of([TCloseness(0.1, "wasserstein", on="x")], [coding])
    assert rules.broken(np.array([0, 0, 1, 1])).tolist() == [0, 1]


def test_the_helper_finds_the_records_of_groups():
    assert rows_of([0, 1, 1, 2], [1, 0, 1]) == [[1, 2], [0, 3]]
