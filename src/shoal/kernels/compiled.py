"""The three ways kernels are compiled; all are cached on disk, without fast-math: sums keep their order.

A division by zero gives what it gives in NumPy. A check at every division would leave a way out of each loop, and
with it count the references to every array of a tuple on the way.

A kernel that is kept on the disk holds the code of the kernels that it calls. So the cache is keyed by the text of
all files that went into it: its own, and those of the kernels that this one imports, one after the other. Numba
itself looks at one file only, and would go on with what has changed in another. `keeping.py` is the files.

Where no folder for the cache can be written, kernels are compiled without one, and a warning says so. What came
with the package as machine code (`machine_code.py`) is not compiled at all.
"""

import hashlib
import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache, NullCache
from numpy.typing import NDArray

from shoal.errors import ShoalWarning
from shoal.kernels.keeping import Index, Kept
from shoal.machine_code import found_in, that_came_along

Array = NDArray[Any]  # each kernel says which shape and type it takes
F = TypeVar("F", bound=Callable[..., Any])

_KERNELS = Path(__file__).parent
_IMPORT = re.compile(r"^\s*from shoal\.kernels\.([\w.]+) import", re.MULTILINE)


def kernel(function: F) -> F:
    """A kernel that Python calls; other threads go on meanwhile."""
    return compiled(function, nogil=True)


def inner(function: F) -> F:
    """A step that only kernels call.

    It gets no entry for Python, whose unpacking of a score of arrays takes longer to compile than most bodies.
    """
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def folded(function: F) -> F:
    """A small step of other kernels, folded into each: a call would hand over every array of a tuple anew."""
    return compiled(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def compiled(function: F, **options: bool) -> F:
    """The function, compiled at its first call or taken from the cache."""
    jit: Any = numba.njit
    dispatcher: Any = jit(error_model="numpy", **options)(function)
    if dispatcher is not function:  # the same function where compiling is turned off
        dispatcher._cache = cache_of(function)
    return dispatcher


def cache_of(function: Callable[..., Any]) -> FunctionCache | NullCache:
    """The function's cache beside its file or in the user's folder; none where neither can be written."""
    try:
        return DiskCache(function)
    except RuntimeError:  # Numba has found no folder
        return Missing(function)


class DiskCache(FunctionCache):
    """A cache on the disk that may fill up or vanish: what it cannot give or take is compiled anew."""

    _impl_class = Kept

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._function = function
        stamp = stamp_of(Path(inspect.getfile(function)))
        self._cache_file = Index(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code from the disk, or what came with the package, or None."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        return packed_overload(self._function, sig, target_context) if found is None else found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Compiled code to the disk, where that can be."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            warn_of_no_cache()


class Missing(NullCache):
    """No cache at all; said when the first kernel is compiled, not when it is imported."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What came with the package; nothing else is there."""
        target_context.refresh()
        found = packed_overload(self._function, sig, target_context)
        if found is None:
            warn_of_no_cache()
        return found


def packed_overload(function: Callable[..., Any], sig: Any, target_context: Any) -> Any:
    """The machine code of a function that came with the package, or None."""
    stamp = stamp_of(Path(inspect.getfile(function)))
    return found_in(that_came_along(), function, stamp, sig, target_context)


@cache
def stamp_of(file: Path) -> str:
    """A hash of a file and of all kernels that go into those that it holds."""
    digest = hashlib.sha256()
    for each in sorted(files_behind(file)):
        digest.update(content_of(each))
    return digest.hexdigest()


def files_behind(file: Path) -> set[Path]:
    """A file and the kernels that it imports, and those that they import."""
    found, waiting = {file}, [file]
    while waiting:
        for name in _IMPORT.findall(content_of(waiting.pop()).decode()):
            imported = _KERNELS.joinpath(*name.split(".")).with_suffix(".py")
            if not imported.is_file():
                raise ImportError(f"{file} imports {name}, which is no file of kernels: import names from files")
            if imported not in found:
                found.add(imported)
                waiting.append(imported)
    return found


@cache
def content_of(file: Path) -> bytes:
    """The bytes of a source file; none where there is no such file, as in a shell."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


@cache
def warn_of_no_cache() -> None:
    """Say once why it takes long."""
    warnings.warn(
        "no folder for compiled code is writable, so every start compiles anew, which takes about a minute; "
        "set NUMBA_CACHE_DIR to a folder that you can write",
        ShoalWarning,
        stacklevel=2,
    )
