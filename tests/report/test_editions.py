"""The public edition shows what is on its lists, and nothing of what is planted elsewhere."""

import html
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ShoalError
from shoal.measures import Figure
from shoal.measures.figures import FigureTable
from shoal.measures.pair import Pair, PairColumn
from shoal.report import assessed, released
from shoal.report.editions import PUBLIC_FIGURES, PUBLIC_TABLES, public, released_only
from shoal.report.page import page_of
from shoal.report.subject import Made, Search, ShownColumn, Subject

SECRET = st.text("bcdfghjklmnpqrstvwxz", min_size=12, max_size=16).map(lambda text: f"Q{text}Z")
NUMBERS = st.integers(71_000_000, 79_999_999)


def readable(page):
    """What a page holds in any spelling of its numbers."""
    plain = html.unescape(page).replace("\u2009", "")
    return plain + plain.replace(",", "")


def holds(page, number):
    """Whether a number stands there, with all of its digits or as a page rounds it."""
    text = readable(page)
    return any(spelled in text for spelled in (str(number), f"{number:.6g}", f"{number:.5g}", f"{number:,}"))


def figures(words, number):
    """A figure for each way in which it may hold a secret."""
    table = FigureTable(("what", words[0]), ((words[1], number),))
    of_owner = Figure(words[2], number, "%", words[3], words[4], words[5], "risk", "owner", {"x": words[6]},
                      words[7], table)  # fmt: skip
    listed = [
        Figure(name, 1.5, "%", "1.50 %", "a label", "a sentence", "utility", "public",
               {"says": words[8], "value": number, "columns": [words[8]]}, "a definition",
               None if name in PUBLIC_TABLES else table)
        for name in sorted(PUBLIC_FIGURES)
    ]  # fmt: skip
    return [
        of_owner,
        replace(of_owner, name="verified_k"),  # on the list, but for the owner
        replace(of_owner, name="something_new", eyes="public"),  # for the public, but not on the list
        *listed,
    ]


@settings(max_examples=6, deadline=None)
@given(st.lists(SECRET, min_size=21, max_size=21, unique=True), NUMBERS, st.integers(0, 10**6))
def test_nothing_that_is_planted_is_in_the_public_page(words, number, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 4)
    before = rng.normal(50, 10, 12).round(2)
    before[[0, 1]] = number, -number  # the ends, which only originals have
    middles = np.array([40.0, 50.0, 60.0])[groups]
    levels = (words[9], "yes", "no")  # nobody is released with the first
    letters = np.array([0, 1, 2] * 4, float)
    made = Made(
        version="1.0", output=words[10], method="MDAV", settings=((words[11], words[12]), ("seed", str(number))),
        notes=(words[13],), left=(Figure("untouched_others", 1, "", "", words[14], words[15], "risk",
        details={"columns": [words[16]], "says": [words[17]]}),), kinds=(("age", words[18]),),
        spectrum=(2.0, float(number)), axes_kept=1, search=Search("seconds", ((0.0, 3.0), (float(number), 2.0))),
        weighted_by=words[19],
    )  # fmt: skip
    subject = Subject(
        quasi_identifiers=("age", "height", "member"), confidential=("illness",), k=4, whom="records", asked=4,
        records=12, sizes=np.array([4, 4, 4]), groups=groups,
        columns=(
            ShownColumn("age", "quasi-identifier", before, middles, notes=((words[0], words[1]),)),
            ShownColumn("height", "quasi-identifier", before * 2, middles + rng.normal(size=3)[groups]),
            ShownColumn("member", "quasi-identifier", letters, np.array([1.0, 2.0, 1.0])[groups], levels),
            ShownColumn("illness", "confidential", np.arange(12.0), np.arange(12.0)),
            ShownColumn("when", "quasi-identifier", before, middles, unit="days", start=words[20]),
        ),
        losses=(("age", 3.0), ("height", 4.0), ("member", 1.0)), figures=tuple(figures(words, number)),
        weights=np.full(12, float(number)), sampled="", left_out=(words[0],), made=made,
    )  # fmt: skip
    page, whole = page_of(subject, "public"), page_of(subject, "owner")
    assert not [word for word in words if word in readable(page)]
    assert not holds(page, number)
    assert not holds(page, 2 * number)
    assert len([word for word in words if word in readable(whole)]) >= 15, "the secrets were really planted"
    assert f"days after {words[20]}" in readable(whole)
    assert holds(whole, number)


