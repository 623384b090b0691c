import re

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.report import streamed
from shoal.stream import run, sampling
from shoal.stream.sampling import chosen_rows
from shoal.stream.work import Work, folder_for

NAMES = ["age", "height", "town"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    return pd.DataFrame({
        "age": rng.integers(18, 90, 400), "height": rng.normal(170, 9, 400).round(1),
        "town": rng.choice(["Ulm", "Linz", "Graz"], 400), "ill": rng.choice(["flu", "cold"], 400),
        "name": [f"Zq{number}" for number in range(400)],
    })  # fmt: skip


def released(table, folder, form="csv", **more):
    """A streamed release, with both reports beside it."""
    path = folder / f"in.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    pages = {"report": folder / "owner.html", "public_report": folder / "public.html"} | more
    return shoal.anonymize_file(path, folder / f"out.{form}", 5, NAMES, "ill", "name", blocks=2, method="mdav",
                                keep_order=True, **pages)  # fmt: skip


@pytest.fixture
def drawn(monkeypatch):
    """What pages are drawn from."""
    seen = {}

    def render(pair, sizes, *rest):
        seen.update(pair=pair, sizes=sizes)
        return original(pair, sizes, *rest)

    original = streamed.render
    monkeypatch.setattr(streamed, "render", render)
    return seen


def read(path):
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_streamed_release_has_both_editions_of_its_own_values(table, tmp_path, drawn, form):
    release = released(table, tmp_path, form)
    after, pair = read(release.path), drawn["pair"]
    assert sorted(drawn["sizes"]) == sorted(after.groupby(NAMES).size())
    for column in pair.columns:
        levels = np.array(column.levels)
        for side, frame in ((column.before, table), (column.after, after)):
            values = levels[side.astype(int)] if column.levels else side
            assert values.tolist() == frame[column.name].tolist(), column.name
    expected = after.groupby(NAMES).ngroup().to_numpy()
    assert len(set(zip(pair.groups.tolist(), expected.tolist(), strict=True))) == expected.max() + 1
    owner, public = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("owner", "public"))
    assert "k = 5" in owner
    assert "k = 5" in public
    digest = release.manifest["input"]["sha256"]
    assert digest in owner
    assert digest not in public
    assert "Zq1" not in owner + public
    assert "whole groups" not in owner, "all records were drawn"


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_large_stream_is_drawn_from_whole_groups_and_the_page_says_so(table, tmp_path, drawn, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_SAMPLED", 150)
    release = released(table, tmp_path)
    pair, after = drawn["pair"], read(release.path)
    assert 50 < pair.n_after < 300
    assert sorted(drawn["sizes"]) == sorted(after.groupby(NAMES).size())
    assert set(np.bincount(pair.groups)) <= set(drawn["sizes"])
    assert pair.k >= 5, "no group is in part"
    everyone = {tuple(row) for row in table[["age", "height"]].itertuples(index=False)}
    assert {tuple(row) for row in zip(*(c.before for c in pair.columns[:2]), strict=True)} <= everyone
    for name in ("owner", "public"):
        text = re.sub(r"\s+", " ", (tmp_path / f"{name}.html").read_text("utf-8"))
        assert f"the map are those of {pair.n_after} of 400 records: whole groups, drawn at random" in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_reports_of_a_stream_appear_with_the_release_or_not_at_all(table, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(streamed, "render", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            released(table, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", folder_for(tmp_path / "out.csv").name}
    with pytest.raises(ShoalError, match="both the release and the report"):
        released(table, tmp_path, report=tmp_path / "out.csv")
    with pytest.raises(ShoalError, match="is the input"):
        released(table, tmp_path, report=tmp_path / "in.csv")
    (tmp_path / "owner.html").write_text("old")
    with pytest.raises(ShoalError, match="exists already"):
        released(table, tmp_path)
    (tmp_path / "owner.html").unlink()
    released(table, tmp_path)  # resumed
    names = {"in.csv", "out.csv", "out.csv.manifest.json", "owner.html", "public.html"}
    assert {path.name for path in tmp_path.iterdir()} == names


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_report_that_is_asked_for_while_files_get_their_names_is_drawn_then(table, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(run.Stream, "_move", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            released(table, tmp_path, report=None, public_report=None)
    assert Work(tmp_path / "out.csv").stage == "moving"
    released(table, tmp_path)
    assert "k = 5" in (tmp_path / "owner.html").read_text("utf-8")


def test_rows_with_the_same_numbers_are_chosen_together():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 60, 30_000), rng.integers(0, 60, 30_000)]
    chosen = chosen_rows(codes, 0.3)
    both = codes[0] * 60 + codes[1]
    assert not set(both[chosen]) & set(both[~chosen])
    assert len(set(both[chosen])) / len(set(both)) == pytest.approx(0.3, abs=0.05)
    assert chosen_rows(codes, 1.0).all()
    assert chosen_rows([codes[0].astype(float)], 0.5).any()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_sample_of_no_group_is_none_and_the_page_has_figures_alone(table, tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_SAMPLED", 1e-9)
    released(table, tmp_path)
    text = (tmp_path / "owner.html").read_text("utf-8")
    assert "Group sizes" in text
    assert "Map of the groups" not in text
