"""Files in and out: read whole or some records at a time, with their hash; written whole or not at all."""

from shoal.files.arrow import Arrow
from shoal.files.atomic import atomically
from shoal.files.dialect import Dialect, Said
from shoal.files.formats import FORMATS, Format, Reader, Style, Writer, format_of, register
from shoal.files.parquet import Parquet
from shoal.files.source import Source, look, read
from shoal.files.target import write
from shoal.files.text import Csv

__all__ = [
    "FORMATS",
    "Dialect",
    "Format",
    "Reader",
    "Said",
    "Source",
    "Style",
    "Writer",
    "atomically",
    "format_of",
    "look",
    "read",
    "register",
    "write",
]

register(Csv())  # what nothing tells the format of is of the first one
register(Parquet())
register(Arrow())
