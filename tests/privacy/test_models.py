import json
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from promises import confidential, every_model
from shoal.attributes import Taxonomy
from shoal.errors import ShoalError
from shoal.privacy.models import (
    MODELS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    Model,
    Numbers,
    PSensitivity,
    TCloseness,
    participating_k,
)

TREE = {"all": {"lungs": ["flu", "cough"], "gout": {}}}


def refused(said, make, *given, **more):
    with pytest.raises(ShoalError) as error:
        make(*given, **more)
    assert str(error.value) == said


def test_the_models_are_known_by_their_names():
    classes = (PSensitivity, LDiversity, TCloseness, AlphaK, BetaLikeness, DeltaDisclosure)
    names = ("p-sensitivity", "l-diversity", "t-closeness", "alpha", "beta-likeness", "delta-disclosure")
    assert list(MODELS.items()) == list(zip(names, classes, strict=True))


# As a manifest holds them.


@settings(max_examples=50)
@given(st.data(), confidential(most=8))
def test_a_model_is_the_same_after_a_manifest(data, sample):
    for model in data.draw(every_model(sample)):
        assert Model.from_dict(model.as_dict()) == model
        again = Model.from_dict(json.loads(json.dumps(model.as_dict())))
        assert again == model
        assert hash(again) == hash(model)


def test_a_manifest_holds_what_was_asked():
    assert PSensitivity(2, on="x").as_dict() == {"model": "p-sensitivity", "on": "x", "p": 2}
    assert LDiversity(2, on="x", sensitive_values=["hiv"]).as_dict() == {
        "model": "l-diversity",
        "on": "x",
        "sensitive_values": ("hiv",),
        "l": 2,
        "kind": "distinct",
    }
    assert LDiversity(3, "recursive", c=2, on="x").as_dict() == {
        "model": "l-diversity",
        "on": "x",
        "l": 3,
        "kind": "recursive",
        "c": 2.0,
    }
    assert TCloseness(0.2, order=["low", "high"], on="x").as_dict() == {
        "model": "t-closeness",
        "on": "x",
        "t": 0.2,
        "order": ("low", "high"),
    }
    assert TCloseness(0.2, "hierarchical", taxonomy={"*": ["a", "b"]}, on="x").as_dict() == {
        "model": "t-closeness",
        "on": "x",
        "t": 0.2,
        "distance": "hierarchical",
        "taxonomy": {"nodes": ["*", "a", "b"], "parents": [-1, 0, 0], "lengths": [0.0, 1.0, 1.0]},
    }
    assert BetaLikeness(1, on="x").as_dict() == {
        "model": "beta-likeness",
        "on": "x",
        "beta": 1.0,
        "enhanced": False,
    }
    assert DeltaDisclosure(1, absent="ignore", on="x").as_dict()["absent"] == "ignore"


def test_a_model_that_is_not_known_is_refused():
    with pytest.raises(
        ShoalError, match="there is no privacy model 'k-map'; there are p-sensitivity, l-diversity"
    ):
        Model.from_dict({"model": "k-map", "on": "x"})


def test_the_same_on_another_column():
    for model in (LDiversity(3, "recursive", c=2, on="x"), AlphaK(0.5, on="x", sensitive_values="a")):
        other = model.of_column("y")
        assert (other.on, other.as_dict() | {"on": "x"}) == ("y", model.as_dict())
    tree = TCloseness(0.2, "hierarchical", taxonomy=TREE, on="x")
    assert tree.of_column("y").taxonomy is tree.taxonomy


# Parameters.


