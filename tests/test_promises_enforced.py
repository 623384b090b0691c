"""Privacy models with persons, households, strata and weights: counted by the twin on the bytes that left."""

import csv
import json
from collections import Counter
from dataclasses import replace
from random import Random

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
import shoal
from shoal.errors import ShoalError
from shoal.methods import METHODS
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, PSensitivity, TCloseness
from test_persons import (
    DESIGNS,
    GAPS,
    by,
    check,
    check_refusal,
    designed,
    released,
    rows_in,
    tuples_of,
)

pytestmark = [pytest.mark.filterwarnings("ignore::shoal.ShoalWarning"), pytest.mark.usefixtures("same_key")]

TOGETHER = tuple(name for name, said in DESIGNS.items() if said.get("person_rows") != "apart")
WORDS = ["flu", "gout", "HIV", "none"]
TREE = {"all": {"ill": {"HIV": {}, "lungs": {"flu": {}}, "gout": {}}, "none": {}}}
GAP = {each.strip() for each in GAPS}
CLOSE = ("t-closeness-merging", "k-anonymity-first", "t-closeness-first")


def limits(*numbers):
    return st.sampled_from(numbers)


def ranked(column):
    """What only numbers take."""
    return st.builds(
        TCloseness,
        limits(0.12, 0.2, 0.3, 0.5),
        limits(None, "ordered", "ranks", "ranks", "wasserstein"),
        on=column,
    )


def nominal(column):
    """What any values take."""
    on = {"on": column}
    harmful = st.sampled_from([(), (), ("HIV",), ("HIV", "flu")]) if column == st.just("ill") else st.just(())
    some = {**on, "sensitive_values": harmful}
    return st.one_of(
        st.builds(LDiversity, limits(2, 2, 3), **some),
        st.builds(LDiversity, limits(1.2, 1.5, 2), st.just("entropy"), **on),
        st.builds(LDiversity, limits(1, 2), st.just("recursive"), limits(1.5, 2, 4), **on),
        st.builds(PSensitivity, limits(2, 3), **some),
        st.builds(AlphaK, limits(0.6, 0.75, 0.9), **some),
        st.builds(BetaLikeness, limits(0.5, 1, 3), st.booleans(), **some),
        st.builds(DeltaDisclosure, limits(1, 2, 3), limits("infinite", "ignore"), **some),
        st.builds(TCloseness, limits(0.2, 0.35, 0.5), limits("equal", "kullback-leibler"), **on),
    )


TREES = st.builds(TCloseness, limits(0.2, 0.4), st.just("hierarchical"), st.just(TREE), on=st.just("ill"))
MODEL = st.one_of(nominal(st.just("ill")), nominal(st.just("pay")), ranked(st.just("pay")), TREES)
MODELS = st.lists(MODEL, min_size=1, max_size=3, unique_by=str)


@st.composite
def promised(draw, methods=tuple(sorted(METHODS)), designs=TOGETHER, fitting=False, **more):
    """A table as in `test_persons.py` with two confidential columns, and one to three models on them."""
    drawn = draw(designed(designs=designs, methods=methods, **more))
    n = drawn.n
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
    gap = [None] if draw(st.booleans()) else []
    ill = draw(st.lists(st.sampled_from([*words, *words, *gap]), min_size=n, max_size=n))
    pay = draw(st.lists(st.sampled_from([1, 2, 2, 3, 5, 5, 40, *gap]), min_size=n, max_size=n))
    ill[0], pay[0] = words[0], 5  # a column of gaps only is refused
    models = draw(MODELS)
    name = drawn.options["method"].name
    if fitting and name in CLOSE and not any(isinstance(model, TCloseness) for model in models):
        models = [*models[:2], TCloseness(0.3, "ordered", on="pay")]
    if fitting and name == "p-sensitive" and not any(counts_values(model) for model in models):
        models = [*models[:2], PSensitivity(2, on="ill")]
    there = {"ill": {*map(str, ill)}, "pay": {*map(str, pay)}}
    models = [with_values_that_are_there(model, there) for model in models]
    models = list({str(model): model for model in models}.values())
    made = replace(drawn, table=drawn.table | {"ill": ill, "pay": pay})
    if draw(st.integers(0, 4)):  # mostly only what can be had
        parts = made.patterns() or []
        models = [model for model in models if not any(broken_parts(made, model, parts))] or [AlphaK(1, on="ill")]
    return replace(made, options=made.options | {"models": models})


