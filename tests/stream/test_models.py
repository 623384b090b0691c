"""Privacy models in a table that is anonymized in blocks: what is promised is found on the bytes by other code."""

import csv
import json
import os
import signal
import subprocess
import sys
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import shoal
from shoal.errors import ShoalError
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, PSensitivity, TCloseness
from shoal.stream import anonymize_file
from shoal.stream.groups import group as grouped
from shoal.stream.memory import VALUE, room_beside
from shoal.stream.work import folder_for

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning"), pytest.mark.usefixtures("same_key")]

QUASI = ["age", "weight"]
ROLES = {"quasi_identifiers": QUASI, "confidential": ["illness", "income", "day", "rate", "grade"]}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of a few records, so that small tables have many."""
    monkeypatch.setattr("shoal.files.batches.GROUP", 7)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 3)
    monkeypatch.setattr("shoal.files.text.BLOCK", 256)
    monkeypatch.setattr("shoal.stream.spill.rows_of", lambda m: 5)
    monkeypatch.setattr("shoal.privacy.counting.BUCKET", 20)
    monkeypatch.setattr("shoal.stream.ordering.HELD", 300)
    monkeypatch.setattr("shoal.stream.ordering.BITS", 2)


def patients(n, seed=0):
    """Words, numbers as text, dates and known orders, with gaps of several spellings and ties."""
    rng = np.random.default_rng(seed)
    words = np.array(["flu", "gout", "asthma", "cancer", "none"])
    number = rng.integers(0, 8, n)
    return {
        "age": rng.integers(18, 90, n).tolist(),
        "weight": rng.normal(70, 12, n).round(1).tolist(),
        "illness": [None if i % 11 == 0 else f" {word}" for i, word in enumerate(words[rng.integers(0, 5, n)])],
        "income": ["n/a" if i % 13 == 0 else (f"{v}.0" if i % 2 else f"{v}") for i, v in enumerate(number)],
        "day": [f"{1 + v % 28:02d}.{1 + v % 12:02d}.20{v % 30:02d}" for v in rng.integers(0, 40, n)],
        "rate": rng.integers(0, 30, n).tolist(),
        "grade": np.array(["low", "medium", "high"])[rng.integers(0, 3, n)].tolist(),
    }


def write(columns, path):
    table = pa.table(columns)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="needed"))
    else:
        pyarrow.parquet.write_table(table, path)
    return path


def trimmed(text):
    return None if text.strip().lower() in ("", "n/a") else text.strip()


def as_number(text):
    return None if trimmed(text) is None else f"{float(text):g}"


def as_day(text):
    day, month, year = map(int, text.split("."))
    return str(date(year, month, day).toordinal())


READ = {"illness": trimmed, "income": as_number, "day": as_day, "rate": as_number, "grade": trimmed}
ORDERS = {"income": float, "rate": float, "day": int, "grade": ["low", "medium", "high"].index, "illness": None}


def judged(path, model):
    """What the twin finds in the groups of a file, which is read by Python's csv module."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups = {}
    for number, row in enumerate(rows):
        groups.setdefault(tuple(row[name] for name in QUASI), []).append(number)
    assert min(map(len, groups.values())) >= 3
    values = [READ[model.on](row[model.on]) for row in rows]
    key = ORDERS[model.on]
    line = None if key is None else sorted({value for value in values if value is not None}, key=key)
    said = model.as_dict()
    if model.name == "t-closeness":
        said.setdefault("distance", "equal" if line is None else "ordered")
    return naive.naive_judge(said, values, range(len(values)), groups.values(), line)


def holds(path, model, figure):
    """Whether all groups keep a model, and the worst of them is as it was said."""
    found = judged(path, model)
    worst = min if model.at_least else max
    harmless = [
        model.at_least and model.sensitive_values and kept and value < model.asked for value, kept, _ in found
    ]
    values = [value for (value, _, _), left_out in zip(found, harmless, strict=True) if not left_out]
    assert figure.value == pytest.approx(float(worst(values)), abs=1e-9)
    return all(kept or near for _, kept, near in found)


