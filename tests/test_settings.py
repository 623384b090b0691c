import dataclasses
import inspect
import json
import re
from typing import Unpack

import numpy as np
import pandas as pd
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from promises import confidential, every_model
from shoal import AlphaK, LDiversity
from shoal.catalogue import described
from shoal.cli import app
from shoal.errors import ShoalError
from shoal.files import Said
from shoal.option_rules import option_field
from shoal.options import Group, collected_settings, settings_option, settings_options, takes
from shoal.parameters import Flag
from shoal.settings import FileOptions, Options, Settings

TABLE = pd.DataFrame({"a": np.arange(12) ** 2 % 11, "b": np.arange(12)[::-1] ** 2 % 17})


def test_every_option_can_be_given_in_python_and_is_typed():
    """One list for people who type their code, one for the settings themselves: they name the same options."""
    assert list(Options.__annotations__) == ["method", *Settings.options()]
    assert set(FileOptions.__annotations__) == {"method", *Settings.options(), *Said.names_of()}
    for function, options in ((shoal.anonymize, Options), (shoal.anonymize_file, FileOptions)):
        last = list(inspect.signature(function).parameters.values())[-1]
        assert last.annotation == Unpack[options]


def test_every_option_stands_on_the_command_line_with_its_flag_and_its_help():
    shown = CliRunner().invoke(app, ["anonymize", "--help"]).output
    for each in Settings.options().values():
        flags = {flag: words for flag, (_, words) in each.flags.items()} or {each.flag: each.help}
        for flag, words in flags.items():
            assert re.search(rf"{flag}\b", shown)
            assert words.split()[0] in shown
            assert words.endswith((".", "]"))


def test_settings_come_back_from_their_dictionary_as_they_were():
    asked = Settings.of(
        3, ["a"], ["b"], [], shoal.MDAV(k=3), scaling="range", attribute_weights={"a": 2}, aggregate="median",
        digits={"a": -1}, random_state=5, strict=True, key="0F" * 16,
    )  # fmt: skip
    again = Settings.from_dict(json.loads(json.dumps(asked.as_dict())))
    assert again.as_dict() == asked.as_dict()
    assert again.key == "0f" * 16
    assert described(again.method) == described(asked.method)
    assert again.attribute_weights == {"a": 2.0}
    assert again.digits == {"a": -1}


@settings(max_examples=60)
@given(st.data(), confidential(most=8))
def test_models_come_back_from_a_manifest_as_they_were(data, sample):
    models = data.draw(st.lists(st.sampled_from(data.draw(every_model(sample))), unique_by=str, max_size=4))
    asked = Settings.of(3, ["a"], ["x"], models=models)
    again = Settings.from_dict(json.loads(json.dumps(asked.as_dict())))
    assert again.models == asked.models == tuple(models)
    assert again.as_dict() == asked.as_dict()


def test_one_model_needs_no_list_and_the_same_twice_is_an_error():
    model = LDiversity(2, on="b")
    assert Settings.of(3, "a", "b", models=model).models == (model,)
    with pytest.raises(ShoalError, match="models list l = 2 on 'b' .* twice; list it once"):
        Settings.of(3, "a", "b", models=[model, LDiversity(2, on="b")])


def test_a_manifest_with_a_model_that_is_not_known_is_an_error():
    kept = Settings.of(3, "a", "b", models=[LDiversity(2, on="b")]).as_dict()
    for odd, message in (({"model": "k-map", "on": "b"}, "no privacy model 'k-map'"), ({"model": "alpha", "on": "b", "beta": 1}, "alpha has no 'beta'")):  # fmt: skip
        with pytest.raises(ShoalError, match=message):
            Settings.from_dict(kept | {"models": [odd]})


def test_k_is_raised_for_participation_once():
    # Of five with 0.8 each, three take part with 0.942; of four with 0.819.
    asked = Settings.of(3, "a", participation=0.8, confidence=0.9)
    assert asked.k == asked.method.k == 5
    again = Settings.from_dict(json.loads(json.dumps(asked.as_dict())))
    third = Settings.from_dict(json.loads(json.dumps(again.as_dict())))
    assert (again.k, third.k) == (5, 5)
    assert (again.participation, again.confidence) == (0.8, 0.9)
    assert again.as_dict() == asked.as_dict()
    assert Settings.of(3, "a", participation=1.0).k == 3
    assert Settings.of(3, "a", method=shoal.Blocked(shoal.MDAV(k=3)), participation=0.8, confidence=0.9).k == 5


