"""The invented city: dense in the middle, the same for the same seed, anywhere on the earth."""

import numpy as np
import pytest

from shoal.attributes.sphere import RADIUS
from shoal.locations.city import BARCELONA, City, city_homes
from shoal.locations.homes import points


def distances(homes, middle):
    chords = np.sqrt(np.square(points(homes) - points(np.array([middle]))).sum(axis=1))
    return 2 * np.arcsin(chords / 2) * RADIUS


def test_the_same_seed_gives_the_same_homes():
    assert city_homes(50) == city_homes(50, seed=0)
    assert city_homes(50, seed=1) != city_homes(50)
    assert np.array_equal(City(4).homes(30), City(4).homes(30))


def test_a_city_gives_other_homes_every_time():
    city = City(1)
    assert not np.array_equal(city.homes(30), city.homes(30))


def test_homes_are_pairs_of_plain_numbers():
    for latitude, longitude in city_homes(20):
        assert type(latitude) is float
        assert type(longitude) is float
    assert city_homes(0) == []


@pytest.mark.parametrize("middle", [BARCELONA, (-17.0, 179.95), (89.9, 0.0), (0.0, 0.0)])
def test_the_centre_is_dense_and_villages_are_far(middle):
    far = distances(City(2, middle).homes(4000), middle)
    assert (far < 41).all()
    near, ring = (far < 3).sum(), ((far > 15) & (far < 41)).sum()
    assert near / (np.pi * 3**2) > 50 * ring / (np.pi * (41**2 - 15**2))
    assert ring > 400


def test_many_homes_share_a_building_and_most_of_them_in_the_centre():
    homes = City(3).homes(3000)
    _, which, sizes = np.unique(homes, axis=0, return_inverse=True, return_counts=True)
    shared = sizes[which.ravel()] > 1
    far = distances(homes, BARCELONA)
    assert shared[far < 2].mean() > 0.6 > 0.3 > shared[far > 15].mean()
    assert sizes.max() < 40
