"""Privacy models from the command line: a flag, and a text such as diagnosis=3 or income=0.2:ranks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.errors import ShoalError
from shoal.option_rules import listed
from shoal.privacy.models import MODELS, LDiversity, Model, PSensitivity, TCloseness

VALUES = "--sensitive-values"


def read_models(given: Sequence[tuple[str, str]]) -> list[Model]:
    """The models of flags and texts; sensitive values go to every model of their column that takes some."""
    harmful: dict[str, list[str]] = {}
    found = []
    for flag, text in given:
        on, sign, rest = text.partition("=")
        if not sign or not on or not rest:
            example = "diagnosis=HIV,cancer" if flag == VALUES else "diagnosis=3"
            raise ShoalError(f"{flag} is given as column=value, such as {example}, not {text!r}")
        if flag == VALUES:
            harmful.setdefault(on, []).extend(listed(rest))
        else:
            found.append(model_of(flag, on, rest.split(":")))
    for on in harmful:
        if not any(model.on == on and takes_some(model) for model in found):
            raise ShoalError(
                f"{VALUES} names values of {on!r}, and no model on it looks at some values only; ask for one, "
                f"such as --alpha {on}=0.5, or leave it out"
            )
    return [
        replace(model, sensitive_values=tuple(harmful[model.on]))
        if model.on in harmful and takes_some(model)
        else model
        for model in found
    ]


def takes_some(model: Model) -> bool:
    """Whether a model can look at some values only."""
    return model.some_values and not (isinstance(model, LDiversity) and model.kind != "distinct")


def model_of(flag: str, on: str, parts: Sequence[str]) -> Model:
    """A model from the parts of its text."""
    kind = next(each for each in MODELS.values() if each.flag == flag)
    limit, *more = parts
    try:
        number: float = float(limit)
    except ValueError:
        raise ShoalError(f"{flag} {on}={':'.join(parts)}: {kind.limit} must be a number, not {limit!r}") from None
    if kind.name == PSensitivity.name and number.is_integer():
        number = int(number)
    try:
        more_said = MORE.get(kind.name, none_more)(more)
    except IndexError:
        forms = ", ".join(f"{on}={form}" for form in FORMS.get(kind.name, ("0.5",)))
        raise ShoalError(f"{flag} cannot be read from {on}={':'.join(parts)}; it takes {forms}") from None
    said: dict[str, Any] = {kind.limit: number, "on": on}
    return kind(**said, **more_said)


def none_more(parts: Sequence[str]) -> dict[str, Any]:
    """Nothing stands after the number."""
    if parts:
        raise IndexError
    return {}


def diversity(parts: Sequence[str]) -> dict[str, Any]:
    """The kind of l-diversity, and c."""
    if not parts:
        return {}
    kind, *more = parts
    if len(more) > 1 or (kind == "recursive") != bool(more):
        raise IndexError
    try:
        return {"kind": kind} | ({"c": float(more[0])} if more else {})
    except ValueError:
        raise ShoalError(f"c of recursive l-diversity must be a number, not {more[0]!r}") from None


def closeness(parts: Sequence[str]) -> dict[str, Any]:
    """The distance of t-closeness, and the file of a taxonomy."""
    if not parts:
        return {}
    distance, *file = parts
    if (distance == "hierarchical") != bool(file):
        raise IndexError
    return {"distance": distance} | ({"taxonomy": ":".join(file)} if file else {})


def flagged(word: str, said: dict[str, Any]) -> Callable[[Sequence[str]], dict[str, Any]]:
    """A word that may stand after the number."""

    def read(parts: Sequence[str]) -> dict[str, Any]:
        if parts and list(parts) != [word]:
            raise IndexError
        return said if parts else {}

    return read


MORE: Mapping[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    LDiversity.name: diversity,
    TCloseness.name: closeness,
    "beta-likeness": flagged("enhanced", {"enhanced": True}),
    "delta-disclosure": flagged("ignore", {"absent": "ignore"}),
}

FORMS: Mapping[str, Sequence[str]] = {
    PSensitivity.name: ("2",),
    LDiversity.name: ("3", "2:entropy", "3:recursive:2"),
    TCloseness.name: ("0.2", "0.2:ranks (or another distance)", "0.2:hierarchical:tree.csv"),
    "beta-likeness": ("1", "1:enhanced"),
    "delta-disclosure": ("1.5", "1.5:ignore"),
}
"""What may stand after the column, where it is not a share alone."""