def test_the_k_of_a_method_is_raised_for_participation_too():
    assert Settings.of(None, "a", method=shoal.MDAV(k=3), participation=0.8, confidence=0.9).k == 5


def test_rows_apart_and_models_contradict_each_other():
    with pytest.raises(ShoalError, match="person_rows='apart' cannot be had with privacy models"):
        Settings.of(3, "a", "b", person="who", person_rows="apart", models=LDiversity(2, on="b"))


def test_settings_of_older_manifests_are_understood():
    kept = Settings.of(3, "a", attribute_weights={"a": 2}).as_dict()
    older = {"weights": kept.pop("attribute_weights"), **kept}
    del older["strict"], older["digits"], older["keep_order"], older["key"]
    assert Settings.from_dict(older).attribute_weights == {"a": 2.0}
    assert Settings.from_dict(older).strict is False
    assert Settings.from_dict(older).keep_order is True  # there was no other order then
    with pytest.raises(ShoalError, match="contradicts itself: k is 4 and 3"):
        Settings.from_dict(older | {"k": 4})


def test_an_option_that_is_not_there_is_an_error_that_names_the_nearest():
    with pytest.raises(ShoalError, match="'weights' is called 'attribute_weights' in Python"):
        shoal.anonymize(TABLE, 3, "a", weights={"a": 2})
    with pytest.raises(ShoalError, match="no option 'scalings'; did you mean 'scaling'"):
        shoal.anonymize_file("in.csv", "out.csv", 3, "a", scalings="range")
    for odd, said in (
        ({"quasi_identifers": ["a"]}, "did you mean 'quasi_identifiers'"),
        ({"seed": 3}, "'seed' is called 'random_state' in Python"),
        ({"delimiter": ";"}, "'delimiter' is an option of anonymize_file"),
        ({"memory": "1GB"}, "'memory' is an option of anonymize_file"),
    ):
        with pytest.raises(ShoalError, match=said):
            shoal.anonymize(TABLE, 3, **odd)
    with pytest.raises(ShoalError, match="did you mean 'memory'"):
        shoal.anonymize_file("in.csv", "out.csv", 3, "a", memry="1GB")
    with pytest.raises(ShoalError, match=r"the method is a class; make an estimator of it, such as MDAV\(k=5\)"):
        shoal.anonymize(TABLE, 3, "a", method=shoal.MDAV)


