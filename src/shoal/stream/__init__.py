"""Tables larger than memory: from file to file, some records at a time; loaded at first use, as `shoal` is."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.stream.figures import FileRelease
    from shoal.stream.run import anonymize_file

__all__ = ["FileRelease", "anonymize_file"]


def __getattr__(name: str) -> Any:
    """Reading a file in parts needs none of what groups its records."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shoal.stream import run

    return getattr(run, name)
