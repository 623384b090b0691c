"""Steps of kernels that count no references to arrays, and those that they call and that make arrays.

Numba counts the references to every array of a tuple whenever a step takes the tuple. The count is an atomic
addition, and groups under privacy models are some forty arrays: the counts took longer than the steps themselves.
A step that only reads and writes arrays of its caller need not count, because the caller holds them meanwhile.
What such a step calls does not count either, unless it says that it does.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from shoal.kernels.compiled import compiled

F = TypeVar("F", bound=Callable[..., Any])


def borrowing(function: F) -> F:
    """A step that only kernels call, that makes no array and returns none; views of arrays it may take."""
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def folded_borrowing(function: F) -> F:
    """As `borrowing`, folded into each caller: a call would hand over every array of its tuples."""
    return compiled(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def counting(function: F) -> F:
    """A step that only kernels call, that makes arrays, and that steps may call which make none."""
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=True)
