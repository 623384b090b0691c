"""The checker of fuzzed releases is right itself: each thing that can be wrong with a release is found."""

import ast
import hashlib
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from case import MARK, Case, Column
from checker import WrongError, check_left, check_refusal, check_release

HERE = Path(__file__).parent
AGES = ["31", "33", "62", "65", "64", "61"]
WEIGHTS = ["61.5", "64.0", "80.2", "77.7", "79.5", "79.4"]
TOWNS = ["Ulm", "Bonn", "Ulm", "", "Köln", "NA"]
GROUPS = [[0, 1], [2, 5], [3, 4]]
RELEASED = {"age": ["32", "62", "64"], "weight": ["62.8", "79.8", "78.6"]}


def table():
    """Names that must not leave, two numbers and a text."""
    return [
        Column("name", "identifier", [f"{MARK}{i}" for i in range(6)]),
        Column("age", "quasi", AGES, values=[Fraction(text) for text in AGES]),
        Column("weight", "quasi", WEIGHTS, values=[Fraction(text) for text in WEIGHTS], kind="float", decimals=1),
        Column("town", "confidential", TOWNS),
    ]


def loss_of(columns):
    """In per cent, on z-scores, worked out once more."""
    sse = sst = 0.0
    for name, texts in (("age", AGES), ("weight", WEIGHTS)):
        values = [float(text) for text in texts]
        middle = sum(values) / 6
        own = sum((value - middle) ** 2 for value in values)
        sse += sum((a - float(b)) ** 2 for a, b in zip(values, columns[name], strict=True)) / own
        sst += 1
    return 100 * sse / sst


def released():
    """The columns of a right release."""
    columns = {name: [""] * 6 for name in RELEASED}
    for name, texts in RELEASED.items():
        for text, rows in zip(texts, GROUPS, strict=True):
            for row in rows:
                columns[name][row] = text
    return columns | {"town": list(TOWNS)}


def written(folder, columns, k=2, key=None, **news):
    """A release and its manifest, and the case that they belong to."""
    case = Case("by hand", "people.csv", b"", table(), k, "safe.csv")
    case.settings = {"keep_order": key is None}
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    dialect = {"delimiter": ",", "quote": '"', "encoding": "utf-8", "decimal": "."}
    loss, alone = news.pop("information_loss", loss_of(released())), {"unique": 4, "records_below_k": 4}
    figures = {"information_loss": {"value": loss}, "groups": {"value": 3}}
    left = news.pop("untouched", {"confidential": alone, "others": alone})
    manifest = {"figures": figures | {f"untouched_{name}": {"details": said} for name, said in left.items()}} | {
        "keep_order": key is None,
        "key": key,
        **news,
    }
    manifest["output"] = {"dialect": dialect, "verified_k": 2}
    path = folder / "safe.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "safe.csv.manifest.json").write_text(json.dumps(manifest))
    return case, path


def test_a_right_release_passes(tmp_path):
    check_release(*written(tmp_path, released()))


@pytest.mark.parametrize(
    ("name", "row", "value", "found"),
    [
        ("age", 0, "31", "a group of 1"),
        ("town", 0, "Bonn", "'town' was changed"),
        ("town", 3, "NA", "'town' was changed"),
        ("weight", 0, "62.80", "a group of 1"),
    ],
)
def test_one_changed_value_is_found(tmp_path, name, row, value, found):
    columns = released()
    columns[name][row] = value
    with pytest.raises(WrongError, match=found):
        check_release(*written(tmp_path, columns))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("age", "33", "not their mean"),
        ("age", "32.0", "no longer whole"),
        ("age", "30", "out of their range"),
        ("weight", "62.9", "not their mean"),
        ("weight", "62.75", "2 decimals and came with 1"),
        ("weight", "sixty", "no number"),
        ("weight", "nan", "no number"),
    ],
)
def test_a_wrong_common_value_is_found(tmp_path, name, value, found):
    columns = released()
    columns[name][:2] = [value, value]
    with pytest.raises(WrongError, match=found):
        check_release(*written(tmp_path, columns))


def test_digits_that_give_the_last_member_away_are_found(tmp_path):
    columns = released()
    columns["weight"] = [{"62.8": "62.75", "79.8": "79.80", "78.6": "78.60"}[text] for text in columns["weight"]]
    case, path = written(tmp_path, columns, information_loss=loss_of(columns))
    case.columns[2].decimals = 2
    with pytest.raises(WrongError, match="finer than its groups allow"):
        check_release(case, path)


ORDER = [5, 3, 2, 4, 1, 0]
KEY = "000102030405060708090a0b0c0d0e0f"


def reordered(order):
    """The columns of a right release, their rows in another order."""
    return {name: [values[row] for row in order] for name, values in released().items()}


