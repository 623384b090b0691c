"""Cells for the homes of people: what a service calls to draw them, to draw them again, and for those who arrive.

Homes are unit vectors, so neither the date line nor the poles are special. Only numpy is loaded with this file and
what it names. The functions that draw load the rest when they are called; a server that draws nothing stays light.
"""

from shoal.locations.distances import cheapest, drift, kilometres, loss, ways
from shoal.locations.fresh import costs_for, draw, redraw_freely, regions_of
from shoal.locations.people import Demand, Drawn, People, Redrawn
from shoal.locations.regrouping import redraw_whole

__all__ = [
    "Demand", "Drawn", "People", "Redrawn", "cheapest", "costs_for", "draw", "drift", "kilometres", "loss",
    "redraw_freely", "redraw_whole", "regions_of", "ways",
]  # fmt: skip
