"""Bad input of every kind: one clear line that names the column and what to do, and nothing is written."""

import csv
import json

import numpy as np
import pytest

from shoal import ShoalError, anonymize_file

AGES = [str(age) for age in range(20, 32)]
TREE = {"all": {"work": {"office": {}, "field": {}}, "home": {"garden": {}, "kitchen": {}}}}


def written(folder, **columns):
    """A CSV file of twelve people."""
    path = folder / "people.csv"
    whole = {"age": AGES, **columns}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(whole)
        writer.writerows(zip(*whole.values(), strict=True))
    return path


def column(*values):
    """Twelve values, the given ones first."""
    return [*values, *([values[-1]] * (12 - len(values)))]


CASES = {
    "an unknown category in a given order": (
        {"pain": column("none", "mild", "hellish", "severe")},
        {"orders": {"pain": ["none", "mild", "severe"]}},
        r"'pain' holds 'hellish', which is not in the order none, mild, severe \(row 3\); .*--order pain",
    ),
    "a code outside the taxonomy": (
        {"job": column("office", "garden", "moon", "field")},
        {"taxonomies": {"job": TREE}},
        r"'job'.*'moon'.*row 3",
    ),
    "an impossible date": (
        {"born": column("2001-02-03", "2023-02-30", "1999-12-31")},
        {},
        r"'born'.*2023-02-30.*row 2",
    ),
    "a month that there is not": (
        {"born": column("2001-02-03", "2023-13-01", "1999-12-31")},
        {},
        r"'born'.*2023-13-01.*row 2",
    ),
    "numbers beside text": (
        {"weight": column("70", "81", "heavy", "65")},
        {},
        r"'weight' holds text such as 'heavy' beside numbers \(row 3\); .*--gap-values weight=.*--kind weight=nominal",
    ),
    "dates beside text": (
        {"born": column("2001-02-03", "2003-02-28", "12", "1999-12-31")},
        {"kinds": {"born": "date"}},
        r"'born'.*'12'.*row 3",
    ),
    "a latitude of 95": (
        {"latitude": column("50.1", "95", "48.2"), "longitude": column("8.1", "9.2", "7.3")},
        {},
        r"'latitude'.*95.*row 2",
    ),
    "gaps that nobody spoke of": (
        {"sex": column("f", "?", "m")},
        {},
        r"'sex' holds missing values \(row 2\); .*--gaps drop .*pattern .*blank .*value .*impute",
    ),
    "a pattern of gaps that is too rare": (
        {"sex": column("f", "?", "m")},
        {"gaps": "pattern"},
        r"only 1 record lacks 'sex' and nothing else, fewer than k=3.*--gaps blank",
    ),
    "a kind that there is not": (
        {"sex": column("f", "m")},
        {"kinds": {"sex": "nominall"}},
        r"no kind 'nominall'; did you mean 'nominal'\?",
    ),
    "a common value that a kind does not have": (
        {"sex": column("f", "m")},
        {"aggregate": {"sex": "interval"}},
        r"'sex'.*interval",
    ),
}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("blocks", [None, 1])
@pytest.mark.parametrize("case", sorted(CASES))
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(tmp_path, case, blocks):
    columns, options, words = CASES[case]
    path = written(tmp_path, **columns)
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(ShoalError, match=words) as error:
        anonymize_file(
            path, tmp_path / "safe.csv", 3, ["age", *columns], blocks=blocks, header=True, method="mdav", **options
        )
    assert "\n" not in str(error.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == before


TAXONOMIES = {
    "cyclic": ("child,parent\na,b\nb,c\nc,a\noffice,a\n", "circle"),
    "disconnected": (
        "child,parent\noffice,work\nfield,work\ngarden,home\nkitchen,home\n",
        "'home'.*'work'|'work'.*'home'",
    ),
    "a node of two parents": ("child,parent\noffice,work\nwork,all\nhome,all\noffice,home\n", "'office'"),
    "empty": ("", "empty|no"),
}


@pytest.mark.parametrize("case", sorted(TAXONOMIES))
def test_a_taxonomy_that_is_none_is_refused_and_nothing_is_written(tmp_path, case):
    text, words = TAXONOMIES[case]
    tree = tmp_path / "jobs.csv"
    tree.write_text(text)
    path = written(tmp_path, job=column("office", "field"))
    with pytest.raises(ShoalError, match=words):
        anonymize_file(path, tmp_path / "safe.csv", 3, ["age", "job"], header=True, taxonomies={"job": tree})
    assert not (tmp_path / "safe.csv").exists()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_taxonomy_stands_in_the_manifest_and_repeats_without_its_file(tmp_path):
    tree = tmp_path / "jobs.json"
    tree.write_text(json.dumps(TREE))
    rng = np.random.default_rng(0)
    jobs = rng.choice(["office", "field", "garden", "kitchen"], 12).tolist()
    path = written(tmp_path, job=jobs)
    first = anonymize_file(
        path, tmp_path / "safe.csv", 3, ["age", "job"], header=True, method="mdav", taxonomies={"job": tree}
    )
    tree.unlink()
    again = anonymize_file(
        path, tmp_path / "again.csv", 3, ["age", "job"], header=True, method="mdav",
        taxonomies=first.manifest["taxonomies"], key=first.manifest["key"],
    )  # fmt: skip
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "safe.csv").read_bytes()
    assert again.verified_k >= 3
