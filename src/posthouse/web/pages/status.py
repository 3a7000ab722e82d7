"""`GET /`: the status page, what keeps it up to date, and what can be done on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, cast
from urllib.parse import parse_qs

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.response import Stream

from posthouse.errors import PosthouseError
from posthouse.office.calls import RedriveDead, ResendAside
from posthouse.office.keyring import CredentialRefused
from posthouse.web.admission import BadWebRequest
from posthouse.web.asgi import Scope
from posthouse.web.front import Front
from posthouse.web.pages.template import asset, render
from posthouse.web.pages.view import view_of
from posthouse.web.session import is_same_site
from posthouse.web.viewer import Viewer, viewer_of

_EVERY_S: Final = 2.0
_MOST_FIELDS: Final = 1_000
_NOTES: Final = {
    "redriven": "put back into their boxes",
    "dropped": "dropped",
    "resent": "sent on",
}
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}

# `Any`, in all routes: nobody signs in with Litestar's own means.
Asked = Request[Any, Any, Any]
Page = Response[Any]


@get("/", include_in_schema=False)
async def status_page(request: Asked, front: NamedDependency[Front]) -> Page:
    """Show how the office is, to whoever may see it."""
    viewer = viewer_of(front, _scope(request))
    if viewer is None:
        return _see("/pages/sign-in")
    numbers = _numbers(request)
    done = request.query_params.get("done", "")
    note = f"{max(0, _number(request, 'count', 0)):,} {_NOTES[done]}" if done in _NOTES else ""
    query = "&".join(f"{name}={number}" for name, number in numbers.items() if number > 1)
    body = await _live(front, viewer, numbers)
    html = render("status.html", live=body, note=note, query=query, office=str(front.name), viewer=_named(viewer))
    return _page(html)


@get("/pages/live", include_in_schema=False)
async def live(request: Asked, front: NamedDependency[Front]) -> Page:
    """Send the inside of the page again and again, as server-sent events."""
    if viewer_of(front, _scope(request)) is None:
        raise CredentialRefused("this needs to be signed in")
    numbers = _numbers(request)

    async def pieces() -> AsyncIterator[str]:
        while not front.closing.is_set() and (viewer := viewer_of(front, _scope(request))) is not None:
            html = await _live(front, viewer, numbers)
            yield "event: page\n" + "".join(f"data: {line}\n" for line in html.splitlines()) + "\n"
            try:
                async with asyncio.timeout(_EVERY_S):
                    await front.closing.wait()
            except TimeoutError:
                continue
        yield "event: end\ndata: \n\n"

    return cast("Page", Stream(pieces(), media_type="text/event-stream", headers=_HEADERS))


@get("/pages/sign-in", include_in_schema=False)
async def sign_in_page(front: NamedDependency[Front]) -> Page:
    """Ask for a key."""
    return _page(render("sign-in.html", fault="", office=str(front.name)))


@post("/pages/sign-in", include_in_schema=False, status_code=303)
async def sign_in(request: Asked, front: NamedDependency[Front]) -> Page:
    """Open a session for who shows a key that administers the office."""
    scope = _scope(request)
    fields = await _fields(request)
    try:
        if not is_same_site(scope):
            raise CredentialRefused("the form was sent from another site")
        permit = front.keyring.recognise(fields.get("key", [""])[0].strip())
        if not permit.administers:
            raise CredentialRefused("the key does not administer the office")
    except PosthouseError as fault:
        return _page(render("sign-in.html", fault=fault.what, office=str(front.name)), status=401)
    session = front.sessions.open(permit)
    return _see("/", front.sessions.cookie(session, secure=scope["scheme"] == "https"))


@post("/pages/sign-out", include_in_schema=False, status_code=303)
async def sign_out(request: Asked, front: NamedDependency[Front]) -> Page:
    """End a session."""
    await _acting(request, front)
    return _see("/", front.sessions.no_cookie(secure=_scope(request)["scheme"] == "https"))


@post("/pages/dead", include_in_schema=False, status_code=303)
async def dead(request: Asked, front: NamedDependency[Front]) -> Page:
    """Put dead letters back, or drop them."""
    viewer, fields = await _acting(request, front)
    drop = fields.get("do") == ["drop"]
    numbers = _chosen(fields)
    if not numbers and "all" not in fields:
        return _see("/")
    count = await front.ask(_permit(viewer), RedriveDead(numbers=numbers, drop=drop))
    await front.watchman.look(anew=True)
    return _see(f"/?done={'dropped' if drop else 'redriven'}&count={count}")


@post("/pages/aside", include_in_schema=False, status_code=303)
async def aside(request: Asked, front: NamedDependency[Front]) -> Page:
    """Send on what was set aside."""
    viewer, fields = await _acting(request, front)
    numbers = _chosen(fields)
    if not numbers and "all" not in fields:
        return _see("/")
    count = await front.ask(_permit(viewer), ResendAside(numbers=numbers))
    await front.watchman.look(anew=True)
    return _see(f"/?done=resent&count={count}")


@get("/pages/style.css", include_in_schema=False, sync_to_thread=False)
def style() -> Page:
    """Give the style sheet."""
    return Response(asset("style.css"), media_type="text/css", headers={"cache-control": "max-age=300"})


@get("/pages/live.js", include_in_schema=False, sync_to_thread=False)
def script() -> Page:
    """Give the script that keeps the page up to date; without it the page loads itself anew."""
    return Response(asset("live.js"), media_type="text/javascript", headers={"cache-control": "max-age=300"})


PAGES: Final = (status_page, live, sign_in_page, sign_in, sign_out, dead, aside, style, script)


async def _live(front: Front, viewer: Viewer, numbers: dict[str, int]) -> str:
    view = view_of(await front.watchman.look(), front.meter, now=front.clock.now(), **numbers)
    mark = front.sessions.mark(viewer.session) if viewer.session is not None else ""
    return render("live.html", view=view, mark=mark, numbers=numbers)


async def _acting(request: Asked, front: Front) -> tuple[Viewer, dict[str, list[str]]]:
    """Give who acts and what they sent; a form that no page of their session made is refused."""
    scope = _scope(request)
    found = front.sessions.find(scope)
    fields = await _fields(request)
    if found is None:
        raise CredentialRefused("this needs to be signed in", hint="sign in again, and send the form from there")
    session, permit = found
    if not is_same_site(scope) or not front.sessions.is_mark(session, fields.get("mark", [""])[0]):
        raise CredentialRefused("the form does not come from a page of this session", hint="open the page again")
    return Viewer(permit, session), fields


async def _fields(request: Asked) -> dict[str, list[str]]:
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise BadWebRequest("expected the fields of a form, found something else")
    try:
        return parse_qs((await request.body()).decode(), max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise BadWebRequest("expected the fields of a form, found something else") from None


def _chosen(fields: dict[str, list[str]]) -> list[int]:
    return [int(number) for number in fields.get("number", []) if number.isdigit() and len(number) < 19]


def _permit(viewer: Viewer) -> Any:  # a session has one
    return viewer.permit


def _scope(request: Asked) -> Scope:
    return cast("Scope", request.scope)


def _named(viewer: Viewer) -> str:
    return viewer.permit.name if viewer.permit is not None else ""


def _numbers(request: Asked) -> dict[str, int]:
    return {name: _number(request, name, 1) for name in ("queues", "dead", "asides")}


def _number(request: Asked, name: str, usual: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else usual


def _page(html: str, *, status: int = 200) -> Page:
    return Response(html, status_code=status, media_type="text/html", headers=_HEADERS)


def _see(place: str, cookie: str | None = None) -> Page:
    headers = {**_HEADERS, "location": place} | ({"set-cookie": cookie} if cookie is not None else {})
    return Response(b"", status_code=303, headers=headers)
