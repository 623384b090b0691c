import json

import numpy as np
import pandas as pd
import pytest

import naive
import shoal
from shoal import MDAV, Refined
from shoal.measures.promises import promise
from shoal.partition import sse_of
from shoal.privacy.checking import check
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, TCloseness

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")


def clinic(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(20, 90, n), "size": rng.normal(170, 9, n).round(1),
        "ill": rng.choice(["flu", "flu", "gout", "none"], n), "pay": rng.integers(1, 9, n),
        "who": np.arange(n) // 2, "region": np.arange(n) // 2 % 2, "w": rng.integers(1, 9, n),
    })  # fmt: skip


def released(models, table=None, **options):
    table = clinic() if table is None else table
    options = {"method": Refined(k=3, rounds=0), **options}
    return shoal.anonymize(table, 3, ["age", "size"], ["ill", "pay"], models=models, **options)


def figure(release, name):
    [found] = [each for each in release.figures if each.name == name]
    return found


def test_a_promise_says_what_was_asked_and_what_was_found():
    table = pd.DataFrame({"age": [1, 1, 1, 2, 2], "ill": ["a", "b", None, "b", "b"]})
    [broken] = check(table, "age", LDiversity(2, on="ill"))
    found = promise(broken, "the groups")
    assert (found.name, found.value, found.shown) == ("l-diversity_ill", 1, "l = 1")
    assert found.sentence == (
        "l = 2 on 'ill' (distinct l-diversity) is broken by 1 of 2 groups on the groups: l = 1 in the worst group; "
        "1 record without a value is left out"
    )
    [kept] = check(table, "age", AlphaK(1, on="ill"))
    assert "holds on the file" in promise(kept, "the file").sentence
    [endless] = check(table, "age", DeltaDisclosure(1, on="ill"))
    assert promise(endless, "the file").value is None
    json.dumps(promise(endless, "the file").details, allow_nan=False)


def test_models_of_one_name_on_one_column_have_a_figure_each(tmp_path):
    models = [
        AlphaK(0.9, on="ill"), AlphaK(0.7, on="ill", sensitive_values=["gout"]), BetaLikeness(3, on="ill"),
        BetaLikeness(2, enhanced=True, on="ill"), TCloseness(0.4, on="pay"), TCloseness(0.6, "equal", on="pay"),
    ]  # fmt: skip
    release = released(models)
    release.write(tmp_path / "out.csv")
    kept = [each for each in release.figures if "model" in each.details]
    assert [each.name for each in kept] == [
        "alpha_ill", "alpha_ill_2", "beta-likeness_ill", "beta-likeness_ill_2", "t-closeness_pay",
        "t-closeness_pay_2",
    ]  # fmt: skip
    assert [each.details["model"] for each in kept] == [model.name for model in models]
    assert all("on the bytes written" in each.sentence for each in kept)
    written = json.loads((tmp_path / "out.csv.manifest.json").read_text())["figures"]
    assert [written[each.name]["value"] for each in kept] == [each.value for each in kept]


def test_a_release_has_a_figure_for_every_model():
    models = [LDiversity(2, on="ill"), TCloseness(0.4, on="pay"), AlphaK(0.8, on="ill")]
    release = released(models)
    for name in ("l-diversity_ill", "t-closeness_pay", "alpha_ill"):
        assert figure(release, name).details["holds"]
    assert release.manifest["figures"]["t-closeness_pay"]["details"]["distance"] == "ordered"


def test_two_models_of_one_name_on_one_column_have_figures_of_their_own(tmp_path):
    models = [LDiversity(2, on="ill"), LDiversity(1.5, "entropy", on="ill"), TCloseness(0.5, "equal", on="pay"), TCloseness(0.4, "ranks", on="pay")]  # fmt: skip
    release = released(models)
    release.write(tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    said = [each for name, each in manifest["figures"].items() if name.startswith(("l-div", "t-clos"))]
    assert len(said) == 4
    assert len({each.name for each in release.figures}) == len(release.figures)


def test_the_price_is_the_loss_without_and_with_the_models():
    release = released([LDiversity(2, on="ill"), TCloseness(0.15, on="pay")])
    plain = released([])
    before, after = figure(release, "loss_without_models").value, release.partition.information_loss
    assert before == pytest.approx(plain.partition.information_loss)
    assert before < after
    sentence = figure(release, "loss_without_models").sentence
    assert sentence == (
        f"the privacy models cost {after - before:.2f} points of loss: {before:.2f} % without, {after:.2f} % with"
    )
    assert not [each for each in plain.figures if each.name == "loss_without_models"]


@pytest.mark.parametrize(
    "options",
    [{"person": "who"}, {"within": ["region"]}, {"sampling_weight": "w"}, {"household": "who", "household_k": "persons"}],
    ids=["persons", "strata", "weights", "households"],
)  # fmt: skip
def test_the_price_is_that_of_the_same_points_whatever_is_counted(options):
    """Without models and with them, by one yardstick: all records of the table."""
    release, plain = released([LDiversity(2, on="ill")], **options), released([], **options)
    found = [each.value for each in release.figures if each.name == "loss_without_models"]
    if "household_k" in options:  # groups without models have too few persons, so they are no release
        assert found == []
        return
    assert found == [pytest.approx(plain.partition.information_loss)]


def test_groups_that_tell_more_than_chance_are_said_to():
    release = released([LDiversity(2, on="ill")])
    found = figure(release, "information_ill")
    codes = clinic()["ill"].tolist()
    assert found.value == pytest.approx(naive.information(release.labels.tolist(), codes))
    assert set(found.details) == {"by_chance", "spread"}
    assert f"by chance alone it would be {found.details['by_chance']:.3f}" in found.sentence
    assert not [each for each in release.figures if each.name == "information_pay"]


def test_the_size_for_participation_is_said():
    release = released([], participation=0.8, confidence=0.9)
    found = figure(release, "participating_k")
    # Three of five with 0.8 each: 0.942; three of four: 0.819.
    assert (release.settings.k, found.value) == (5, 3)
    assert "of a group of 5, at least 3 take part with a probability of 0.9, if each takes part with one of 0.8" in found.sentence  # fmt: skip
    assert not [each for each in released([]).figures if each.name == "participating_k"]


def test_without_models_there_are_no_figures_of_them():
    names = {each.name for each in released([]).figures}
    assert not {name for name in names if name.startswith(("l-", "t-", "information_ill", "loss_without"))}


def test_the_price_of_other_methods_is_said_too():
    """The loss without and with the models is stated, whichever method makes the groups."""
    release = released([LDiversity(2, on="ill")], method=MDAV(k=3))
    plain = MDAV(k=3).fit(release.space.points)
    assert figure(release, "loss_without_models").value == pytest.approx(100 * plain.sse_ / release.partition.sst)
    assert sse_of(release.space.points, release.labels) >= plain.sse_
