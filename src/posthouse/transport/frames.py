"""Numbered frames over a stream of bytes: many questions under way at once, answers in any order.

A frame is a length of four bytes, a number of eight, and a payload; an answer bears the number of its question. A
question without a payload withdraws the one of that number, and an answer without one says that it was withdrawn.
What the payloads mean is not known here, nor what carries the stream. What a frame may weigh is limited.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, Protocol

from posthouse.transport.ports import MAX_FRAME, Disconnected, FrameTooLarge, Session

_HEAD: Final = struct.Struct(">IQ")

Late = Callable[[bytes], None]


class Source(Protocol):
    """What arrives; `asyncio.StreamReader` is one."""

    async def readexactly(self, n: int, /) -> bytes:
        """Give so many bytes; `IncompleteReadError` where the peer goes before."""
        ...


class Sink(Protocol):
    """What is sent; `asyncio.StreamWriter` is one."""

    def write(self, data: bytes, /) -> None:
        """Send when there is room."""
        ...

    async def drain(self) -> None:
        """Wait for room; `ConnectionError` where the peer has gone."""
        ...

    def is_closing(self) -> bool:
        """Say whether nothing can be sent any more."""
        ...

    def close(self) -> None:
        """Send what waits, then hang up."""
        ...

    async def wait_closed(self) -> None:
        """Wait for the end of that."""
        ...


class Bounds(NamedTuple):
    """What one connection may have under way at the same time; what is beyond waits in the stream."""

    questions: int = 16_384
    bytes: int = 2 * MAX_FRAME


class Conversations:
    """The connections an answering side has; each runs in the task that holds it."""

    def __init__(self, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - a frozen value
        self._bounds = bounds
        self._listening: dict[asyncio.Task[None], asyncio.Task[None]] = {}
        self._closing = False

    def __len__(self) -> int:
        return len(self._listening)

    async def hold(self, session: Session, source: Source, *, sink: Sink) -> None:
        """Answer one peer until it goes, or the office closes; then tell the session."""
        task = asyncio.current_task()
        if task is None or self._closing:
            sink.close()
            return
        connection = _Connection(session, sink, bounds=self._bounds)
        # A task of its own: hanging up must not break off what follows.
        listening = self._listening[task] = asyncio.create_task(connection.listen(source))
        try:
            await asyncio.wait((listening,))
            await connection.end(gone=not listening.cancelled())
        finally:
            listening.cancel()
            sink.close()
            del self._listening[task]

    async def close(self) -> None:
        """End all connections."""
        self._closing = True
        for listening in self._listening.values():
            listening.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)


class _Connection:
    """The answering side of one connection."""

    def __init__(self, session: Session, sink: Sink, *, bounds: Bounds) -> None:
        self._session = session
        self._sink = sink
        self._bounds = bounds
        self._answering: dict[int, asyncio.Task[None]] = {}
        self._bytes = 0
        self._room = asyncio.Event()
        self._ended = False

    async def listen(self, source: Source) -> None:
        """Read questions until the peer goes, or sends what nobody should."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, FrameTooLarge):
            while True:
                await self._hear(*await _read_frame(source))

    async def _hear(self, number: int, question: bytes) -> None:
        if not question:
            self._withdraw(number)
            return
        while len(self._answering) >= self._bounds.questions or self._bytes > self._bounds.bytes:
            self._room.clear()
            await self._room.wait()
        if number in self._answering:
            raise ConnectionAbortedError(f"question {number} was asked while it was being answered")
        self._bytes += len(question)
        answering = asyncio.create_task(self._answer(number, question))
        self._answering[number] = answering
        answering.add_done_callback(partial(self._done, number=number, size=len(question)))

    async def end(self, *, gone: bool) -> None:
        """Stop answering and tell the session."""
        self._ended = True
        answering = list(self._answering.values())
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)
        await self._session.end(gone=gone)

    def _withdraw(self, number: int) -> None:
        answering = self._answering.get(number)
        if answering is not None:
            answering.cancel()

    def _done(self, answering: asyncio.Task[None], *, number: int, size: int) -> None:
        del self._answering[number]
        self._bytes -= size
        self._room.set()
        if answering.cancelled() and not self._ended:
            with contextlib.suppress(ConnectionError):
                _write_frame(self._sink, number, b"")

    async def _answer(self, number: int, question: bytes) -> None:
        answer = await self._session.answer(question)
        # An answer that nobody fetches counts as well, until it is on its way.
        self._bytes += len(answer)
        try:
            with contextlib.suppress(ConnectionError):
                _write_frame(self._sink, number, answer)
                await self._sink.drain()
        finally:
            self._bytes -= len(answer)


