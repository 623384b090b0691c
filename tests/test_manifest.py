import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal import CBFS, IMHM
from shoal.catalogue import described, method_described
from shoal.errors import ShoalError
from shoal.files import read
from shoal.pipeline import released
from shoal.recipe import load_recipe

ARGUMENTS = {
    "k": 3,
    "quasi_identifiers": ["age", "weight"],
    "confidential": "diagnosis",
    "identifiers": "name",
}


@pytest.mark.filterwarnings("ignore:exact centroids keep all digits")
@pytest.mark.parametrize("digits", [None, -1, {"weight": 0}])
def test_a_manifest_repeats_its_release_to_the_same_hash(people, tmp_path, digits):
    pd.DataFrame(people).to_csv(tmp_path / "t.csv", index=False)
    settings = {
        "scaling": "range",
        "attribute_weights": {"age": 2.0},
        "aggregate": "median",
        "exact": digits is None,
        "random_state": 0,
        "strict": True,
    }
    first = shoal.anonymize(tmp_path / "t.csv", digits=digits, **ARGUMENTS, **settings)
    first.write(tmp_path / "a.csv")
    recipe = load_recipe(tmp_path / "a.csv.manifest.json")
    again = released(tmp_path / "t.csv", recipe.settings)
    again.write(tmp_path / "b.csv")
    assert again.manifest["output"]["sha256"] == recipe.output_sha256
    assert again.manifest["input"]["sha256"] == recipe.input_sha256
    assert {key: again.manifest[key] for key in settings} == settings
    assert again.manifest["digits"] == first.manifest["digits"]
    assert again.manifest["digits"]["asked"] == digits


def test_a_manifest_without_digits_is_one_of_an_older_version(people, tmp_path):
    pd.DataFrame(people).to_csv(tmp_path / "t.csv", index=False)
    shoal.anonymize(tmp_path / "t.csv", **ARGUMENTS).write(tmp_path / "a.csv")
    path = tmp_path / "a.csv.manifest.json"
    manifest = json.loads(path.read_text())
    assert manifest.pop("digits") == {"asked": None, "used": {"weight": 0}}
    path.write_text(json.dumps(manifest))
    assert load_recipe(path).settings.digits is None


def test_a_manifest_names_version_method_roles_and_loss(people):
    release = shoal.anonymize(pd.DataFrame(people), **ARGUMENTS)
    manifest = release.manifest
    assert manifest["shoal"] == shoal.__version__
    assert manifest["method"]["name"] == "Auto"
    assert manifest["method"]["chosen"]["name"] == "Optimal"
    assert "proven" in manifest["method"]["reason"]
    assert manifest["roles"]["identifiers"] == ["name"]
    assert manifest["figures"]["information_loss"]["value"] == release.information_loss
    assert manifest["input"]["kind"] == "pandas"
    json.dumps(manifest)


def test_the_hash_of_a_dataframe_depends_on_its_values_names_and_types(people):
    def hash_of(frame):
        return shoal.anonymize(frame, **ARGUMENTS).manifest["input"]["sha256"]

    frame = pd.DataFrame(people)
    assert hash_of(frame) == hash_of(frame.copy())
    changed = frame.copy()
    changed.loc[0, "name"] = "Adam"
    odd = frame.assign(diagnosis=[{"a"}, 1, "x", None, 2.5, "y", []])
    hashes = {
        hash_of(frame),
        hash_of(changed),
        hash_of(frame.astype({"age": "int32"})),
        hash_of(odd),
        hash_of(pl.DataFrame(people)),
    }
    assert len(hashes) >= 4


