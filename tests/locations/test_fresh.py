import numpy as np

from shoal.locations.city import City
from shoal.locations.fresh import draw
from shoal.locations.homes import points
from shoal.locations.people import Demand, People


def test_several_devices_of_a_principal_do_not_make_cells_twice_as_large():
    homes = City(1).homes(300)
    second = np.arange(0, 300, 5)
    people = People(
        points(np.concatenate([homes, homes[second]])),
        np.concatenate([np.arange(300), second]),
        np.concatenate([np.arange(300), second]),
    )
    drawn = draw(people, Demand(20, 4, 3))
    principals = [len(set(people.principals[drawn.cells == cell])) for cell in range(len(drawn.centres))]
    assert min(principals) >= 24
    assert len(principals) >= 8  # of at most 12; merging pairs of cells of 24 devices gives 7
