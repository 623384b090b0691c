"""What an operator may ask: cells, figures, a redraw, invitations, metrics. No answer holds a home or a size."""

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response, StreamingResponse

from shoal.locations.asking import Asking, answered
from shoal.locations.bodies import Asked, Invitations, Invited, NotTakenError, Redraw, body_of
from shoal.locations.geojson import checked_box, feature_collection
from shoal.locations.metrics import TYPE, Metrics, Watched
from shoal.locations.openapi import EVERY, KNOWN, WITH_BODY, by, held, sent, told
from shoal.locations.service import ShownCell

MOST_OUTLINES = 5000
"""Cells whose outlines are drawn in one answer. Of more, the centroids alone are given: outlines take a while."""

_AT_A_TIME = 500  # features that are written at once, so that look-ups in between need not wait

_SIDES = [{"type": "number", "minimum": -most, "maximum": most} for most in (180, 90, 180, 90)]
_COLLECTION = {
    "type": "object",
    "required": ["type", "outlines", "features"],
    "properties": {
        "type": {"const": "FeatureCollection"},
        "outlines": {"type": "boolean"},
        "features": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "id", "properties", "geometry"],
                "properties": {"type": {"const": "Feature"}},
            },
        },
    },
}


def add_operator_routes(app: FastAPI, asking: Asking, metrics: Metrics, watched: Watched | None) -> None:
    """Add the routes of operators."""
    service, limits, classes = asking.service, asking.limits, tuple(asking.service.policy.classes)
    Operator = Annotated[str, Depends(asking.operator)]

    @app.get(
        "/v1/operator/cells",
        tags=["operators"],
        summary="Cells as GeoJSON",
        description="Outlines and centroids of cells (RFC 7946). How many share a cell is told as `5 or more`. "
        f"Of more than {MOST_OUTLINES} cells only the centroids are given, and `outlines` is false; ask for a box "
        "to see the outlines of a part.",
        responses={
            **held(200, "The cells.", "application/geo+json", _COLLECTION),
            **told(422, "The k or the box is not allowed."),
            **KNOWN,
            **EVERY,
        },
        openapi_extra={"parameters": _parameters(classes), **by("operator")},
        operation_id="cells",
    )
    async def cells(request: Request, _: Operator) -> Response:
        k, box = _part(request)
        drawn = await asking.count(_collection, service.cells, k, box)
        return StreamingResponse(_written(drawn), media_type="application/geo+json")

    @app.get(
        "/v1/operator/figures",
        tags=["operators"],
        summary="Figures",
        description="How each class is: cells, distortion in kilometres, drift, atoms below k, and in words "
        "whether devices wait. There are no exact sizes. Figures may be some seconds old.",
        responses={
            **held(
                200,
                "The figures.",
                "application/json",
                {"type": "object", "required": ["classes", "admission", "history", "change"]},
            ),
            **KNOWN,
            **EVERY,
        },
        openapi_extra=by("operator"),
        operation_id="figures",
    )
    async def figures(_: Operator) -> Response:
        return answered(await asking.figures.get())

    @app.post(
        "/v1/operator/redraw",
        tags=["operators"],
        status_code=202,
        summary="Ask for a redraw",
        description="New cells for all devices, or for those of one k. They are drawn soon, and look-ups go on "
        "meanwhile. Without a body, everything is drawn anew.",
        responses={**told(202, "The redraw will be done.", Asked), **KNOWN, **WITH_BODY, **EVERY},
        openapi_extra={**sent(Redraw, classes, required=False), **by("operator")},
        operation_id="redraw",
    )
    async def redraw(name: Operator, what: Annotated[Redraw, Depends(body_of(Redraw, limits, True))]) -> Response:
        await asking.write(service.ask_redraw, name, what.k)
        return answered({"asked": True}, 202)

    @app.post(
        "/v1/operator/invitations",
        tags=["operators"],
        status_code=201,
        summary="Invite principals",
        description="Give each invitation to one principal, such as a person or a household. k counts principals: "
        "whoever holds k invitations could be alone in a cell. Without a body, there is one invitation, for one "
        "device.",
        responses={**told(201, "The invitations.", Invited), **KNOWN, **WITH_BODY, **EVERY},
        openapi_extra={**sent(Invitations, classes, required=False), **by("operator")},
        operation_id="invite",
    )
    async def invite(
        name: Operator, asked: Annotated[Invitations, Depends(body_of(Invitations, limits, True))]
    ) -> Response:
        made = await asking.write(service.invite, asked.count, asked.devices, name)
        return answered({"invitations": made}, 201)

    @app.get(
        "/metrics",
        tags=["operators"],
        summary="Metrics",
        description="Metrics in the text format of Prometheus.",
        responses={**held(200, "The metrics.", "text/plain", {"type": "string"}), **KNOWN, **EVERY},
        openapi_extra=by("operator"),
        operation_id="metrics",
    )
    async def show_metrics(_: Operator) -> Response:
        now = await asking.figures.get()
        return Response(metrics.text(now, watched), headers={"content-type": TYPE})


