import json
from dataclasses import asdict
from pathlib import Path

import pytest

from shoal.files import Dialect
from shoal.files.file import hash_of
from shoal.files.sidecar import manifest_about, manifest_path, written_dialect, written_gap_values

DIALECT = Dialect(";", encoding="utf-16", decimal=",")


def test_the_manifest_stands_beside_its_release():
    assert manifest_path(Path("folder/safe.csv")) == Path("folder/safe.csv.manifest.json")


def test_a_file_was_written_as_the_manifest_about_its_bytes_says(tmp_path):
    path = tmp_path / "safe.csv"
    path.write_text("a;b\n")
    assert written_dialect(manifest_about(path)) == {}
    output = {"sha256": hash_of(path), "dialect": asdict(DIALECT)}
    manifest_path(path).write_text(json.dumps({"output": output}))
    assert written_dialect(manifest_about(path)) == DIALECT.said()
    path.write_text("a;b\n1;2\n")
    assert written_dialect(manifest_about(path)) == {}


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"output": null}', '{"output": {"sha256": "x"}}', "\x00"])
def test_what_is_no_manifest_says_nothing(tmp_path, text):
    (tmp_path / "safe.csv").write_text("a;b\n")
    manifest_path(tmp_path / "safe.csv").write_text(text)
    assert written_dialect(manifest_about(tmp_path / "safe.csv")) == {}
    assert written_gap_values(manifest_about(tmp_path / "safe.csv"), ["a"]) == {"a": None}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, {"a": None, "b": None}),
        ({}, {"a": None, "b": None}),
        (["-9"], {"a": ["-9"], "b": ["-9"]}),
        ({"a": ["?"]}, {"a": ["?"], "b": None}),
        ({"": ["-9"], "b": []}, {"a": ["-9"], "b": []}),
    ],
)
def test_the_manifest_says_what_stands_for_a_gap(tmp_path, said, expected):
    path = tmp_path / "safe.csv"
    path.write_text("a;b\n")
    manifest = {"gap_values": said, "output": {"sha256": hash_of(path)}}
    manifest_path(path).write_text(json.dumps(manifest))
    assert written_gap_values(manifest_about(path), ["a", "b"]) == expected