MODELS = {
    "distinct": LDiversity(3, on="illness"),
    "some values": LDiversity(2, on="illness", sensitive_values=["cancer", "gout"]),
    "sensitivity": PSensitivity(3, on="income"),
    "entropy": LDiversity(2.2, "entropy", on="illness"),
    "ordered": TCloseness(0.25, on="income"),
    "known order": TCloseness(0.3, on="grade"),
    "words": TCloseness(0.5, on="illness"),
    "ranks": TCloseness(0.25, "ranks", on="rate"),
    "wasserstein": TCloseness(0.2, "wasserstein", on="rate"),
    "dates": TCloseness(0.3, "wasserstein", on="day"),
    "information": TCloseness(0.8, "kullback-leibler", on="grade"),
    "alpha": AlphaK(0.5, on="illness"),
    "beta": BetaLikeness(2, on="illness"),
    "delta": DeltaDisclosure(1.3, on="grade"),
}


@pytest.mark.parametrize("blocks", [1, 2, 3, 8])
@pytest.mark.parametrize("name", MODELS)
def test_every_group_of_the_file_keeps_a_model(tmp_path, name, blocks):
    path, model = write(patients(160), tmp_path / "in.csv"), MODELS[name]
    found = anonymize_file(path, tmp_path / "out.csv", 3, blocks=blocks, models=[model], method="mdav", **ROLES)
    assert found.blocks == blocks
    figure = found.risk[f"{model.called}_{model.on}"]
    assert holds(found.path, model, figure)
    assert "holds on the bytes written" in figure.sentence
    said = found.manifest["figures"][figure.name]["details"]
    assert (said["holds"], said["groups_broken"]) == (True, 0)
    assert said["gaps"] == {"illness": 15, "income": 13}.get(model.on, 0)
    assert not folder_for(found.path).exists()


def test_what_a_model_demands_is_not_there_by_itself(tmp_path):
    path = write(patients(160), tmp_path / "in.csv")
    anonymize_file(path, tmp_path / "out.csv", 3, blocks=4, method="mdav", **ROLES)
    broken = [
        name for name in MODELS if not all(kept for _, kept, _ in judged(tmp_path / "out.csv", MODELS[name]))
    ]
    assert broken == list(MODELS)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sets(st.sampled_from(sorted(MODELS)), min_size=2, max_size=4))
def test_several_models_hold_together_whatever_the_table(tmp_path, seed, blocks, names):
    path, models = write(patients(130, seed), tmp_path / "in.csv"), [MODELS[name] for name in sorted(names)]
    asked = {"k": 3, "blocks": blocks, "models": models, "method": "mdav", "overwrite": True} | ROLES
    found = anonymize_file(path, tmp_path / "out.csv", **asked)
    said = found.manifest["figures"]
    assert all(said[f"{model.called}_{model.on}"]["details"]["holds"] for model in models)
    for model in models:
        assert all(kept or near for _, kept, near in judged(found.path, model))


@pytest.mark.parametrize(("before", "after"), [("csv", "csv"), ("csv", "parquet"), ("parquet", "csv")])
@pytest.mark.parametrize("method", ["mdav", "auto", "t-closeness-merging"])
def test_one_block_is_the_release_in_memory_byte_for_byte(tmp_path, before, after, method):
    path = write(patients(90), tmp_path / f"in.{before}")
    names = ["ordered"] if method.startswith("t-") else ["distinct", "ordered", "dates", "alpha", "delta"]
    asked = {"k": 3, "models": [MODELS[name] for name in names], "method": method} | ROLES
    release = shoal.anonymize(path, **asked)
    release.write(tmp_path / f"memory.{after}")
    found = anonymize_file(path, tmp_path / f"stream.{after}", blocks=1, **asked)
    assert (tmp_path / f"stream.{after}").read_bytes() == (tmp_path / f"memory.{after}").read_bytes()
    mine, other = dict(found.manifest), dict(release.manifest)
    assert mine.pop("output") | {"name": ""} == other.pop("output") | {"name": ""}
    assert mine == other
    assert {figure.name: figure for figure in found.figures} == {
        figure.name: figure for figure in release.shown_figures
    }


def test_ranks_are_those_of_the_rows_as_they_leave(tmp_path):
    path, model = write(patients(120), tmp_path / "in.csv"), MODELS["ranks"]
    asked = {"k": 3, "models": [model], "method": "mdav"} | ROLES
    for keep_order in (False, True):
        target = tmp_path / f"{keep_order}.csv"
        found = anonymize_file(path, target, keep_order=keep_order, blocks=2, **asked)
        assert holds(target, model, found.risk["t-closeness_ranks_rate"])
    shoal.anonymize(path, keep_order=True, **asked).write(tmp_path / "memory.csv")
    anonymize_file(path, tmp_path / "one.csv", keep_order=True, blocks=1, **asked)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


