import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
import shoal
from shoal import ShoalError
from shoal.attributes import KINDS, AgainError, Wish, kept_from, kind_of, looks_semicontinuous
from shoal.attributes.semicontinuous import MassGathering, MassKept, deciding, mass_of
from shoal.table import Roles, Table

pytestmark = pytest.mark.usefixtures("same_key")

SCALINGS = ["zscore", "range", "robust", "none"]
NUMBERS = {
    "whole": st.integers(1, 9),
    "tenths": st.integers(1, 300).map(lambda units: units / 10),
    "real": st.floats(0.001, 1e6),
    "large": st.integers(10**7, 10**7 + 50),
}


@st.composite
def massed(draw):
    """Numbers at least two of which are the lowest or the highest one, in groups."""
    others = draw(st.lists(NUMBERS[draw(st.sampled_from(sorted(NUMBERS)))], min_size=2, max_size=12))
    mass = draw(st.sampled_from([0, type(others[0])(2 * 10**12)]))
    values = draw(st.permutations([*others, *[type(others[0])(mass)] * draw(st.integers(2, 12))]))
    most = max(map(values.count, others))
    assume(values.count(mass) > most)
    labels = draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    return values, np.unique(labels, return_inverse=True)[1]


def column(values):
    return Table.of(pd.DataFrame({"gain": values}), Roles.of("gain")).column("gain")


def made(values, scaling="zscore"):
    return KINDS["semi-continuous"].attribute(column(values), scaling, 1.0, Wish(kind="semi-continuous"))


def in_parts(parts, scaling="zscore", alone=False):
    """What a stream keeps of the parts of a column, and what is stored."""
    gathering, stored, before = MassGathering("gain"), [], 0
    for part in parts:
        stored.append(gathering.add(column(part), before))
        before += len(part)
    gathering.finish()
    kept, settle = gathering.kept(1.0, lambda: iter(stored))
    done, settled = 0, []
    for part in stored:
        settled.append(settle(part, done))
        kept, done = kept.seen(settled[-1]), done + len(part)
    return kept.scaled(scaling, lambda: iter(settled), alone), np.concatenate(settled)


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


@given(massed())
def test_coordinates_are_those_of_the_twin(case):
    values, _ = case
    assume(len(set(values)) > 2)
    points = naive.semicontinuous(values)
    found = made(values).coordinates()
    assert np.allclose(found - found.mean(axis=0), points, rtol=0, atol=1e-6)


def test_distances_are_those_that_the_page_says():
    values = [0, 0, 0, 1, 3, 8]
    numbers = np.array([1, 3, 8])
    z = (numbers - 4) / numbers.std()
    points = made(values).coordinates()
    squared = np.square(points[0] - points[3:]).sum(axis=1)
    assert squared == pytest.approx((1 / 0.5 + z**2) / (2 * 0.5))
    assert np.square(points[3] - points[5]).sum() == pytest.approx((z[0] - z[2]) ** 2 / (2 * 0.5))
    assert points.var(axis=0) == pytest.approx([0.5, 0.5])
    points = made(values, "none").coordinates()
    assert np.square(points[0] - points[3:]).sum(axis=1) == pytest.approx(
        numbers.var() / 0.5 + (numbers - 4.0) ** 2
    )


@given(massed())
def test_the_largest_distance_is_1_by_range(case):
    values, _ = case
    points = made(values, "range").coordinates()
    assert max(np.linalg.norm(one - other) for one in points for other in points) == pytest.approx(1)


@given(massed(), st.sampled_from(["mean", "median"]))
def test_common_values_are_those_of_the_twin(case, aggregate):
    values, labels = case
    attribute = made(values)
    mass = naive.mass_of(values)
    found = attribute.common_values(*cut(labels), aggregate, True, None)
    for label, value in enumerate(found.floats()):
        group = [value for value, own in zip(values, labels, strict=True) if own == label]
        expected = naive.semicontinuous_common(group, mass, aggregate)
        assert value == pytest.approx(float(expected), rel=1e-12)
        assert found.at[label] == (expected == mass)


@given(massed(), st.sampled_from(SCALINGS))
def test_the_loss_is_the_squared_distance_in_the_coordinates(case, scaling):
    values, labels = case
    try:
        attribute = made(values, scaling)
    except ShoalError as error:
        assert "interquartile range is 0" in str(error) or "too far from its middle half" in str(error)  # noqa: PT017
        return
    common = attribute.common_values(*cut(labels), "mean", False, None)
    points, placed = attribute.coordinates(), attribute.placed(common)
    loss, overall = attribute.squared_errors(common, labels)
    assert loss == pytest.approx(np.square(points - placed[labels]).sum())
    n = len(values)
    whole = attribute.common_values(np.arange(n), np.array([0, n]), "mean", True, None)
    assert attribute.squared_errors(whole, np.zeros(n, int))[0] == pytest.approx(overall, rel=1e-6)
    assert attribute.kept.sst == pytest.approx(overall, rel=1e-6)
    assert attribute.kept.overall(points.mean(axis=0)) == pytest.approx(attribute.placed(whole)[0], abs=1e-6)


