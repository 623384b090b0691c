import numpy as np
import pytest

from shoal import MDAV, PCL, Auto, Blocked, Optimal, Refined
from shoal.comparison.grid import checked_seconds, grid, numbers_read
from shoal.errors import ShoalError
from shoal.methods import METHODS


def made(ks=(3, 5), methods=("mdav", "auto"), seconds=None, **options):
    return grid(ks, methods, ["age"], None, None, options, seconds)


def test_every_method_stands_with_every_k_the_smallest_first():
    assert [(each.method, each.k) for each in made((5, 3))] == [
        ("mdav", 3), ("auto", 3), ("mdav", 5), ("auto", 5),
    ]  # fmt: skip
    assert all(each.settings.k == each.k for each in made())


def test_what_is_named_twice_is_compared_once():
    assert [str(each) for each in made([3, 3], ["mdav", "MDAV", "mdav"])] == ["mdav, k = 3"]


def test_one_k_and_one_method_need_no_lists():
    assert [str(each) for each in made(4, "mdav")] == ["mdav, k = 4"]
    assert [str(each) for each in made(np.int64(4), MDAV(k=9))] == ["MDAV(), k = 4"]


def test_an_estimator_keeps_its_parameters_and_gets_the_k():
    settings = made([4], [PCL(k=9, hierarchy=100), Blocked(MDAV(k=3), sweeps=1)])
    assert [each.method for each in settings] == ["PCL(hierarchy=100)", "Blocked(method=MDAV(), sweeps=1)"]
    assert settings[0].settings.method.hierarchy == 100
    assert [each.settings.method.k for each in settings] == [4, 4]


def test_every_method_can_be_named():
    assert [each.method for each in made([3], sorted(METHODS))] == sorted(METHODS)


def test_methods_that_draw_get_a_seed_and_keep_their_own():
    assert made([3], ["pcl"])[0].settings.random_state == 0
    assert made([3], ["pcl"], random_state=7)[0].settings.random_state == 7
    own = made([3], [PCL(random_state=5)])[0].settings
    assert own.random_state is None
    assert own.seeded().method.random_state == 5
    inside = made([3], [Blocked(PCL(random_state=5))])[0].settings.seeded()
    assert inside.method.method.random_state == 5


def test_only_a_method_without_an_end_of_its_own_is_told_the_limit():
    told = [each.settings.method for each in made([3], ["optimal", Optimal(seconds=2), Refined(), "auto"], 10)]
    assert [method.seconds for method in told] == [8.0, 2, None, None]
    assert isinstance(told[3], Auto)
    assert made([3], ["optimal"])[0].settings.method.seconds is None


def test_settings_are_those_of_a_release():
    (setting,) = made([3], ["mdav"], scaling="range", aggregate="median")
    assert setting.settings.scaling == "range"
    assert setting.settings.aggregate == "median"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ks": []}, "no k: give the values to compare"),
        ({"ks": "3,5"}, "k must be a list such as"),
        ({"ks": [0]}, "k must be at least 1"),
        ({"ks": [2.5]}, "k must be a whole number"),
        ({"ks": True}, "k must be a whole number"),
        ({"ks": None}, "k must be a list such as"),
        ({"methods": []}, "no method: give the methods to compare"),
        ({"methods": ["mdaw"]}, "there is no method 'mdaw'; did you mean 'mdav'"),
        ({"methods": 5}, "methods must be a list such as"),
        ({"methods": [MDAV]}, "the method is a class; make an estimator of it"),
        ({"method": "mdav"}, "a comparison takes several methods: give methods="),
        ({"pseudonym": "id"}, "a comparison writes no release, so pseudonym says nothing here"),
        ({"no_such": 1}, "there is no option 'no_such'"),
        ({"scaling": "zcore"}, "scaling must be one of"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(given, said):
    with pytest.raises(ShoalError) as error:
        made(**given)
    assert str(error.value).startswith(said)


def test_a_limit_is_above_zero():
    assert checked_seconds(None) is None
    assert checked_seconds(3) == 3.0
    for wrong in (0, -1, "5", float("nan"), float("inf")):
        with pytest.raises(ShoalError, match="seconds"):
            checked_seconds(wrong)


def test_numbers_are_read_with_commas_and_repeated():
    assert numbers_read(["3,5", " 10 "]) == [3, 5, 10]
    assert numbers_read([]) == []
    for wrong in (["3,"], ["a"], ["0"], ["-3"], ["2.5"], [""], ["²"]):
        with pytest.raises(ShoalError, match="whole numbers of at least 1 with commas"):
            numbers_read(wrong)