def test_the_price_and_what_groups_tell_are_those_of_all_blocks(tmp_path):
    path = write(patients(200), tmp_path / "in.csv")
    asked = {"k": 3, "blocks": 4, "models": [MODELS["distinct"], MODELS["ordered"]], "method": "auto"} | ROLES
    found = anonymize_file(path, tmp_path / "out.csv", **asked)
    plain = anonymize_file(path, tmp_path / "plain.csv", **asked | {"models": []})
    before, after = found.utility["loss_without_models"].value, found.utility["points_loss"].value
    assert 0 < before < after
    assert before == pytest.approx(plain.utility["points_loss"].value, rel=0.2)
    with found.path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = sorted({tuple(row[name] for name in QUASI) for row in rows})
    for name in ("illness", "income"):
        values = [READ[name](row[name]) for row in rows]
        pairs = [
            (keys.index(tuple(row[name] for name in QUASI)), value)
            for row, value in zip(rows, values, strict=True)
            if value is not None
        ]
        assert found.risk[f"information_{name}"].value == pytest.approx(mutual(pairs))
        said = found.risk[f"information_{name}"].details
        rng = np.random.default_rng(1)
        shuffled = [value for _, value in pairs]
        chance = []
        for _ in range(40):
            rng.shuffle(shuffled)
            chance.append(mutual([(group, value) for (group, _), value in zip(pairs, shuffled, strict=True)]))
        assert said["by_chance"] == pytest.approx(np.mean(chance), abs=3 * np.std(chance))


def mutual(pairs):
    """The information of one column about another, pair by pair."""
    n = len(pairs)
    both, left, right = ({} for _ in range(3))
    for group, value in pairs:
        both[group, value] = both.get((group, value), 0) + 1
        left[group] = left.get(group, 0) + 1
        right[value] = right.get(value, 0) + 1
    return sum(c / n * np.log(c * n / (left[group] * right[value])) for (group, value), c in both.items())


def test_where_participation_is_uncertain_a_stream_has_the_larger_k_and_says_so(tmp_path):
    path = write(patients(160), tmp_path / "in.csv")
    asked = {"k": 3, "participation": 0.8, "method": "mdav"} | ROLES
    release = shoal.anonymize(path, **asked)
    found = anonymize_file(path, tmp_path / "out.csv", blocks=4, **asked)
    figures = {figure.name: figure for figure in release.figures}
    assert {figure.name: figure for figure in found.figures}["participating_k"] == figures["participating_k"]
    assert found.verified_k >= release.partition.k > 3


class StoppedError(Exception):
    pass


ASKED = {"k": 3, "blocks": 4, "models": [MODELS["distinct"], MODELS["ranks"], MODELS["dates"]], "method": "auto"}


@settings(max_examples=12)
@given(st.floats(0, 0.999), st.floats(0, 0.999))
def test_stopped_anywhere_it_resumes_to_the_same_bytes_and_figures(tmp_path, first, second):
    path, output, whole = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "whole.csv"
    asked = ASKED | {"method": "mdav"}  # a search takes long, and is made anew or not at all
    if not whole.exists():
        write(patients(100), path)
        anonymize_file(path, whole, **asked, **ROLES)
    for part in (first, second):

        def stop(done, total, part=part):
            if done >= part * total:
                raise StoppedError

        with pytest.raises(StoppedError):
            anonymize_file(path, output, progress=stop, **asked, **ROLES)
        assert not output.exists()
    found = anonymize_file(path, output, **asked, **ROLES)
    assert output.read_bytes() == whole.read_bytes()
    expected = json.loads((tmp_path / "whole.csv.manifest.json").read_text())
    assert found.manifest["figures"] == expected["figures"]
    output.unlink()
    output.with_name("out.csv.manifest.json").unlink()


KILLED = """
import sys, time, warnings
warnings.simplefilter("ignore")
import shoal
from shoal.privacy.models import LDiversity, TCloseness

def slowly(done, total):
    if done > float(sys.argv[3]) * total:
        print("here", flush=True)
        time.sleep(60)

shoal.anonymize_file(sys.argv[1], sys.argv[2], k=3, blocks=4, quasi_identifiers=["age", "weight"],
                     confidential=["illness", "income", "day", "rate", "grade"], progress=slowly, method="mdav",
                     models=[LDiversity(3, on="illness"), TCloseness(0.25, "ranks", on="rate")])
"""


