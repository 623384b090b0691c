import pandas as pd
import pytest

import shoal
from shoal.measures.survey import linkage


def figures_of(**said):
    rows = {
        "age": [20, 20, 30, 31, 40, 41, 50, 51],
        "who": [1, 1, 2, 3, 4, 5, 6, 7],
        "w": [1, 1, 1, 1, 1, 1, 9, 1],
    }
    frame = pd.DataFrame(rows | {"region": ["n", "n", "n", "n", "s", "s", "s", "s"]})
    given = {"identifiers": [name for name in ("who", "w", "region") if name not in said.values()]} | said
    release = shoal.anonymize(frame, 2, ["age"], method="mdav", **given)
    return {figure.name: figure for figure in release.figures}, release


def test_nothing_is_said_where_every_row_is_a_person():
    figures, _ = figures_of()
    assert not {"strata", "weighted_information_loss", "linked_k"} & set(figures)
    assert figures["groups"].sentence == "8 records in 4 groups of 2 (MDAV)"


def test_groups_are_counted_in_persons():
    figures, release = figures_of(person="who")
    assert "8 records of 7 persons in 3 groups of 2 to 3 persons" in figures["groups"].sentence
    assert release.verified_k == 2
    assert release.shown_figures[0].sentence == "verified on the released table: k = 2 persons (asked for 2)"


def test_strata_and_both_losses_are_named():
    figures, _ = figures_of(within="region", sampling_weight="w")
    assert figures["strata"].sentence == "no group crosses a border of the 2 strata of region"
    assert figures["information_loss"].value != figures["weighted_information_loss"].value
    assert "weighted by 'w'" in figures["weighted_information_loss"].sentence


def test_strata_that_were_merged_are_no_longer_counted():
    table = {"age": [20, 22, 29, 31, 35, 38, 40, 44, 51, 58, 60, 77], "region": list("aaaabbbbcccc")}
    asked = {"within": "region", "method": "mdav"}

    def said(merged):
        release = shoal.anonymize(pd.DataFrame(table), 2, "age", merge_strata=merged, **asked)
        return {each.name: each.sentence for each in release.figures}["strata"]

    assert said({"c": "a"}) == "no group crosses a border of the 2 strata of region; 1 was merged into others"
    assert said({"c": "a", "b": "a"}) == "only 1 stratum of region is left; 2 were merged into others"


@pytest.mark.parametrize(("k", "warns"), [(5, False), (2, True)])
def test_linkage_says_who_may_be_found(k, warns):
    figure = linkage(k, 5, "persons", "pid")
    assert (figure.value, figure.topic) == (k, "risk")
    assert ("may find" in figure.sentence) is warns