def test_parameters_are_read():
    assert LDiversity(2.0, on="x").l == 2
    assert isinstance(LDiversity(2.0, on="x").l, int)
    assert LDiversity(2.5, "entropy", on="x").l == 2.5
    assert AlphaK(np.float32(0.5), on="x").alpha == 0.5
    assert PSensitivity(np.int64(3), on="x").p == 3
    assert AlphaK(0.5, on="x", sensitive_values="flu").sensitive_values == ("flu",)
    assert AlphaK(0.5, on="x", sensitive_values=[1, 2.5]).sensitive_values == ("1", "2.5")
    assert AlphaK(0.5, on="x", sensitive_values=7).sensitive_values == ("7",)
    assert TCloseness(0.1, order=[1, 2], on="x").order == ("1", "2")
    assert isinstance(TCloseness(0.1, "hierarchical", taxonomy=TREE, on="x").taxonomy, Taxonomy)


def test_a_taxonomy_may_be_a_file(tmp_path):
    (tmp_path / "tree.csv").write_text("flu;lungs;*\ncough;lungs;*\ngout;gout;*\n")
    model = TCloseness(0.1, "hierarchical", taxonomy=tmp_path / "tree.csv", on="x")
    assert set(model.taxonomy.nodes) == {"*", "lungs", "flu", "cough", "gout"}


def test_a_model_is_about_a_column():
    said = "AlphaK needs the name of a confidential column, such as AlphaK(..., on='diagnosis')"
    refused(said, AlphaK, 0.5)
    refused(said, AlphaK, 0.5, on="")
    refused(said, AlphaK, 0.5, on=3)
    with pytest.raises(TypeError):
        AlphaK(0.5, "x")


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, True, "2", None])
def test_p_is_a_whole_number(value):
    with pytest.raises(ShoalError, match="^p of p-sensitivity must be (a whole number of )?at least 1, not "):
        PSensitivity(value, on="x")


@pytest.mark.parametrize("value", [0, 0.5, -3, True, "2", None, nan, inf])
def test_l_is_a_number_of_at_least_1(value):
    for kind in ("distinct", "entropy"):
        with pytest.raises(ShoalError, match="^l of l-diversity must be a number of at least 1, not "):
            LDiversity(value, kind, on="x")


def test_l_is_whole_where_values_are_counted():
    refused("l of distinct l-diversity must be a whole number, not 2.5", LDiversity, 2.5, on="x")
    refused(
        "l of recursive l-diversity must be a whole number, not 2.5", LDiversity, 2.5, "recursive", c=2, on="x"
    )


def test_c_belongs_to_recursive_diversity():
    said = "c belongs to recursive l-diversity, which needs it: LDiversity(3, 'recursive', c=2)"
    refused(said, LDiversity, 2, "recursive", on="x")
    refused(said, LDiversity, 2, c=2, on="x")
    refused(said, LDiversity, 2, "entropy", c=2, on="x")
    refused("c of l-diversity must be a number of at least 0, not -1", LDiversity, 2, "recursive", c=-1, on="x")
    refused("c of l-diversity must be a number of at least 0, not 'a'", LDiversity, 2, "recursive", c="a", on="x")


def test_a_kind_that_is_not_known_is_refused():
    with pytest.raises(
        ShoalError, match="kind of l-diversity must be one of distinct, entropy, recursive, not 'entrop'"
    ):
        LDiversity(2, "entrop", on="x")
    with pytest.raises(ShoalError, match="distance of t-closeness must be one of ordered, ranks, .*, not 'emd'"):
        TCloseness(0.1, "emd", on="x")
    with pytest.raises(ShoalError, match="absent of delta-disclosure must be one of infinite, ignore, not 'no'"):
        DeltaDisclosure(1, absent="no", on="x")
    with pytest.raises(ShoalError, match="enhanced of beta-likeness must be True or False, not 1"):
        BetaLikeness(1, enhanced=1, on="x")


@pytest.mark.parametrize("value", [-0.1, nan, inf, "0.1", None, True])
def test_distances_and_gains_are_numbers_of_at_least_0(value):
    for model, limit in ((TCloseness, "t"), (BetaLikeness, "beta"), (DeltaDisclosure, "delta")):
        with pytest.raises(ShoalError, match=f"^{limit} of {model.name} must be a number of at least 0, not "):
            model(value, on="x")
        assert model(0, on="x").asked == 0


