"""A small form of `benchmarks/locations_attacks.py`: attacks that find homes, and find none in Shoal's service."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "locations_attacks.py"


@pytest.fixture(scope="module")
def attacks():
    spec = importlib.util.spec_from_file_location("locations_attacks", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_differences_of_centroids_are_homes_in_a_plain_service_and_nothing_in_this_one(attacks):
    rows = {row.service: row for row in attacks.differencing(small=True)}
    assert rows["plain, exact"].found == 1
    assert rows["plain, exact"].median < 0.1
    for name, row in rows.items():
        if "Shoal" in name:
            assert row.found <= 0.02
            assert row.median > 0.5 * attacks.np.median(row.chance)


def test_all_centroids_together_determine_homes_in_a_plain_service_and_none_in_this_one(attacks):
    rows = {row.service: row for row in attacks.linear_system(small=True)}
    assert rows["plain, exact"].found > 0.2
    for name, row in rows.items():
        if "Shoal" in name:
            assert row.determined == 0
            assert row.share <= 1 / attacks.K + 1e-9
            assert row.found <= 0.02


def test_who_is_followed_through_free_redraws_is_soon_alone_and_stays_among_k_under_the_history_rule(attacks):
    free, kept, _, cohorts = attacks.intersection(small=True)
    assert free.below > 0.5
    assert kept.below_with_gone <= 0.02
    assert cohorts.below_with_gone <= 0.1  # who left before the first look is not counted


def test_homes_of_who_is_known_to_have_left_are_found_in_a_plain_service_only(attacks):
    rows = {row.service: row for row in attacks.cancellation_lists(small=True)}
    assert rows["plain, exact"].found == 1
    assert rows["Shoal"].found == 0


def test_one_invitation_is_one_principal_whatever_devices_it_has(attacks):
    open_, kept, one_open, one_kept, _, *late = attacks.sybils(small=True)
    assert open_.found == 1, "k - 1 of k people know the last one"
    assert kept.found == one_open.found == one_kept.found == 0
    assert late[-1].found == 0


def test_a_house_of_many_devices_is_not_published(attacks):
    any_places, places = attacks.buildings(small=True)
    assert any_places.found > 0.2
    assert places.found < 0.05


def test_credentials_that_are_no_good_get_one_answer(attacks):
    lines = [line.split(" | ") for line in attacks.timing(small=True)[2:]]
    refused = [line for line in lines if line[0] == "| Shoal" and "existing" not in line[1]]
    assert {line[2] for line in refused} == {"401"}
    assert {line[3] for line in refused} == {"1"}
    assert len({line[2] for line in lines if line[0] == "| plain" and "existing" not in line[1]}) == 3
