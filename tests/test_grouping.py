import csv
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from shoal import MDAV, LDiversity, Refined, ShoalError, anonymize, verify
from shoal.catalogue import METHODS, method_of
from shoal.grouping import Units, grouped, own_time
from shoal.privacy import models as privacy_models
from shoal.privacy.coding import Coding
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, Model, Numbers, PSensitivity, TCloseness
from shoal.privacy.rules import Rules
from shoal.settings import Settings


def rules_on(values, *models, units=None, people=None):
    """Privacy models on one column of values without an order; None is a gap."""
    line = sorted({value for value in values if value is not None})
    codes = np.array([-1 if value is None else line.index(value) for value in values])
    coding = Coding("x", codes, tuple(map(str, line)), None, False)
    return Rules.of(models, [coding] * len(models), units, people)


def is_kept(models, values, labels, persons=None):
    """Whether every group of records keeps every promise, by the twin."""
    persons = range(len(values)) if persons is None else persons
    groups = [np.flatnonzero(labels == group).tolist() for group in range(max(labels) + 1)]
    texts = [None if value is None else str(value) for value in values]
    return all(
        holds or near
        for model in models
        for _, holds, near in naive.naive_judge(model.as_dict(), texts, persons, groups)
    )


def test_without_demands_the_groups_are_those_of_the_method():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert np.array_equal(grouped(MDAV(k=3), X).labels, MDAV(k=3).fit(X).labels_)


MODELS = {
    "distinct": LDiversity(2, on="x"),
    "values": PSensitivity(3, on="x"),
    "entropy": LDiversity(1.7, "entropy", on="x"),
    "recursive": LDiversity(2, "recursive", c=2, on="x"),
    "share": AlphaK(0.6, on="x"),
    "distance": TCloseness(0.3, "equal", on="x"),
    "likeness": BetaLikeness(1.5, on="x"),
    "disclosure": DeltaDisclosure(1.5, on="x"),
}


def fails(models, values, persons=None):
    """Whether all records as one group break a promise, by the twin."""
    return not is_kept(models, values, np.zeros(len(values), np.int64), persons)


@settings(max_examples=150)
@given(st.integers(4, 30), st.sets(st.sampled_from(sorted(MODELS)), min_size=1, max_size=3), st.integers(0, 10**6))
def test_every_group_keeps_all_promises_and_has_k_records(n, names, seed):
    rng = np.random.default_rng(seed)
    X, values = rng.normal(size=(n, 2)), rng.choice(["a", "a", "a", "b", "b", "c", None], n).tolist()
    values[0] = "a"
    models = [MODELS[name] for name in sorted(names)]
    rules = rules_on(values, *models)
    if fails(models, values):
        with pytest.raises(ShoalError, match="cannot be had: even the whole table as one group has "):
            grouped(MDAV(k=2), X, rules=rules)
        return
    found = grouped(MDAV(k=2), X, rules=rules)
    assert found.sizes.min() >= 2
    assert is_kept(models, values, found.labels)
    plain = MDAV(k=2).fit(X).labels_
    if is_kept(models, values, plain):
        assert np.array_equal(found.labels, plain)


def test_a_group_that_breaks_a_promise_is_put_right_by_the_change_that_costs_least():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]])
    found = grouped(MDAV(k=2), X, rules=rules_on("aaabab", LDiversity(2, on="x")))
    # {0, 0.1} takes b at 1.1 in and gives nobody away, or is merged: three records are fewer than two groups of two.
    assert found.labels[0] == found.labels[1] == found.labels[2] == found.labels[3] != found.labels[4]
    swapped = grouped(MDAV(k=2), X, rules=rules_on("aabbab", LDiversity(2, on="x")))
    assert swapped.n_groups == 3  # a record of each group changes places with one of the other


