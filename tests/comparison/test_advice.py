"""What is recommended, worked by hand."""

import json

import pytest

from shoal.comparison.advice import bend_of, recommended
from shoal.comparison.rows import Row


def row(method, k, loss, seconds=0.5, status="ok", smallest=None):
    if status != "ok":
        return Row(method, k, status)
    return Row(method, k, "ok", loss=loss, seconds=seconds, prosecutor_highest=100 / (smallest or k))


def chosen(*rows):
    return [(choice.k, choice.method) for choice in recommended(rows).choices]


def test_the_least_loss_is_taken():
    found = recommended([row("mdav", 5, 4.0), row("auto", 5, 3.0)])
    assert found.says == "For k = 5 take auto. It loses 3.00 % in 0.5 s, the least; mdav loses most, 4.00 %."
    assert found.choices[0].alike == ()


def test_of_losses_that_are_practically_the_same_the_much_faster_one_is_taken():
    rows = [row("pcl", 5, 3.0, 60), row("auto", 5, 3.02, 1.0)]
    found = recommended(rows)
    assert chosen(*rows) == [(5, "auto")]
    assert found.says == (
        "For k = 5 take auto. It loses 3.02 % in 1.0 s, practically the same as pcl, which took 1 min 0 s."
    )


def test_nobody_minds_a_second():
    assert chosen(row("pcl", 5, 3.0, 0.9), row("auto", 5, 3.02, 0.1)) == [(5, "pcl")]


def test_a_difference_above_a_percent_is_one():
    assert chosen(row("pcl", 5, 3.0, 60), row("auto", 5, 3.031, 1.0)) == [(5, "pcl")]


def test_a_much_faster_method_close_to_the_least_is_named():
    near = recommended([row("pcl", 5, 3.0, 60), row("auto", 5, 3.05, 1.0)])
    assert near.choices[0].quicker == "auto"
    assert near.says.endswith("auto loses 3.05 % and took only 1.0 s.")
    assert recommended([row("pcl", 5, 3.0, 60), row("auto", 5, 3.07, 1.0)]).choices[0].quicker == ""
    assert recommended([row("pcl", 5, 3.0, 60), row("auto", 5, 3.05, 13.0)]).choices[0].quicker == ""


def test_one_method_for_every_k_is_preferred_where_losses_are_practically_the_same():
    rows = [
        row("mdav", 3, 2.0), row("vmdav", 3, 2.01), row("mdav", 5, 3.01), row("vmdav", 5, 3.0),
        row("mdav", 9, 4.0), row("vmdav", 9, 4.03),
    ]  # fmt: skip
    assert chosen(*rows) == [(3, "mdav"), (5, "mdav"), (9, "mdav")]
    assert recommended(rows).says.startswith(
        "Take mdav: for every k its loss is the least, or practically the same"
    )


def test_different_methods_for_different_k_are_said():
    found = recommended([row("a", 3, 2.0), row("b", 3, 9.0), row("a", 5, 9.0), row("b", 5, 3.0), row("b", 7, 4.0)])
    assert found.says.startswith("Take a for k = 3 and b for k = 5 and 7: there the loss is the least")


def test_what_has_no_figures_takes_no_part_and_is_counted():
    rows = [row("mdav", 5, 4.0), row("pcl", 5, None, status="unfinished"), row("auto", 5, None, status="refused")]
    assert chosen(*rows) == [(5, "mdav")]
    assert recommended(rows).says.endswith("2 settings have no figures and took no part.")
    none = recommended(rows[1:])
    assert none.says == "No setting has figures, so there is nothing to recommend."
    assert (none.choices, none.bend) == ((), ())


def test_without_any_loss_the_fastest_is_as_good():
    assert chosen(row("mdav", 5, 0.0, 10), row("auto", 5, 0.0, 1)) == [(5, "auto")]
    assert chosen(row("mdav", 5, 0.0, 10), row("auto", 5, 1e-9, 1)) == [(5, "mdav")]


@pytest.mark.parametrize(
    ("losses", "bend"),
    [
        ([1.0, 2.0, 8.0], (5,)),  # cheap up to 5, dear beyond
        ([1.0, 3.3, 8.0], (5,)),
        ([8.0, 8.0, 8.0], ()),  # nothing is lost
        ([1.0, 5.0, 5.5], ()),  # the other way round
        ([1.0, 5.0, 1.0], ()),
    ],
)
def test_a_bend_is_where_more_hiding_begins_to_cost_more(losses, bend):
    assert bend_of([row("a", k, loss) for k, loss in zip((3, 5, 10), losses, strict=True)]) == bend


def test_by_hand_how_far_a_bend_is_from_the_straight_line():
    # Risks 1/2, 1/4, 1/8: in shares of their span 1, 1/3, 0. The line at 1/3 is at 2/3 of the losses' span.
    def at(share):
        return bend_of([row("a", 2, 0.0), row("a", 4, share), row("a", 8, 1.0)])

    assert at(2 / 3 - 0.11) == (4,)
    assert at(2 / 3 - 0.09) == ()


def test_of_bends_that_are_about_as_far_all_are_named():
    # Risks in shares of their span: 1, 0.3, 0.1, 0. Distances 1 - risk - loss: 0.5, 0.48.
    rows = [row("a", 10, 0.0, smallest=10), row("a", 25, 0.2, smallest=25), row("a", 50, 0.4), row("a", 100, 1.0)]
    found = recommended(rows)
    assert found.bend == tuple(
        k for k, far in ((25, 1 - (4 - 1) / 9 - 0.2), (50, 1 - (2 - 1) / 9 - 0.4)) if far > 0.4388
    )
    assert (
        "Else k = 25 or k = 50 is a good balance: from k = 10 to k = 50 the highest risk falls from 10.0 % to"
        in found.says
    )


def test_two_values_of_k_have_no_bend():
    found = recommended([row("a", 3, 1.0), row("a", 5, 2.0)])
    assert found.bend == ()
    assert "take the largest k whose loss your analyses can bear" in found.says


def test_the_order_of_the_rows_makes_no_difference():
    rows = [row("a", 3, 2.0), row("b", 3, 1.0), row("a", 5, 3.0), row("b", 5, 4.0), row("a", 9, 9.0)]
    assert recommended(rows[::-1]).choices == recommended(rows).choices


def test_a_recommendation_goes_into_json():
    found = recommended([row("mdav", 5, 4.0)])
    assert json.loads(json.dumps(found.as_dict()))["choices"][0]["method"] == "mdav"