SECRETS = "Zbqtvwk"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A release of a file with secrets in every place that an owner may have them."""
    rng = np.random.default_rng(4)
    folder = tmp_path_factory.mktemp("planted")
    age = rng.integers(20, 80, 60).astype(float)
    age[7] = 74_123_457
    table = pd.DataFrame({
        f"{SECRETS}-id": [f"{SECRETS}-person-{i}" for i in range(60)], "age": age,
        "height": rng.normal(170, 9, 60).round(1), "town": [f"{SECRETS}-rare", *rng.choice(["a", "b"], 59)],
        "illness": rng.choice(["flu", "cold"], 60),
    })  # fmt: skip
    table.to_csv(folder / f"{SECRETS}-input.csv", index=False)
    release = shoal.anonymize(
        folder / f"{SECRETS}-input.csv", 5, ["age", "height", "town"], "illness", [f"{SECRETS}-id"],
        method="pcl", random_state=74_999_931, key="74" * 16,
    )  # fmt: skip
    return release, folder


def test_the_public_report_of_a_real_release_tells_no_secret(planted):
    release, folder = planted
    release.write(
        folder / "out.csv", overwrite=True, report=folder / "owner.html", public_report=folder / "public.html"
    )
    page, whole = (readable((folder / name).read_text("utf-8")) for name in ("public.html", "owner.html"))
    manifest = release.manifest
    hidden = [
        f"{SECRETS}-id", f"{SECRETS}-person", f"{SECRETS}-input", "74999931", "74123457",
        manifest["input"]["sha256"], manifest["output"]["sha256"],
    ]  # fmt: skip
    assert not [secret for secret in hidden if secret in page]
    assert [secret for secret in hidden if secret in whole] == [hidden[0], *hidden[2:]]
    assert "7474747474" not in page
    assert "7474747474" not in whole, "the key of the order is in the manifest alone"
    assert (f"{SECRETS}-rare" in page) == (f"{SECRETS}-rare" in release.table["town"].to_pylist())


def test_both_editions_are_written_with_the_release_or_not_at_all(planted, tmp_path, monkeypatch):
    release, _ = planted
    names = {"report": tmp_path / "a.html", "public_report": tmp_path / "b.html"}
    with monkeypatch.context() as patch:
        patch.setattr("shoal.report.released.page_of", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            release.write(tmp_path / "out.csv", **names)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ShoalError, match="both editions of the report"):
        release.write(tmp_path / "out.csv", report=names["report"], public_report=names["report"])
    with pytest.raises(ShoalError, match="edition must be 'owner' or 'public', not 'mine'"):
        release.report(tmp_path / "c.html", edition="mine")
    assert list(tmp_path.iterdir()) == []
    release.write(tmp_path / "out.csv", **names)
    assert "not for publication" in names["report"].read_text("utf-8")
    assert "not for publication" not in names["public_report"].read_text("utf-8")


def test_what_is_measured_is_measured_once_for_both_editions(planted, monkeypatch):
    release, _ = planted
    calls = []
    original = released.subject_of
    monkeypatch.setattr(released, "subject_of", lambda made: calls.append(made) or original(made))
    assert len(released.render(release, ["owner", "public"])) == 2
    assert calls == [release]


def test_public_figures_have_too_few_digits_to_compute_a_record_from(planted):
    whole = released.subject_of(planted[0])
    shown = public(whole)
    assert [percent for _, percent in shown.losses] == [round(percent, 3) for _, percent in whole.losses]
    assert shown.losses != whole.losses
    loss = shown.figure("information_loss").value
    assert loss == round(whole.figure("information_loss").value, 3) != whole.figure("information_loss").value
    numbers = [cell for figure in shown.figures if figure.table for row in figure.table.rows for cell in row]
    assert [cell for cell in numbers if isinstance(cell, float) and cell != round(cell, 3)] == []


def test_the_first_date_of_the_original_is_not_in_the_public_page(tmp_path):
    days = np.array([0, *range(40, 99)])
    table = pd.DataFrame({"when": pd.to_datetime("2021-03-04") + pd.to_timedelta(days, "D"), "ill": "no"})
    release = shoal.anonymize(table, 5, "when", "ill", method="mdav")
    own, other = (
        readable(release.report(tmp_path / f"{edition}.html", edition=edition).read_text("utf-8"))
        for edition in ("owner", "public")
    )
    assert "days after 2021-03-04" in own
    assert "2021-03-04" not in other
    assert "days after the first released value" in other
    hidden = released_only(ShownColumn("when", "quasi-identifier", days, days[1:] * 1.0, unit="days", start="x"))
    assert (hidden.after.min(), hidden.after.max()) == (0, 58)


def test_only_categories_that_were_released_are_named():
    column = ShownColumn(
        "c", "quasi-identifier", np.array([0.0, 1, 2]), np.array([2.0, np.nan, 1]), ("x", "y", "z")
    )
    shown = released_only(column)
    assert (shown.before, shown.levels, shown.notes) == (None, ("y", "z"), ())
    assert shown.after[[0, 2]].tolist() == [1, 0]
    assert np.isnan(shown.after[1])


def test_tables_on_the_list_belong_to_figures_on_the_list():
    assert PUBLIC_TABLES <= PUBLIC_FIGURES


def test_an_assessment_has_both_editions_too():
    values = np.arange(8.0)
    column = PairColumn("age", "quasi-identifier", values * 1_234_567, np.repeat([1.5, 5.5], 4))
    pair = Pair((column, PairColumn("ill", "confidential", values, values)), np.repeat([0, 1], 4), matched=False)
    secret = Figure("mine", 1, "", "PRIVATE", "mine", "", "risk")
    seen = Figure("counted_k", 4, "records", "k = 4", "seen", "", "risk", "public")
    owner, page = (assessed.render(pair, [secret, seen], ["linkage_all"], each) for each in ("owner", "public"))
    assert "PRIVATE" in owner
    assert "linkage_all" in owner
    assert "PRIVATE" not in page
    assert "k = 4" in page
    assert not holds(page, 7 * 1_234_567)
    assert holds(owner, 7 * 1_234_567)
    assert public(assessed.subject_of(pair, [secret, seen], [])).figures == (seen,)
