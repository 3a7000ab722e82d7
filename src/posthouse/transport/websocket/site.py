"""The answering side: an ASGI application that lets programs in by their key, and carries their frames.

It stands wherever a server mounts it; who is let in, and to what, is asked of `admit` before the handshake is answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from posthouse.errors import PosthouseError
from posthouse.transport.frames import Bounds, Conversations
from posthouse.transport.ports import MAX_FRAME, Session
from posthouse.transport.websocket.stream import OFFICE, SUBPROTOCOL, Inbox, Outbox

# `Any`: what ASGI calls a scope and an event.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Waiting takers are questions too, and a stranger's connection must not hold more than this.
_BOUNDS: Final = Bounds(questions=4_096, bytes=MAX_FRAME)
_UNSUPPORTED: Final = 1003
_GONE: Final = 1001


class Denial(NamedTuple):
    """Why somebody is not let in, as HTTP says it."""

    status: int
    code: str
    what: str
    hint: str = ""


Admit = Callable[[Scope], Awaitable[Session | Denial]]


class TooManyLinks(PosthouseError):
    """The office has as many programs connected as it takes at a time."""

    code: ClassVar[str] = "link.too-many"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office has too many connections; try again later."


class LinkSite:
    """An ASGI application for one path; `office` is the name the office says in the handshake."""

    def __init__(self, office: str, admit: Admit, *, most: int = 1_000) -> None:
        self._office = office
        self._admit = admit
        self._most = most
        self._conversations = Conversations(_BOUNDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection to its end."""
        if scope["type"] != "websocket":
            await _answer(send, _AS_PAGE, kind="http.response")
            return
        if (await receive())["type"] != "websocket.connect":
            return
        session = await self._let_in(scope)
        if isinstance(session, Denial):
            await _deny(scope, send, session)
            return
        await send({
            "type": "websocket.accept",
            "subprotocol": SUBPROTOCOL,
            "headers": [(OFFICE.encode(), self._office.encode())],
        })  # fmt: skip
        peer = _Peer(receive, send)
        outbox = Outbox(peer.send, peer.hang_up)
        try:
            await self._conversations.hold(session, Inbox(peer.receive), sink=outbox)
        finally:
            await outbox.wait_closed()

    async def close(self) -> None:
        """End all connections; what programs have in hand stays theirs, as with an office that starts anew."""
        await self._conversations.close()

    async def _let_in(self, scope: Scope) -> Session | Denial:
        if SUBPROTOCOL not in scope.get("subprotocols", ()):
            return Denial(
                426, "link.version", f"expected the subprotocol {SUBPROTOCOL}", "use a client of the same age"
            )
        if len(self._conversations) >= self._most:
            return Denial(503, TooManyLinks.code, TooManyLinks.public)
        return await self._admit(scope)


class _Peer:
    """One WebSocket, as ASGI shows it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._gone = False
        self._reason = _GONE

    async def receive(self) -> bytes:
        """Give the next message; whoever sends text, which no client does, is sent away."""
        event = await self._receive()
        if event["type"] == "websocket.disconnect":
            self._gone = True
            raise ConnectionResetError("the program has gone")
        piece = event.get("bytes")
        if not piece:
            self._reason = _UNSUPPORTED
            raise ConnectionAbortedError("expected binary messages with something in them")
        data: bytes = piece
        return data

    async def send(self, piece: bytes) -> None:
        if self._gone:
            raise ConnectionResetError("the program has gone")
        await self._send({"type": "websocket.send", "bytes": piece})

    async def hang_up(self) -> None:
        if not self._gone:
            self._gone = True
            await self._send({"type": "websocket.close", "code": self._reason})


_AS_PAGE: Final = Denial(
    426, "link.no-websocket", "programs connect here with a WebSocket", "use posthouse.client.connect"
)


async def _deny(scope: Scope, send: Send, denial: Denial) -> None:
    """Say why in an HTTP response where the server can, else close before the handshake, which it tells as 403."""
    if "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, denial, kind="websocket.http.response")
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": denial.code})


async def _answer(send: Send, denial: Denial, *, kind: str) -> None:
    problem = {
        "type": "about:blank", "status": denial.status, "code": denial.code, "detail": denial.what, "hint": denial.hint,
    }  # fmt: skip
    body = msgspec.json.encode(problem)
    headers: Sequence[tuple[bytes, bytes]] = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        *([(b"www-authenticate", b'Bearer realm="posthouse"')] if denial.status == 401 else []),
    ]
    await send({"type": f"{kind}.start", "status": denial.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