def test_a_key_is_drawn_unless_it_is_given_or_the_order_is_kept_and_never_follows_from_the_seed():
    drawn = [Settings.of(3, "a", random_state=1).seeded().key for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert [len(bytes.fromhex(key)) for key in drawn] == [16, 16]
    assert Settings.of(3, "a").seeded(key="0f" * 16).key == "0f" * 16  # of a run that was interrupted
    assert Settings.of(3, "a", key="ab" * 16).seeded().key == "ab" * 16
    assert Settings.of(3, "a", keep_order=True).seeded(key="0f" * 16).key is None


def test_how_the_rows_are_ordered_is_shown_and_the_key_is_not():
    asked = Settings.of(3, "a", key="ab" * 16)
    assert ("order of the rows", "random, by a secret key") in asked.lines()
    assert "abab" not in str(asked.lines()) + repr(asked)
    assert ("order of the rows", "that of the input") in Settings.of(3, "a", keep_order=True).lines()


def test_settings_do_not_change():
    settings = Settings.of(3, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.scaling = "range"


def test_the_seed_in_the_manifest_is_the_one_that_the_method_had():
    release = shoal.anonymize(TABLE, 3, ["a", "b"], method=shoal.Genetic(k=3, generations=5), random_state=11)
    assert release.manifest["random_state"] == 11
    assert release.manifest["method"]["parameters"]["random_state"] == 11
    drawn = shoal.anonymize(TABLE, 3, ["a", "b"], method=shoal.Genetic(k=3, generations=5, random_state=None))
    seed = drawn.manifest["random_state"]
    assert isinstance(seed, int)
    again = shoal.anonymize(TABLE, 3, ["a", "b"], method=shoal.Genetic(k=3, generations=5), random_state=seed)
    assert (again.labels == drawn.labels).all()


def test_a_new_option_is_a_field_and_appears_in_all_places():
    """A toy option, added to the settings from outside: nothing else has to know of it."""
    toy = option_field(False, Flag(), "A toy.", "--toy", label="toy", show=lambda toy: "on" if toy else "")
    More = dataclasses.make_dataclass("More", [("toy", bool, toy)], bases=(Settings,), frozen=True)
    made = More.of(3, "a", toy=True)
    assert made.toy is True
    assert made.as_dict()["toy"] is True
    assert More.from_dict(made.as_dict()).toy is True
    assert ("toy", "on") in made.lines()
    assert ("toy", "on") not in More.of(3, "a").lines()
    toy_app, got = typer.Typer(), []
    toys = Group({"toy": settings_option(More.options()["toy"])}, got.append)
    toy_app.command()(takes(toys=toys)(lambda toys: None))
    assert CliRunner().invoke(toy_app, ["--toy"]).exit_code == 0
    assert got == [{"toy": True}]
    with pytest.raises(ShoalError, match="toy must be True or False"):
        More.of(3, "a", toy="yes")


def test_what_was_not_given_on_the_command_line_is_left_to_the_defaults():
    nothing = {name: default for name, (_, default) in settings_options().items()}
    assert collected_settings(dict(nothing)) == {}
    assert collected_settings(nothing | {"scaling": ["range"], "exact": True}) == {
        "scaling": "range",
        "exact": True,
    }
    asked = collected_settings(nothing | {"l_diversity": ["x=3"], "alpha": ["x=0.5", "y=1"]})
    assert asked == {"models": [LDiversity(3, on="x"), AlphaK(0.5, on="x"), AlphaK(1, on="y")]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scaling": "zscor"}, "scaling must be one of .*did you mean 'zscore'"),
        ({"attribute_weights": {"a": -1}}, "the weight of 'a' must be a number from 0 to 1e\\+100, not -1"),
        ({"attribute_weights": {"a": float("nan")}}, "the weight of 'a'"),
        ({"attribute_weights": {"a": "2"}}, "the weight of 'a'"),
        ({"attribute_weights": {"a": True}}, "the weight of 'a'"),
        ({"attribute_weights": {"a": 10**400}}, "the weight of 'a'"),
        ({"attribute_weights": {"a": 1e200}}, "the weight of 'a' must be a number from 0 to 1e\\+100"),
        ({"attribute_weights": [1]}, "weights are given as a dictionary .*, not as list"),
        ({"aggregate": "modes"}, "aggregate must be one of"),
        ({"aggregate": {"a": "modes"}}, "aggregate of 'a' must be one of"),
        ({"aggregate": {"b": "mode"}}, "aggregate for 'b', which is no quasi-identifier"),
        ({"kinds": "nominal"}, "kinds are given by the names of columns, such as postcode='nominal'"),
        ({"kinds": {"a": "nominel"}}, "there is no kind 'nominel'; did you mean 'nominal'"),
        ({"kinds": {"a": ""}}, "kinds of 'a' must be a text, not ''"),
        ({"kinds": {"aa": "nominal"}}, "kinds for 'aa', which is no quasi-identifier; did you mean 'a'"),
        ({"kinds": {"a": "nominal"}, "orders": {"a": "xy"}}, "'a' has orders, so it is ordinal, and not nominal"),
        ({"gaps": "ignore"}, "gaps must be one of error, drop"),
        ({"gaps": {"a": "fill"}}, "gaps of 'a' must be one of"),
        ({"gaps": {"b": "drop"}}, "gaps for 'b', which is no quasi-identifier"),
        ({"gap_values": {"a": {1: 2}}}, "gap_values of 'a' must be a list of values"),
        ({"orders": ["low", "high"]}, "orders are given by the names of columns, such as pain="),
        ({"coordinates": 1}, "coordinates must be at least 2"),
        ({"exact": "no"}, "exact must be True or False"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"digits": 1, "exact": True}, "exact and digits contradict each other"),
        ({"keep_order": True, "key": "0f" * 16}, "keep_order and key contradict each other"),
        ({"key": "0f"}, "key must have 32 hexadecimal digits"),
        ({"models": 3}, r"models are given as a list of models, such as \[LDiversity"),
        ({"models": ["l-diversity"]}, "models are given as a list of models"),
        (
            {"models": LDiversity(2, on="a")},
            r"l = 2 on 'a' \(distinct l-diversity\) is about a column that is not conf",
        ),
        ({"models": [LDiversity(2, on="b")]}, "list 'b' with the confidential columns"),
        ({"participation": 1.5}, "participation must be a number from 0 to 1"),
        ({"participation": 0}, "nobody would take part"),
        ({"participation": 0.5, "confidence": 1}, "confidence must be a probability above 0 and below 1"),
        ({"confidence": 0.9}, "confidence says nothing without participation"),
    ],
)
def test_wrong_settings_are_errors_before_any_work_starts(given, message):
    with pytest.raises(ShoalError, match=message):
        Settings.of(3, "a", **given)


