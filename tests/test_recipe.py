"""A manifest read back, also one that an older version wrote: tests/older holds such a one with its table."""

import hashlib
from pathlib import Path

import pytest

from shoal import ShoalError, ShoalWarning, files
from shoal.pipeline import released
from shoal.recipe import load_recipe

OLDER = Path(__file__).parent / "older"


def test_a_manifest_of_an_older_version_repeats_its_release_to_the_same_hash(tmp_path):
    """Then there was no other order than that of the input."""
    recipe = load_recipe(OLDER / "manifest.json")
    assert recipe.settings.keep_order is True
    assert hashlib.sha256((OLDER / "people.csv").read_bytes()).hexdigest() == recipe.input_sha256
    assert recipe.settings.attribute_weights == {"age": 2.5}
    with pytest.warns(ShoalWarning, match="written in the order of the input"):
        again = released(files.read(OLDER / "people.csv", **recipe.dialect), recipe.settings)
    again.write(tmp_path / "again.csv")
    assert hashlib.sha256((tmp_path / "again.csv").read_bytes()).hexdigest() == recipe.output_sha256


def test_what_is_no_manifest_is_refused_with_the_reason(tmp_path):
    (tmp_path / "m.json").write_text('{"k": 3}')
    with pytest.raises(ShoalError, match=r"not a manifest of Shoal \(KeyError: 'method'\)"):
        load_recipe(tmp_path / "m.json")
