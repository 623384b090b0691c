"""Files in and out: CSV, Parquet and Arrow IPC; read whole with their hash, written whole or not at all."""

from shoal.files.atomic import atomically
from shoal.files.dialect import Dialect, Said
from shoal.files.read import Format, Source, read
from shoal.files.write import format_of, write

__all__ = ["Dialect", "Format", "Said", "Source", "atomically", "format_of", "read", "write"]