def _parameters(classes: tuple[int, ...]) -> list[dict[str, Any]]:
    """What a query for cells may hold."""
    return [
        {
            "name": "k",
            "in": "query",
            "description": "Only the cells of this k.",
            "schema": {"type": "integer", "enum": list(classes)},
        },
        {
            "name": "bbox",
            "in": "query",
            "description": "Only cells in a box: west, south, east and north in degrees. South must not be "
            "greater than north. A box whose west is greater than its east crosses the antimeridian.",
            "style": "form",
            "explode": False,
            "schema": {"type": "array", "prefixItems": _SIDES, "items": False, "minItems": 4, "maxItems": 4},
            "example": [-0.5, 51.3, 0.3, 51.7],
        },
    ]


def _part(request: Request) -> tuple[int | None, tuple[float, float, float, float] | None]:
    """The k and the box of a query."""
    k, box = request.query_params.get("k"), request.query_params.get("bbox")
    if k is not None and not (k.isascii() and k.isdigit() and len(k) < 10):
        raise NotTakenError(422, "k must be a whole number")
    if box is None:
        return k if k is None else int(k), None
    try:
        sides = [float(side) for side in box.split(",")[:5]] if len(box) <= 200 else []
    except ValueError:
        sides = []
    return k if k is None else int(k), checked_box(sides)


def _collection(
    listed: Callable[[int | None], list[ShownCell]], k: int | None, box: tuple[float, float, float, float] | None
) -> tuple[bool, Iterator[dict[str, Any]]]:
    """Whether outlines are drawn, and the features."""
    found = listed(k)
    inside = found if box is None else [cell for cell in found if _is_in(cell, box)]
    if len(inside) <= MOST_OUTLINES:
        return True, iter(feature_collection(found, box)["features"])
    return False, map(_centroid, inside)


def _is_in(cell: ShownCell, box: tuple[float, float, float, float]) -> bool:
    west, south, east, north = box
    across = west <= cell.longitude <= east if west <= east else not east < cell.longitude < west
    return across and south <= cell.latitude <= north


def _centroid(cell: ShownCell) -> dict[str, Any]:
    known = {"cell": cell.id, "k": cell.k, "size": f"{cell.k} or more"}
    place = {"type": "Point", "coordinates": [cell.longitude, cell.latitude]}
    return {"type": "Feature", "id": f"centroid-{cell.id}", "properties": known, "geometry": place}


def _written(drawn: tuple[bool, Iterator[dict[str, Any]]]) -> Iterator[bytes]:
    """The collection as text, piece by piece."""
    outlines, features = drawn
    yield b'{"type":"FeatureCollection","outlines":' + (b"true" if outlines else b"false") + b',"features":['
    first, some = True, list(islice(features, _AT_A_TIME))
    while some:
        text = json.dumps(some, separators=(",", ":"), allow_nan=False)[1:-1]
        yield (text if first else "," + text).encode()
        first, some = False, list(islice(features, _AT_A_TIME))
    yield b"]}"