@pytest.mark.parametrize("order", [["a", "a", "b"], ["a", "b", "a "], [1, 2, 1]])
def test_an_order_names_a_value_once(order):
    with pytest.raises(ShoalError, match=r"orders of 'p' has '[a1]' twice; .*name it once"):
        Settings.of(3, "p", orders={"p": order})


PLACE = ("lat", "lon")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"places": [("lat", "lat")]}, "places name 'lat' twice; a place has two columns"),
        ({"places": [PLACE, ("lat", "age")]}, "places name 'lat' twice"),
        ({"places": [PLACE], "kinds": {"lon": "nominal"}}, "'lon' belongs to a place, so its kind is not nominal"),
        ({"places": [PLACE], "orders": {"lat": ["1", "2"]}}, "'lat' belongs to a place, which has no orders"),
        ({"places": [PLACE], "prefixes": {"lon": [1]}}, "'lon' belongs to a place, which has no prefixes"),
        (
            {"attribute_weights": {"lat": 1, "lon": 2}},
            "'lat' and 'lon' are one place and have the same attribute_weights",
        ),
        ({"aggregate": {"lat": "mean", "lon": "median"}}, "one place and have the same aggregate"),
        ({"gaps": {"lat": "drop", "lon": "pattern"}}, "one place and have the same gaps"),
        ({"gap_values": {"lat": ["-9"], "lon": ["-8"]}}, "one place and have the same gap_values"),
        ({"quasi_identifiers": PLACE, "attribute_weights": {"lat": 0}}, "all weights are 0"),
        ({"quasi_identifiers": [*PLACE, "lat, lon"]}, "called 'lat, lon' like another quasi-identifier; rename"),
    ],
)
def test_what_is_said_of_a_place_does_not_contradict_itself(options, said):
    with pytest.raises(ShoalError, match=said):
        Settings.of(3, **{"quasi_identifiers": [*PLACE, "age"]} | options)


@pytest.mark.parametrize("column", PLACE)
def test_what_is_said_of_one_column_of_a_place_holds_for_the_place(column):
    wish = Settings.of(3, PLACE, gap_values={column: ["-9"], "": ["?"]}, gaps={column: "drop"}).wishes()[PLACE]
    assert (wish.gap_values, wish.gaps) == (("-9",), "drop")
    same = Settings.of(3, PLACE, kinds={column: "place"}, gap_values={"lat": ["-9"], "lon": ["-9"]}).wishes()
    assert same[PLACE].gap_values == ("-9",)


@pytest.mark.parametrize(
    "options",
    [
        {"orders": {"lon": ["1", "2"]}},
        {"prefixes": {"lon": [1]}},
        {"taxonomies": {"lon": {"north": ["1", "2"]}}},
        {"kinds": {"lon": "nominal"}},
    ],
)
def test_a_column_that_is_said_to_be_something_else_is_not_taken_into_a_place(options):
    assert list(Settings.of(3, PLACE, **options).wishes()) == [("lat",), ("lon",)]


def test_a_name_ends_at_the_last_sign_where_values_have_none():
    read = {name: each.read for name, each in Settings.options().items()}
    assert read["kinds"](["a=b=nominal"]) == {"a=b": "nominal"}
    assert read["gaps"](["a=b=drop", "error"]) == {"a=b": "drop", "": "error"}
    assert read["aggregate"](["a=b=set", "mean"]) == {"a=b": "set", "": "mean"}
    assert read["gap_values"](["a=x=1,-9"]) == {"a": ["x=1", "-9"]}
