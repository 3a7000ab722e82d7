from __future__ import annotations

import asyncio

import pytest

from posthouse.transport.websocket.stream import PIECE, Inbox, Outbox


class Line:
    """What an outbox sends, as fast as the test lets it."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.free = asyncio.Event()
        self.free.set()
        self.gone = False
        self.hung_up = False

    async def send(self, piece: bytes) -> None:
        if self.gone:
            raise ConnectionResetError
        await self.free.wait()
        self.sent.append(piece)

    async def hang_up(self) -> None:
        self.hung_up = True


async def test_an_inbox_gives_bytes_however_they_come() -> None:
    pieces = iter([b"a", b"bcd", b"", b"ef"])

    async def receive() -> bytes:
        return next(pieces)

    inbox = Inbox(receive)
    assert [await inbox.readexactly(length) for length in (2, 0, 3, 1)] == [b"ab", b"", b"cde", b"f"]


async def test_small_writes_share_a_message_and_large_ones_are_cut() -> None:
    line = Line()
    outbox = Outbox(line.send, line.hang_up)
    for _ in range(10):
        outbox.write(b"ab")
    outbox.write(bytes(2 * PIECE))
    await outbox.wait_closed()
    assert b"".join(line.sent) == b"ab" * 10 + bytes(2 * PIECE)
    assert [len(piece) for piece in line.sent] == [PIECE, PIECE, 20]
    assert line.hung_up


async def test_who_writes_much_waits_for_room() -> None:
    line = Line()
    line.free.clear()
    outbox = Outbox(line.send, line.hang_up)
    outbox.write(bytes(8 * PIECE))
    draining = asyncio.create_task(outbox.drain())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not draining.done()
    line.free.set()
    await draining
    await outbox.wait_closed()
    assert sum(map(len, line.sent)) == 8 * PIECE


async def test_who_waits_for_room_on_a_dead_line_is_told() -> None:
    line = Line()
    outbox = Outbox(line.send, line.hang_up)
    line.gone = True
    outbox.write(bytes(8 * PIECE))
    with pytest.raises(ConnectionResetError):
        await outbox.drain()
    with pytest.raises(ConnectionResetError):
        outbox.write(b"more")
    await outbox.wait_closed()
