"""The pictures of a page: what is drawn, and the tables behind it."""

from shoal.measures.figures import Figure, FigureTable
from shoal.report.pictures import attacks_picture, linkage_picture

HEADER = ("attack", "attempts", "success, %", "low, %", "high, %", "guessing, %", "control, %")


def attack(*rows):
    table = FigureTable(HEADER, rows)
    return Figure("linkability_success", 20.0, "%", "20.0 %", "linkability", "", "risk", "public", table=table)


def test_an_attack_that_could_not_be_tried_is_not_drawn():
    tried, untried = ("a and b", 50, 20.0, 11.0, 33.0, 2.0, None), ("a and c", 0, None, None, None, 0.0, None)
    picture = attacks_picture([attack(tried, untried)])
    assert picture.table.rows == (("linkability: a and b", 20.0, 2.0, None, 11.0, 33.0),)
    assert attacks_picture([attack(untried)]) is None


def test_linkage_stands_beside_blind_guessing_and_what_k_allows():
    figure = Figure(
        "linkage_all", 7.5, "%", "7.5 %", "linked", "", "risk", details={"blind": 0.1, "at_most": 20.0}
    )
    assert linkage_picture([figure]).table.rows == (("nearest record, all known", 7.5, 0.1, 20.0),)
    assert linkage_picture([]) is None