def with_values_that_are_there(model, there):
    if not model.sensitive_values or {*model.sensitive_values} <= there[model.on]:
        return model
    return replace(model, sensitive_values=())


def counts_values(model):
    return isinstance(model, PSensitivity) or (isinstance(model, LDiversity) and model.kind == "distinct")


def text_of(value):
    """A value as another reader has it; None for a gap."""
    return None if value is None or str(value).strip() in GAP else str(value)


def line_of(values, column):
    """The different values in their order, where they have one."""
    there = {value for value in values if value is not None}
    return sorted(there, key=float) if column == "pay" else sorted(there)


def asked_of(model):
    """A model as the twin takes it."""
    said = model.as_dict()
    if isinstance(model, TCloseness) and model.distance is None:
        said["distance"] = "ordered"
    return said


def breaks(model, values, groups, persons):
    """The groups of rows that break a model by the twin, and those where rounding decides."""
    found = naive.naive_judge(asked_of(model), values, persons, groups, line_of(values, model.on), TREE)
    broken = [place for place, (_, holds, near) in enumerate(found) if not holds and not near]
    return broken, [place for place, (_, _, near) in enumerate(found) if near]


def check_models(drawn, release, verification, found, target):
    """All that is promised in `test_persons.py`, and every model on the bytes, in the rows that share their values."""
    check(drawn, release, verification, found, target)
    tuples, places = tuples_of(drawn, found), rows_in(found)
    in_file = sorted(places, key=places.get)
    number = {row: place for place, row in enumerate(in_file)}
    groups = [[number[row] for row in rows] for rows in by(tuples, tuples).values()]
    persons = [drawn.counted[row] for row in in_file]
    for name in ("ill", "pay"):
        assert [text_of(found[name][places[row]]) for row in in_file] == [
            text_of(drawn.table[name][row]) for row in in_file
        ]
    manifest = json.loads(target.with_name(f"{target.name}.manifest.json").read_text(encoding="utf-8"))
    for model, counted in zip(drawn.options["models"], verification.models, strict=True):
        values = [text_of(found[model.on][place]) for place in sorted(places.values())]
        broken, near = breaks(model, values, groups, persons)
        assert not broken, (model, broken)
        assert counted.holds
        assert counted.gaps == values.count(None)
        assert near or manifest["figures"][f"{counted.model.called}_{model.on}"]["details"]["holds"]


def check_model_refusal(drawn, said, folder):
    """What a refusal says is true: a part of the table as one group breaks a model, or it is no matter of models."""
    models, method = drawn.options["models"], drawn.options["method"].name
    if "which is not asked for" in said:
        wanted = counts_values if method == "p-sensitive" else lambda model: isinstance(model, TCloseness)
        assert method in (*CLOSE, "p-sensitive")
        assert not any(wanted(model) for model in models)
        return
    rows = drawn.left()
    if "does not hold on the file as written" in said or "does not hold where groups have the same" in said:
        assert any(is_exception(model) and str(model) in said for model in models), said
        return
    if "has no value in any record" in said:
        assert any(all(drawn.table[model.on][row] is None for row in rows) for model in models)
        return
    if "no record has the sensitive value" in said:
        left = [{text_of(drawn.table[model.on][row]) for row in rows} for model in models]
        assert any({*model.sensitive_values} - own for model, own in zip(models, left, strict=True))
        return
    if "cannot be had: even " not in said:
        check_refusal(drawn, said, folder)
        return
    parts = drawn.patterns()
    assert parts is not None
    assert any(any(broken_parts(drawn, model, parts)) for model in models), said


def broken_parts(drawn, model, parts):
    """The parts of a table that break a model as one group, and those where rounding decides; by the twin."""
    rows = drawn.left()
    number = {row: place for place, row in enumerate(rows)}
    groups, persons = [[number[row] for row in part] for part in parts], [drawn.counted[row] for row in rows]
    values = [text_of(drawn.table[model.on][row]) for row in rows]
    return breaks(model, values, groups, persons) if any(values) else ([0], [])


def is_exception(model):
    """Where absent values are ignored, two groups with the same values may hold, and both together may not."""
    return getattr(model, "absent", None) == "ignore"


