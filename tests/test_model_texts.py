from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promises import confidential, every_model
from shoal.errors import ShoalError
from shoal.model_texts import VALUES, model_of, read_models
from shoal.privacy.models import (
    MODELS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    PSensitivity,
    TCloseness,
)
from shoal.settings import MODEL_FLAGS

TREE = "flu;lungs;*\ncough;lungs;*\ngout;gout;*\n"


@pytest.mark.parametrize(
    ("flag", "text", "model"),
    [
        ("--l-diversity", "ill=3", LDiversity(3, on="ill")),
        ("--l-diversity", "ill=2.5:entropy", LDiversity(2.5, "entropy", on="ill")),
        ("--l-diversity", "ill=3:recursive:2", LDiversity(3, "recursive", c=2, on="ill")),
        ("--l-diversity", "ill=3:distinct", LDiversity(3, on="ill")),
        ("--p-sensitivity", "ill=3", PSensitivity(3, on="ill")),
        ("--p-sensitivity", "ill=3.0", PSensitivity(3, on="ill")),
        ("--t-closeness", "pay=0.2", TCloseness(0.2, on="pay")),
        ("--t-closeness", "pay=0.2:ranks", TCloseness(0.2, "ranks", on="pay")),
        ("--t-closeness", "pay=.2:kullback-leibler", TCloseness(0.2, "kullback-leibler", on="pay")),
        ("--alpha", "ill=0.5", AlphaK(0.5, on="ill")),
        ("--alpha", "the pay=1e-1", AlphaK(0.1, on="the pay")),
        ("--beta-likeness", "ill=1", BetaLikeness(1, on="ill")),
        ("--beta-likeness", "ill=1:enhanced", BetaLikeness(1, enhanced=True, on="ill")),
        ("--delta-disclosure", "ill=1", DeltaDisclosure(1, on="ill")),
        ("--delta-disclosure", "ill=1:ignore", DeltaDisclosure(1, absent="ignore", on="ill")),
    ],
)
def test_a_text_is_a_model(flag, text, model):
    assert read_models([(flag, text)]) == [model]


def test_the_tree_of_a_hierarchical_distance_is_a_file(tmp_path):
    (tmp_path / "a:tree.csv").write_text(TREE)
    [model] = read_models([("--t-closeness", f"ill=0.2:hierarchical:{tmp_path / 'a:tree.csv'}")])
    assert model == TCloseness(0.2, "hierarchical", taxonomy=tmp_path / "a:tree.csv", on="ill")


def test_several_models_keep_their_order():
    given = [("--alpha", "a=0.5"), ("--l-diversity", "b=2"), ("--alpha", "b=0.6")]
    assert read_models(given) == [AlphaK(0.5, on="a"), LDiversity(2, on="b"), AlphaK(0.6, on="b")]


def test_sensitive_values_go_to_every_model_of_their_column_that_takes_some():
    given = [
        ("--l-diversity", "ill=2"), ("--l-diversity", "ill=2:entropy"), ("--t-closeness", "ill=0.5"),
        ("--alpha", "ill=0.5"), ("--alpha", "other=0.5"), (VALUES, 'ill=hiv,"flu, bird"'), (VALUES, "ill=gout"),
    ]  # fmt: skip
    found = read_models(given)
    assert [model.sensitive_values for model in found] == [
        ("hiv", "flu, bird", "gout"), (), (), ("hiv", "flu, bird", "gout"), (),
    ]  # fmt: skip
    assert [model.on for model in found] == ["ill"] * 4 + ["other"]