def test_groups_never_cross_the_border_of_a_stratum():
    rng = np.random.default_rng(1)
    X, strata = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    seen = []
    found = grouped(MDAV(k=3), X, strata=strata, progress=lambda done, total: seen.append((done, total)))
    assert found.sizes.min() >= 3
    for group in range(found.n_groups):
        assert len(np.unique(strata[found.labels == group])) == 1
    for stratum in range(3):
        own = strata == stratum
        assert len(np.unique(found.labels[own])) == MDAV(k=3).fit(X[own]).n_groups_
    assert seen[-1] == (50, 50)


@settings(max_examples=60)
@given(st.sets(st.sampled_from(sorted(MODELS)), min_size=1, max_size=2), st.integers(0, 10**6))
def test_models_are_kept_within_strata_by_the_distribution_of_the_whole_table(names, seed):
    rng = np.random.default_rng(seed)
    n, strata = 40, rng.permutation(np.arange(40) % 3)
    X, values = rng.normal(size=(n, 2)), rng.choice(["a", "a", "b", "c"], n).tolist()
    models = [MODELS[name] for name in sorted(names)]
    rules = rules_on(values, *models)
    parts = [np.flatnonzero(strata == stratum).tolist() for stratum in range(3)]
    judged = [naive.naive_judge(model.as_dict(), values, range(n), parts) for model in models]
    broken = [stratum for stratum in range(3) if not all(found[stratum][1] for found in judged)]
    if broken:
        with pytest.raises(
            ShoalError, match=rf"cannot be had: even stratum [{''.join(map(str, broken))}] .*as one group has "
        ):
            grouped(MDAV(k=2), X, strata=strata, rules=rules)
        return
    found = grouped(MDAV(k=2), X, strata=strata, rules=rules)
    assert is_kept(models, values, found.labels)
    for group in range(found.n_groups):
        assert len(set(strata[found.labels == group])) == 1


