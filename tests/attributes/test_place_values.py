import json
from dataclasses import asdict

import numpy as np
import pytest

from shoal.attributes import sphere
from shoal.attributes.place_values import Form, PlaceValues


def values(form, decimals, *degrees):
    north, east = (np.rint(np.array(part) * 1e7).astype(np.int64) for part in zip(*degrees, strict=True))
    return PlaceValues(form, sphere.packed(north, east), decimals)


def test_a_form_comes_back_from_json():
    form = Form(("lat", "lon"), ("float32", "integer"), 3, True)
    assert Form.from_dict(json.loads(json.dumps(asdict(form)))) == form


@pytest.mark.parametrize(
    ("eastward", "decimals", "texts"),
    [
        (False, 2, ["51.50, -0.25", "-3.00, 180.00", "0.00, -179.50"]),
        (True, 2, ["51.50, 359.75", "-3.00, 180.00", "0.00, 180.50"]),
        (True, None, ["51.5, 359.75", "-3.0, 180.0", "0.0, 180.5"]),
    ],
)
def test_places_are_written_with_the_longitudes_and_decimals_of_the_table(eastward, decimals, texts):
    common = values(Form(("lat", "lon"), eastward=eastward), decimals, (51.5, -0.25), (-3, 180), (0, 180.5))
    assert common.text() == texts
    assert common.of("lat").floats().tolist() == common.floats().tolist() == [51.5, -3, 0]
    assert common.of("lon").text(",") == [text.split(", ")[1].replace(".", ",") for text in texts]


def test_tens_of_degrees_have_no_decimals():
    assert values(Form(("lat", "lon")), -1, (50, -20)).text() == ["50, -20"]


def test_raw_values_are_points_of_the_sphere():
    assert np.allclose(values(Form(("lat", "lon")), 0, (0, 0), (90, 5)).raw, [[1, 0, 0], [0, 0, 1]])
