"""The listener: sockets, connections and their limits; what is asked goes to one ASGI callable, on the office's loop.

uvicorn speaks HTTP and WebSocket here; its own server, with its signals and timers, is not used.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from email.utils import formatdate
from typing import Any, ClassVar, Final, Literal, cast

import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.server.certificate import Certificate
from posthouse.web.asgi import Asgi
from posthouse.web.problem import encoded, problem_of_status

# Enough for every header a sane client sends; what is longer is refused.
_HEAD_BYTES: Final = 65_536
_BACKLOG: Final = 1_024
_SECOND: Final = 1_000_000
_TURNS: Final = 40


class CannotListen(PosthouseError):
    """The office cannot answer at the address it was given."""

    code: ClassVar[str] = "http.listen"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office is not set up correctly."


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one connection may cost; replaced whole while the office runs."""

    connections: int = 1_000
    head_seconds: float = 30.0
    idle_seconds: float = 60.0
    stall_seconds: float = 30.0
    """How long a client may leave an answer unread."""


class Listener:
    """Answers at one address until it is closed."""

    def __init__(
        self, app: Asgi, *, clock: Clock, limits: Limits, certificate: Certificate | None = None, largest_frame: int
    ) -> None:
        self.limits = limits
        self.state = ServerState()
        self.certificate = certificate
        self._clock = clock
        self._second = 0
        self._server: asyncio.Server | None = None
        # uvicorn would write its own lines, and at some levels the headers of requests with the keys in them.
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "websockets"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._config = Config(
            cast("Any", app), loop="none", http=HttpToolsProtocol, ws=WebSocketsSansIOProtocol, lifespan="off",
            interface="asgi3", log_config=None, access_log=False, proxy_headers=False, server_header=False,
            ws_max_size=largest_frame, ws_per_message_deflate=False, timeout_keep_alive=int(limits.idle_seconds),
        )  # fmt: skip
        self._config.load()

    async def open(self, listen: str) -> list[str]:
        """Begin to answer at `host:port`; gives the addresses, with the port that port 0 became."""
        host, _, port = listen.rpartition(":")
        loop = asyncio.get_running_loop()
        context = self.certificate.context if self.certificate is not None else None
        handshake = self.limits.head_seconds if context is not None else None
        try:
            self._server = await loop.create_server(
                lambda: _Connection(self, self._config, loop=loop), host.strip("[]"), int(port), ssl=context,
                ssl_handshake_timeout=handshake, backlog=_BACKLOG,
            )  # fmt: skip
        except OSError as fault:
            raise _cannot_listen(fault, listen) from fault
        scheme = "http" if context is None else "https"
        return [f"{scheme}://{_host(name[0])}:{name[1]}" for name in self._names()]

    async def close(self, drain_seconds: float) -> None:
        """Take no more connections, let what is under way end, then end it."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self.state.connections):
            connection.shutdown()
        loop = asyncio.get_running_loop()
        last = loop.time() + drain_seconds
        while self.state.tasks and (left := last - loop.time()) > 0:
            await asyncio.wait(list(self.state.tasks), timeout=left)
            # The end of a task is what starts the next request of its connection.
            await asyncio.sleep(0)
        tasks = list(self.state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        for connection in list(self.state.connections):
            connection.shutdown()
            if (transport := getattr(connection, "transport", None)) is not None:
                transport.close()
        for _ in range(_TURNS):
            # Each connection hears of its end, and lets go of its socket, on the loop's next turns.
            if not self.state.connections:
                break
            await asyncio.sleep(0.005)

    def refresh_date(self) -> None:
        """See that answers carry the time; nothing ticks for it while nobody asks."""
        second = self._clock.now() // _SECOND
        if second != self._second:
            self._second = second
            self.state.default_headers = [(b"date", formatdate(second, usegmt=True).encode())]

    def _names(self) -> list[tuple[str, int]]:
        assert self._server is not None
        return [socket.getsockname()[:2] for socket in self._server.sockets]


class _Connection(HttpToolsProtocol):
    """One connection, with the limits uvicorn does not set."""

    def __init__(self, listener: Listener, config: Config, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(config=config, server_state=listener.state, app_state={}, _loop=loop)
        self._listener = listener
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._in_head = True
        self._has_ended = False
        self._head_bytes = 0
        self.timeout_keep_alive = listener.limits.idle_seconds  # type: ignore[assignment] # any number of seconds serves

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn types it
        super().connection_made(transport)
        if len(self.connections) > self._listener.limits.connections:
            self._refuse(503, "the office has as many connections as it takes", "try again in a moment")
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head and self._deadline is None:
            self._expect_head()
        self._has_ended = False
        super().data_received(data)
        # What the end of a request came with was its body.
        if self._in_head and not self._has_ended and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_BYTES:
                self._refuse(431, f"expected a head of at most {_HEAD_BYTES} bytes", "send fewer or shorter headers")

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        self._cancel_deadline()
        self._listener.refresh_date()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = self._has_ended = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.more_body:
            # What is left of a body that nobody wants would have no deadline.
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(self._listener.limits.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg[:1].lower() + msg[1:].rstrip("."), "see RFC 9112 for how a request is written")

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(self._listener.limits.head_seconds, self._too_late)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._refuse(408, "the head of the request did not arrive in time", "send it at once")

    def _refuse(self, status: Literal[400, 408, 431, 503], detail: str, hint: str) -> None:
        """Answer without asking the office, and hang up."""
        self._cancel_deadline()
        problem = problem_of_status(status, detail=detail, hint=hint)
        body = encoded(problem)
        head = (
            f"HTTP/1.1 {status} {problem.title}\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def _cannot_listen(fault: OSError, listen: str) -> CannotListen:
    if fault.errno == errno.EADDRINUSE or "in use" in str(fault):
        what, hint = "another program answers there already", "choose another port with http.listen, or port 0, or off"
    elif fault.errno == errno.EACCES:
        what, hint = "this user may not answer at this port", "choose a port above 1023 with http.listen"
    else:
        what, hint = f"nobody can answer there: {fault.strerror or fault}", "see http.listen"
    return CannotListen(what, where=f"http.listen {listen}", hint=hint)


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
