"""What estimators are to others: transformers of scikit-learn. In the command nobody but Shoal sees them.

scikit-learn loads most of scipy, which takes longer than a release of a thousand records. So the command, which
says at its start that it is one, gets the few methods of the protocol that Shoal itself uses. A program that uses
Shoal, or has loaded scikit-learn before, gets scikit-learn's own.
"""

import sys

TYPE_CHECKING = False  # the command loads this before anything else
if TYPE_CHECKING:
    from typing import Any, Self

_command = False


def begin_command() -> None:
    """The process is the command: estimators are seen by nobody but Shoal."""
    global _command
    _command = True


class Plain:
    """The part of scikit-learn's protocol that Shoal itself uses, said in the same words."""

    def get_params(self, deep: bool = True) -> "dict[str, Any]":
        """The parameters, by name; with `deep` also those of estimators among them, as `method__k`."""
        found: dict[str, Any] = {}
        for name in names_of(type(self)):
            value = getattr(self, name)
            if deep and isinstance(value, Plain):
                found |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **parameters: "Any") -> "Self":
        """Change parameters, by name."""
        known = names_of(type(self))
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = defaults_of(type(self))
        given = ((name, getattr(self, name)) for name in names_of(type(self)))
        changed = (f"{name}={value!r}" for name, value in given if repr(value) != repr(usual[name]))
        return f"{type(self).__name__}({', '.join(changed)})"


def names_of(kind: type) -> list[str]:
    """The parameters of an estimator in the order of the alphabet, as scikit-learn has them."""
    return sorted(defaults_of(kind))


def defaults_of(kind: type) -> "dict[str, Any]":
    """What the parameters of an estimator are by default."""
    from inspect import signature

    return {name: each.default for name, each in signature(kind).parameters.items()}


def base() -> type:
    """What estimators are made on: scikit-learn's transformer, or the plain protocol in the command."""
    if _command and "sklearn.base" not in sys.modules:
        return Plain
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

    class Transformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
        """A transformer of scikit-learn, of as many columns as come in."""

    return Transformer


def unfitted(model: "Any") -> "Any":
    """An estimator of the same parameters that has seen no data; estimators among these are made anew as well."""
    from copy import deepcopy

    own = {
        name: unfitted(value) if hasattr(value, "get_params") and not isinstance(value, type) else deepcopy(value)
        for name, value in model.get_params(deep=False).items()
    }
    return type(model)(**own)


def validated(model: "Any", X: "Any", *, reset: bool = True) -> "Any":
    """Points as an array of finite floats in C order; in the command they come from nowhere but Shoal."""
    import numpy as np

    if isinstance(model, Plain):
        return np.ascontiguousarray(X, np.float64)
    from sklearn.utils.validation import validate_data

    return validate_data(model, X, dtype=np.float64, order="C", reset=reset)
