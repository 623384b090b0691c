"""What requests carry and what answers look like.

A body is read here and nowhere else: within a limit of size and of time, as strict JSON, and into a model that
knows every field. What is said about a wrong body names fields of the model and what they must be. It repeats
nothing of the body, because there may be a location in it.
"""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.locations.limits import Limits
from shoal.locations.policy import LARGEST_K

MOST_INVITATIONS = 1000
MOST_DEVICES = 1000

MUST = {
    "invitation": "a text of at most 200 characters",
    "latitude": "a number from -90 to 90",
    "longitude": "a number from -180 to 180",
    "k": f"a whole number from 2 to {LARGEST_K}",
    "count": f"a whole number from 1 to {MOST_INVITATIONS}",
    "devices": f"a whole number from 1 to {MOST_DEVICES}",
}
"""What each field must be."""


class NotTakenError(Exception):
    """A request that is not taken as it is: the status, and one line that repeats nothing of it."""

    def __init__(self, status: int, line: str, wait: float | None = None) -> None:
        super().__init__(line)
        self.status = status
        self.line = line
        self.wait = wait


class Body(BaseModel):
    """A body: no other fields, no text for a number, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True)


def _whole(value: object) -> object:
    """3.0 is the whole number 3, as JSON schemas have it; a body that is good by the schema must be taken."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)  # comes last, or the schema loses the limits that stand before it
Latitude = Annotated[float, Field(ge=-90, le=90, description="Degrees north of the equator.", examples=[41.404])]
Longitude = Annotated[float, Field(ge=-180, le=180, description="Degrees east of Greenwich.", examples=[2.174])]


class Place(Body):
    """A home."""

    latitude: Latitude
    longitude: Longitude


class SignUp(Place):
    """A home, and the invitation of the principal to whom the device belongs."""

    invitation: Annotated[
        str,
        Field(max_length=200, description="The text that the operator gave out.", examples=["shi_" + "A" * 43]),
    ]
    k: Annotated[
        int | None,
        Field(
            ge=2,
            le=LARGEST_K,
            description="The least number of principals to hide among; without it, the smallest that is offered.",
            examples=[5],
        ),
        WHOLE,
    ] = None


class Redraw(Body):
    """What to draw anew."""

    k: Annotated[
        int | None,
        Field(ge=2, le=LARGEST_K, description="Draw only the cells of this k; without it, all.", examples=[5]),
        WHOLE,
    ] = None


class Invitations(Body):
    """How many invitations, and how many devices each of them is good for."""

    count: Annotated[
        int, Field(ge=1, le=MOST_INVITATIONS, description="Invitations, one a principal.", examples=[10]), WHOLE
    ] = 1
    devices: Annotated[
        int,
        Field(ge=1, le=MOST_DEVICES, description="Devices that each principal may sign up.", examples=[1]),
        WHOLE,
    ] = 1


class Credential(BaseModel):
    """What a device shows from now on in place of its name. Keep it secret; it is told only once."""

    credential: Annotated[str, Field(examples=["shd_" + "A" * 43])]


class Pseudonym(BaseModel):
    """The centroid that at least k principals share."""

    latitude: Latitude
    longitude: Longitude
    k: Annotated[int, Field(description="At least so many principals share this centroid.", examples=[5])]


class NotYet(BaseModel):
    """There are not enough devices yet. Ask again later, and use no location until then."""

    answer: Annotated[str, Field(pattern="^not yet$", examples=["not yet"])]


class Invited(BaseModel):
    """Invitations. They are told only once."""

    invitations: Annotated[list[str], Field(examples=[["shi_" + "A" * 43]])]


class Asked(BaseModel):
    """The redraw will be done by the worker."""

    asked: Annotated[bool, Field(examples=[True])]


class Health(BaseModel):
    """The service answers, and so does its database."""

    status: Annotated[str, Field(pattern="^ok$", examples=["ok"])]


class Problem(BaseModel):
    """What is wrong, in one line."""

    error: str


Model = TypeVar("Model", bound=Body)


def body_of(model: type[Model], limits: Limits, empty: bool = False) -> Callable[[Request], Awaitable[Model]]:
    """A dependency that reads a body. With `empty`, no body at all means: the defaults."""

    async def read(request: Request) -> Model:
        try:
            async with asyncio.timeout(limits.seconds):
                content = await _content(request, limits.body)
        except TimeoutError:
            raise NotTakenError(408, "the body did not come in time") from None
        if empty and not content:
            return model()
        _check_type(request)
        return checked(model, content)

    return read


async def _content(request: Request, limit: int) -> bytes:
    """The whole body. A body that announces no length is counted as it comes."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > limit:
            raise too_large(limit)
    return bytes(content)


def too_large(limit: int) -> NotTakenError:
    """A body is larger than the service takes."""
    return NotTakenError(413, f"the body is too large; at most {limit} bytes are taken")


def _check_type(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    plain = request.headers.get("content-encoding", "identity").lower() == "identity"
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8") or not plain:
        raise NotTakenError(415, "the body must be JSON in UTF-8, with the header Content-Type: application/json")


def checked(model: type[Model], content: bytes) -> Model:
    """The content as a model; or one line that says what is wrong with it."""
    try:
        held = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # also too many digits, and fields that occur twice
        raise NotTakenError(422, "the body is not JSON, or has a field twice") from None
    try:
        return model.model_validate(held)
    except ValidationError as error:
        line = _said(model, error)
    except (OverflowError, RecursionError):
        line = "the body is not an object with the fields " + _known(model)
    raise NotTakenError(422, line)  # out here, so that the error with the values does not come along


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields occur once: of two, a proxy may check one and the service use the other."""
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a field occurs twice")
    return held


def _no_constant(_: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError("a constant that JSON does not have")


def _known(model: type[Body]) -> str:
    *first, last = model.model_fields
    return f"{', '.join(first)} and {last}" if first else last


def _said(model: type[Body], error: ValidationError) -> str:
    """What is wrong, in words of the model alone: even the name of a strange field may be a location."""
    lines: dict[str, None] = {}
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        field = each["loc"][0] if each["loc"] else None
        if field is None:
            lines[f"the body must be an object with the fields {_known(model)}"] = None
        elif field not in model.model_fields:
            lines[f"there is a field that is not known; known are {_known(model)}"] = None
        elif each["type"] == "missing":
            lines[f"{field} is missing; it must be {MUST[str(field)]}"] = None
        else:
            lines[f"{field} must be {MUST[str(field)]}"] = None
    return "; ".join(lines)


def schema_of(model: type[BaseModel], classes: tuple[int, ...] = ()) -> dict[str, Any]:
    """The JSON schema of a model, for the page of the API; with the k that are offered, where it has one."""
    schema = model.model_json_schema()
    asked = schema["properties"].get("k")
    if classes and asked is not None and "anyOf" in asked:
        del asked["anyOf"]
        asked["enum"] = [*classes, None]
    return schema


def as_json(held: object) -> bytes:
    """JSON in the fewest bytes. A number that JSON does not have is an error here, not an odd answer."""
    return json.dumps(held, separators=(",", ":"), allow_nan=False).encode()


def seconds_to_wait(wait: float) -> int:
    """The whole seconds that a caller is told to wait."""
    return max(1, math.ceil(wait))
