"""The application: every route that Litestar answers, and how its errors are told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

import msgspec
from litestar import Litestar, Request, Response, get
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, Contact, License, SecurityScheme
from litestar.types import ControllerRouterHandler

from posthouse.office.permit import Permit
from posthouse.web.admission import known_permit, permit_of
from posthouse.web.api.document import with_problems
from posthouse.web.asgi import Asgi, Scope
from posthouse.web.front import Front
from posthouse.web.guard import Answered
from posthouse.web.health import health
from posthouse.web.metrics import metrics
from posthouse.web.pages.status import PAGES
from posthouse.web.problem import faults_told, problem_of_status

_HINTS: Final = {
    400: "see /openapi.json for what is expected",
    404: "see /openapi.json for what there is",
    405: "see /openapi.json for what can be done here",
}


def make_app(front: Front, routes: Sequence[ControllerRouterHandler] = ()) -> Asgi:
    """Make what answers requests.

    A route gets what it names of `front: NamedDependency[Front]`, `permit: NamedDependency[Permit]` (401 without a key)
    and `visitor: NamedDependency[Permit | None]`. It asks the office by `front.ask(permit, call)`, which says 403 where
    the permit does not reach, and lets errors of the house pass: the guard before it tells them as problems.
    """
    told = [health, metrics, *PAGES, *routes]

    @cache
    def described() -> bytes:
        # An app of its own: the one that answers would offer pages that load programs from elsewhere.
        schema = _assembled(front, told, openapi=_description()).openapi_schema.to_schema()
        return msgspec.json.encode(with_problems(schema))

    @get("/openapi.json", include_in_schema=False, media_type="application/json", sync_to_thread=False)
    def document() -> Response[bytes]:
        """Give the description of everything that can be asked, made when it is first asked for."""
        return Response(described(), headers={"cache-control": "max-age=60"})

    return cast("Asgi", _assembled(front, [*told, document], openapi=None))


def _assembled(front: Front, routes: Sequence[ControllerRouterHandler], *, openapi: OpenAPIConfig | None) -> Litestar:
    return Litestar(
        route_handlers=routes,
        dependencies={
            "front": Provide(lambda: front, sync_to_thread=False),
            "permit": Provide(needed, sync_to_thread=False),
            "visitor": Provide(known, sync_to_thread=False),
        },
        exception_handlers={HTTPException: tell, Exception: pass_on},
        openapi_config=openapi,
        logging_config=None,
        debug=False,
        pdb_on_exception=False,
    )


# `Any`, here and below: nobody signs in with Litestar's own means.
def known(request: Request[Any, Any, Any]) -> Permit | None:
    """Give what the key of a request permits, where it shows one."""
    return known_permit(cast("Scope", request.scope))


def needed(request: Request[Any, Any, Any]) -> Permit:
    """Give what the key of a request permits; it must show one."""
    return permit_of(cast("Scope", request.scope))


def tell(_request: Request[Any, Any, Any], fault: HTTPException) -> Response[Any]:
    """Word what HTTP itself objects to, or what the parameters lack."""
    status = fault.status_code
    if status >= 500:
        raise fault
    detail = faults_told(fault.extra) or (fault.detail if status == 400 else "")
    problem = problem_of_status(status, detail=_plain(detail), hint=_HINTS.get(status, ""))
    raise Answered(problem, fault.headers)


def pass_on(_request: Request[Any, Any, Any], fault: Exception) -> Response[Any]:
    """Leave everything else to the guard."""
    raise fault


def _plain(detail: str) -> str:
    return " ".join(detail.split())[:1_000]


def _description() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Posthouse",
        version="1",
        summary="A post office for people and programs",
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        contact=Contact(name="Posthouse"),
        components=Components(
            security_schemes={
                "key": SecurityScheme(type="http", scheme="bearer", description="A key made by `posthouse key create`.")
            }
        ),
        security=[{"key": []}],
        use_handler_docstrings=True,
    )
