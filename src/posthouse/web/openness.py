"""Who may see how the office is without a key: a decision about where a request comes from."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final, Literal

from posthouse.web.asgi import Scope, header_of

_HOST: Final = re.compile(rb"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]+)?", re.IGNORECASE)
_FORWARDED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via"})

Openness = Literal["auto", "yes", "no"]


def is_open(openness: Openness, scope: Scope, *, on_loopback: bool) -> bool:
    """Say whether a request without a key may look; `on_loopback`: the office listens there and nowhere else."""
    return openness == "yes" or (openness == "auto" and on_loopback and is_from_here(scope))


def is_from_here(scope: Scope) -> bool:
    """Say whether a request comes from this machine, asks for it by such a name, and was not passed on.

    The name matters: a page on the web can point a name of its own at 127.0.0.1 and have a browser ask for it.
    """
    client = (scope.get("client") or ("",))[0]
    if not is_loopback(client) or any(name in _FORWARDED for name, _ in scope["headers"]):
        return False
    found = _HOST.fullmatch(header_of(scope, b"host") or b"")
    return found is not None and is_loopback(found[1].decode().strip("[]").lower())


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
