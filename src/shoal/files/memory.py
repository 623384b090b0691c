"""How much memory there is, and what a file would take."""

import ctypes
import os
import re
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from shoal.errors import ShoalError
from shoal.files.formats import format_in

FLOOR = 512_000_000
"""Below this nothing can be done: Python and the libraries alone take two thirds of it."""

DEFAULT = 4_000_000_000
"""Tables that would take more are streamed, where no limit is given. It is a constant, not a share of what is
free: the same table with the same settings is cut into the same blocks, whatever else runs."""

BASE = 330_000_000  # Python, the libraries and their compiled code
IN_MEMORY = 12  # bytes that a table takes in memory for each byte of its values, read, grouped and written

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def bytes_of(memory: str | int | None) -> int:
    """A limit such as "1GB" or "800 MB" in bytes; the default where there is none."""
    if memory is None:
        return DEFAULT
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if isinstance(memory, bool) or not found:
        raise ShoalError(f'memory is given as "1GB" or "800MB", or in bytes, not {memory!r}')
    number, unit, binary = found.groups()
    factor = _UNITS[unit] if not binary else 1024 ** list(_UNITS).index(unit)
    limit = int(float(number) * factor)
    if limit < FLOOR:
        raise ShoalError(
            f"memory must be at least {FLOOR // 10**6} MB, not {limit / 10**6:.4g} MB: "
            "Python and the libraries alone take most of that"
        )
    return limit


def free_memory() -> int:
    """The memory that could be used now, in bytes, within the limits of a container."""
    free = [available_memory()]
    group = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # no container, or one without a limit
        free.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(0, min(free))


def resident_memory() -> int:
    """What this process holds already; 0 where the system does not say."""
    with suppress(OSError, IndexError, ValueError, AttributeError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class NoRoomError(ShoalError):
    """There is less memory free than a table needs."""


def check_free(needed: int, what: str, cure: str) -> None:
    """An error before any work starts, where so much memory cannot be had."""
    free = free_memory() + resident_memory()
    if needed > free:
        raise NoRoomError(
            f"{what} needs about {in_gigabytes(needed)} of memory and {in_gigabytes(free)} can be had now; {cure}"
        )


def in_gigabytes(size: int) -> str:
    """A size to read."""
    return f"{size / 10**9:.2g} GB" if size >= 10**9 else f"{size / 10**6:.0f} MB"


def check_room(path: Path) -> None:
    """Whether a file can be anonymized in memory now."""
    if path.is_file():
        check_free(
            size_in_memory(path),
            path.name,
            'give --memory 512MB or more (in Python memory="512MB"), which streams it in blocks, or make memory '
            "free; the same release needs the same --memory again, because other blocks have other groups",
        )


def available_memory() -> int:
    """What the system says is available; half of all memory where it does not say."""
    with suppress(OSError, IndexError):
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
        return int(re.findall(r"MemAvailable:\s+(\d+) kB", meminfo)[0]) * 1024
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):
        return 2 * 10**9


def size_in_memory(path: Path) -> int:
    """An estimate, on the high side, of what it takes to anonymize a file in memory."""
    with path.open("rb") as file:
        start = file.read(8)
    return BASE + IN_MEMORY * format_in(path.name, start).size_unpacked(path)


def give_back() -> None:
    """Hand memory that is free, but still held by the libraries, back to the system."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only GNU's C library has it
        ctypes.CDLL(None).malloc_trim(0)
