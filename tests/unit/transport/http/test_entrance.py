"""The entrance: who is let in, what a stranger learns, and how much anybody can ask of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.message import Body
from posthouse.message.peer import Peer
from posthouse.testing.build import SECOND
from posthouse.transport.http.cargo import Letter, Piece
from posthouse.transport.http.entrance import BUSY, NOT_FOUND, STRANGER, TOO_LARGE, TOO_SLOW, BodyNotYet
from tests.unit.transport.http.speech import EAST, EAST_KEY, WRONG_KEY, West, frame, letter, said

DATA = b"large" * 1_000
BODY = Body(hashlib.sha256(DATA).hexdigest(), len(DATA))


async def test_messages_are_taken_in_and_answered(tmp_path: Path) -> None:
    west = West(tmp_path)
    answer = said(await west.hears(frame([letter(1), letter(2)])))
    assert [fate.status for fate in answer.fates] == ["delivered"] * 2
    (first, _second) = west.got
    assert (first.envelope.principal, first.envelope.sender) == (EAST, "alice")
    assert first.message.head == letter(1).head
    assert west.heard == [EAST]


async def test_a_greeting_is_heard_and_brings_nothing(tmp_path: Path) -> None:
    west = West(tmp_path)
    assert said(await west.hears(frame([]))).fates == ()
    assert (west.heard, west.got) == ([EAST], [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1",
        frame(key=WRONG_KEY),
        frame(sender="http://stranger.example:8025/s"),
        frame(to="http://other.example:8025/o"),
        frame(about="answer"),
        frame()[:-1],
        frame()[:-1] + b"\x00",
    ],
)
async def test_strangers_all_learn_the_same_and_leave_nothing(tmp_path: Path, data: bytes) -> None:
    west = West(tmp_path)
    assert await west.hears(data) == STRANGER
    assert (west.heard, west.got, west.shelf.bodies) == ([], [], {})


async def test_another_office_at_the_same_place_is_not_this_one(tmp_path: Path) -> None:
    west = West(tmp_path)
    assert await west.hears(frame(), office="east") == STRANGER


async def test_a_frame_that_comes_again_is_a_strangers(tmp_path: Path) -> None:
    west = West(tmp_path)
    said(await west.hears(frame()))
    assert await west.hears(frame()) == STRANGER
    assert len(west.got) == 1


async def test_a_peer_with_a_wrong_clock_is_told_ours(tmp_path: Path) -> None:
    west = West(tmp_path)
    reply = await west.hears(frame(instant=west.clock.now() - 301 * SECOND))
    assert said(reply).verdict == "clock"
    assert (west.got, west.heard) == ([], [])


@pytest.mark.parametrize("payload", [b"", b"garbage", b"\x93\x01\x02\x03", b"\xc1", {"a": 1}, [[b"head"]], [1]])
async def test_a_payload_that_is_none_is_told_to_the_peer(tmp_path: Path, payload: Any) -> None:
    west = West(tmp_path)
    answer = said(await west.hears(frame(payload)))
    assert (answer.verdict, west.got) == ("unreadable", [])
    assert answer.reason


async def test_one_message_that_cannot_be_read_is_refused_alone(tmp_path: Path) -> None:
    west = West(tmp_path)
    broken = Letter(b"no head", b"")
    nowhere = letter_to("http://[broken#bob")
    answer = said(await west.hears(frame([letter(1), broken, nowhere, letter(2)])))
    assert [fate.status for fate in answer.fates] == ["delivered", "refused", "refused", "delivered"]
    assert all(fate.reason for fate in answer.fates if fate.status == "refused")


def letter_to(name: str) -> Letter:
    return msgspec.structs.replace(letter(3), recipients=(name,))


async def test_only_who_may_is_served_as_by_a_relay(tmp_path: Path) -> None:
    elsewhere = letter_to("http://north.example:8025/n#bob")
    west = West(tmp_path)
    (fate,) = said(await west.hears(frame([elsewhere]))).fates
    assert (fate.status, west.got) == ("refused", [])
    assert "does not send on" in fate.reason
    trusting = West(tmp_path, peers=(Peer(name="east", office=EAST, keys=(str(EAST_KEY.public),), relay=True),))
    (fate,) = said(await trusting.hears(frame([elsewhere]))).fates
    assert fate.status == "delivered"


async def test_too_many_messages_are_told_with_how_many_are_not(tmp_path: Path) -> None:
    west = West(tmp_path, frame_letters=3)
    answer = said(await west.hears(frame([letter(number) for number in range(1, 5)])))
    assert (answer.verdict, answer.most_letters, west.got) == ("too large", 3, [])


async def test_a_peer_has_a_few_frames_at_once(tmp_path: Path) -> None:
    west = West(tmp_path, at_once=2)
    west.hanging = asyncio.Event()
    hanging = [asyncio.create_task(west.hears(frame(id=bytes([number] * 16)))) for number in (1, 2)]
    while len(west.heard) < 2:  # noqa: ASYNC110 - who is heard sets no event
        await asyncio.sleep(0)
    answer = said(await west.hears(frame(id=b"3" * 16)))
    assert (answer.verdict, answer.pause) == ("busy", 1.0)
    west.hanging.set()
    assert [said(reply).verdict for reply in await asyncio.gather(*hanging)] == ["taken", "taken"]
    assert said(await west.hears(frame(id=b"4" * 16))).verdict == "taken"


async def test_a_large_body_comes_before_its_message(tmp_path: Path) -> None:
    west = West(tmp_path)
    named = msgspec.structs.replace(letter(1), body=BODY)
    said(await west.hears(frame([named], id=b"0" * 16)))
    (without,) = west.got
    assert without.pieces is not None
    with pytest.raises(BodyNotYet):
        await anext(aiter(without.pieces()))
    answer = said(await west.hears(frame(Piece(BODY, 0, DATA), about="piece", id=b"1" * 16), body=BODY.sha256))
    assert (answer.have, west.shelf.bodies) == (BODY.size, {BODY: DATA})


@pytest.mark.parametrize(
    "piece",
    [
        Piece(BODY, 0, DATA + b"x"),
        Piece(BODY, -1, b"x"),
        Piece(BODY, BODY.size, b"x"),
        Piece(Body("../../etc/passwd", 10), 0, b"x"),
        Piece(Body("A" * 64, 10), 0, b"x"),
        Piece(Body("0" * 64, 2**63 - 1), 0, b""),
        [BODY, "0", b""],
    ],
)
async def test_a_piece_that_cannot_be_is_told(tmp_path: Path, piece: Any) -> None:
    west = West(tmp_path)
    what = piece.body.sha256 if isinstance(piece, Piece) else BODY.sha256
    answer = said(await west.hears(frame(piece, about="piece"), body=what))
    assert answer.verdict in {"unreadable", "refused"}
    assert not west.shelf.bodies


async def test_a_piece_belongs_to_the_body_it_is_sent_to(tmp_path: Path) -> None:
    west = West(tmp_path)
    answer = said(await west.hears(frame(Piece(BODY, 0, DATA), about="piece"), body="0" * 64))
    assert (answer.verdict, west.shelf.bodies) == ("unreadable", {})


# --- HTTP -------------------------------------------------------------------------------------------------------------


class Asked:
    """One request, as an ASGI server hands it on, and what came back."""

    def __init__(
        self, data: Sequence[bytes] = (), *, path: str = "/offices/west/frames", method: str = "POST", **told: str
    ) -> None:
        self.scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "client": ("192.0.2.1", 7),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in told.items()],
        }  # fmt: skip
        self._events: Iterator[dict[str, Any]] = iter(
            [{"type": "http.request", "body": part, "more_body": True} for part in data]
        )
        self.complete = True
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = b""

    async def receive(self) -> dict[str, Any]:
        event = next(self._events, None)
        if event is None and not self.complete:
            await asyncio.Event().wait()
        return event or {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, event: Any) -> None:
        if event["type"] == "http.response.start":
            self.status, self.headers = event["status"], dict(event["headers"])
        else:
            self.body += event["body"]

    async def at(self, west: West) -> Asked:
        await west.entrance(self.scope, self.receive, self.send)
        return self


async def test_a_frame_may_come_in_many_parts(tmp_path: Path) -> None:
    west = West(tmp_path)
    whole = frame()
    asked = await Asked([whole[:10], whole[10:11], whole[11:]]).at(west)
    assert (asked.status, len(west.got)) == (200, 1)
    assert asked.headers[b"content-length"] == str(len(asked.body)).encode()


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/offices/west/frames", "GET"),
        ("/offices/west/other", "POST"),
        ("/offices/west", "POST"),
        ("/", "POST"),
        ("", "POST"),
        ("/offices/west/bodies/x", "PUT"),
        ("/offices/west/bodies", "PATCH"),
    ],
)
async def test_there_are_two_things_to_ask(tmp_path: Path, path: str, method: str) -> None:
    asked = await Asked([frame()], path=path, method=method).at(West(tmp_path))
    assert (asked.status, asked.body) == (NOT_FOUND.status, NOT_FOUND.data)


@pytest.mark.parametrize("told", [{"content_length": "5001"}, {}, {"content_length": "1"}, {"content_length": "x"}])
async def test_a_frame_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, told: dict[str, str]) -> None:
    west = West(tmp_path, frame_bytes=5_000)
    asked = Asked([b"x" * 1_000] * 1_000_000, **told) if not told else Asked([b"x" * 1_000] * 10, **told)
    asked = await asked.at(west)
    assert (asked.status, asked.body, asked.headers[b"connection"]) == (TOO_LARGE.status, TOO_LARGE.data, b"close")


async def test_a_frame_that_never_ends_is_given_up(tmp_path: Path) -> None:
    west = West(tmp_path, read_seconds=0.05)
    asked = Asked([b"x"])
    asked.complete = False
    asked = await asked.at(west)
    assert (asked.status, asked.body) == (TOO_SLOW.status, TOO_SLOW.data)


async def test_one_address_cannot_take_all_places(tmp_path: Path) -> None:
    west = West(tmp_path, readers=3, readers_each=2, read_seconds=30.0)
    waiting = []
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        asked = Asked([b"x"])
        asked.complete = False
        asked.scope["client"] = (address, 1)
        waiting.append(asyncio.create_task(asked.at(west)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        other = Asked([frame()])
        other.scope["client"] = ("192.0.2.1", 2)
        if len(waiting) == 2:
            assert (await other.at(west)).status == BUSY.status
    last = Asked([frame()])
    last.scope["client"] = ("192.0.2.3", 1)
    last = await last.at(west)
    assert (last.status, last.headers[b"retry-after"]) == (503, b"1")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (await Asked([frame()]).at(west)).status == 200


async def test_an_office_that_closes_asks_to_come_back(tmp_path: Path) -> None:
    west = West(tmp_path)
    west.entrance.close()
    assert (await Asked([frame()]).at(west)).status == 503


@given(st.binary(min_size=1, max_size=400))
async def test_whatever_is_sent_has_an_answer(garbage: bytes) -> None:
    west = West(Path("unused"))
    for data in (garbage, frame() + garbage, frame()[: len(garbage)] + garbage):
        reply = await west.entrance.answer(data, about=("west", ""))
        assert reply == STRANGER


@pytest.mark.fuzz
@given(st.binary(max_size=2_000))
async def test_whatever_a_peer_says_has_an_answer(payload: bytes) -> None:
    west = West(Path("unused"))
    assert said(await west.entrance.answer(frame(payload), about=("west", ""))).verdict in {"unreadable", "taken"}