@pytest.mark.parametrize("part", [0.2, 0.6, 0.93])
def test_killed_it_resumes_to_the_same_bytes(tmp_path, part):
    path, output = write(patients(400), tmp_path / "in.csv"), tmp_path / "out.csv"
    command = [sys.executable, "-c", KILLED, str(path), str(output), str(part)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    asked = {"k": 3, "blocks": 4, "method": "mdav", "models": [MODELS["distinct"], MODELS["ranks"]]} | ROLES
    key = anonymize_file(path, output, **asked).manifest["key"]
    anonymize_file(path, tmp_path / "whole.csv", key=key, **asked)
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not folder_for(output).exists()


class Killed(BaseException):
    pass


def test_killed_while_it_gives_names_the_figures_are_the_same(tmp_path, monkeypatch):
    path, output = write(patients(100), tmp_path / "in.csv"), tmp_path / "out.csv"
    whole = anonymize_file(path, tmp_path / "whole.csv", **ASKED, **ROLES)

    def give_names(made, paths, overwrite):
        os.link(made[0], paths[0])
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("shoal.stream.run.give_names", give_names)
        with pytest.raises(Killed):
            anonymize_file(path, output, **ASKED, **ROLES)
    monkeypatch.setattr("shoal.stream.run.ReleaseWriter.write", lambda *_: pytest.fail("it is written already"))
    made = anonymize_file(path, output, **ASKED, **ROLES)
    assert output.read_bytes() == whole.path.read_bytes()
    assert made.figures == whole.figures


def test_other_models_are_other_settings(tmp_path):
    path, output = write(patients(100), tmp_path / "in.csv"), tmp_path / "out.csv"

    def stop(done, total):
        if done > 0.6 * total:
            raise StoppedError

    with pytest.raises(StoppedError):
        anonymize_file(path, output, progress=stop, **ASKED, **ROLES)
    with pytest.raises(ShoalError, match=r"started with other settings \(models\)"):
        anonymize_file(path, output, **ASKED | {"models": []}, **ROLES)
    assert anonymize_file(path, output, **ASKED, **ROLES).n_records == 100


def sorted_by_age(n):
    """Each end of the table has one value, so that a block of it has no other."""
    return patients(n) | {
        "age": list(range(n)),
        "weight": [1] * n,
        "grade": ["low"] * (n // 2) + ["high"] * (n // 2),
    }


REFUSED = [
    (
        LDiversity(2, on="grade"),
        "even block 1 of 2 as one group has l = 1; use fewer blocks, give more --memory, or",
    ),
    (AlphaK(0.7, on="grade"), "even block 1 of 2 as one group has alpha = 1; use fewer blocks"),
    (LDiversity(9, on="illness"), "l = 9 on 'illness' .distinct l-diversity. cannot be had"),
    (AlphaK(0.5, on="illness", sensitive_values=["plague"]), "no record has the sensitive value 'plague'"),
    (TCloseness(0.2, "ranks", on="illness"), "needs an order, and the values of 'illness' have none"),
    (TCloseness(0.2, "wasserstein", on="grade"), "needs numbers or dates, and 'grade' has an order only"),
    (TCloseness(0.2, order=["low"], on="grade"), "values that its order does not name: 'high'"),
    (TCloseness(0.2, "hierarchical", taxonomy={"all": {"flu": {}}}, on="illness"), "the taxonomy does not name"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED, ids=[str(model) for model, _ in REFUSED])
def test_what_cannot_be_had_in_blocks_is_refused_in_one_line_and_leaves_nothing(tmp_path, model, message):
    path = write(sorted_by_age(60), tmp_path / "in.csv")
    with pytest.raises(ShoalError, match=message) as refused:
        anonymize_file(path, tmp_path / "out.csv", 3, blocks=2, models=[model], method="mdav", **ROLES)
    assert "\n" not in str(refused.value)
    assert os.listdir(tmp_path) == ["in.csv"]


def test_one_block_keeps_what_two_cannot(tmp_path):
    path = write(sorted_by_age(60), tmp_path / "in.csv")
    asked = {"k": 3, "models": [AlphaK(0.7, on="grade")], "method": "mdav"} | ROLES
    found = anonymize_file(path, tmp_path / "out.csv", blocks=1, **asked)
    assert holds(found.path, asked["models"][0], found.risk["alpha_grade"])


def test_the_whole_table_as_one_block_is_called_so(tmp_path):
    path = write(patients(60), tmp_path / "in.csv")
    with pytest.raises(ShoalError, match="even the whole table as one group has l = 5$"):
        anonymize_file(path, tmp_path / "out.csv", 3, blocks=1, models=[LDiversity(9, on="illness")], **ROLES)
    assert os.listdir(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        ([None] * 40, pa.string(), "column 'what' has no value in any record"),
        ([None] * 40, pa.null(), "column 'what' has no value in any record"),
        ([[n] for n in range(40)], pa.list_(pa.int64()), "type list.* holds values that cannot be compared"),
    ],
)
def test_columns_that_no_model_can_be_about_are_refused(tmp_path, column, kind, message):
    pyarrow.parquet.write_table(
        pa.table({"x": range(40), "what": pa.array(column, kind)}), tmp_path / "in.parquet"
    )
    asked = {"k": 3, "quasi_identifiers": "x", "confidential": "what", "models": [LDiversity(2, on="what")]}
    with pytest.raises(ShoalError, match=message):
        anonymize_file(tmp_path / "in.parquet", tmp_path / "out.csv", blocks=2, **asked)
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_file_that_breaks_a_model_is_never_released(tmp_path, monkeypatch):
    path = write(patients(100), tmp_path / "in.csv")
    monkeypatch.setattr("shoal.stream.run.group", lambda *given: grouped(*given[:-1], None))
    with pytest.raises(ShoalError, match="does not hold on the file as written: .* groups break it; it was not"):
        anonymize_file(path, tmp_path / "out.csv", 3, blocks=4, models=[MODELS["distinct"]], **ROLES)
    assert os.listdir(tmp_path) == ["in.csv"]


def test_too_many_words_are_refused_and_as_many_numbers_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.privacy.parts.MOST", 10)
    n = 60
    columns = {
        "x": list(range(n)),
        "words": [f"w{i % 30}" for i in range(n)],
        "numbers": [f"{i}.5" for i in range(n)],
    }
    path = write(columns, tmp_path / "in.csv")
    asked = {"k": 3, "quasi_identifiers": "x", "confidential": ["words", "numbers"], "blocks": 2, "method": "mdav"}
    with pytest.raises(ShoalError, match="'words' has more than 10 different values that are no numbers"):
        anonymize_file(path, tmp_path / "out.csv", models=[LDiversity(2, on="words")], **asked)
    assert os.listdir(tmp_path) == ["in.csv"]
    found = anonymize_file(path, tmp_path / "out.csv", models=[TCloseness(0.3, on="numbers")], **asked)
    assert found.risk["t-closeness_numbers"].value <= 0.3


def test_values_that_take_more_than_the_memory_are_refused(tmp_path, monkeypatch):
    assert room_beside(0, 10**9) == 10**9
    assert room_beside(1000, 10**9) == 10**9 - 1000 * VALUE
    path = write(patients(100), tmp_path / "in.csv")
    monkeypatch.setattr("shoal.stream.run.size_in_memory", lambda _: 5 * 10**9)
    monkeypatch.setattr("shoal.stream.memory.VALUE", 10**8)
    asked = {"k": 3, "method": "mdav"} | ROLES
    with pytest.raises(ShoalError, match=r"about 30 different values .* give --memory 6.5GB"):
        anonymize_file(path, tmp_path / "out.csv", models=[TCloseness(0.3, on="rate")], **asked)
    assert os.listdir(tmp_path) == ["in.csv"]
    assert anonymize_file(path, tmp_path / "out.csv", models=[LDiversity(2, on="grade")], **asked).blocks == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_is_verified_in_parts_shows_what_it_shows_in_memory(tmp_path, monkeypatch, kind):
    path = write(patients(160), tmp_path / f"in.{kind}")
    models = list(MODELS.values())
    target = tmp_path / f"out.{kind}"
    anonymize_file(path, target, 3, blocks=4, models=[MODELS["distinct"]], method="mdav", **ROLES)
    whole = shoal.verify(target, QUASI, models=models).models
    monkeypatch.setattr("shoal.verification.is_too_large", lambda *_: True)
    parts = shoal.verify(target, QUASI, models=models).models
    assert [check.as_dict() for check in parts] == [check.as_dict() for check in whole]
    assert sum(not check.holds for check in parts) > 5