@pytest.mark.parametrize("value", [-0.1, 1.1, nan, "0.1", None, True])
def test_alpha_is_a_share(value):
    with pytest.raises(ShoalError, match="^alpha must be a number from 0 to 1, not "):
        AlphaK(value, on="x")


def test_models_that_weigh_all_values_take_no_sensitive_ones():
    refused(
        "t-closeness compares all values of 'x', so it takes no sensitive_values; l-diversity (distinct), "
        "p-sensitivity, alpha, beta-likeness and delta-disclosure do",
        TCloseness,
        0.1,
        on="x",
        sensitive_values="a",
    )
    for kind, c in (("entropy", None), ("recursive", 2)):
        refused(
            f"{kind} l-diversity weighs all values of 'x', so it takes no sensitive_values; distinct l-diversity does",
            LDiversity,
            2,
            kind,
            c,
            on="x",
            sensitive_values="a",
        )


def test_an_order_belongs_to_a_line():
    for distance in ("equal", "kullback-leibler"):
        said = f"t-closeness by '{distance}' on 'x' has no order; leave it out"
        refused(said, TCloseness, 0.1, distance, order=["a", "b"], on="x")
    for distance in (None, "ordered", "ranks"):
        assert TCloseness(0.1, distance, order=["a", "b"], on="x").order == ("a", "b")


def test_a_taxonomy_belongs_to_the_hierarchical_distance():
    said = "t-closeness over a tree needs both distance='hierarchical' and taxonomy= on 'x'"
    refused(said, TCloseness, 0.1, "hierarchical", on="x")
    refused(said, TCloseness, 0.1, taxonomy=TREE, on="x")
    refused(said, TCloseness, 0.1, "equal", taxonomy=TREE, on="x")
    with pytest.raises(ShoalError, match="int is no taxonomy"):
        TCloseness(0.1, "hierarchical", taxonomy=3, on="x")


def test_one_text_is_no_order_of_letters():
    refused("the order of 'x' is a list of its values, not the text 'low'", TCloseness, 0.1, order="low", on="x")


def test_no_sensitive_values_may_be_said_by_none():
    assert AlphaK(0.5, on="x", sensitive_values=None).sensitive_values == ()


# In words, and for kernels.


def test_models_say_what_is_asked_and_what_was_found():
    assert str(PSensitivity(2, on="x")) == "p = 2 on 'x' (p-sensitivity)"
    assert str(LDiversity(2, on="x", sensitive_values=["a", "b"])) == "l = 2 of a, b on 'x' (distinct l-diversity)"
    assert str(LDiversity(2.5, "entropy", on="x")) == "l = 2.5 on 'x' (entropy l-diversity)"
    assert str(LDiversity(3, "recursive", c=2, on="x")) == "l = 3 on 'x' (recursive l-diversity, c = 2)"
    assert str(TCloseness(0.2, on="x")) == "t = 0.2 on 'x' (t-closeness)"
    assert str(TCloseness(0.2, "ranks", on="x")) == "t = 0.2 on 'x' (t-closeness, ranks)"
    assert str(AlphaK(0.5, on="x")) == "alpha = 0.5 on 'x' (alpha)"
    assert str(BetaLikeness(1, on="x")) == "beta = 1 on 'x' (beta-likeness)"
    assert str(BetaLikeness(1, enhanced=True, on="x")) == "beta = 1 on 'x' (beta-likeness, enhanced)"
    assert str(DeltaDisclosure(1, absent="ignore", on="x")).endswith("(delta-disclosure, absent values ignored)")
    assert LDiversity(2, on="x").said(1.0) == "l = 1"
    assert LDiversity(3, "recursive", c=2, on="x").said(4 / 3) == "most frequent : rest = 1.333"
    assert TCloseness(0.2, on="x").said(0.123456) == "t = 0.1235"


