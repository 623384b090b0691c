import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.assessment import Assessment
from shoal.measures import Figure
from shoal.measures.pair import Pair, PairColumn
from shoal.release import MOST_BARS

VALUES = [90001.5, 90017.25, 90433.75, 91111.5, 92222.25, 93333.75, 94444.5]


class Reader(HTMLParser):
    """Collects the text of a card, and sees that whatever is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "style"), "a card needs nothing else"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def text_of(shown):
    reader = Reader()
    reader.feed(shown._repr_html_())
    assert reader.open == []
    return re.sub(r"\s+", " ", " ".join(reader.text))


@pytest.fixture
def table():
    return pd.DataFrame({"pay": VALUES, "<b>age": [31, 33, 62, 29, 65, 64, 30], "note": list("ABCDEFG")})


@pytest.fixture
def release(table):
    with pytest.warns(shoal.ShoalWarning, match="without a role"):
        return shoal.anonymize(table, 3, ["pay", "<b>age"], method="mdav")


def test_the_card_of_a_release_says_what_was_done_and_what_to_do_next(release):
    text = text_of(release)
    for part in (
        "k = 3",
        "verified on the released table; asked for 3",
        "7 records",
        "2 groups of 3 to 4",
        "MDAV method",
    ):
        assert part in text
    assert f"{release.information_loss:.2f} % information loss" in text
    for part in release.loss.attributes:
        assert re.search(rf"{part.name} +{part.percent:.2f} %", text)
    assert "Columns without a role are released as they are: note." in text
    assert 'release.write("safe.csv")' in text


def test_the_card_of_a_release_holds_no_value_of_the_table(release):
    text = text_of(release)
    assert not [value for value in [*VALUES, *release.table["pay"]] if str(value) in text]
    assert not re.search("90[0-9]{3}|9[1-4][0-9]{3}", text)


def test_a_release_that_was_written_says_that_its_bytes_were_verified(release, tmp_path):
    found = release.write(tmp_path / "safe.csv")
    assert "Release: safe.csv k = 3 verified on the bytes written" in text_of(release)
    assert "Verification: " in text_of(found)
    assert "k = 3 the smallest group 7 records 2 groups" in text_of(found)


def test_a_release_in_a_file_has_a_card(table, tmp_path):
    table.to_csv(tmp_path / "in.csv", index=False)
    with pytest.warns(shoal.ShoalWarning, match="without a role"):
        release = shoal.anonymize_file(tmp_path / "in.csv", tmp_path / "safe.csv", 3, ["pay", "<b>age"])
    text = text_of(release)
    assert "Release: safe.csv k = 3 verified on the bytes written; asked for 3 7 records 2 groups" in text
    assert "Auto (" in text
    assert "Columns without a role are released as they are: note." in text


def test_a_partition_has_a_card(release):
    assert "k = 3 at least so many in a group 7 records 2 groups of 3 to 4" in text_of(release.partition)


def test_an_inspection_is_a_table(table):
    text = text_of(shoal.inspect(table))
    assert (
        "column type kind range distinct missing suggested role why pay double numeric 90001.5 to 94444.5 7"
        in text
    )
    assert "the ranges are original values" in text


def test_of_many_quasi_identifiers_those_with_the_largest_loss_are_drawn():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{number}": rng.integers(0, 99, 20) for number in range(20)})
    release = shoal.anonymize(table, 3, list(table.columns), method="mdav")
    text = text_of(release)
    drawn = [part.name for part in release.loss.attributes if re.search(rf"\b{part.name} ", text)]
    assert len(drawn) == MOST_BARS
    assert min(p.percent for p in release.loss.attributes if p.name in drawn) >= max(
        p.percent for p in release.loss.attributes if p.name not in drawn
    )


def test_what_is_constant_or_was_interrupted_is_said(table):
    with pytest.warns(shoal.ShoalWarning):
        release = shoal.anonymize(table.assign(one=1), 3, ["pay", "one"], method="mdav")
    release.manifest["method"]["interrupted"] = True
    assert "one value only and were not used for grouping: one." in text_of(release)
    assert "The method was interrupted" in text_of(release)


def test_a_short_line_stands_for_each_of_them(release, tmp_path):
    loss = f"information_loss={release.information_loss:.2f} %"
    assert repr(release) == f"Release(k=3, records=7, groups=2, {loss})"
    assert re.fullmatch(
        r"Partition\(k=3, records=7, groups=2, information_loss=[\d.]+ %\)", repr(release.partition)
    )
    found = release.write(tmp_path / "safe.csv")
    assert re.fullmatch(r"Verification\('.*', k=3, records=7, groups=2\)", repr(found))
    assert repr(found.anonymity) == "Anonymity(k=3, records=7, groups=2)"
    pd.DataFrame({"x": [1, 2, 3]}).to_csv(tmp_path / "in.csv", index=False)
    made = shoal.anonymize_file(tmp_path / "in.csv", tmp_path / "out.csv", 3, "x")
    assert (
        repr(made)
        == f"FileRelease({str(tmp_path / 'out.csv')!r}, k=3, records=3, groups=1, information_loss=100.00 %)"
    )


def test_an_estimator_shows_its_parameters_in_a_notebook_and_nothing_of_the_data():
    points = np.array(VALUES)[:, None]
    for model in (shoal.MDAV(k=3), shoal.MDAV(k=3).fit(points), shoal.Auto(k=2).fit(points)):
        shown = model._repr_mimebundle_()["text/html"]
        assert type(model).__name__ in shown
        assert re.search(r"\bk\b", shown)
        assert not [value for value in VALUES if str(value) in shown]
        assert ("<span>Fitted</span>" in shown) == hasattr(model, "labels_")


def test_an_assessment_has_a_card_with_its_first_figures_and_what_was_left_out():
    values = np.repeat([1.0, 2.0], 3)
    pair = Pair((PairColumn("a", "quasi-identifier", values, values),), np.repeat([0, 1], 3), matched=False)
    figure = Figure("counted_k", 3, "records", "k = 3", "records <share> their values", "", "risk", "public")
    text = text_of(Assessment(pair, (figure,), "", "no key was named", ("linkage_all",), 1.0))
    assert "Assessment k = 3 records <share> their values" in text
    assert "linkage all" in text
    assert "no key was named" in text
    assert 'assessment.report("report.html")' in text
