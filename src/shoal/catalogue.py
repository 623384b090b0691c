"""A method from the name that `method=` and the command line take, and to and from a description of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.errors import ShoalError, nearest_name
from shoal.estimator import FAMILIES, METHODS, Microaggregator
from shoal.protocol import unfitted
from shoal.version import __version__
from shoal.wrapper import Wrapper


def listed() -> list[type[Microaggregator]]:
    """All methods that are loaded, family by family and by name."""
    return sorted(METHODS.values(), key=lambda kind: (FAMILIES.index(kind.family), kind.name))


def method_called(name: str) -> type[Microaggregator] | None:
    """The method of this name, however its words are joined; None where there is none."""
    return METHODS.get(name.lower().replace("_", "-"))


def no_method(name: object) -> str:
    """What there is instead of a method that is not there."""
    return nearest_name(str(name), METHODS) or f"; there are {', '.join(kind.name for kind in listed())}"


def method_of(
    method: str | Microaggregator, k: int | None, parameters: Mapping[str, Any] | None = None
) -> Microaggregator:
    """An unfitted estimator from a name, k and other parameters, or from an estimator whose own k agrees.

    A meta-method takes the name of the method inside as `method` and its parameters as `method__rounds`.
    """
    if isinstance(method, Microaggregator):
        if k is not None and k != method.k:
            raise ShoalError(f"k={k} and {method!r} contradict each other; give k once")
        model: Microaggregator = unfitted(method)
        return model
    kind = method_called(method) if isinstance(method, str) else None
    if isinstance(method, type) and issubclass(method, Microaggregator):
        raise ShoalError(f"the method is a class; make an estimator of it, such as {method.__name__}(k=5)")
    if kind is None:
        raise ShoalError(f"there is no method {method!r}{no_method(method)}")
    if k is None:
        raise ShoalError("k is missing: the least number of records in a group, for example k=5")
    given = dict(parameters or {})
    if issubclass(kind, Wrapper):
        inside = {name.removeprefix("method__"): given.pop(name) for name in list(given) if "__" in name}
        given["method"] = method_of(given.get("method", "mdav"), k, inside)
    else:
        given["k"] = k
    for name in given:
        if (name == "k" and "k" in (parameters or {})) or name not in kind._parameters:
            known = [known for known in kind._parameters if known != "k"]
            hint = nearest_name(name, known) or f"; it has {', '.join(known) or 'none but k'}"
            raise ShoalError(f"{kind.__name__} has no parameter {name!r}{hint}")
    return kind(**given)


def described(model: Microaggregator) -> dict[str, Any]:
    """A method with its parameters in words and numbers, what it found out, and whether it was interrupted."""
    parameters = {name: plain(value) for name, value in model.get_params(deep=False).items()}
    said: dict[str, Any] = {"name": type(model).__name__, "parameters": parameters} | spectrum_of(model)
    if getattr(model, "interrupted_", False):
        said["interrupted"] = True
    if getattr(model, "steps_", None) is not None:
        said["steps"] = plain(model.steps_)
    if hasattr(model, "chosen_"):
        chosen = {key: value for key, value in described(model.chosen_).items() if key != "steps"}
        said |= {"chosen": chosen, "reason": model.reason_}
    return said


def spectrum_of(model: Microaggregator) -> dict[str, Any]:
    """The variance along the principal axes and how many of these were kept, where a method looked at them."""
    if not hasattr(model, "spectrum_"):
        return {}
    return {"spectrum": plain(model.spectrum_), "axes_kept": len(model.components_)}


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, Microaggregator):
        return described(value)
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | np.generic | list | tuple) else value


def method_described(description: dict[str, Any]) -> Microaggregator:
    """The unfitted method of a description; whatever is odd in it raises.

    Where time was limited, it repeats the steps that were done, and not the time.
    """
    kinds = {kind.__name__: kind for kind in METHODS.values()}
    name = description["name"]
    if name not in kinds:
        raise ShoalError(f"the recipe's method {name!r} is not known to Shoal {__version__}")
    parameters = {
        key: method_described(value) if isinstance(value, dict) else value
        for key, value in description["parameters"].items()
    }
    if description.get("steps") is not None and "steps" in kinds[name]._parameters:
        parameters["steps"] = description["steps"]  # what was done in its seconds is done again
    return kinds[name](**{kinds[name]._renamed.get(key, key): value for key, value in parameters.items()})
