import pandas as pd

import shoal
from shoal.inspection.places import attributes_of

DEGREES = {"lat": [48.1, 52.5, 50.9, 48.1], "lon": [11.6, 13.4, 7.0, 11.6], "age": [30, 41, 30, 52]}


def test_a_latitude_and_a_longitude_are_a_place():
    found = shoal.inspect(pd.DataFrame(DEGREES))
    assert [column.kind for column in found.columns] == ["place", "place", "numeric"]
    assert found.columns[0].reason == "with 'lon' a place, which may be known to others"
    assert [[part.name for part in each] for each in attributes_of(found.columns)] == [["lat", "lon"], ["age"]]
    assert found.options() == {}
    assert shoal.anonymize(pd.DataFrame(DEGREES), k=2, **found.roles(), **found.options())


def test_what_is_called_a_place_but_is_none_is_made_of_numbers():
    table = pd.DataFrame(DEGREES | {"lat": [481, 525, 509, 481]})
    found = shoal.inspect(table)
    assert found.options() == {"kinds": {"lat": "numeric", "lon": "numeric"}}
    assert [len(each) for each in attributes_of(found.columns)] == [1, 1, 1]
    assert shoal.anonymize(table, k=2, **found.roles(), **found.options())
