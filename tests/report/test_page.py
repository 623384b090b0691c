import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.report.pictures import distribution_picture
from shoal.report.statistics import number


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def page_of(release, tmp_path, edition="owner"):
    html = release.report(tmp_path / "r.html", overwrite=True, edition=edition).read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(html)
    return html, reader.tags, re.sub(r"\s+", " ", " ".join(reader.text))


@pytest.fixture
def release(people):
    return shoal.anonymize(pd.DataFrame(people), 3, ["age", "weight"], "diagnosis", "name")


def test_the_report_says_what_was_done(release, tmp_path):
    _, tags, text = page_of(release, tmp_path)
    assert "k = 3" in text
    assert f"{release.information_loss:.2f} %" in text
    assert "verified on the released table; asked for 3" in text
    assert "Auto(k=3, n_jobs=None, random_state=0, seconds=None, steps=None)" in text
    figures = {attributes["id"] for tag, attributes in tags if tag == "figure"}
    assert {"linkage", "attacks", "losses", "column-0", "column-2", "correlations", "sizes", "map"} <= figures
    release.write(tmp_path / "safe.csv")
    _, _, text = page_of(release, tmp_path)
    assert "verified on the bytes written; asked for 3" in text
    assert release.manifest["output"]["sha256"] in text


def test_the_principal_axes_are_drawn_where_a_method_kept_some(people, tmp_path):
    release = shoal.anonymize(
        pd.DataFrame(people), 3, ["age", "weight"], "diagnosis", "name", method="pca-reduced"
    )
    _, tags, text = page_of(release, tmp_path)
    assert "PCAReduced(components=None, energy=0.9, method=MDAV(k=3, until=2k))" in text
    assert "along 1 of 2 axes" in text
    assert ("figure", {"id": "spectrum"}) in tags


def test_the_report_needs_nothing_else(release, tmp_path):
    _, tags, _ = page_of(release, tmp_path)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in tags}
    targets = [
        value
        for _, attributes in tags
        for key, value in attributes.items()
        if key in ("href", "src", "xlink:href")
    ]
    assert all(target.startswith("#") for target in targets)


def test_names_and_values_are_text_never_markup(tmp_path):
    evil = "<script>alert(1)</script>"
    frame = pd.DataFrame({evil: [1.0, 2.5, 3.0, 9.0], "<b>": [1, 2, 2, 7], "c": ["<i>", evil, "", "&"]})
    release = shoal.anonymize(frame, 2, [evil, "<b>"], "c", attribute_weights={evil: 2})
    release.write(tmp_path / "<b>.csv")
    html, tags, text = page_of(release, tmp_path)
    assert "<script" not in html
    assert not {"script", "b.csv", "i"} & {tag for tag, _ in tags}
    assert evil in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1, 2, 3, 4]},
        {"x": [5, 5, 5, 5]},
        {"x": [1, 2, 3, 4], "y": [5, 5, 5, 5]},
        {"x": [1e308, -1e308, 0.0, 1.0], "y": [1, 2, 3, 4]},
        {"x": [1, 1, 1, 2], "y": [1, 2, 3, 4], "other": list("abcd")},
    ],
)
def test_odd_tables_have_a_report_too(columns, tmp_path):
    release = shoal.anonymize(pd.DataFrame(columns), 2, [name for name in columns if name != "other"])
    _, _, text = page_of(release, tmp_path)
    assert "Group sizes" in text
    for edition in ("owner", "public"):
        page_of(release, tmp_path, edition)
    assert ("without a role" in text) == ("other" in columns)


def test_confidential_numbers_are_correlated_too(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30), "gap": [None] + [1.0] * 29})
    _, _, text = page_of(shoal.anonymize(frame, 3, "x", ["y", "gap"], method="mdav"), tmp_path)
    assert "The largest change: x and y" in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_what_the_other_columns_give_away_is_said_as_text(tmp_path):
    rng = np.random.default_rng(0)
    q = rng.integers(0, 5, 60)
    frame = pd.DataFrame({"<q>": q, "<i>x</i>": [f"&{value}" for value in q], "secret": q % 2})
    _, tags, text = page_of(shoal.anonymize(frame, 3, "<q>", "secret", method="mdav"), tmp_path)
    assert "What the other columns give away" in text
    assert "'<i>x</i>' determines '<q>' in every record." in text
    assert "Confidential columns were released as they are: secret." in text
    assert "i" not in {tag for tag, _ in tags}


def test_every_column_is_drawn_and_described_from_its_own_values(people, tmp_path, monkeypatch):
    """A page that took a column for another would look as good."""
    table = pd.DataFrame(people)
    release = shoal.anonymize(table, 3, ["age", "weight"], "diagnosis", "name", method="mdav")
    drawn = {}
    original = distribution_picture
    monkeypatch.setattr(
        "shoal.report.pictures.distribution_picture",
        lambda column, place: drawn.update({column.name: column}) or original(column, place),
    )
    _, _, text = page_of(release, tmp_path)
    for name in ("age", "weight"):
        assert drawn[name].before.tolist() == table[name].tolist()
        assert drawn[name].after.tolist() == release.table[name].tolist()
        for label, function in {"mean": np.mean, "lowest": np.min, "highest": np.max}.items():
            before, after = (number(float(function(each[name]))) for each in (table, release.table))
            assert f"{label} {before} {after}" in text
    assert drawn["age"].before.tolist() != drawn["weight"].before.tolist()
    assert "diagnosis" in drawn


