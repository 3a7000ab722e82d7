"""The interface between a server and what answers (ASGI 3), as types; any callable of this shape can be mounted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

# `Any`: the members of a scope and of a message are those of the ASGI specification.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def header_of(scope: Scope, name: bytes) -> bytes | None:
    """Give a header by its name in small letters, where there is exactly one of it."""
    found = [value for each, value in scope["headers"] if each == name]
    return bytes(found[0]) if len(found) == 1 else None
