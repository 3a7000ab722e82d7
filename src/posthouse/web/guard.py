"""The guard before everything that answers over HTTP: who asks, how often, how much, how long; what became of it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.office.counter import Unavailable
from posthouse.office.keyring import Keyring
from posthouse.web.admission import admit, authenticate, known_permit
from posthouse.web.asgi import Asgi, Message, Receive, Scope, Send, header_of
from posthouse.web.bucket import Buckets, Rate, client_of
from posthouse.web.openness import Openness
from posthouse.web.problem import Problem, problem_of, problem_of_status, send_problem
from posthouse.web.tally import Tally

# A client that is refused in the middle of a large body hears it only if somebody goes on reading for a while.
_LINGER_S: Final = 2.0
_LINGER_BYTES: Final = 67_108_864

_log = structlog.get_logger("posthouse.http")


class RequestTooLarge(PosthouseError):
    """The body of a request is larger than the office accepts."""

    code: ClassVar[str] = "request.too-large"
    public: ClassVar[str] = "The request is too large."


class TooManyRequests(PosthouseError):
    """A client asks more often than it may."""

    code: ClassVar[str] = "request.too-many"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "There are too many requests."

    def __init__(self, what: str, *, wait: float) -> None:
        self.wait = wait
        super().__init__(what, hint=f"wait {wait:.3g} seconds; several messages fit into one request")


class RequestSlow(PosthouseError):
    """The body of a request did not arrive in time."""

    code: ClassVar[str] = "request.slow"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The request did not arrive in time."


class RequestUnfinished(PosthouseError):
    """The office did not come to an answer in time."""

    code: ClassVar[str] = "request.unfinished"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office did not answer in time."


class Answered(Exception):
    """Ends a request with a problem that somebody has worded already."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        self.problem = problem
        self.headers = dict(headers or {})
        super().__init__(problem.code)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may do; replaced whole while the office runs."""

    body_bytes: int = 16_777_216
    request_seconds: float = 30.0
    answer_seconds: float = 90.0
    keyed: Rate = Rate(5_000.0, 10_000.0)
    strangers: Rate = Rate(50.0, 100.0)
    status_open: Openness = "auto"
    on_loopback: bool = False
    """Whether nobody but this machine can reach the office."""


NOTHING_STREAMED: Final[Mapping[str, int]] = MappingProxyType({})


class Guard:
    """Stands before one ASGI callable; several guards may share their bounds, buckets and tally through `Watch`."""

    def __init__(self, app: Asgi, watch: Watch, *, area: str | None = None, limited: bool = True) -> None:
        self._app = app
        self._limited = limited
        self._watch = watch
        self._area = area

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        watch = self._watch
        began = watch.clock.now()
        asked = _Asked(scope, receive, send=send, watch=watch)
        watch.tally.under_way += 1
        try:
            await self._let_in(asked)
        finally:
            watch.tally.under_way -= 1
            method = scope.get("method", "GET")
            area = self._area or watch.area_of(scope["path"])
            seconds = max(0, watch.clock.now() - began) / 1_000_000
            watch.tally.note(area, method, status=asked.status, seconds=seconds)
            _log.debug("http.answered", area=area, method=method, status=asked.status, ms=round(seconds * 1000, 2))

    async def _let_in(self, asked: _Asked) -> None:
        try:
            if not self._limited:
                await self._app(asked.scope, asked.receive_all, asked.send)
                return
            self._watch.admit(asked.scope)
            async with asyncio.timeout(self._watch.bounds.answer_seconds) as asked.limit:
                await self._app(asked.scope, asked.receive, asked.send)
        except asyncio.CancelledError:
            # The office ends and has waited long enough for this request.
            await asked.fail(Unavailable("the office is closing"))
        except Exception as fault:  # noqa: BLE001 - whatever it is, the asker is answered and the office goes on
            if asked.limit is not None and asked.limit.expired() and isinstance(fault, TimeoutError):
                fault = RequestUnfinished("no answer came in time", hint="ask for less, or wait for less long")
            await asked.fail(fault)


class Watch:
    """What all guards of an office share."""

    def __init__(
        self,
        clock: Clock,
        keyring: Keyring,
        *,
        bounds: Bounds,
        areas: frozenset[str],
        streamed: Mapping[str, int] = NOTHING_STREAMED,
    ) -> None:
        self.streamed = streamed
        """The bytes that may come to a path where a body is kept as it arrives and never stands in memory whole."""
        self.clock = clock
        self.keyring = keyring
        self.bounds = bounds
        self.tally = Tally()
        self._areas = areas
        self._buckets = Buckets()

    def area_of(self, path: str) -> str:
        """Give the area of a path: its first part where that is known."""
        first = path.split("/", 2)[1] if path.startswith("/") else ""
        return (first or "page") if not first or first in self._areas else "other"

    def admit(self, scope: Scope) -> None:
        """Say who asks; raises the reason why not, or not now, or not that much."""
        address = (scope.get("client") or ("",))[0]
        try:
            permit = authenticate(scope, self.keyring)
        except PosthouseError as fault:
            self.tally.refuse(fault.code)
            self._draw(f"address {client_of(address)}", self.bounds.strangers)
            raise
        if permit is not None:
            self._draw(permit.principal, self.bounds.keyed)
        else:
            self._draw(f"address {client_of(address)}", self.bounds.strangers)
        admit(scope, permit)
        length = header_of(scope, b"content-length")
        largest = self.largest(scope["path"])
        if length is not None and length.isdigit() and int(length[:19]) > largest:
            raise _too_large(largest, f"{int(length[:19])} bytes")

    def largest(self, path: str) -> int:
        """Give how many bytes may come in one request to a path."""
        return self.streamed.get(path, self.bounds.body_bytes)

    def _draw(self, client: str, rate: Rate) -> None:
        wait = self._buckets.draw(client, rate, now=self.clock.now() / 1_000_000)
        if wait > 0:
            self.tally.refuse(TooManyRequests.code)
            raise TooManyRequests(f"expected at most {rate.per_second:g} requests a second, found more", wait=wait)


class _Asked:
    """One request under way, between the server and what answers it."""

    def __init__(self, scope: Scope, receive: Receive, *, send: Send, watch: Watch) -> None:
        self.scope = scope
        self.status = 0
        self.limit: asyncio.Timeout | None = None
        self._receive = receive
        self._send = send
        self._watch = watch
        self._started = False
        self._arrived = 0
        self._whole = scope["type"] != "http" or not _has_body(scope)
        self._until = 0.0
        self._is_streamed = scope["path"] in watch.streamed
        self._largest = watch.largest(scope["path"])

    async def receive_all(self) -> Message:
        """Give the next part of the body to one who looks after its size and its time by itself."""
        self._whole = True
        return await self._receive()

    async def receive(self) -> Message:
        """Give the next part of the body, as long as it comes in time and is not too much."""
        if self._whole:
            return await self._receive()
        if not self._until or self._is_streamed:
            # What may be large has the time for each of its pieces, what may not for all of them.
            self._until = asyncio.get_running_loop().time() + self._watch.bounds.request_seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            seconds = self._watch.bounds.request_seconds
            raise RequestSlow(
                f"expected the whole request within {seconds:g} seconds", hint="send less at once"
            ) from None
        if message["type"] == "http.request":
            self._arrived += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._arrived > self._largest:
                raise _too_large(self._largest, "more")
            if self._is_streamed and self.limit is not None:
                self.limit.reschedule(asyncio.get_running_loop().time() + self._watch.bounds.answer_seconds)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer; once it has begun it may take as long as it takes."""
        if message["type"] in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
            self._started = True
            self.status = message.get("status", 101)
            if self.limit is not None:
                self.limit.reschedule(None)
        await self._send(message)

    async def fail(self, fault: Exception) -> None:
        """Answer with what went wrong, where no answer has begun."""
        problem = self._problem(fault)
        if self._started:
            # Half an answer must not look like a whole one: the server breaks the connection off.
            raise fault
        self.status = problem.status
        headers = dict(fault.headers) if isinstance(fault, Answered) else {}
        if not self._whole:
            headers["connection"] = "close"
        if isinstance(fault, TooManyRequests):
            headers["retry-after"] = str(math.ceil(fault.wait))
        if self.scope["type"] == "websocket":
            await self._refuse_socket(problem, headers)
            return
        await send_problem(self._send, problem, headers=headers, last=self._whole)
        if not self._whole:
            await self._linger()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _problem(self, fault: Exception) -> Problem:
        if isinstance(fault, Answered):
            return fault.problem
        if isinstance(fault, PosthouseError):
            problem = problem_of(fault)
            if problem.status < 500 or isinstance(fault, RequestUnfinished | Unavailable):
                return problem
        incident = str(self._watch.clock.new_id())
        permit = known_permit(self.scope)
        _log.error(
            "http.stumbled",
            incident=incident,
            fault=type(fault).__name__,
            code=fault.code if isinstance(fault, PosthouseError) else None,
            area=self._watch.area_of(self.scope["path"]),
            credential=permit.credential if permit is not None else None,
            exc_info=fault if not isinstance(fault, PosthouseError) else None,
        )
        if isinstance(fault, PosthouseError):
            return problem_of(fault, incident=incident)
        return problem_of_status(
            500, detail="the office met a bug; its log says more under the incident", incident=incident
        )

    async def _refuse_socket(self, problem: Problem, headers: dict[str, str]) -> None:
        if "websocket.http.response" not in self.scope.get("extensions", {}):
            await self._send({"type": "websocket.close", "code": 1008, "reason": problem.code})
            return

        async def send(message: Message) -> None:
            await self._send({**message, "type": f"websocket.{message['type']}"})

        await send_problem(send, problem, headers=headers)

    async def _linger(self) -> None:
        """Read on for a while and throw away what comes, so that the client gets to read its answer."""
        left = _LINGER_BYTES
        try:
            async with asyncio.timeout(_LINGER_S):
                while left > 0:
                    message = await self._receive()
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))
        except TimeoutError:
            return


def _too_large(largest: int, found: str) -> RequestTooLarge:
    return RequestTooLarge(f"expected a body of at most {largest} bytes, found {found}", hint="send less at once")


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in scope["headers"]
    )
