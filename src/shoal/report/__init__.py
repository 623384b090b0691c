"""The report: one HTML file that works offline, in an edition for the owner of the table and one for the public."""

from typing import Literal

Edition = Literal["owner", "public"]
"""For whom a page is: the owner's shows everything, the public one what may stand beside the published file."""
