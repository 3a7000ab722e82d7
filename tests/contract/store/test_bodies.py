"""Large bodies by content address."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest

from posthouse.message.message import Body
from posthouse.store.ports import BodyMissing, BodyTooLarge
from tests.contract.store.desk import Desk, scenario

UNKNOWN = Body("00" * 32, 5)


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def read(desk: Desk, body: Body, start: int = 0) -> bytes:
    return b"".join([piece async for piece in desk.store.bodies.read(body, start=start)])


@scenario
async def test_a_body_is_kept_under_its_hash_and_length(desk: Desk) -> None:
    body = await desk.store.bodies.save(pieces(b"a large", b"", b" body"), limit=100)
    assert body == Body(hashlib.sha256(b"a large body").hexdigest(), 12)
    assert await desk.store.bodies.has(body)
    assert await read(desk, body) == b"a large body"


@scenario
async def test_the_disk_says_how_full_it_is_where_there_is_one(desk: Desk) -> None:
    use = await desk.store.bodies.use()
    assert use is None or 0 < use <= 100


@scenario
async def test_a_body_may_be_empty(desk: Desk) -> None:
    body = await desk.store.bodies.save(pieces(), limit=0)
    assert body == Body(hashlib.sha256(b"").hexdigest(), 0)
    assert await read(desk, body) == b""


@scenario
async def test_a_body_of_megabytes_comes_back_whole(desk: Desk) -> None:
    chunk = bytes(range(256)) * 1024
    body = await desk.store.bodies.save(pieces(*[chunk] * 12), limit=len(chunk) * 12)
    assert body.size == len(chunk) * 12
    assert await read(desk, body) == chunk * 12


@scenario
async def test_a_body_may_be_read_from_any_byte_on(desk: Desk) -> None:
    whole = b"0123456789" * 200_000
    body = await desk.store.bodies.save(pieces(whole), limit=len(whole))
    for start in (0, 1, 1_500_003, len(whole) - 1, len(whole), len(whole) + 5):
        assert await read(desk, body, start) == whole[start:]


@scenario
async def test_a_body_kept_twice_is_the_same_body(desk: Desk) -> None:
    first = await desk.store.bodies.save(pieces(b"ab", b"c"), limit=100)
    assert await desk.store.bodies.save(pieces(b"a", b"bc"), limit=100) == first
    assert await read(desk, first) == b"abc"


@scenario
async def test_a_body_past_the_limit_is_refused_and_not_kept(desk: Desk) -> None:
    assert (await desk.store.bodies.save(pieces(b"abc", b"de"), limit=5)).size == 5
    with pytest.raises(BodyTooLarge):
        await desk.store.bodies.save(pieces(b"abc", b"def"), limit=5)
    assert not await desk.store.bodies.has(Body(hashlib.sha256(b"abcdef").hexdigest(), 6))


@scenario
async def test_a_sender_that_breaks_off_leaves_nothing(desk: Desk) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"abc"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await desk.store.bodies.save(broken(), limit=100)
    assert not await desk.store.bodies.has(Body(hashlib.sha256(b"abc").hexdigest(), 3))


@scenario
async def test_a_body_that_is_not_there_is_said_to_be_missing(desk: Desk) -> None:
    assert not await desk.store.bodies.has(UNKNOWN)
    with pytest.raises(BodyMissing):
        await read(desk, UNKNOWN)


@scenario
async def test_a_body_of_another_length_is_not_this_body(desk: Desk) -> None:
    body = await desk.store.bodies.save(pieces(b"abc"), limit=100)
    assert not await desk.store.bodies.has(Body(body.sha256, 4))
