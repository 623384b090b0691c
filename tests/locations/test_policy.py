import pytest

from shoal.errors import ShoalError
from shoal.locations.policy import Policy


def test_the_defaults_are_the_safe_ones():
    policy = Policy()
    assert (policy.slack_of(5), policy.places_of(5), policy.history, policy.digits) == (1, 3, True, 3)
    assert (policy.drawn_with(20), policy.kept_with(20), policy.start_of(20)) == (24, 21, 48)
    assert Policy(classes=(2,)).places_of(2) == 2


def test_without_slack_a_cell_goes_on_with_k():
    assert Policy(slack=0).kept_with(5) == Policy(slack=0).drawn_with(5) == 5


def test_classes_are_sorted_and_named_once():
    assert Policy(classes=(20, 5, 20)).classes == (5, 20)


def test_a_policy_is_the_same_after_it_was_kept():
    policy = Policy(classes=(5, 20), slack=2, admission="cohort", history=False, digits=2, drift=0.5)
    assert Policy.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"classes": ()}, "classes must be one or several"),
        ({"classes": (1,)}, "each of classes must be at least 2"),
        ({"classes": (5.0,)}, "whole number"),
        ({"slack": -1}, "slack must be at least 0"),
        ({"slack": 6}, "slack must be at most 5"),
        ({"distinct_places": 0}, "distinct_places must be at least 1"),
        ({"distinct_places": 6}, "distinct_places must be at most 5"),
        ({"admission": "joined"}, "did you mean 'join'"),
        ({"history": "no"}, "history must be True or False"),
        ({"digits": 9}, "digits must be at most 6"),
        ({"drift": 0}, "drift must be a number from 0.01"),
        ({"start": 1}, "start must be at least 2"),
    ],
)
def test_what_cannot_be_promised_is_refused(options, words):
    with pytest.raises(ShoalError, match=words):
        Policy(**options)


def test_an_unknown_option_names_its_neighbour():
    with pytest.raises(ShoalError, match="did you mean 'slack'"):
        Policy.named({"slak": 2})