def test_a_group_half_of_which_is_at_the_mass_gets_it():
    attribute = made([0, 5, 0, 7, 9, 0])
    common = attribute.common_values(np.arange(6), np.array([0, 2, 5, 6]), "mean", False, None)
    assert common.text() == ["0", "8", "0"]
    assert common.at.tolist() == [True, False, True]


def test_the_mode_and_the_interval_are_those_of_all_records():
    attribute = made([0, 0, 5, 7, 9, 0])
    groups = np.arange(6), np.array([0, 5, 6])
    assert attribute.common_values(*groups, "mode", False, None).text() == ["0", "0"]
    assert attribute.common_values(*groups, "interval", False, None).text() == ["0-9", "0"]


def test_a_value_that_is_rounded_to_the_mass_counts_as_the_mass():
    attribute = made([0.0, 0.0, 0.2, 0.4, 90.0, 95.5])
    common = attribute.common_values(np.arange(6), np.array([0, 2, 4, 6]), "mean", False, 0)
    assert common.text() == ["0", "0", "93"] or common.text() == ["0", "0", "92"]
    assert common.at.tolist() == [True, True, False]
    assert attribute.placed(common)[0].tolist() == attribute.placed(common)[1].tolist()


def test_records_that_decide_are_one_at_the_mass_or_all_others():
    at = np.array([True, False, True, False, False, True, False])
    order, starts = deciding(at, np.array([1, 0, 2, 3, 4, 5, 6]), np.array([0, 3, 6, 7]))
    assert (order.tolist(), starts.tolist()) == ([0, 3, 4, 6], [0, 1, 3, 4])


@given(massed(), st.integers(1, 10))
def test_the_mass_is_the_more_frequent_end_however_numbers_come(case, size):
    values, _ = case
    parts = [np.array(values[start : start + size]) for start in range(0, len(values), size)]
    mass, there, records = mass_of(iter(parts))
    assert (mass, records) == (naive.mass_of(values), len(values))
    assert there == values.count(mass)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("kind", [int, float])
def test_parts_of_a_stream_are_scaled_as_a_column_in_memory(scaling, kind):
    rng = np.random.default_rng(4)
    values = np.where(rng.random(80) < 0.6, 0, rng.exponential(1000, 80)).astype(kind)
    whole = made(values, scaling)
    parts = [values[:1], values[1:30], values[30:]]
    kept, stored = in_parts(parts, scaling, alone=True)
    assert np.array_equal(kept.attribute(stored).coordinates(), whole.coordinates())
    kept, stored = in_parts(parts, scaling)
    assert np.allclose(kept.attribute(stored).coordinates(), whole.coordinates(), rtol=1e-9, atol=1e-9)
    assert kept.sst == pytest.approx(whole.kept.sst)
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert isinstance(again, MassKept)
    assert again == kept
    assert again.width == whole.coordinates().shape[1]
    assert kept.stretch > 0
    common = whole.common_values(np.arange(80), np.array([0, 40, 80]), "mean", False, None)
    assert whole.kept.values(whole.kept.codes(common)).text() == common.text()


def test_digits_are_those_of_the_spread_of_the_others():
    values = [0.0] * 6 + [100.001, 130.002, 160.003, 190.004]
    attribute = made(values)
    order, starts = np.arange(10), np.array([0, 5, 10])
    total, power = attribute.squares(order, starts, "mean")
    squares = Fraction(total) * Fraction(4) ** power
    assert float(squares) * 0.001**2 == pytest.approx(2 * (45.0015**2 + 15.0005**2), rel=1e-6)
    assert attribute.digits_used(None, squares, 10, 5) == {"gain": 0}
    assert attribute.digits_used(None, squares / 10**6, 10, 16) == {"gain": 2}  # 0.0335 / 3, not / 4
    with pytest.raises(ShoalError, match="came with 3 decimals"):
        attribute.check_digits({"gain": 4})


def test_a_column_that_is_all_mass_is_constant():
    attribute = made([3, 3, 3])
    assert attribute.is_constant
    common = attribute.common_values(np.arange(3), np.array([0, 3]), "mean", False, None)
    assert common.text() == ["3"]
    assert attribute.squared_errors(common, np.zeros(3, int)) == (0.0, 0.0)
    assert attribute.squares(np.arange(3), np.array([0, 3]), "mean") == (0.0, 0)


