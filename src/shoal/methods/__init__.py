"""The methods: points and k in, a partition out. One file per method; each of them registers itself.

Every file of this folder is a method and is loaded here, so that a new one is listed nowhere else. At run time its
class stands in this module under its own name.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from shoal.estimator import METHODS as METHODS

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def __getattr__(name: str) -> Any:
    """A method by the name of its class."""
    for kind in METHODS.values():
        if kind.__name__ == name:
            return kind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