def every(examples, drawn_from, folder, least=0.5):
    """Check so many releases; refusals are for true reasons only."""
    seen = Counter()

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(drawn_from)
    def each(drawn):
        try:
            made = released(drawn, folder)
        except ShoalError as error:
            check_model_refusal(drawn, str(error), folder)
            seen["refused"] += 1
        else:
            check_models(drawn, *made)
            seen["released"] += 1
            seen["groups"] += made[0].partition.n_groups > 1

    each()
    assert seen["released"] >= least * examples, seen
    assert seen["groups"] >= 0.4 * seen["released"], seen  # else there is little to see


def test_models_hold_for_whomever_k_counts(tmp_path):
    every(200, promised(), tmp_path)


def test_models_hold_with_a_larger_k_on_some_columns(tmp_path):
    every(80, promised(larger=True), tmp_path, 0.35)


def test_models_hold_where_rows_are_linked(tmp_path):
    every(60, promised(linked=True, designs=tuple(name for name in TOGETHER if DESIGNS[name])), tmp_path)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_keeps_the_models(tmp_path, method):
    every(20, promised(methods=(method,), fitting=True), tmp_path, 0.3)


@pytest.mark.parametrize("way", [{}, {"key": "000102030405060708090a0b0c0d0e0f"}])
def test_ranks_of_records_with_the_same_value_are_those_of_the_file_that_left(tmp_path, way):
    rng = Random(0)
    table = pd.DataFrame({name: [rng.gauss(0, 1) for _ in range(60)] for name in ("age", "size")})
    table["pay"] = [rng.randint(0, 2) for _ in range(60)]
    model = TCloseness(0.12, "ranks", on="pay")
    release = shoal.anonymize(table, 3, ["age", "size"], ["pay"], models=[model], method="refined", **way)
    assert release.write(tmp_path / "out.csv").models[0].holds


def test_the_kept_order_has_the_ranks_of_the_table(tmp_path):
    rng = Random(0)
    table = pd.DataFrame({name: [rng.gauss(0, 1) for _ in range(60)] for name in ("age", "size")})
    table["pay"] = [rng.randint(0, 2) for _ in range(60)]
    model = TCloseness(0.12, "ranks", on="pay")
    release = shoal.anonymize(
        table, 3, ["age", "size"], ["pay"], models=[model], method="refined", keep_order=True
    )
    assert release.write(tmp_path / "out.csv").models[0].holds
    assert release.partition.n_groups > 5


def test_groups_that_break_a_model_are_never_written(tmp_path, monkeypatch):
    """Whatever goes wrong before, what is on the bytes decides."""
    monkeypatch.setattr("shoal.grouping.repaired", lambda points, labels, weights, demands: labels)
    rng = Random(1)
    table = pd.DataFrame(
        {"age": [rng.gauss(40, 9) for _ in range(40)], "ill": [rng.choice("aab") for _ in range(40)]}
    )
    release = shoal.anonymize(table, 3, ["age"], ["ill"], models=[LDiversity(2, on="ill")], method="mdav")
    for name in ("out.csv", "out.parquet"):
        with pytest.raises(
            ShoalError, match=r"l = 2 on 'ill' .* does not hold on the file as written: \d+ groups"
        ):
            release.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_part_of_the_table_that_cannot_keep_a_model_is_called_by_its_name():
    rows = range(12)
    frame = pd.DataFrame({
        "age": rows, "region": ["north"] * 6 + ["south"] * 6, "ill": list("ababab") + ["a"] * 6,
        "size": [1.5, 2] * 2 + [None] * 2 + [3.5] * 6,
    })  # fmt: skip
    asked = {"models": [LDiversity(2, on="ill")], "method": "mdav"}
    with pytest.raises(ShoalError, match=r"cannot be had: even stratum 'south' as one group has l = 1$"):
        shoal.anonymize(frame, 2, ["age"], ["ill"], within="region", identifiers="size", **asked)
    frame["ill"] = list("ababaa" + "ababab")
    said = (
        r"even 2 rows of stratum 'north', kept apart by the gaps \(--gaps value puts them among others\) .* l = 1$"
    )
    with pytest.raises(ShoalError, match=said):
        shoal.anonymize(frame, 2, ["age", "size"], ["ill"], within="region", gaps="blank", **asked)
    with pytest.raises(ShoalError, match="even 2 rows, kept apart by the gaps"):
        shoal.anonymize(frame, 2, ["age", "size"], ["ill"], identifiers="region", gaps="blank", **asked)
    made = shoal.anonymize(frame, 2, ["age", "size"], ["ill"], within="region", gaps="value", **asked)
    assert made.partition.n_groups >= 2