def test_two_values_are_at_a_distance():
    points = made([0, 0, 0, 7]).coordinates()
    assert points.var(axis=0).sum() == pytest.approx(1)
    assert np.array_equal(points[0], points[1])


def test_exponents_in_a_later_part_ask_for_another_reading(tmp_path):
    parts = []
    for number, text in enumerate(("0\n0\n5\n", "0\n1e3\n7\n")):
        (tmp_path / f"{number}.csv").write_text(f"gain\n{text}")
        parts.append(Table.of(tmp_path / f"{number}.csv", Roles.of("gain")).column("gain"))
    gathering = MassGathering("gain")
    gathering.add(parts[0], 0)
    with pytest.raises(AgainError) as again:
        gathering.add(parts[1], 3)
    fresh = again.value.fresh()
    assert isinstance(fresh, MassGathering)
    stored = [fresh.add(part, before) for part, before in zip(parts, (0, 3), strict=True)]
    fresh.finish()
    kept, _ = fresh.kept(1.0, lambda: iter(stored))
    assert (kept.there, kept.records, kept.shown) == (3, 6, "0")


def test_numbers_without_a_mass_are_refused():
    with pytest.raises(ShoalError, match="'gain' is not semi-continuous"):
        made([1, 2, 2, 3])


def test_columns_look_semicontinuous_by_strong_evidence_only():
    others = np.arange(1.0, 41)
    assert looks_semicontinuous(np.concatenate([np.zeros(40), others])) == 0
    assert looks_semicontinuous(np.concatenate([np.full(40, 99.0), others])) == 99
    assert looks_semicontinuous(np.concatenate([np.zeros(9), others])) is None  # too few at the mass
    assert looks_semicontinuous(np.concatenate([np.zeros(9000), others])) is None  # too many
    assert looks_semicontinuous(np.concatenate([np.zeros(40), others[:19]])) is None  # too few others
    assert looks_semicontinuous(np.concatenate([np.zeros(40), others % 10 + 1])) is None  # too few different ones
    assert looks_semicontinuous(np.concatenate([np.full(40, 7.5), others])) is None  # in the middle
    assert looks_semicontinuous(np.zeros(0)) is None


def test_nothing_is_semicontinuous_unless_it_is_asked_for():
    assert kind_of(column([0] * 40 + list(range(1, 41)))) is KINDS["numeric"]


@pytest.fixture
def people():
    rng = np.random.default_rng(5)
    gain = np.where(rng.random(120) < 0.7, 0, rng.exponential(5000, 120).astype(int) + 1)
    return pd.DataFrame({"age": rng.integers(20, 90, 120), "gain": gain, "ill": rng.choice(["no", "yes"], 120)})


ASKED = {
    "k": 4,
    "quasi_identifiers": ["age", "gain"],
    "confidential": "ill",
    "kinds": {"gain": "semi-continuous"},
    "method": "mdav",
}


def test_fewer_records_leave_the_mass_than_as_plain_numbers(people, tmp_path):
    release = shoal.anonymize(people, **ASKED)
    plain = shoal.anonymize(people, **ASKED | {"kinds": {}})
    assert release.verified_k >= 4
    assert release.manifest["attributes"]["gain"] == {"kind": "semi-continuous", "mass": "0"}
    moved = [((made.table["gain"] == 0) != (people["gain"] == 0)).sum() for made in (release, plain)]
    assert moved[0] < moved[1]
    page = release.report(tmp_path / "report.html").read_text()
    assert f"{(people['gain'] == 0).sum()} before, {(release.table['gain'] == 0).sum()} after" in page


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_semicontinuous_numbers_go_all_the_way_in_a_stream(people, tmp_path, suffix):
    source = tmp_path / f"in.{suffix}"
    people.to_csv(source, index=False) if suffix == "csv" else people.to_parquet(source, index=False)
    whole = shoal.anonymize(source, **ASKED)
    whole.write(tmp_path / f"whole.{suffix}")
    streamed = shoal.anonymize_file(source, tmp_path / f"one.{suffix}", blocks=1, **ASKED)
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()
    assert streamed.information_loss == pytest.approx(whole.information_loss)
    cut_up = shoal.anonymize_file(source, tmp_path / f"two.{suffix}", blocks=2, **ASKED)
    assert (cut_up.verified_k >= 4, cut_up.blocks) == (True, 2)


def test_gaps_are_apart_from_the_mass(people):
    people["gain"] = people["gain"].astype(float).where(people.index % 6 != 0)
    release = shoal.anonymize(people, gaps="pattern", **ASKED)
    assert release.verified_k >= 4
    assert release.table["gain"].isna().sum() == 20
    assert (release.table["gain"] == 0).any()