def test_rows_in_the_order_of_their_key_pass_and_in_any_other_are_found(tmp_path):
    check_release(*written(tmp_path, reordered(ORDER), key=KEY))
    for wrong in (range(6), ORDER[::-1], [*ORDER[1:], ORDER[0]]):
        with pytest.raises(WrongError, match="was changed|not their mean|out of their range"):
            check_release(*written(tmp_path, reordered(wrong), key=KEY))


@pytest.mark.parametrize(
    ("asked", "news", "found"),
    [
        ({"keep_order": True}, {"key": KEY}, "another order of the rows"),
        ({"key": KEY}, {}, "another order of the rows"),
        ({"key": "0" * 32}, {"key": KEY}, "another key"),
        ({}, {"key": "7"}, "the key '7'"),
    ],
)
def test_an_order_that_was_not_asked_for_is_found(tmp_path, asked, news, found):
    case, path = written(tmp_path, reordered(ORDER), **news)
    case.settings = asked
    with pytest.raises(WrongError, match=found):
        check_release(case, path)


def test_a_key_in_the_release_is_found(tmp_path):
    columns = reordered(ORDER)
    columns["town"][0] = KEY
    with pytest.raises(WrongError, match="the key is in the bytes"):
        check_release(*written(tmp_path, columns, key=KEY))


def test_categories_in_the_order_in_which_they_came_are_found(tmp_path):
    listed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int32()), ["b", "a"])
    case, path = typed(tmp_path, kind=listed)
    manifest = path.with_name("safe.parquet.manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"keep_order": False, "key": KEY}))
    case.settings = {}
    with pytest.raises(WrongError, match="the categories of 'kind' stand in the order in which they came"):
        check_release(case, path)


def test_untouched_values_that_changed_places_are_found(tmp_path):
    columns = released()
    columns["town"][:2] = columns["town"][1::-1]
    with pytest.raises(WrongError, match="'town' was changed"):
        check_release(*written(tmp_path, columns))


def test_a_record_that_is_missing_is_found(tmp_path):
    columns = {name: values[:-1] for name, values in released().items()}
    with pytest.raises(WrongError, match="5 records, not 6"):
        check_release(*written(tmp_path, columns))


def test_a_group_below_k_is_found(tmp_path):
    with pytest.raises(WrongError, match="a group of 2, where k is 3"):
        check_release(*written(tmp_path, released(), k=3))


def test_an_identifier_is_found(tmp_path):
    with pytest.raises(WrongError, match="columns"):
        check_release(*written(tmp_path, {"name": [f"{MARK}{i}" for i in range(6)]} | released()))
    columns = released()
    columns["town"][0] = f"{MARK}0"
    with pytest.raises(WrongError, match="must not leave"):
        check_release(*written(tmp_path, columns))


def test_a_record_among_the_names_of_columns_is_found(tmp_path):
    columns = dict(zip(["31", "61.5", "Ulm"], released().values(), strict=True))
    with pytest.raises(WrongError, match="columns"):
        check_release(*written(tmp_path, columns))


def test_columns_in_another_order_are_found(tmp_path):
    with pytest.raises(WrongError, match="columns"):
        check_release(*written(tmp_path, dict(reversed(released().items()))))


def test_a_loss_that_is_not_that_of_the_values_is_found(tmp_path):
    with pytest.raises(WrongError, match="the loss is stated as"):
        check_release(*written(tmp_path, released(), information_loss=loss_of(released()) * 1.00001))


def test_a_verified_k_that_was_not_counted_is_found(tmp_path):
    case, path = written(tmp_path, released())
    manifest = json.loads((tmp_path / "safe.csv.manifest.json").read_text())
    manifest["output"]["verified_k"] = 3
    (tmp_path / "safe.csv.manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(WrongError, match="verified k is 3, not 2"):
        check_release(case, path)


def test_records_that_are_alone_on_untouched_columns_are_counted_anew(tmp_path):
    figure = {"unique": 4, "records_below_k": 4}
    check_release(*written(tmp_path, released(), untouched={"confidential": figure}))
    with pytest.raises(WrongError, match="confidential: \\(3, 4\\) unique and below k, and counted \\(4, 4\\)"):
        check_release(*written(tmp_path, released(), untouched={"confidential": figure | {"unique": 3}}))
    with pytest.raises(WrongError, match="nothing is said about the columns that are confidential"):
        check_release(*written(tmp_path, released(), untouched={}))


def test_a_strict_release_whose_other_columns_tell_records_apart_is_found(tmp_path):
    case, path = written(tmp_path, released())
    case.columns[3].role = "other"
    check_release(case, path)
    case.extras = ["--strict"]
    with pytest.raises(WrongError, match="in spite of --strict"):
        check_release(case, path)


def typed(folder, **changed):
    """A release of a Parquet file, some of its columns changed."""
    whole = pa.table(
        {
            "name": [f"{MARK}{i}" for i in range(4)],
            "age": pa.array([1, 3, 7, 9], pa.int16()),
            "seen": pa.array([1, 2, None, 4], pa.timestamp("us", "UTC")),
            "kind": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
        }
    )
    right = whole.drop_columns("name").set_column(0, "age", pa.array([2, 2, 8, 8], pa.int16()))
    for name, values in changed.items():
        right = right.set_column(right.column_names.index(name), name, values)
    pyarrow.parquet.write_table(whole, folder / "people.parquet")
    pyarrow.parquet.write_table(right, folder / "safe.parquet")
    (folder / "safe.parquet.manifest.json").write_text(
        json.dumps(
            {
                "figures": {
                    "information_loss": {"value": 100 * 4 / 40},
                    "groups": {"value": 2},
                    "untouched_others": {"details": {"unique": 4, "records_below_k": 4}},
                    "untouched_confidential": {"details": {"unique": 0, "records_below_k": 0}},
                },
                "output": {"verified_k": 2},
                "keep_order": True,
                "key": None,
            }
        )
    )
    roles = ["identifier", "quasi", "other", "confidential"]
    columns = [Column(n, role, array=whole[n]) for n, role in zip(whole.column_names, roles, strict=True)]
    columns[1].values = [Fraction(age) for age in (1, 3, 7, 9)]
    content = (folder / "people.parquet").read_bytes()
    case = Case("by hand", "people.parquet", content, columns, 2, "safe.parquet")
    case.settings = {"keep_order": True}
    return case, folder / "safe.parquet"


def test_a_right_release_with_types_passes(tmp_path):
    check_release(*typed(tmp_path))


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"age": pa.array([2, 2, 8, 8], pa.int32())}, "'age' is of type int32"),
        ({"age": pa.array([2, 2, 9, 9], pa.int16())}, "not their mean"),
        ({"seen": pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC"))}, "'seen' was changed"),
        ({"seen": pa.array([1, 2, None, 4], pa.timestamp("us"))}, "'seen' is of type"),
        ({"kind": pa.array(["a", "b", "a", "b"])}, "'kind' is of type string"),
        (
            {"kind": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int32()), ["a", "b", f"{MARK}0"])},
            "must not leave",
        ),
    ],
)
def test_a_wrong_release_with_types_is_found(tmp_path, changed, found):
    with pytest.raises(WrongError, match=found):
        check_release(*typed(tmp_path, **changed))


