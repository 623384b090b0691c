"""The service over HTTP. The application is put together here from parts that each know one thing.

`guard.py` holds what is true of every request, `bodies.py` what requests carry, `device_routes.py` and
`operator_routes.py` the routes, `asking.py` how they ask the service. A look-up in SQLite is done in the event
loop: it takes less time than handing it to a thread, and it waits for no writer. Writes, which may wait, are
done in threads.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from shoal.locations.asking import Asking, answered
from shoal.locations.bodies import Health
from shoal.locations.device_routes import add_device_routes
from shoal.locations.guard import Guard
from shoal.locations.limits import Gate, Limits
from shoal.locations.map_page import map_page
from shoal.locations.metrics import Metrics, Watched
from shoal.locations.openapi import DESCRIPTION, EVERY, TAGS, TITLE, complete, held, told
from shoal.locations.operator_routes import add_operator_routes
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.locations.service import Service

FRESH = 5.0
"""Seconds for which figures are kept at least: they are counted over all devices."""


def application(
    service: "Service",
    limits: Limits | None = None,
    *,
    fresh: float = FRESH,
    reads_in_threads: bool = False,
    watched: Watched | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """The service as an ASGI application.

    Parameters
    ----------
    service : Service
        What answers. It is not closed with the application.
    limits : Limits
        How often and how much may be asked.
    fresh : float
        Seconds for which figures are kept at least.
    reads_in_threads : bool
        For a database that takes a while to answer, such as one on another machine.
    watched : Watched
        What is known of the worker; for the metrics.
    clock : callable
        Seconds that go by, for tests.
    """
    limits, metrics = limits or Limits(), Metrics()
    asking = Asking.of(service, limits, fresh, reads_in_threads, clock)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        asking.close()

    app = FastAPI(
        title=TITLE,
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,  # these two pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    add_device_routes(app, asking)
    add_operator_routes(app, asking, metrics, watched)
    add_open_routes(app, asking)
    app.openapi = lambda: document_of(app)  # type: ignore[method-assign]
    gate = Gate(limits, clock)
    app.add_middleware(Guard, routes=_methods(app), limits=limits, gate=gate, metrics=metrics)
    return app


def add_open_routes(app: FastAPI, asking: Asking) -> None:
    """Add the routes that need no credential."""
    page = map_page()

    @app.get(
        "/health",
        tags=["anybody"],
        summary="Health",
        description="Whether the service and its database answer.",
        responses={**told(200, "They do.", Health), **EVERY},
        operation_id="health",
    )
    async def health() -> Response:
        await asking.read(asking.service.operator, "")
        return answered({"status": "ok"})

    @app.get(
        "/map",
        tags=["anybody"],
        summary="The operator's page",
        description="A page with a map of the cells. It asks for an operator's key and keeps it in memory only.",
        responses={**held(200, "The page.", "text/html", {"type": "string"}), **EVERY},
        operation_id="map",
    )
    async def show_map() -> Response:
        return page.answer()

    @app.get("/openapi.json", include_in_schema=False)
    async def show_document() -> Response:
        return answered(app.openapi())


def document_of(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = complete(
            get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
        )
    return app.openapi_schema


def _methods(app: FastAPI) -> dict[str, list[str]]:
    """The methods of every path."""
    return {route.path: sorted(route.methods) for route in app.routes}  # type: ignore[attr-defined]
