"""What the OpenAPI document says about routes, apart from their own words."""

from typing import Any

from pydantic import BaseModel

from shoal.locations.bodies import Problem, schema_of

TITLE = "Shoal locations"

DESCRIPTION = """\
A service that holds k while people come and go. A device entrusts its home to the service and uses, towards
others, its pseudonym: the centroid of a cell that at least k principals share.

A device signs up with an invitation and gets a credential. It sends the credential with every request, in the
header `Authorization: Bearer shd_...`. Operators send theirs, which begin with `sho_`.

No answer holds a home, not even the answer to its own device. An answer with an error has one line in `error`
and repeats nothing of the request. A missing, malformed, unknown or cancelled credential always gets the same
answer."""

TAGS = [
    {"name": "devices", "description": "What a device may ask."},
    {"name": "operators", "description": "What an operator may ask."},
    {"name": "anybody", "description": "What needs no credential."},
]

SCHEMES = {
    "device": {
        "type": "http",
        "scheme": "bearer",
        "description": "The credential of a device; it begins with shd_.",
    },
    "operator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The key of an operator; it begins with sho_.",
    },
}

Responses = dict[int | str, dict[str, Any]]


def told(status: int, description: str, model: type[BaseModel] = Problem, **more: Any) -> Responses:
    """One status of a route."""
    content = {"application/json": {"schema": schema_of(model)}}
    return {status: {"description": description, "content": content, **more}}


def held(status: int, description: str, kind: str, schema: dict[str, Any], **more: Any) -> Responses:
    """One status of a route whose answer is no model."""
    return {status: {"description": description, "content": {kind: {"schema": schema, **more}}}}


_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}}
_BEARER = {"WWW-Authenticate": {"description": "Always `Bearer`.", "schema": {"type": "string"}}}

EVERY = {
    **told(429, "Too many requests. `Retry-After` says when to come again.", headers=_RETRY),
    **told(431, "The headers are too large."),
    **told(500, "Something went wrong in the service."),
    **told(503, "The service is busy. Send the same request again.", headers=_RETRY),
}
"""What every route may answer."""

KNOWN = told(
    401, "The credential is missing, malformed, not known, cancelled, or good for something else.", headers=_BEARER
)
"""What a route with a credential may answer."""

WITH_BODY = {
    **told(408, "The body did not come in time."),
    **told(413, "The body is too large."),
    **told(415, "The body is not declared as JSON."),
    **told(422, "A value is not allowed. The line says what each field must be."),
}
"""What a route with a body may answer."""


def sent(model: type[BaseModel], classes: tuple[int, ...], required: bool = True) -> dict[str, Any]:
    """The body of a request."""
    content = {"application/json": {"schema": schema_of(model, classes)}}
    return {"requestBody": {"required": required, "content": content}}


def by(kind: str) -> dict[str, Any]:
    """Whose credential a route needs."""
    return {"security": [{kind: []}]}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what FastAPI does not know: the kinds of credentials."""
    document.setdefault("components", {})["securitySchemes"] = SCHEMES
    return document
