"""The house over HTTP: the site, what is mounted beside it, and the listener in front of both.

Whatever speaks ASGI can be mounted below a prefix, and is found there as it is (its paths keep the prefix)::

    mounts = {"/offices": Mount(offices_app, limited=False), "/fax": Mount(fax_app)}
    async with over_http(house, settings.http, mounts=mounts) as site:
        print(site.addresses)  # ["http://127.0.0.1:8025"]
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import structlog

from posthouse.office.calls import AnyCall, Call
from posthouse.office.deskcalls import DESK_REPLIES, AnyDeskCall
from posthouse.office.house import House
from posthouse.office.permission import permits
from posthouse.server.assemble import link_site
from posthouse.server.certificate import Certificate, certificate_of
from posthouse.server.control import Guest
from posthouse.server.listener import Limits, Listener
from posthouse.server.settings import HttpSettings
from posthouse.transport.ports import MAX_FRAME
from posthouse.web.admission import permit_of
from posthouse.web.api.path import SlashKeeper
from posthouse.web.api.router import make_routes
from posthouse.web.app import make_app
from posthouse.web.asgi import Asgi, Receive, Scope, Send
from posthouse.web.bucket import Rate
from posthouse.web.front import Front
from posthouse.web.guard import Bounds, Guard, Watch
from posthouse.web.look import Watchman
from posthouse.web.openness import is_loopback
from posthouse.web.session import Sessions

_AREAS: Final = frozenset({"health", "metrics", "openapi.json", "api", "pages"})

_log = structlog.get_logger("posthouse.http")


class Mount(NamedTuple):
    """Something that answers below a prefix."""

    app: Asgi
    limited: bool = True
    """Whether keys, rates, sizes and times are looked at; what is not limited looks after them by itself."""


NO_MOUNTS: Final[Mapping[str, Mount]] = MappingProxyType({})


class Site:
    """What answers over HTTP, and what of it can change while it does."""

    def __init__(self, listener: Listener | None, front: Front) -> None:
        self.listener = listener
        self.front = front
        self.addresses: list[str] = []


@asynccontextmanager
async def over_http(
    house: House, settings: HttpSettings, *, mounts: Mapping[str, Mount] = NO_MOUNTS
) -> AsyncIterator[Site]:
    """Answer over HTTP as the settings say; at the end let what is under way end first."""
    areas = _AREAS | {prefix.strip("/") for prefix in mounts}
    watch = Watch(
        house.clock, house.keyring, bounds=bounds_of(settings, listen=settings.listen), areas=areas,
        streamed={"/api/v1/bodies": house.terms.limits.body_bytes},
    )  # fmt: skip
    front = Front(
        office=house, asking=house.asking, counter=house.counter, name=house.terms.name, keyring=house.keyring,
        clock=house.clock, watch=watch, watchman=Watchman(house), meter=house.meter,
        sessions=Sessions(house.keyring, house.clock), closing=asyncio.Event(),
    )  # fmt: skip
    if not settings.listen:
        yield Site(None, front)
        return
    certificate = certificate_of(settings)
    link = link_site(house, partial(guest_of, front))
    mounts = {**mounts, "/link": Mount(link)}
    listener = Listener(
        site_of(front, mounts), clock=house.clock, limits=limits_of(settings), certificate=certificate,
        largest_frame=MAX_FRAME,
    )  # fmt: skip
    site = Site(listener, front)
    try:
        site.addresses = house.addresses = await listener.open(settings.listen)
        _warn(settings, certificate)
        yield site
    finally:
        house.addresses = []
        front.closing.set()
        # Whoever waits for a message is told that the office closes.
        await house.send_away()
        await link.close()
        await listener.close(settings.drain_seconds)


def site_of(front: Front, mounts: Mapping[str, Mount]) -> Asgi:
    """Make the one callable that answers everything: the longest prefix that fits, else the site's own routes."""
    mounted: list[tuple[str, Asgi]] = [
        (prefix.rstrip("/"), Guard(mount.app, front.watch, area=prefix.strip("/"), limited=mount.limited))
        for prefix, mount in sorted(mounts.items(), key=lambda item: len(item[0]), reverse=True)
    ]
    return _Crossing(mounted, Guard(SlashKeeper(make_app(front, make_routes())), front.watch))


class _Crossing:
    """Where ways part by the path."""

    def __init__(self, mounted: list[tuple[str, Asgi]], site: Asgi) -> None:
        self._mounted = mounted
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        for prefix, app in self._mounted:
            if path == prefix or path.startswith(f"{prefix}/"):
                await app(scope, receive, send)
                return
        await self._site(scope, receive, send)


async def guest_of(front: Front, scope: Scope) -> Guest:
    """Say who connects over a WebSocket, and have each of their calls checked as long as they are connected."""
    permit = permit_of(scope)

    def check(call: AnyCall | AnyDeskCall) -> None:
        front.keyring.check(permit)
        if type(call) in DESK_REPLIES:
            # Asked in the guest's name below, where a refusal is recorded.
            return
        refusal = permits(permit, call, office=front.name)
        if refusal is not None:
            raise refusal

    # `Any`: whichever call it is, with its reply.
    async def ask(call: Call[Any]) -> Any:
        return await front.asking.ask(permit, call)

    return Guest(permit.principal, check, ask)


def bounds_of(settings: HttpSettings, *, listen: str) -> Bounds:
    """Give what a client may do of an office that listens there."""
    return Bounds(
        body_bytes=settings.body_bytes,
        request_seconds=settings.request_seconds,
        answer_seconds=settings.answer_seconds,
        keyed=_rate(settings.key_requests, settings.burst_seconds),
        strangers=_rate(settings.stranger_requests, settings.burst_seconds),
        status_open=settings.status_open,
        on_loopback=is_on_loopback(listen),
    )


def limits_of(settings: HttpSettings) -> Limits:
    """Give what one connection may cost."""
    return Limits(
        connections=settings.connections,
        head_seconds=settings.request_seconds,
        idle_seconds=settings.idle_seconds,
        stall_seconds=settings.request_seconds,
    )


def is_on_loopback(listen: str) -> bool:
    """Say whether nobody but this machine can reach the office."""
    return is_loopback(listen.rpartition(":")[0].strip("[]"))


def _rate(per_second: int, burst_seconds: float) -> Rate:
    return Rate(float(per_second), max(1.0, per_second * burst_seconds))


def _warn(settings: HttpSettings, certificate: Certificate | None) -> None:
    if certificate is None and not is_on_loopback(settings.listen):
        _log.warning("http.in-the-clear", listen=settings.listen, hint="give http.tls_certificate and http.tls_key")
