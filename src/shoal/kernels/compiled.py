"""The three ways kernels are compiled; all are cached on disk, without fast-math: sums keep their order.

A division by zero gives what it gives in NumPy. A check at every division would leave a way out of each loop, and
with it count the references to every array of a tuple on the way.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numpy.typing import NDArray

Array = NDArray[Any]  # each kernel says which shape and type it takes
F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A kernel that Python calls; other threads go on meanwhile."""
    jit: Any = numba.njit
    return jit(cache=True, error_model="numpy", nogil=True)(function)


def inner(function: F) -> F:
    """A step that only kernels call.

    It gets no entry for Python, whose unpacking of a score of arrays takes longer to compile than most bodies.
    """
    jit: Any = numba.njit
    return jit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def folded(function: F) -> F:
    """A small step of other kernels, folded into each: a call would hand over every array of a tuple anew."""
    jit: Any = numba.njit
    return jit(cache=True, error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )
