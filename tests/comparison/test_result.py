import csv
import io
import json
import re

import pytest

from shoal import Comparison, ShoalError
from shoal.comparison.result import check_files
from shoal.comparison.rows import DEFINITIONS, HEADER, Row, cells_of

ROWS = (
    Row("mdav", 3, "ok", loss=4.567, seconds=0.25, records=1200, groups=400, smallest=3, largest=4,
        prosecutor_highest=100 / 3, prosecutor_mean=33.2, linkage=20.0, linkage_error=0.25, single_value=1.25,
        made_by="MDAV", seed=0),
    Row("auto", 3, "ok", loss=3.5, seconds=2.0, records=1200, groups=400, smallest=3, largest=3,
        prosecutor_highest=100 / 3, prosecutor_mean=33.2, linkage=22.0, linkage_error=0.0, made_by="Auto", seed=0,
        cached=True),
    Row("<b>pcl</b>", 3, "unfinished", limit=5.0),
    Row("dba", 3, "failed", "oh | no"),
)  # fmt: skip


@pytest.fixture
def found():
    return Comparison(ROWS, "people.csv", 1200)


def test_cells_say_what_is_known_of_a_row():
    assert cells_of(ROWS[0]) == (
        "3", "mdav", "4.57 %", "0.25 s", "400", "3 to 4", "33.3 %", "20.00 % ± 0.25", "1.2 %", "",
    )  # fmt: skip
    assert cells_of(ROWS[1])[-3:] == ("22.00 %", "", "from the cache")
    assert cells_of(ROWS[2]) == ("3", "<b>pcl</b>", *[""] * 7, "unfinished after 5.0 s")
    assert all(len(cells_of(row)) == len(HEADER) for row in ROWS)


def test_every_figure_of_the_table_is_defined():
    assert set(HEADER) - {"k", "method", ""} == set(DEFINITIONS)


def test_a_comparison_tells_itself_in_a_line(found):
    assert repr(found).startswith("Comparison(4 settings, 2 with figures: For k = 3 take auto.")
    assert found.cached == 1


def test_json_holds_everything_and_comes_back(found):
    whole = json.loads(found.to_json())
    assert [Row.from_dict(row) for row in whole["rows"]] == list(ROWS)
    assert whole["recommendation"]["choices"][0]["method"] == "auto"
    assert (whole["input"], whole["records"], whole["interrupted"]) == ("people.csv", 1200, False)


def test_csv_holds_every_row(found):
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["method"] for row in rows] == [row.method for row in ROWS]
    assert float(rows[0]["loss"]) == 4.567
    assert rows[2]["loss"] == ""
    assert rows[3]["reason"] == "oh | no"


def test_the_table_has_a_column_for_each_figure(found):
    table = found.table()
    assert table.num_rows == 4
    assert str(table.schema.field("loss").type) == "double"
    assert str(table.schema.field("groups").type) == "int64"
    assert table["loss"].to_pylist() == [4.567, 3.5, None, None]
    assert Comparison(ROWS[2:], "", 3).table().schema == table.schema


def test_files_are_written_by_their_ending_and_never_over_others(found, tmp_path):
    assert json.loads(found.write(tmp_path / "rows.json").read_text())["records"] == 1200
    assert found.write(tmp_path / "rows.csv").read_text() == found.to_csv()
    with pytest.raises(ShoalError, match="exists already"):
        found.write(tmp_path / "rows.csv")
    found.write(tmp_path / "rows.csv", overwrite=True)
    for wrong in ("rows.xlsx", "rows", ".json"):
        with pytest.raises(ShoalError, match="must end in .json or .csv"):
            found.write(tmp_path / wrong)
    with pytest.raises(ShoalError, match="must end in .svg or .png"):
        found.plot(tmp_path / "map.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "rows.json"]


def test_files_are_checked_before_any_work(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text("a\n")
    with pytest.raises(ShoalError, match="is the input"):
        check_files(source, source, None, None, True)
    with pytest.raises(ShoalError, match="exists already"):
        check_files(None, source, None, None, False)
    with pytest.raises(ShoalError, match="is named twice"):
        check_files(source, None, tmp_path / "x.svg", tmp_path / "x.svg", False)
    with pytest.raises(ShoalError, match="must end in .svg or .png"):
        check_files(source, None, tmp_path / "x.txt", None, False)
    check_files(source, tmp_path / "x.json", tmp_path / "x.svg", tmp_path / "x.html", False)


def test_a_notebook_shows_a_card_where_names_are_text(found):
    card = found._repr_html_()
    assert "3.50 %" in card
    assert "Comparison: people.csv" in card
    assert "&lt;b&gt;pcl" in card
    assert "<b>pcl" not in card
    assert found.recommendation.says.replace("'", "&#39;") in card


def test_the_report_is_one_page_with_the_table_behind_the_picture(found, tmp_path):
    page = found.report(tmp_path / "comparison.html").read_text()
    assert found.recommendation.says in page
    assert "<svg" in page
    assert "<b>pcl" not in page
    assert page.count("<tr>") == 1 + len(ROWS)
    assert all(words.partition(" ")[0] in page for words in DEFINITIONS.values())
    assert re.findall(r"(?:src|href)=.(?!#)", page) == []
    assert "url(http" not in page
    assert "<script" not in page