class _Question(NamedTuple):
    """A question under way, and who hears an answer for which nobody waits any more."""

    answer: asyncio.Future[bytes]
    late: Late | None


class FrameLink:
    """See `ports.Link`."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self._source = source
        self._sink = sink
        # Withdrawn questions stay until they are answered, which they all are.
        self._open: dict[int, _Question] = {}
        self._last = 0
        self._ended = False
        self._listening = asyncio.create_task(self._listen())

    @property
    def is_open(self) -> bool:
        return not self._ended

    async def ask(self, question: bytes, *, late: Late | None = None) -> bytes:
        if len(question) > MAX_FRAME:
            raise FrameTooLarge(f"expected a request of at most {MAX_FRAME} bytes, found {len(question)}")
        if self._ended:
            raise Disconnected("the office has gone away")
        self._last += 1
        number = self._last
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open[number] = _Question(answer, late)
        try:
            _write_frame(self._sink, number, question)
            await self._sink.drain()
            return await answer
        except ConnectionError as fault:
            self._open.pop(number, None)
            if not answer.cancel():
                # What it was told is told below as well: mark it as heard.
                answer.exception()
            raise Disconnected("the office went away") from fault
        except asyncio.CancelledError:
            self._withdraw(number, answer, late=late)
            raise

    async def close(self) -> None:
        """Hang up."""
        self._ended = True
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        # A task cancelled before its first step never reaches its own clean-up.
        self._sink.close()
        with contextlib.suppress(ConnectionError):
            await self._sink.wait_closed()

    def _withdraw(self, number: int, answer: asyncio.Future[bytes], *, late: Late | None) -> None:
        if number in self._open and not self._ended:
            answer.cancel()
            with contextlib.suppress(ConnectionError):
                _write_frame(self._sink, number, b"")
        elif late is not None and answer.done() and not answer.cancelled() and answer.exception() is None:
            # It came in the same moment.
            late(answer.result())

    async def _listen(self) -> None:
        try:
            while True:
                number, answer = await _read_frame(self._source)
                self._hear(self._open.pop(number, None), answer)
        except (asyncio.IncompleteReadError, ConnectionError, FrameTooLarge):
            # Told to everybody who waits, below.
            pass
        finally:
            self._ended = True
            for question in self._open.values():
                if not question.answer.done():
                    question.answer.set_exception(Disconnected("the office went away before it answered"))
            self._open.clear()
            self._sink.close()

    def _hear(self, question: _Question | None, answer: bytes) -> None:
        if question is None:
            return
        if not question.answer.done():
            question.answer.set_result(answer)
        elif question.late is not None and answer:
            question.late(answer)


async def _read_frame(source: Source) -> tuple[int, bytes]:
    length, number = _HEAD.unpack(await source.readexactly(_HEAD.size))
    if length > MAX_FRAME:
        raise FrameTooLarge(f"expected a frame of at most {MAX_FRAME} bytes, found {length}")
    return number, await source.readexactly(length)


def _write_frame(sink: Sink, number: int, payload: bytes, /) -> None:
    # Between the end of a connection and the moment its reader is told, uvloop calls writing to it a bug.
    if sink.is_closing():
        raise ConnectionResetError("the connection is closed")
    sink.write(_HEAD.pack(len(payload), number) + payload)
