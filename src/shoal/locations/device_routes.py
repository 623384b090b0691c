"""What a device may ask: sign up, where am I, move, cancel."""

from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response

from shoal.locations.asking import Asking, answered, bearer
from shoal.locations.bodies import Credential, NotYet, Place, Pseudonym, SignUp, as_json, body_of, schema_of
from shoal.locations.openapi import EVERY, KNOWN, WITH_BODY, by, held, sent, told

NOT_YET = as_json({"answer": "not yet"})

LOCATION = held(
    200,
    "The centroid, or `not yet`.",
    "application/json",
    {"oneOf": [schema_of(Pseudonym), schema_of(NotYet)]},
    examples={
        "centroid": {"value": {"latitude": 41.404, "longitude": 2.174, "k": 5}},
        "not yet": {"value": {"answer": "not yet"}},
    },
)


def add_device_routes(app: FastAPI, asking: Asking) -> None:
    """Add the routes of devices."""
    service, limits, classes = asking.service, asking.limits, tuple(asking.service.policy.classes)

    @app.post(
        "/v1/devices",
        tags=["devices"],
        status_code=201,
        summary="Sign up",
        description="Entrust a home to the service. The answer has the credential of the new device; it is told "
        "only here. An invitation that is not known gets the same answer as a credential that is not known.",
        responses={
            **told(201, "The device is signed up.", Credential),
            **told(401, "The invitation is not known.", headers=KNOWN[401]["headers"]),
            **WITH_BODY,
            **EVERY,
        },
        openapi_extra=sent(SignUp, classes),
        operation_id="sign_up",
    )
    async def sign_up(home: Annotated[SignUp, Depends(body_of(SignUp, limits))]) -> Response:
        place = home.latitude, home.longitude
        return answered({"credential": await asking.write(service.sign_up, home.invitation, *place, home.k)}, 201)

    @app.get(
        "/v1/location",
        tags=["devices"],
        summary="Look up the pseudonym",
        description="The centroid that this device uses in place of its home; or `not yet`, while too few "
        "principals share one. It changes only when cells are drawn anew or merged; do not ask often.",
        responses={**LOCATION, **KNOWN, **EVERY},
        openapi_extra=by("device"),
        operation_id="locate",
    )
    async def locate(request: Request) -> Response:
        centroid = await asking.read(service.locate, bearer(request))
        if centroid is None:
            return Response(NOT_YET, media_type="application/json")
        return answered({"latitude": centroid.latitude, "longitude": centroid.longitude, "k": centroid.k})

    @app.post(
        "/v1/move",
        tags=["devices"],
        summary="Move to another home",
        description="A move is a cancellation and a new sign-up. The old credential is good for nothing then.",
        responses={**told(200, "The device has a new credential.", Credential), **KNOWN, **WITH_BODY, **EVERY},
        openapi_extra={**sent(Place, classes), **by("device")},
        operation_id="move",
    )
    async def move(request: Request, home: Annotated[Place, Depends(body_of(Place, limits))]) -> Response:
        place = home.latitude, home.longitude
        return answered({"credential": await asking.write(service.move, bearer(request), *place)})

    @app.delete(
        "/v1/devices/me",
        tags=["devices"],
        status_code=204,
        summary="Cancel",
        description="Leave the service. The home and the credential are deleted.",
        responses={204: {"description": "The device is cancelled."}, **KNOWN, **EVERY},
        openapi_extra=by("device"),
        operation_id="cancel",
    )
    async def cancel(request: Request) -> Response:
        await asking.write(service.cancel, bearer(request))
        return Response(status_code=204)
