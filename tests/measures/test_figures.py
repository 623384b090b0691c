import json

import pandas as pd
import pytest

import shoal
from shoal.measures import MEASURES, Figure, InformationLoss, Known, by_name, figures_of, measure, verified

TABLE = pd.DataFrame({"age": [31, 33, 62, 29, 65, 64, 30], "town": list("abcabca"), "ill": list("xyxyxyx")})
KNOWN = Known(3, 9, 3, (3, 3), "MDAV", InformationLoss(()), {})


@pytest.fixture
def toy():
    """A measure from outside the package, taken away again."""

    @measure
    def half(known):
        yield Figure(
            "half", known.records // 2, "records", "half", "of all", "half of the records: so many", "risk"
        )

    yield half
    del MEASURES["half"]


def test_every_figure_has_a_value_a_unit_words_and_readers():
    release = shoal.anonymize(TABLE, 3, "age", "ill", "town", method="mdav")
    assert [figure.name for figure in release.figures] == [
        "records", "groups", "information_loss", "points_loss", "untouched_confidential",
    ]  # fmt: skip
    for figure in release.figures:
        assert figure.unit
        assert figure.label
        assert figure.topic in ("groups", "utility", "risk")
        assert figure.eyes in ("owner", "public")
    assert release.utility["information_loss"].value == release.information_loss
    assert release.risk["untouched_confidential"].details["columns"] == ["ill"]
    assert json.loads(json.dumps(by_name(release.figures))) == release.manifest["figures"]


def test_the_k_that_was_counted_is_a_figure_of_what_was_written(tmp_path):
    release = shoal.anonymize(TABLE, 3, "age", "ill", "town", method="mdav")
    release.write(tmp_path / "safe.csv")
    assert release.manifest["figures"]["verified_k"] == verified(3, 3, "the bytes written").as_dict()


@pytest.mark.usefixtures("toy")
def test_a_new_figure_appears_in_all_places(tmp_path, capsys):
    """A toy, put on the list from outside the package: nothing else has to know of it."""
    release = shoal.anonymize(TABLE, 3, "age", "ill", "town", method="mdav")
    assert release.risk["half"].value == 3
    assert release.manifest["figures"]["half"]["says"] == "half of the records: so many"
    release.write(tmp_path / "safe.csv", report=tmp_path / "report.html")
    assert "of all" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "safe.csv.manifest.json").read_text())["figures"]["half"]["value"] == 3
    from shoal.terminal import print_result

    print_result(release.manifest, "safe.csv")
    assert "half of the records: so many" in capsys.readouterr().out
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    streamed = shoal.anonymize_file(
        tmp_path / "in.csv", tmp_path / "out.csv", 3, "age", "ill", "town", method="mdav", blocks=1
    )
    assert streamed.manifest["figures"]["half"]["value"] == 3


def test_groups_of_one_size_and_of_several():
    assert figures_of(KNOWN)[1].sentence == "9 records in 3 groups of 3 (MDAV)"
    other = Known(3, 10, 3, (3, 4), "MDAV, 2 blocks", InformationLoss(()), {})
    assert figures_of(other)[1].sentence == "10 records in 3 groups of 3 to 4 (MDAV, 2 blocks)"


def test_a_release_and_its_manifest_have_the_same_figures_whatever_was_found_out_later(tmp_path):
    release = shoal.anonymize(TABLE, 3, "age", "ill", "town", method="mdav")
    for step in (lambda: release.certificate(0.1), lambda: release.write(tmp_path / "safe.csv")):
        step()
        assert by_name(release.figures) == release.manifest["figures"]
    assert {"certificate", "information_loss"} <= set(release.utility)
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    for blocks in (None, 1):
        made = shoal.anonymize_file(
            tmp_path / "in.csv", tmp_path / f"{blocks}.csv", 3, "age", "ill", "town", method="mdav", blocks=blocks
        )
        assert by_name(made.figures) == made.manifest["figures"]
        assert made.utility["information_loss"].value == made.information_loss
        assert list(made.risk) == ["untouched_confidential"]


def test_a_card_shows_what_anybody_may_see(toy):
    release = shoal.anonymize(TABLE, 3, "age", "ill", "town", method="mdav")
    assert "of all" not in release._repr_html_()


def test_what_columns_were_taken_for_is_said_unless_all_are_numbers():
    frame = pd.DataFrame({"age": range(12), "pain": ["low", "medium", "high"] * 4, "sex": ["f", "m"] * 6})
    with pytest.warns(shoal.ShoalWarning):
        release = shoal.anonymize(frame, 3, ["age", "pain", "sex"], method="mdav")
    said = {figure.name: figure.sentence for figure in release.figures}
    assert said["kinds"] == (
        "taken for: 'pain' ordinal (low < medium < high), 'sex' nominal (--kind says otherwise)"
    )
    with pytest.warns(shoal.ShoalWarning):
        numbers = shoal.anonymize(frame[["age"]], 3, "age", method="mdav")
    assert "kinds" not in {figure.name for figure in numbers.figures}