def test_of_many_losses_the_largest_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.report.pictures.MOST_COLUMNS", 2)
    listed = {}
    monkeypatch.setattr(
        "shoal.report.plots.losses",
        lambda names, percents, *_: listed.update(zip(names, percents, strict=True)) or "<svg/>",
    )
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{i}": rng.normal(size=40).round(i) for i in range(5)})
    release = shoal.anonymize(table, 4, list(table), method="mdav", attribute_weights={"c0": 50, "c3": 20})
    _, _, text = page_of(release, tmp_path)
    percents = {part.name: part.percent for part in release.loss.attributes}
    largest = sorted(percents, key=percents.get, reverse=True)[:2]
    assert list(listed) == largest
    assert all(listed[name] == percents[name] for name in largest)
    assert "The 2 largest of 5." in text


def test_the_correlations_that_are_shown_are_those_of_the_columns_named(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    a = rng.normal(size=60).round(2)
    table = pd.DataFrame({"a": a, "b": (a + rng.normal(size=60)).round(2), "c": rng.normal(size=60).round(2)})
    release = shoal.anonymize(table, 5, ["a", "b"], "c", method="mdav")
    seen = correlations_seen(monkeypatch)
    page_of(release, tmp_path)
    names, matrices = seen
    assert names == ["a", "b", "c"]
    assert np.allclose(matrices["before"], table.corr())
    assert np.allclose(matrices["after"], release.table[["a", "b", "c"]].corr())
    assert np.allclose(matrices["change"], release.table[["a", "b", "c"]].corr() - table.corr())


def correlations_seen(monkeypatch):
    """The names and the matrices that a page draws, filled in when it is made."""
    names, matrices = [], {}

    def drawn(columns, matrix, side, *_):
        names[:] = columns
        matrices[side] = matrix
        return "<svg/>"

    monkeypatch.setattr("shoal.report.plots.correlations", drawn)
    return names, matrices


VISITS = pd.DataFrame({
    "age": [30, 30, 31, 31, 31, 60, 60, 61, 62, 62],
    "height": [170, 171, 169, 180, 181, 160, 161, 175, 174, 173],
    "who": [*"aabbbccdee"],
    "home": [1, 1, 1, 1, 1, 2, 2, 3, 3, 3],
    "region": ["n"] * 10,
    "w": [1, 2, 3, 4, 5, 60, 7, 8, 9, 10],
})  # fmt: skip


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    ("said", "whom", "sizes"),
    [
        ({"person": "who"}, "persons", [2, 3]),
        ({"person": "who", "household": "home"}, "households", [3]),
        ({"identifiers": ["who", "home"]}, "records", None),
    ],
)
def test_the_page_counts_what_k_counts(tmp_path, monkeypatch, said, whom, sizes):
    drawn = []
    monkeypatch.setattr("shoal.report.plots.size_bins", lambda sizes: drawn.append(sizes.tolist()) or [(1, 1, 1)])
    release = shoal.anonymize(VISITS, 2, ["age", "height"], ["w", "region"], method="mdav", **said)
    _, _, text = page_of(release, tmp_path)
    assert f"finds at least 2 {whom} that fit" in text
    assert f"{whom} in a group, from" in text
    assert sizes is None or sorted(drawn[0]) == sizes
    groups = {figure.name: figure for figure in release.figures}["groups"]
    assert groups.label.endswith(whom) == (whom != "records")
    assert groups.label in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_page_says_what_became_of_strata_weights_pseudonyms_and_rows(tmp_path):
    said = {"within": "region", "sampling_weight": "w", "method": "mdav", "pseudonym_key": tmp_path / "key"}
    release = shoal.anonymize(
        VISITS, 2, ["age", "height"], **said, person="who", person_rows="apart", identifiers=["home"],
        pseudonym="who", accept_linkage=True,
    )  # fmt: skip
    _, _, text = page_of(release, tmp_path)
    assert "strata, weights and pseudonyms, which leave too region, w, who" in text
    assert "rows of a person may be in several groups" in text
    said = {"household": "home", "household_k": "persons", "sampling_weight": "w", "identifiers": ["who"]}
    release = shoal.anonymize(VISITS, 2, ["age"], ["height", "region"], released_weight="round", **said)
    _, _, text = page_of(release, tmp_path)
    assert "k counts persons, in at least two households" in text
    assert "weights that leave rounded" in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_statistics_are_weighted_as_the_released_values_are(tmp_path, monkeypatch):
    seen, weights = correlations_seen(monkeypatch), VISITS["w"].to_numpy(float)
    release = shoal.anonymize(
        VISITS, 3, ["age", "height"], [], ["who", "home", "region"], sampling_weight="w", exact=True, method="mdav"
    )
    _, _, text = page_of(release, tmp_path)
    mean = number(float(np.average(VISITS["age"], weights=weights)))
    assert f"weighted mean {mean} {mean}" in text  # which the plain mean of these values is not
    assert "ecords count by their sampling weight w" in text
    copies = VISITS.loc[np.repeat(VISITS.index, VISITS["w"])]
    after = release.table.loc[copies.index]
    names, matrices = seen
    assert np.allclose(matrices["before"], copies[names].corr())
    assert np.allclose(matrices["after"], after[names].corr())
    deviations = [number(float(np.std(each["age"]))) for each in (copies, after)]
    assert f"weighted standard deviation {' '.join(deviations)}" in text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_page_about_another_tool_claims_nothing_about_its_way(people, tmp_path):
    people = pd.DataFrame(people)
    release = shoal.anonymize(people, 3, ["age", "weight"], ["diagnosis"], ["name"], method="mdav")
    own = release.report(tmp_path / "own.html").read_text("utf-8")
    noisy = people.assign(weight=people["weight"] * 3)
    found = shoal.assess(people, noisy, ["age", "weight"], ["diagnosis"], by_position=True)
    other = found.report(tmp_path / "other.html").read_text("utf-8")
    for said in ("the spread becomes smaller", "kept as they are"):
        assert said in own
        assert said not in other
