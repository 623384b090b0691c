import pytest

from shoal.attributes import places_in


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["lat", "lon"], [("lat", "lon")]),
        (["id", "Longitude", "Latitude"], [("Latitude", "Longitude")]),
        (["home_lat", "home_lon", "work_lat", "work_lon"], [("home_lat", "home_lon"), ("work_lat", "work_lon")]),
        (["homeLat", "homeLng"], [("homeLat", "homeLng")]),
        (["lat1", "lat2", "lon2", "lon1"], [("lat1", "lon1"), ("lat2", "lon2")]),
        (["Breitengrad", "Längengrad"], [("Breitengrad", "Längengrad")]),
        (["pickup_latitude", "dropoff_longitude"], []),
        (["lat_lon", "platform", "long"], []),
        (["lat", "longing"], []),
        ([], []),
    ],
)
def test_a_latitude_and_a_longitude_with_the_same_rest_of_the_name_are_a_place(names, pairs):
    assert places_in(names) == pairs


def test_every_column_is_in_one_place_at_most():
    assert places_in(["lat", "latitude", "lon"]) == [("lat", "lon")]