def test_a_refusal_is_one_line_and_status_2():
    check_refusal(2, "", "shoal: warning: careful\nshoal: there is no file x.csv\n")
    for status, out, err in [
        (70, "", "shoal: internal error\n"),
        (1, "", "shoal: no\n"),
        (2, "", "Traceback (most recent call last):\n"),
        (2, "", "shoal: two\nshoal: lines\n"),
        (2, "", ""),
        (2, "something", "shoal: no\n"),
    ]:
        with pytest.raises(WrongError):
            check_refusal(status, out, err)


def test_what_is_left_behind_is_found(tmp_path):
    check_left(tmp_path, set())
    (tmp_path / ".safe.csv.x.part").touch()
    with pytest.raises(WrongError, match="part"):
        check_left(tmp_path, set())


def test_the_checker_and_the_generator_share_no_code_with_shoal():
    for path in HERE.glob("*.py"):
        if path.name == "run.py" or path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", [])] + [getattr(node, "module", None) or ""]
            assert not any(name.split(".")[0] == "shoal" for name in names), path.name
    asked = "import checker, generate, sys; sys.exit('shoal' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], cwd=HERE, check=False).returncode == 0


def test_a_label_stands_for_one_case():
    from generate import generate

    for number in range(50):
        first, second = generate(f"same:{number}"), generate(f"same:{number}")
        assert hashlib.sha256(first.content).digest() == hashlib.sha256(second.content).digest()
        assert (first.k, first.settings, first.dialect) == (second.k, second.settings, second.dialect)


SEXES = ["f", "f", "m", "m", "f", "m"]


def with_words(folder, words, **news):
    """A release of the same table in which the towns are a quasi-identifier of categories."""
    case, path = written(folder, released() | {"town": words}, untouched={}, **news)
    case.columns[-1] = Column("town", "quasi", SEXES, kind="category", words=SEXES)
    return case, path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["f", "f", "m", "m", "m", "m"], "the loss is stated"),
        (["f", "f", "f", "m", "m", "f"], "'town': 'f' for"),
        (["x", "x", "m", "m", "m", "m"], "'town': 'x' for"),
        (["f", "m", "m", "m", "m", "m"], "a group of 1"),
    ],
)
def test_categories_that_are_not_the_most_frequent_ones_are_found(tmp_path, words, found):
    with pytest.raises(WrongError, match=found):
        check_release(*with_words(tmp_path, words))


def test_the_loss_of_categories_counts_the_ones_that_change(tmp_path):
    """A half of the sexes each: a change costs 4, all of them would cost 12."""
    loss = (loss_of(released()) * 12 + 100 * 4) / (12 + 12)
    check_release(*with_words(tmp_path, ["f", "f", "m", "m", "m", "m"], information_loss=loss))