def test_what_must_be_below_a_limit_and_is_at_it_is_said_so():
    frame = pd.DataFrame({"age": range(8), "ill": list("abababab")})
    with pytest.raises(ShoalError, match="even the whole table as one group has delta = 0, and must have less$"):
        shoal.anonymize(frame, 2, "age", "ill", models=[DeltaDisclosure(0, on="ill")], method="mdav")


def patients(n=60):
    rng = Random(1)
    frame = pd.DataFrame({name: [rng.gauss(40, 9) for _ in range(n)] for name in ("age", "size")})
    frame["ill"] = [rng.choice(["flu", "gout", "-9", "unknown", "HIV"]) for _ in range(n)]
    levels = ["low", "mid", "high", "top"]
    frame["level"] = pd.Categorical([rng.choice(levels) for _ in range(n)], levels, ordered=True)
    return frame


@pytest.mark.parametrize("way", ["table", "file"])
@pytest.mark.parametrize("named", [["-9", "unknown"], {"ill": ["-9", "unknown"]}])
def test_what_is_said_to_mean_a_gap_is_no_value_of_a_confidential_column(tmp_path, named, way):
    frame, target = patients()[["age", "size", "ill"]], tmp_path / "out.csv"
    asked = {"models": [LDiversity(2, on="ill")], "gap_values": named, "method": "mdav"}
    if way == "table":
        shoal.anonymize(frame, 3, ["age", "size"], ["ill"], **asked).write(target)
    else:
        frame.to_csv(tmp_path / "in.csv", index=False)
        shoal.anonymize_file(tmp_path / "in.csv", target, 3, ["age", "size"], ["ill"], blocks=2, **asked)
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups = by(range(len(rows)), [(row["age"], row["size"]) for row in rows])
    for group in groups.values():
        assert len({rows[place]["ill"] for place in group} - {"-9", "unknown"}) >= 2
    said = json.loads((tmp_path / "out.csv.manifest.json").read_text())["figures"]["l-diversity_ill"]["details"]
    assert said["gaps"] == sum(row["ill"] in ("-9", "unknown") for row in rows) > 0
    (again,) = shoal.verify(target, ["age", "size"], models=asked["models"]).models
    assert (again.holds, again.gaps) == (True, said["gaps"])


def test_gaps_of_a_column_that_no_model_is_about_cannot_be_named():
    with pytest.raises(ShoalError, match="gap_values for 'ill', which is no quasi-identifier"):
        shoal.anonymize(patients(), 3, ["age", "size"], ["ill", "level"], gap_values={"ill": ["-9"]})


@pytest.mark.parametrize("distance", [None, "ordered", "ranks"])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_words_with_an_order_of_their_own_are_verified_in_it_on_a_file_that_does_not_say_it(
    tmp_path, distance, name
):
    frame, model = patients(), TCloseness(0.2, distance, on="level")
    release = shoal.anonymize(frame, 3, ["age", "size"], ["level"], identifiers=["ill"], models=[model])
    (found,) = release.write(tmp_path / name).models
    assert found.holds
    assert found.model.order == ("low", "mid", "high", "top")
    assert release.partition.n_groups > 2


def test_groups_with_the_same_values_are_one_in_a_table_that_is_released_too():
    refused = 0
    for seed in range(40):
        rng = Random(seed)
        frame = pd.DataFrame({"a": [rng.choice([0, 0, 0, 1]) for _ in range(24)], "b": 0})
        frame["x"] = [rng.choice("aabbc") for _ in range(24)]
        model = DeltaDisclosure(rng.choice([0.5, 0.7, 1]), "ignore", on="x")
        try:
            release = shoal.anonymize(frame, 3, ["a", "b"], ["x"], models=[model], method="mdav")
        except ShoalError as error:
            refused += "does not hold where groups have the same values and so are one" in str(error)
        else:
            assert shoal.check(release.table, ["a", "b"], model)[0].holds
    assert 0 < refused < 20