@pytest.fixture
def manifest(people):
    return shoal.anonymize(pd.DataFrame(people), **ARGUMENTS).manifest


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json", '{"k": 3}', "3"])
def test_what_is_no_manifest_is_an_error(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(ShoalError, match="is not a manifest of Shoal"):
        load_recipe(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": {"name": "Unheard", "parameters": {"k": 3}}}, "method 'Unheard' is not known"),
        ({"method": {"name": 7, "parameters": {"k": 3}}}, "method 7 is not known"),
        ({"method": {"name": "MDAV", "parameters": {"k": 3, "odd": 1}}}, "not a manifest"),
        ({"k": 2}, "contradicts itself: k is 2 and 3"),
        ({"input": {"sha256": "", "dialect": None}}, "not a manifest"),
    ],
)
def test_a_manifest_that_was_tampered_with_is_an_error(tmp_path, manifest, change, message):
    (tmp_path / "m.json").write_text(json.dumps(manifest | change))
    with pytest.raises(ShoalError, match=message):
        load_recipe(tmp_path / "m.json")
    for key in ("scaling", "attribute_weights", "output", "roles"):
        (tmp_path / "m.json").write_text(json.dumps({k: v for k, v in manifest.items() if k != key}))
        with pytest.raises(ShoalError, match="not a manifest|says nothing about"):
            load_recipe(tmp_path / "m.json")
    (tmp_path / "m.json").write_text(json.dumps(manifest | {"scalling": "range"}))
    with pytest.raises(ShoalError, match="the recipe says 'scalling', which this version does not know"):
        load_recipe(tmp_path / "m.json")


def test_a_recipe_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ShoalError, match="cannot read the recipe"):
        load_recipe(tmp_path / "none.json")


def test_a_method_with_a_start_is_described_and_comes_back():
    for start in ("cbfs", CBFS(k=4), np.array([0, 0, 1, 1]), None):
        model = IMHM(k=2, start=start, randomness=0.0)
        description = json.loads(json.dumps(described(model)))
        again = method_described(description)
        assert type(again) is IMHM
        assert described(again) == description
    assert method_described(described(IMHM(k=2, start=CBFS(k=4)))).start.k == 4


def test_an_interrupted_method_says_so():
    model = IMHM(k=2)
    model.interrupted_ = True
    assert described(model)["interrupted"] is True
    assert "interrupted" not in described(IMHM(k=2))


@pytest.mark.parametrize(
    ("text", "said", "first"),
    [
        ("34,60\n51,80\n33,62\n50,81\n", {"header": False}, "column1,column2"),
        ("34,60\n51,80\n33,62\n50,81\n", {"header": False, "names": ["age", "kg"]}, "age,kg"),
        ("kg,kg\n34,60\n51,80\n33,62\n50,81\n", {"number_names": True}, "kg,kg_2"),
        ("sep=;\na;b\n34;1.60\n51;1.80\n33;1.62\n50;1.81\n", {}, "a;b"),
        ("a;b\n34;1.605\n51;1.800\n33;1.620\n50;1.811\n", {"decimal": ","}, "a;b"),
    ],
)
def test_a_recipe_knows_header_and_names(tmp_path, text, said, first):
    (tmp_path / "t.csv").write_text(text)
    source = read(tmp_path / "t.csv", **said)
    names = source.table.column_names
    shoal.anonymize(source, k=2, quasi_identifiers=names).write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == first
    recipe = load_recipe(tmp_path / "a.csv.manifest.json")
    again = released(read(tmp_path / "t.csv", **recipe.dialect), recipe.settings)
    again.write(tmp_path / "b.csv")
    assert again.manifest["output"]["sha256"] == recipe.output_sha256


def test_manifests_from_before_headers_could_be_missing_still_load(people, tmp_path):
    pd.DataFrame(people).to_csv(tmp_path / "t.csv", index=False)
    release = shoal.anonymize(tmp_path / "t.csv", **ARGUMENTS)
    dialect = release.manifest["input"]["dialect"]
    for key in ("header", "names", "thousands"):
        del dialect[key]
    (tmp_path / "m.json").write_text(json.dumps(release.manifest))
    recipe = load_recipe(tmp_path / "m.json")
    assert recipe.dialect["header"] is True
    assert read(tmp_path / "t.csv", **recipe.dialect).table.column_names == list(people)


def test_a_manifest_from_before_strict_is_a_recipe_too(people, tmp_path):
    shoal.anonymize(pd.DataFrame(people), **ARGUMENTS).write(tmp_path / "a.csv")
    path = tmp_path / "a.csv.manifest.json"
    old = json.loads(path.read_text())
    del old["strict"], old["figures"]
    path.write_text(json.dumps(old))
    assert load_recipe(path).settings.strict is False
