"""A toy kind of attribute, made outside the package: towns, whose common value is the most frequent one."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.attributes import (
    KINDS,
    Attribute,
    CommonValues,
    Gathering,
    Kept,
    Kind,
    Profile,
    Wish,
    kept_from,
    kind_of,
    register,
)
from shoal.attributes.base import KEPT
from shoal.table import Roles, Table

pytestmark = pytest.mark.usefixtures("same_key")

TOWNS = ["Aix", "Brest", "Caen", "Dax"]


@dataclass(frozen=True, eq=False)
class Towns(CommonValues):
    names: tuple
    codes: np.ndarray

    @property
    def raw(self):
        return self.codes.astype(float)

    def native(self):
        return [self.names[code] for code in self.codes]

    def floats(self):
        return self.raw

    def text(self, decimal_sign="."):
        return self.native()


@dataclass(frozen=True, eq=False)
class Town(Attribute):
    name: str
    weight: float
    names: tuple
    codes: np.ndarray

    @property
    def is_constant(self):
        return len(self.names) == 1

    def coordinates(self):
        return np.eye(len(self.names))[self.codes] / np.sqrt(2)

    def common_values(self, order, starts, aggregate, exact, digits, weights=None):
        counts = np.ones(len(self.codes)) if weights is None else weights.astype(float)
        groups = np.split(order, starts[1:-1])
        return Towns(self.names, np.array([np.bincount(self.codes[g], counts[g]).argmax() for g in groups]))

    def squared_errors(self, common, labels, weights=None):
        counts = np.ones(len(self.codes)) if weights is None else weights.astype(float)
        spread = self.coordinates()
        around = ((spread - np.average(spread, axis=0, weights=counts)) ** 2).sum(axis=1)
        return float(counts @ (self.codes != common.codes[labels])), float(counts @ around)

    def placed(self, common):
        return np.eye(len(self.names))[common.codes] / np.sqrt(2)

    def profile(self, common, labels):
        return Profile(self.name, self.codes.astype(float), common.floats()[labels], self.names)

    def warning(self):
        return f"{self.name!r} holds towns"


@dataclass(frozen=True)
class KeptTown(Kept):
    kind = "town"
    names: tuple = ()
    dtype = np.dtype(np.int64)
    stretch = 0.0  # towns have no order, so blocks are cut along other attributes

    def scaled(self, scaling, chunks, alone):
        made = self.attribute(np.concatenate(list(chunks())))
        return replace(
            self,
            is_constant=made.is_constant,
            sst=made.squared_errors(Towns(self.names, np.zeros(1, int)), np.zeros(len(made.codes), int))[1],
        )

    def along(self, stored):
        return stored.astype(float)

    def attribute(self, stored):
        return Town(self.name, self.weight, tuple(self.names), stored)

    def codes(self, common):
        return common.codes

    def values(self, codes):
        return Towns(tuple(self.names), codes)

    def warning(self, chunks):
        return self.bare().warning()


class TownGathering(Gathering):
    kind = "town"

    def __init__(self, name):
        self.name, self.seen = name, {}

    def add(self, column, before):
        return np.array([self.seen.setdefault(town, len(self.seen)) for town in values_of(column)])

    def finish(self):
        assert self.seen

    def kept(self, weight, chunks):
        return KeptTown(self.name, weight, names=tuple(self.seen)), lambda stored, start: stored


def values_of(column):
    return column.series.to_list() if column.text is None else column.text.to_pylist()


class TownKind(Kind):
    name = "town"
    kept = KeptTown

    def takes(self, column):
        return set(values_of(column)) <= set(TOWNS)

    def gathering(self, name, wish):
        return TownGathering(name)


@pytest.fixture
def towns():
    """The kind, taken away again."""
    yield register(TownKind())
    del KINDS["town"]
    del KEPT["town"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": rng.integers(20, 90, 60), "town": rng.choice(TOWNS, 60), "ill": rng.choice(["no", "yes"], 60)}
    )


def test_the_last_kind_that_takes_a_column_has_it(towns, table):
    made = Table.of(table, Roles.of(["age", "town"], "ill"))
    assert kind_of(made.column("town")) is towns
    assert kind_of(made.column("age")) is KINDS["numeric"]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.usefixtures("towns")
def test_a_new_kind_goes_all_the_way_in_memory(tmp_path, table):
    with pytest.warns(shoal.ShoalWarning, match="'town' holds towns"):
        release = shoal.anonymize(table, 3, ["age", "town"], "ill", method="mdav")
    assert release.verified_k >= 3
    assert set(release.table["town"]) <= set(TOWNS)
    for _, group in release.table.groupby(release.labels):
        assert group["town"].nunique() == 1
        assert group["town"].iloc[0] in set(table.loc[group.index, "town"].mode())
    assert [part.name for part in release.loss.attributes] == ["age", "town"]
    release.write(tmp_path / "safe.csv", report=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(town in page for town in TOWNS)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.usefixtures("towns")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_new_kind_goes_all_the_way_in_a_stream(tmp_path, table, suffix):
    source = tmp_path / f"in.{suffix}"
    table.to_csv(source, index=False) if suffix == "csv" else table.to_parquet(source, index=False)
    asked = {"k": 3, "quasi_identifiers": ["age", "town"], "confidential": "ill", "method": "mdav"}
    whole = shoal.anonymize(source, **asked)
    whole.write(tmp_path / f"whole.{suffix}")
    streamed = shoal.anonymize_file(source, tmp_path / f"one.{suffix}", blocks=1, **asked)
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()
    assert streamed.information_loss == pytest.approx(whole.information_loss, rel=1e-12)
    cut = shoal.anonymize_file(source, tmp_path / f"two.{suffix}", blocks=2, **asked)
    assert cut.verified_k >= 3
    assert cut.blocks == 2


@pytest.mark.usefixtures("towns")
def test_what_a_stream_keeps_comes_back_from_json():
    kept = KeptTown("town", 2.0, names=("Aix", "Caen"))
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert isinstance(again, KeptTown)
    assert (again.name, again.weight, list(again.names)) == ("town", 2.0, ["Aix", "Caen"])


def test_a_kind_that_is_asked_for_has_the_column_whatever_the_others_say(towns, table):
    column = Table.of(table, Roles.of(["age", "town"])).column("town")
    assert kind_of(column, Wish(kind="nominal")) is KINDS["nominal"]
    assert kind_of(column, Wish()) is towns
    with pytest.raises(shoal.ShoalError, match=r"there is no kind 'nominel'; did you mean 'nominal'\?"):
        kind_of(column, Wish(kind="nominel"))


def test_a_kind_that_is_asked_for_and_cannot_read_the_column_is_an_error_that_names_it(table):
    with pytest.raises(shoal.ShoalError, match="column 'town' holds text"):
        shoal.anonymize(table, 3, ["age", "town"], "ill", kinds={"town": "numeric"})


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.usefixtures("towns")
def test_a_stream_finds_another_kind_than_its_first_records_show(tmp_path, table, monkeypatch):
    """Of the first records all codes are numbers; a later one shows that they are not."""
    monkeypatch.setattr(TownKind, "takes", lambda self, column: "Caen" in set(values_of(column)))
    monkeypatch.setattr("shoal.files.batches.GROUP", 10)
    monkeypatch.setattr("shoal.files.batches.batch_of", lambda columns: 10)
    codes = ["1", "2"] * 29 + ["2", "Caen"]
    path = tmp_path / "in.csv"
    table.assign(town=codes).to_csv(path, index=False)
    asked = {"k": 3, "quasi_identifiers": ["age", "town"], "confidential": "ill", "method": "mdav"}
    shoal.anonymize(path, **asked).write(tmp_path / "whole.csv")
    shoal.anonymize_file(path, tmp_path / "streamed.csv", blocks=1, **asked)
    assert (tmp_path / "streamed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.usefixtures("towns")
def test_digits_of_what_has_none_are_an_error_and_not_ignored(table):
    with pytest.raises(shoal.ShoalError, match="column 'town' holds no numbers, so it has no digits"):
        shoal.anonymize(table, 3, ["age", "town"], "ill", digits={"town": 1})
    shoal.anonymize(table, 3, ["age", "town"], "ill", method="mdav", digits=0)


def test_work_of_a_kind_that_is_not_loaded_is_an_error_that_says_so():
    with pytest.raises(shoal.ShoalError, match="columns of the kind 'town' are not known"):
        kept_from({"kind": "town", "name": "x"})
