"""The report: one HTML file that works offline, in one edition for the owner and one for the public."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from shoal.errors import ShoalError
from shoal.files.sidecar import manifest_path

Edition = Literal["owner", "public"]
"""For whom a page is: the owner's shows everything, the public one what may stand beside the published file."""

Pages = Mapping[Edition, Path]
"""Where the editions go that are asked for."""


def refuse_same(pages: Sequence[Path], target: Path) -> None:
    """Every report has a name of its own."""
    for number, page in enumerate(pages):
        if page.resolve() in [other.resolve() for other in pages[:number]]:
            raise ShoalError(f"{page} is both editions of the report; choose another name for one")
        if page.resolve() in (target.resolve(), manifest_path(target).resolve()):
            raise ShoalError(f"{page} is both the release and the report; choose another name for one")