def test_what_cannot_be_honoured_is_an_error():
    X = np.arange(8.0)[:, None]
    with pytest.raises(ShoalError, match="stratum 1 has 2 records, fewer than k=3"):
        grouped(MDAV(k=3), X, strata=np.array([0] * 6 + [1] * 2))
    with pytest.raises(ShoalError, match="every group must have 9 persons in 2 households"):
        grouped(MDAV(k=9), X, units=Units(np.arange(8) // 2, np.array([2, 2, 2, 2]), 2))


def test_strata_may_have_any_numbers_and_errors_name_them():
    X = np.arange(8.0)[:, None]
    found = grouped(MDAV(k=2), X, strata=np.array([3, 3, 3, 3, 7, 7, 7, 7]))
    assert found.n_groups == 4
    with pytest.raises(ShoalError) as error:
        grouped(
            MDAV(k=2),
            X,
            strata=np.array([3, 3, 3, 3, 7, 7, 7, 7]),
            rules=rules_on("ababcccc", LDiversity(2, on="x")),
        )
    said = str(error.value)
    assert said.startswith("l = 2 on 'x' (distinct l-diversity) cannot be had: even stratum 7 ")
    assert said.endswith("as one group has l = 1")


def test_an_interruption_in_any_stratum_is_noted():
    class Interrupted(MDAV):
        def _group(self, X, progress):
            self.interrupted_ = len(X) == 4
            return super()._group(X, progress)

    model = Interrupted(k=2)
    grouped(model, np.arange(9.0)[:, None], strata=np.array([0] * 4 + [1] * 5))
    assert model.interrupted_


def same_groups(labels, others):
    pairs = set(zip(labels.tolist(), others.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(others.tolist()))


@st.composite
def tables_of_units(draw):
    """Points with the units, strata, weights and persons of their records."""
    n_units = draw(st.integers(6, 25))
    sizes = draw(st.lists(st.integers(1, 5), min_size=n_units, max_size=n_units))
    of = np.repeat(np.arange(n_units), sizes)
    X = draw(arrays(np.int8, (len(of), 2))).astype(float)
    borders = draw(st.booleans())
    strata = (np.arange(n_units) >= n_units // 2).astype(np.int64)[of] if borders else None
    weights = draw(st.none() | arrays(np.int16, len(of), elements=st.integers(0, 50)))
    if weights is not None:
        weights = weights.astype(float) + (weights.max() == 0)
    return X, of, strata, weights, np.array(sizes)


@settings(max_examples=150)
@given(tables_of_units(), st.integers(1, 3))
def test_units_stay_together_and_groups_count_them(sample, k):
    X, of, strata, weights, _ = sample
    found = grouped(MDAV(k=k), X, units=Units(of), strata=strata, record_weights=weights)
    for unit in np.unique(of):
        assert len(set(found.labels[of == unit])) == 1
    for group in range(found.n_groups):
        own = found.labels == group
        assert len(set(of[own])) >= k
        assert strata is None or len(set(strata[own])) == 1
    expected = naive.unit_labels(X, of, weights, strata, k)
    assert same_groups(found.labels, np.array(expected))


def fewest_persons(of, strata):
    """The persons of the smallest stratum; each has one record."""
    return len(of) if strata is None else int(np.bincount(strata).min())


@settings(max_examples=100)
@given(tables_of_units(), st.integers(1, 6))
def test_households_have_enough_persons_and_are_two_at_least(sample, k):
    X, of, strata, weights, sizes = sample
    k = min(k, fewest_persons(of, strata))
    found = grouped(MDAV(k=k), X, units=Units(of, sizes, 2), strata=strata, record_weights=weights)
    for unit in np.unique(of):
        assert len(set(found.labels[of == unit])) == 1
    for group in range(found.n_groups):
        own = found.labels == group
        assert own.sum() >= k
        assert len(set(of[own])) >= 2
        assert strata is None or len(set(strata[own])) == 1


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_groups_units_with_weights_within_strata(name):
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    X, strata = rng.normal(size=(len(of), 1 if name == "univariate-optimal" else 2)), (np.arange(40) % 2)[of]
    model = method_of(name, 3)
    found = grouped(model, X, units=Units(of), strata=strata, record_weights=rng.uniform(0.5, 9, len(of)))
    for group in range(found.n_groups):
        own = found.labels == group
        assert len(set(of[own])) >= 3
        assert len(set(strata[own])) == 1
    assert all(len(set(found.labels[of == unit])) == 1 for unit in range(40))


@settings(max_examples=100)
@given(
    tables_of_units(),
    st.integers(1, 3),
    st.sets(st.sampled_from(sorted(MODELS)), min_size=1, max_size=2),
    st.data(),
)
def test_persons_stay_together_and_models_count_them(sample, k, names, data):
    X, of, strata, weights, _ = sample
    values = data.draw(st.lists(st.sampled_from(["a", "a", "b", "b", "c"]), min_size=len(of), max_size=len(of)))
    models = [MODELS[name] for name in sorted(names)]
    rules = rules_on(values, *models, units=of, people=of)
    try:
        found = grouped(MDAV(k=k), X, units=Units(of), strata=strata, record_weights=weights, rules=rules)
    except ShoalError as error:
        assert "cannot be had: even " in str(error)  # noqa: PT017
        parts = [np.arange(len(of))] if strata is None else [np.flatnonzero(strata == s) for s in (0, 1)]
        judged = [
            naive.naive_judge(model.as_dict(), values, of.tolist(), [part.tolist() for part in parts])
            for model in models
        ]
        assert any(near or not holds for each in judged for _, holds, near in each)
        return
    assert is_kept(models, values, found.labels, of.tolist())
    assert all(len(set(found.labels[of == unit])) == 1 for unit in np.unique(of))
    for group in range(found.n_groups):
        assert len(set(of[found.labels == group])) >= k
        assert strata is None or len(set(strata[found.labels == group])) == 1


@settings(max_examples=60)
@given(tables_of_units(), st.integers(1, 5), st.sampled_from(sorted(MODELS)), st.data())
def test_households_keep_promises_that_count_their_persons(sample, k, name, data):
    X, of, strata, weights, sizes = sample
    k, n = min(k, fewest_persons(of, strata)), len(of)
    values = data.draw(st.lists(st.sampled_from(["a", "a", "b", "b", "c"]), min_size=n, max_size=n))
    rules = rules_on(values, MODELS[name], units=of, people=np.arange(n))
    households = Units(of, sizes, 2)
    try:
        found = grouped(MDAV(k=k), X, units=households, strata=strata, record_weights=weights, rules=rules)
    except ShoalError as error:
        assert "cannot be had: even " in str(error)  # noqa: PT017
        parts = [np.arange(n)] if strata is None else [np.flatnonzero(strata == s) for s in (0, 1)]
        judged = naive.naive_judge(MODELS[name].as_dict(), values, range(n), [part.tolist() for part in parts])
        assert any(near or not holds for _, holds, near in judged)
        return
    assert is_kept([MODELS[name]], values, found.labels)
    for group in range(found.n_groups):
        own = found.labels == group
        assert own.sum() >= k
        assert len(set(of[own])) >= 2
        assert strata is None or len(set(strata[own])) == 1
    assert all(len(set(found.labels[of == unit])) == 1 for unit in np.unique(of))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_keeps_promises_of_units_with_weights_within_strata(name):
    rng = np.random.default_rng(5)
    of = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    X, strata = rng.normal(size=(len(of), 1 if name == "univariate-optimal" else 2)), (np.arange(40) % 2)[of]
    values = rng.choice(["a", "b", "c", "d"], len(of)).tolist()
    models = [LDiversity(2, on="x"), TCloseness(0.4, "equal", on="x"), AlphaK(0.8, on="x")]
    rules = rules_on(values, *models, units=of, people=of)
    weights = rng.uniform(0.5, 9, len(of))
    found = grouped(method_of(name, 3), X, units=Units(of), strata=strata, record_weights=weights, rules=rules)
    assert is_kept(models, values, found.labels, of.tolist())
    for group in range(found.n_groups):
        own = found.labels == group
        assert len(set(of[own])) >= 3
        assert len(set(strata[own])) == 1
    assert all(len(set(found.labels[of == unit])) == 1 for unit in range(40))
    assert found.n_groups > 4


def test_weights_of_records_move_groups_where_they_should():
    X = np.array([0.0, 2, 4, 6, 8, 10, 11])[:, None]
    plain = grouped(MDAV(k=3), X)
    weighed = grouped(MDAV(k=3), X, record_weights=np.array([1.0] * 6 + [50]))  # draws its centroid away from 6
    assert same_groups(plain.labels, np.array([0, 0, 0, 1, 1, 1, 1]))
    assert same_groups(weighed.labels, np.array([0, 0, 0, 0, 1, 1, 1]))


def test_an_interruption_is_noted_where_a_copy_of_the_method_groups_households():
    class Interrupted(MDAV):
        def _group(self, X, progress):
            self.interrupted_ = len(X) == 4
            return super()._group(X, progress)

    of = np.arange(18) // 2  # nine households of two persons
    strata = np.array([0] * 8 + [1] * 10)
    for rows, borders, expected in ((18, strata, True), (18, None, False), (8, None, True)):
        model = Interrupted(k=4)
        units = Units(of[:rows], np.full(rows // 2, 2), 2)
        grouped(model, np.arange(float(rows))[:, None], units=units, strata=borders)
        assert getattr(model, "interrupted_", False) == expected


def test_households_are_exchanged_by_their_weights():
    X, weights = np.array([0.0, 1, 5, 8, 9])[:, None], np.array([1.0, 1, 1000, 1000, 1000])
    households = Units(np.arange(5), np.ones(5, np.int64), 2)
    plain = grouped(MDAV(k=2), X, units=households)
    weighed = grouped(MDAV(k=2), X, units=households, record_weights=weights)
    assert same_groups(plain.labels, np.array([0, 0, 1, 1, 1]))
    assert same_groups(weighed.labels, np.array([0, 0, 0, 1, 1]))  # 5 is heavy, so it costs a light group less


@settings(max_examples=60)
@given(tables_of_units(), st.integers(2, 6))
def test_exchanges_of_households_do_not_raise_the_weighted_error(sample, k):
    X, of, strata, weights, sizes = sample
    k = min(k, fewest_persons(of, strata))
    found = grouped(MDAV(k=k), X, units=Units(of, sizes, 2), strata=strata, record_weights=weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.grouping._ROUNDS", 0)
        begun = grouped(MDAV(k=k), X, units=Units(of, sizes, 2), strata=strata, record_weights=weights)
    own, rows = weights if weights is not None else np.ones(len(of)), X.tolist()

    def error(labels):
        groups = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
        return naive.sse(rows, groups, own.tolist())

    assert error(found.labels) <= error(begun.labels) * (1 + 1e-9) + 1e-9


# A demand of somebody's own.


@pytest.fixture
def minority(monkeypatch):
    """A toy model, registered from outside: nobody's value is that of more than a share of the group."""
    monkeypatch.setattr(privacy_models, "MODELS", known := dict(privacy_models.MODELS))

    @dataclass(frozen=True)
    class Minority(privacy_models._On):
        share: float

        name: ClassVar[str] = "minority"
        flag: ClassVar[str] = "--minority"
        limit: ClassVar[str] = "share"

        def numbers(self):
            return Numbers("share", self.share)

    assert known["minority"] is Minority
    return Minority


def test_a_model_of_somebodys_own_is_kept_in_memory_and_counted_on_the_bytes(minority, tmp_path):
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"age": rng.integers(20, 90, 60), "ill": rng.choice(["flu", "flu", "gout", "none"], 60)})
    model = minority(0.5, on="ill")
    rules = rules_on(table["ill"].tolist(), model)
    X = table[["age"]].to_numpy(float)
    assert len(rules.broken(MDAV(k=3).fit(X).labels_))
    assert not len(rules.broken(grouped(MDAV(k=3), X, rules=rules).labels))
    release = anonymize(table, 3, ["age"], ["ill"], models=[model], method="mdav")
    verification = release.write(tmp_path / "out.csv")
    groups = defaultdict(Counter)
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            groups[row["age"]][row["ill"]] += 1
    assert all(max(group.values()) <= 0.5 * group.total() >= 1.5 for group in groups.values())
    assert verification.models[0].holds
    assert verification.models[0].value == max(max(group.values()) / group.total() for group in groups.values())
    assert verify(tmp_path / "out.csv", ["age"], models=[minority(0.1, on="ill")]).models[0].holds is False
    with pytest.raises(ShoalError, match=r"share = 0.2 on 'ill' \(minority\) cannot be had"):
        anonymize(table, 3, ["age"], ["ill"], models=[minority(0.2, on="ill")])


def test_a_model_of_somebodys_own_goes_through_a_manifest(minority):
    model = minority(0.5, on="ill")
    assert Model.from_dict(model.as_dict()) == model
    settings = Settings.of(3, ["age"], ["ill"], models=[model])
    assert Settings.from_dict(settings.as_dict()).models == (model,)


@pytest.mark.parametrize("seconds", [None, 8.0])
def test_a_stratum_repeats_its_own_steps_and_has_its_share_of_the_time(seconds):
    steps = [{"exchanges": 0, "part": part} for part in (0, 1)]
    model = Refined(k=5, seconds=seconds, steps=steps)
    with own_time(model, 1, 0.25):
        assert model.steps == steps[1:]
        assert model.seconds == (None if seconds is None else 2.0)
    assert (model.steps, model.seconds) == (steps, seconds)
