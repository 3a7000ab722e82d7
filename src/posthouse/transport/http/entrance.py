"""The entrance for other offices, as a plain ASGI callable: frames come in, signed answers go out.

`POST /offices/<office>/frames` takes messages, `PATCH /offices/<office>/bodies/<sha256>` a piece of a large body.
Whoever is not known here gets the same few words whatever was wrong, at the same price, and nothing of it is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import unquote

import structlog

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.message import Body
from posthouse.message.name import LOCAL, MalformedName, OfficeName, parse_mailbox
from posthouse.message.peer import Exchange, Peer
from posthouse.transport.http.arrival import Arrivals, Shelf
from posthouse.transport.http.cargo import Answer, Fate, Letter, encode, opened, read_letters, read_piece
from posthouse.transport.http.frame import Header, MalformedFrame, Sealed, payload_of, seal, split
from posthouse.transport.http.trust import Doorkeeper, Known, OwnKey, Ring, Turned
from posthouse.transport.ports import Outgoing, Result

FORM: Final = "application/vnd.posthouse.frame"

# `Any`: ASGI is untyped dictionaries by its own definition.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# What a peer is answered that calls for what lies in mailboxes here.
Ask = Callable[[Peer, bytes], Awaitable[bytes]]
TakeIn = Callable[[Sequence[Outgoing]], Awaitable[list[Result]]]

_log = structlog.get_logger("posthouse.entrance")


class BodyNotYet(PosthouseError):
    """A message names a large body that has not arrived."""

    code: ClassVar[str] = "body.not-yet"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The body of the message is not here yet."


class Reply(NamedTuple):
    """What goes back over HTTP."""

    status: int
    data: bytes
    pause: int = 0
    """Seconds, for `Retry-After`."""


STRANGER: Final = Reply(403, b"refused\n")
NOT_FOUND: Final = Reply(404, b"not found\n")
TOO_SLOW: Final = Reply(408, b"too slow\n")
TOO_LARGE: Final = Reply(413, b"too large\n")
BUSY: Final = Reply(503, b"busy\n", 1)


class Inside(NamedTuple):
    """What the entrance needs of its office."""

    name: OfficeName
    take_in: TakeIn
    shelf: Shelf
    body_bytes: int
    """The largest body."""
    heard: Callable[[str], None]
    """Told the name of each office that spoke, as it is there now."""
    ask: Ask | None = None


class Entrance:
    """Hears frames; `office` answers for what is in them."""

    def __init__(
        self, clock: Clock, bounds: Exchange, *, key: OwnKey, ring: Ring, inside: Inside, arrivals: Arrivals
    ) -> None:
        self._clock = clock
        self._bounds = bounds
        self._key = key
        self._inside = inside
        self._name = str(inside.name)
        self._here = frozenset({LOCAL, inside.name})
        self._doorkeeper = Doorkeeper(self._name, ring, skew_seconds=bounds.skew_seconds)
        self._arrivals = arrivals
        self._reading: Counter[str] = Counter()
        self._working: Counter[str] = Counter()
        self._calling: Counter[str] = Counter()
        self._closed = False

    def close(self) -> None:
        """Ask everybody to come back later, from now on."""
        self._closed = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise LookupError(f"offices speak HTTP, not {scope['type']}")
        reply = await self._reply(scope, receive)
        headers = [(b"content-type", (FORM if reply.status == 200 else "text/plain").encode())]
        headers.append((b"content-length", str(len(reply.data)).encode()))
        if reply.pause:
            headers.append((b"retry-after", str(reply.pause).encode()))
        if reply.status in {408, 413}:
            # The rest of what it was sending is of no interest.
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.data})

    async def _reply(self, scope: Scope, receive: Receive) -> Reply:
        about = _about(scope)
        if about is None:
            return NOT_FOUND
        address = str((scope.get("client") or ("",))[0])
        if self._closed or self._is_crowded(address):
            return BUSY
        with _counted(self._reading, address):
            try:
                async with asyncio.timeout(self._bounds.read_seconds):
                    data = await _read(scope, receive, limit=self._bounds.frame_bytes)
            except TimeoutError:
                return TOO_SLOW
        if data is None:
            return TOO_LARGE
        return await self.answer(data, about=about, receive=receive)

    def _is_crowded(self, address: str) -> bool:
        return (
            self._reading.total() >= self._bounds.readers or self._reading[address] >= self._bounds.readers_each
        )  # fmt: skip

    async def answer(self, data: bytes, *, about: tuple[str, str], receive: Receive | None = None) -> Reply:
        """Answer one frame; one that has to wait for its answer waits no longer than its sender."""
        office, what = about
        try:
            sealed = split(data)
        except MalformedFrame:
            return STRANGER
        judged = self._doorkeeper.judge(sealed, now=self._clock.now())
        if isinstance(judged, Turned):
            if judged.known is None:
                # Strangers must not be able to fill the log.
                _log.debug("exchange.turned-away", why=judged.why)
                return STRANGER
            _log.warning("exchange.clocks-differ", peer=judged.known.peer.office)
            return self._signed(sealed.header, Answer(verdict="clock", reason="the clocks differ too much"))
        if office != self._inside.name.office:
            return STRANGER
        self._inside.heard(judged.peer.office)
        if judged.header.about == "call":
            return self._signed(sealed.header, await self._call(judged, sealed, receive=receive))
        if self._working[judged.peer.office] >= self._bounds.at_once:
            return self._signed(sealed.header, Answer(verdict="busy", reason="enough frames at once", pause=1.0))
        with _counted(self._working, judged.peer.office):
            return self._signed(sealed.header, await self._work(judged, sealed, what=what))

    async def _work(self, known: Known, sealed: Sealed, *, what: str) -> Answer:
        try:
            payload = payload_of(sealed, limit=self._bounds.frame_bytes)
            if known.header.about == "piece":
                piece = read_piece(payload)
                if piece.body.sha256 != what:
                    return Answer(verdict="unreadable", reason="the piece is of another body than it was sent to")
                return await self._arrivals.add(known.peer.office, piece)
            letters = read_letters(payload)
        except PosthouseError as fault:
            return Answer(verdict="unreadable" if fault.permanent else "busy", reason=str(fault), pause=1.0)
        except OSError as fault:
            _log.error("exchange.body-not-kept", fault=fault.strerror)
            return Answer(verdict="busy", reason="large bodies cannot be kept now", pause=30.0)
        if len(letters) > self._bounds.frame_letters:
            bounds = self._bounds
            return Answer(
                verdict="too large", most_letters=bounds.frame_letters, most_bytes=bounds.frame_bytes,
                reason=f"expected at most {bounds.frame_letters} messages, found {len(letters)}",
            )  # fmt: skip
        return Answer(fates=tuple(await self._take_in(known.peer, letters)))

    async def _call(self, known: Known, sealed: Sealed, *, receive: Receive | None) -> Answer:
        peer = known.peer
        if self._inside.ask is None:
            return Answer(verdict="unreadable", reason="no calls are answered here")
        if self._calling[peer.office] >= self._bounds.calls_each:
            return Answer(verdict="busy", reason="enough calls at once", pause=1.0)
        try:
            payload = payload_of(sealed, limit=self._bounds.frame_bytes)
        except PosthouseError as fault:
            return Answer(verdict="unreadable", reason=str(fault))
        with _counted(self._calling, peer.office):
            reply = await _while_there(self._inside.ask(peer, payload), receive)
        return Answer(verdict="busy", reason="it went away") if reply is None else Answer(reply=reply)

    async def _take_in(self, peer: Peer, letters: Sequence[Letter]) -> list[Fate]:
        fates: dict[int, Fate] = {}
        batch: dict[int, Outgoing] = {}
        for number, letter in enumerate(letters):
            outgoing = self._outgoing(peer, letter)
            if isinstance(outgoing, Fate):
                fates[number] = outgoing
            else:
                batch[number] = outgoing
        if batch:
            results = await self._inside.take_in(list(batch.values()))
            fates |= {
                number: Fate(result.status, result.reason) for number, result in zip(batch, results, strict=True)
            }  # fmt: skip
        return [fates[number] for number in range(len(letters))]

    def _outgoing(self, peer: Peer, letter: Letter) -> Outgoing | Fate:
        try:
            message, envelope = opened(letter, peer.office)
            if not peer.relay and not all(parse_mailbox(name).office in self._here for name in envelope.everybody):
                return Fate("refused", f"{self._name} does not send on what {peer.office} has for others")
        except MalformedName as fault:
            return Fate("refused", str(fault))
        except PosthouseError as fault:
            return Fate("refused", fault.public)
        return Outgoing(message, envelope, _not_yet if isinstance(message.body, Body) else None)

    def _signed(self, asked: Header, answer: Answer) -> Reply:
        header = Header(
            about="answer", sender=self._name, to=asked.sender, key=self._key.public.id,
            id=self._clock.new_id().bytes, instant=self._clock.now(), answers=asked.id, size=0,
        )  # fmt: skip
        return Reply(200, seal(header, encode(answer), sign=self._key.sign, pack=self._bounds.compress))


async def _not_yet(_start: int = 0) -> AsyncIterator[bytes]:
    """Stand for a large body, which must have arrived before the message that names it."""
    for _ in ():
        yield b""
    raise BodyNotYet("the body has not arrived")


def _about(scope: Scope) -> tuple[str, str] | None:
    """Give the office that is asked for, and the body if it is about one."""
    path = (scope.get("raw_path") or scope["path"].encode()).decode("ascii", "replace").split("?", 1)[0]
    parts = path.split("/")
    if scope["method"] == "POST" and len(parts) >= 2 and parts[-1] == "frames":
        return unquote(parts[-2]), ""
    if scope["method"] == "PATCH" and len(parts) >= 3 and parts[-2] == "bodies":
        return unquote(parts[-3]), parts[-1]
    return None


async def _read(scope: Scope, receive: Receive, *, limit: int) -> bytes | None:
    """Read what was sent; none where it is too large or the sender went away."""
    told = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    if told.isdigit() and int(told) > limit:
        return None
    parts: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return b""
        part = event.get("body", b"")
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
        if not event.get("more_body"):
            return b"".join(parts)


async def _while_there(answering: Awaitable[bytes], receive: Receive | None) -> bytes | None:
    """Wait for an answer as long as somebody is there to hear it."""
    task = asyncio.ensure_future(answering)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        leaving.cancel()
        task.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def _left(receive: Receive | None) -> None:
    """Return when the sender has gone."""
    if receive is None:
        await asyncio.Event().wait()
    else:
        while (await receive())["type"] != "http.disconnect":
            pass


@contextlib.contextmanager
def _counted(counter: Counter[str], name: str) -> Iterator[None]:
    counter[name] += 1
    try:
        yield
    finally:
        counter[name] -= 1
        if not counter[name]:
            del counter[name]
