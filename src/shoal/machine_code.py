"""Machine code that came with the package, so that the first release need not wait for the compiler.

When a wheel is built, the kernels of usual releases are compiled for a processor that nearly everybody has, and
what Numba would keep in its cache goes into one file beside the kernels. The file makes the first use faster, and
nothing else. Code is taken from it only where Python, Numba, llvmlite, NumPy and the system are those that it was
made with, where the text of the kernel and of all that it calls is the same, and where this processor has all that
the code asks for. From a file that is cut off, changed or of another version nothing is taken.

What is taken is unpickled, as from Numba's own cache. The file lies in the package, and whoever can change it can
change the code beside it as well: the hashes are against accidents, not against attacks.
"""

import hashlib
import json
import pickle
import platform
import sys
import sysconfig
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps as _dumps

config: Any = numba.config
pickled: Callable[[Any], bytes] = _dumps

MAGIC = b"shoal machine code 1"
BASELINES = {
    "x86_64": (
        "x86-64-v3",
        "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave",
    ),
    "aarch64": ("generic", ""),
}
"""The processors that machine code is made for, and what they must have: those of the last ten years."""
OTHER_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}


class Piece(NamedTuple):
    """A part of the file: where it begins, how long it is, and its hash."""

    start: int
    length: int
    digest: str


def baseline() -> tuple[str, list[str]] | None:
    """The processor that code is made for on machines such as this one, and its features."""
    machine = platform.machine().lower()
    found = BASELINES.get(OTHER_NAMES.get(machine, machine))
    return None if found is None else (found[0], found[1].split())


def circumstances() -> dict[str, Any]:
    """All that machine code depends on beside the processor and the text of the kernels."""
    return {
        "python": f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}",
        "system": sysconfig.get_platform(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": ".".join(np.__version__.split(".")[:2]),  # Numba asks for these two numbers
        "vectors": bool(config.USING_SVML),
        "processor": baseline(),
    }


def name_of_file() -> str:
    """What the file is called; several can lie side by side."""
    return f"machine-code-{sys.implementation.cache_tag}-{sysconfig.get_platform()}.pack"


class Pack:
    """The file, once its circumstances were found to be those of this process."""

    def __init__(self, path: Path, begin: int, kernels: Mapping[str, Any]) -> None:
        self._path, self._begin, self._kernels = path, begin, kernels

    def find(self, name: str, stamp: str, signature: Any) -> Any:
        """What Numba keeps of a kernel for these types; None where the file has it not, or not whole."""
        found = self._kernels.get(name)
        if found is None or found["stamp"] != stamp:
            return None
        try:
            piece = pickle.loads(self._read(Piece(*found["index"]))).get(signature)
            return None if piece is None else pickle.loads(self._read(piece))
        except (OSError, ValueError, zlib.error, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return None

    def _read(self, piece: Piece) -> bytes:
        with self._path.open("rb") as file:
            file.seek(self._begin + piece.start)
            data = file.read(piece.length)
        if digest_of(data) != piece.digest:
            raise ValueError("the file is damaged")
        return zlib.decompress(data)


def opened(path: Path) -> Pack | None:
    """The file at this place; None where it is not there, is damaged, or was made for something else."""
    try:
        with path.open("rb") as file:
            magic, digest, length = file.readline(200).rsplit(maxsplit=2)
            head = file.read(min(int(length), path.stat().st_size))  # a damaged length may be any number
            if magic != MAGIC or digest_of(head) != digest.decode():
                return None
            said, begin = json.loads(head), file.tell()
    except (OSError, ValueError):
        return None
    if said["made for"] != json.loads(json.dumps(circumstances())) or not is_able():
        return None
    return Pack(path, begin, said["kernels"])


def is_able() -> bool:
    """Whether this processor has what the code asks for, and nobody has asked for code for another one."""
    wanted = baseline()
    if wanted is None or asked_for() != (None, None):
        return False
    have = get_host_cpu_features() if wanted[1] else {}
    return all(have.get(feature, False) for feature in wanted[1])


def asked_for() -> tuple[str | None, str | None]:
    """The processor and the features that the user has told Numba to compile for."""
    return config.CPU_NAME, config.CPU_FEATURES


def write(path: Path, kernels: Iterable[tuple[str, str, Mapping[Any, Any]]]) -> None:
    """A file of kernels: of each its name, its stamp, and by types what Numba keeps."""
    body, listed = bytearray(), {}

    def add(what: Any) -> Piece:
        data = zlib.compress(pickled(what), 9)
        piece = Piece(len(body), len(data), digest_of(data))
        body.extend(data)
        return piece

    for name, stamp, kept in kernels:
        index = {signature: add(data) for signature, data in kept.items()}
        listed[name] = {"stamp": stamp, "index": add(index)}
    head = json.dumps({"made for": circumstances(), "kernels": listed}).encode()
    first = b"%s %s %d\n" % (MAGIC, digest_of(head).encode(), len(head))
    path.write_bytes(first + head + body)


def digest_of(data: bytes) -> str:
    """A hash of bytes."""
    return hashlib.sha256(data).hexdigest()


def name_of(function: Callable[..., Any]) -> str:
    """What a kernel is called in the file."""
    return f"{function.__module__}.{function.__qualname__}"


def found_in(pack: Pack | None, function: Callable[..., Any], stamp: str, signature: Any, target: Any) -> Any:
    """A kernel's machine code from the file, ready to run, or None."""
    if pack is None or function.__closure__ is not None:
        return None
    kept = pack.find(name_of(function), stamp, signature)
    rebuilt: Any = CompileResult._rebuild
    return None if kept is None else rebuilt(target, *kept)


@cache
def that_came_along() -> Pack | None:
    """The file that came with the package, if it did and can be used here."""
    return opened(Path(__file__).parent / "kernels" / name_of_file())