def test_models_as_kernels_take_them():
    assert PSensitivity(2, on="x").numbers() == Numbers("distinct", 2.0)
    assert LDiversity(2, on="x").numbers() == Numbers("distinct", 2.0)
    assert LDiversity(2.5, "entropy", on="x").numbers() == Numbers("entropy", 2.5)
    assert LDiversity(3, "recursive", c=2, on="x").numbers() == Numbers("recursive", 3.0, 2.0)
    kinds = {"ordered": "line", "ranks": "line", "wasserstein": "line", "equal": "equal"}
    kinds |= {"kullback-leibler": "information"}
    for distance, kind in kinds.items():
        assert TCloseness(0.2, distance, on="x").numbers() == Numbers(kind, 0.2)
    assert TCloseness(0.2, "hierarchical", taxonomy=TREE, on="x").numbers() == Numbers("hierarchical", 0.2)
    assert AlphaK(0.5, on="x").numbers() == Numbers("share", 0.5)
    assert BetaLikeness(1, on="x").numbers() == Numbers("likeness", 1.0, 0.0)
    assert BetaLikeness(1, enhanced=True, on="x").numbers() == Numbers("likeness", 1.0, 1.0)
    assert DeltaDisclosure(1, on="x").numbers() == Numbers("disclosure", 1.0, 0.0)
    assert DeltaDisclosure(1, absent="ignore", on="x").numbers() == Numbers("disclosure", 1.0, 1.0)


def test_more_is_better_for_diversity_only():
    assert [model.at_least for model in MODELS.values()] == [True, True, False, False, False, False]


# Larger groups where not all take part.


def test_the_size_for_participation_by_hand():
    # Two of two with 1/2 each: 1/4. Two of three: 4/8. Two of four: 11/16. Two of five: 26/32 = 0.8125.
    assert [
        participating_k(2, 0.5, confidence) for confidence in (0.25, 0.5, 0.51, 0.6875, 0.7, 0.8125, 0.82)
    ] == [
        2,
        3,
        4,
        4,
        5,
        5,
        6,
    ]
    assert participating_k(1, 0.5, 0.999) == 10  # 1 - 2**-10 = 0.99902
    assert participating_k(7, 1, 0.999) == 7


@settings(max_examples=300)
@given(st.integers(1, 12), st.integers(4, 100), st.integers(1, 99))
def test_the_size_for_participation_is_the_smallest_by_the_sum_of_the_binomial(k, participation, confidence):
    size = participating_k(k, participation / 100, confidence / 100)
    chance = Fraction(participation, 100)
    assert naive.taking_part(k, size, chance) > confidence / 100 - 1e-9
    assert size == k or naive.taking_part(k, size - 1, chance) < confidence / 100 + 1e-9


@given(st.integers(1, 60), st.floats(0.02, 0.98), st.floats(0.05, 0.95))
def test_more_people_more_confidence_and_less_participation_ask_for_larger_groups(k, participation, confidence):
    size = participating_k(k, participation, confidence)
    assert size >= k
    assert participating_k(k + 1, participation, confidence) > size
    assert participating_k(k, participation, confidence + 0.04) >= size
    assert participating_k(k, participation + 0.02, confidence) <= size


def test_probabilities_are_checked():
    for odd in (-0.1, 1.1, nan, "0.5", None, True):
        with pytest.raises(ShoalError, match="^participation must be a number from 0 to 1, not "):
            participating_k(3, odd, 0.9)
        with pytest.raises(ShoalError, match="^confidence must be a number from 0 to 1, not "):
            participating_k(3, 0.5, odd)
    refused("participation must be a probability above 0: nobody would take part", participating_k, 3, 0, 0.9)
    for odd in (0, 1):
        said = f"confidence must be a probability above 0 and below 1, not {odd}"
        refused(said, participating_k, 3, 0.5, odd)
    for odd in (0, -1, 2.0, "3", None, True):
        with pytest.raises(ShoalError, match="^k must be "):
            participating_k(odd, 0.5, 0.9)
