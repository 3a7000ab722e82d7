"""A hostile peer at a real port: it learns nothing, keeps nothing busy for long, and the office serves its friends."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path

from posthouse.clock import SystemClock
from posthouse.message.envelope import Envelope
from posthouse.testing.journey import message
from posthouse.testing.key import a_key
from posthouse.transport.http.cargo import encode, letter_of
from posthouse.transport.http.frame import Header, seal
from posthouse.transport.http.trust import OwnKey
from tests.scenario.offices.town import Place, neighbours, numbers, town

CLOCK = SystemClock()


def request(data: bytes, *, path: str = "/offices/south/frames", length: int | None = None) -> bytes:
    size = len(data) if length is None else length
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {size}\r\n\r\n".encode() + data


async def say(office: Place, data: bytes) -> bytes:
    """Send bytes to an office and give what comes back, up to the end of the answer or of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", office.port)
    try:
        # Who refuses a large frame does not read it to its end.
        with contextlib.suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except ConnectionError:
            return b"hung up"
        told = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        return head.split(b"\r\n", 1)[0] + b" " + await reader.readexactly(int(told[b"content-length"]))
    finally:
        writer.close()


def frame(north: Place, south: Place, *, key: OwnKey, sender: str | None = None, to: str | None = None) -> bytes:
    name = f"{south.name}#bob"
    payload = encode([letter_of(message(recipients=(name,)), Envelope(sender="mallory", recipients=(name,)))])
    header = Header(
        about="letters", sender=sender or north.name, to=to or south.name, key=key.public.id,
        id=CLOCK.new_id().bytes, instant=CLOCK.now(), size=0,
    )  # fmt: skip
    return seal(header, payload, sign=key.sign)


async def test_all_strangers_are_told_the_same(tmp_path: Path) -> None:
    north, south = neighbours(tmp_path)
    chance = random.Random(1)
    async with town(north, south):
        wrong = a_key(9)
        strangers = [
            frame(north, south, key=wrong),
            frame(north, south, key=wrong, sender="http://nobody.example:1/n"),
            frame(north, south, key=wrong, to=north.name),
            frame(north, south, key=wrong)[:-9],
            b"",
            b"{}",
            *[chance.randbytes(chance.randint(1, 500)) for _ in range(20)],
        ]
        told = {await say(south, request(data)) for data in strangers}
        assert told == {b"HTTP/1.1 403 Forbidden refused\n"}
        assert {await say(south, request(b"", path="/offices/west/frames"))} == told
        status = await south.status()
        assert (status.accepted, status.queued, status.aside) == (0, 0, 0)
        await north.put(f"{south.name}#bob", 1)
        assert numbers(await south.take("bob", 1)) == [1]


async def test_slow_and_endless_senders_are_given_up(tmp_path: Path) -> None:
    north, south = neighbours(tmp_path, read_seconds=0.3, frame_bytes=3_000_000, readers=8, readers_each=4)
    async with town(north, south):
        slow = await asyncio.gather(*(say(south, request(b"PHX", length=1_000)) for _ in range(4)))
        assert {answer[:12] for answer in slow} == {b"HTTP/1.1 408"}
        assert (await say(south, request(b"x", length=3_000_001)))[:12] == b"HTTP/1.1 413"
        endless = b"POST /offices/south/frames HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        endless += b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        endless += (b"100000\r\n" + b"x" * 0x100000 + b"\r\n") * 3
        # An answer given while the other side still talks may be lost with the connection.
        assert (await say(south, endless))[:12] in {b"HTTP/1.1 413", b"hung up"}
        await north.put(f"{south.name}#bob", *range(1, 101))
        assert numbers(await south.take("bob", 100)) == list(range(1, 101))


async def test_a_crowd_of_slow_senders_holds_up_nobody_for_long(tmp_path: Path) -> None:
    north, south = neighbours(tmp_path, read_seconds=1.0, readers=8, readers_each=8)
    async with town(north, south):
        crowd = [asyncio.create_task(say(south, request(b"PHX", length=1_000))) for _ in range(30)]
        await north.put(f"{south.name}#bob", *range(1, 101))
        assert numbers(await south.take("bob", 100)) == list(range(1, 101))
        assert {answer[:12] for answer in await asyncio.gather(*crowd)} == {b"HTTP/1.1 408", b"HTTP/1.1 503"}