@pytest.mark.parametrize(
    ("flag", "text", "said"),
    [
        ("--l-diversity", "ill", "--l-diversity is given as column=value, such as diagnosis=3, not 'ill'"),
        ("--l-diversity", "=3", "--l-diversity is given as column=value, such as diagnosis=3, not '=3'"),
        ("--l-diversity", "ill=", "--l-diversity is given as column=value, such as diagnosis=3, not 'ill='"),
        (VALUES, "ill", "--sensitive-values is given as column=value, such as diagnosis=HIV,cancer, not 'ill'"),
        ("--l-diversity", "ill=many", "--l-diversity ill=many: l must be a number, not 'many'"),
        ("--t-closeness", "pay=:ranks", "--t-closeness pay=:ranks: t must be a number, not ''"),
        ("--l-diversity", "ill=2.5", "l of distinct l-diversity must be a whole number, not 2.5"),
        ("--l-diversity", "ill=3:recursive", "--l-diversity cannot be read from ill=3:recursive; it takes ill=3, ill=2:entropy, ill=3:recursive:2"),
        ("--l-diversity", "ill=3:recursive:two", "c of recursive l-diversity must be a number, not 'two'"),
        ("--l-diversity", "ill=3:recursive:2:3", "--l-diversity cannot be read from ill=3:recursive:2:3; it takes ill=3, ill=2:entropy, ill=3:recursive:2"),
        ("--t-closeness", "ill=0.2:hierarchical", "--t-closeness cannot be read from ill=0.2:hierarchical; it takes ill=0.2, ill=0.2:ranks (or another distance), ill=0.2:hierarchical:tree.csv"),
        ("--t-closeness", "ill=0.2:equal:tree.csv", "--t-closeness cannot be read from ill=0.2:equal:tree.csv; it takes ill=0.2, ill=0.2:ranks (or another distance), ill=0.2:hierarchical:tree.csv"),
        ("--alpha", "ill=0.5:0.6", "--alpha cannot be read from ill=0.5:0.6; it takes ill=0.5"),
        ("--alpha", "ill=1.5", "alpha must be a number from 0 to 1, not 1.5"),
        ("--beta-likeness", "ill=1:more", "--beta-likeness cannot be read from ill=1:more; it takes ill=1, ill=1:enhanced"),
        ("--p-sensitivity", "ill=2.5", "p of p-sensitivity must be a whole number of at least 1, not 2.5"),
        (VALUES, "ill=hiv", "--sensitive-values names values of 'ill', and no model on it looks at some values only; ask for one, such as --alpha ill=0.5, or leave it out"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_an_error_of_one_line(flag, text, said):
    with pytest.raises(ShoalError) as error:
        read_models([(flag, text)])
    assert str(error.value) == said


@pytest.mark.parametrize("flag", sorted({*MODEL_FLAGS} - {VALUES}))
@pytest.mark.parametrize("limit", ["nan", "inf", "-inf", "-1", "1e400", "0x10", "١", "1_0", " "])
def test_odd_numbers_are_refused_or_read_and_nothing_else_happens(flag, limit):
    try:
        [model] = read_models([(flag, f"ill={limit}")])
    except ShoalError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert 0 <= model.asked < 1e9


@given(st.sampled_from(sorted(MODEL_FLAGS)), st.text(max_size=12))
def test_any_text_is_a_model_or_an_error(flag, text):
    with suppress(ShoalError):
        read_models([(flag, text)])


@pytest.mark.parametrize("text", ["ill=0.2:hierarchical", "ill=0.2:emd", "ill=0.2:", "ill=0.2:equal:tree.csv"])
def test_odd_distances_are_refused(text):
    with pytest.raises(ShoalError):
        read_models([("--t-closeness", text)])


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ShoalError, match="no-tree.csv"):
        read_models([("--t-closeness", "ill=0.2:hierarchical:no-tree.csv")])


@given(st.data(), confidential(most=6))
def test_every_model_without_a_tree_or_sensitive_values_can_be_written_as_a_text(data, sample):
    for model in data.draw(every_model(sample)):
        if model.sensitive_values or getattr(model, "taxonomy", None) is not None:
            continue
        more = {
            "l-diversity": lambda m: [m.kind, *([str(m.c)] if m.c is not None else [])],
            "t-closeness": lambda m: [m.distance],
            "beta-likeness": lambda m: ["enhanced"] if m.enhanced else [],
            "delta-disclosure": lambda m: ["ignore"] if m.absent == "ignore" else [],
        }.get(model.name, lambda m: [])(model)
        assert model_of(model.flag, "x", [repr(model.asked), *more]) == model


def test_every_model_has_a_flag():
    assert {model.flag for model in MODELS.values()} | {VALUES} == {*MODEL_FLAGS}
