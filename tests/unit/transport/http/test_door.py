"""The sending side: what it makes of every answer, and that it believes none but the one it asked for."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from posthouse.message.envelope import Envelope
from posthouse.message.message import Body
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.store.ports import BodyMissing
from posthouse.testing.journey import message
from posthouse.testing.key import a_key
from posthouse.transport.http.cargo import Answer, Fate, Letter, Piece, encode, read_letters, read_piece
from posthouse.transport.http.exchange import Post
from posthouse.transport.http.frame import Header, payload_of, seal, split
from posthouse.transport.http.trust import OwnKey
from posthouse.transport.ports import Outgoing, Result
from tests.unit.transport.http.speech import EAST, EAST_KEY, WEST, WEST_KEY, WRONG_KEY, West

DATA = b"large" * 1_000
BODY = Body(hashlib.sha256(DATA).hexdigest(), len(DATA))

Answering = Callable[[httpx.Request], httpx.Response]


class Wire(httpx.AsyncBaseTransport):
    """Carries requests to a function, and its answers back as if they came over a network."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        response = self._answering(request)
        if not response.is_stream_consumed:
            return response
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(response.content))


def post_to(answering: Answering, clock: Any, **exchange: Any) -> Post:
    peers = (
        Peer(name="west", office=WEST, keys=(str(WEST_KEY.public),)),
        Peer(name="far", office="http://far.example:8025/f", via="west"),
    )
    given = {"peers": peers} | exchange
    post = Post(clock, Exchange(**given), name=parse_office(EAST), key=EAST_KEY, folder=Path("unused"))
    post.caller.transport = Wire(answering)
    return post


class Elsewhere:
    """What stands at the other end: it hears frames, and answers as it is told."""

    def __init__(self, **exchange: Any) -> None:
        self.west = West(Path("unused"))
        self.post = post_to(self.answer, self.west.clock, **exchange)
        self.frames: list[list[Letter]] = []
        self.pieces: list[Piece] = []
        self.say: Callable[[Header], Answer | httpx.Response | Exception] = lambda _: Answer()
        self.key: OwnKey = WEST_KEY
        self.header: dict[str, Any] = {}

    def answer(self, request: httpx.Request) -> httpx.Response:
        sealed = split(request.read())
        asked = sealed.header
        payload = payload_of(sealed, limit=10_000_000)
        if asked.about == "letters":
            self.frames.append(list(read_letters(payload)))
        else:
            self.pieces.append(read_piece(payload))
        said = self.say(asked)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, httpx.Response):
            return said
        if asked.about == "letters" and said == Answer():
            said = Answer(fates=(Fate("delivered"),) * len(self.frames[-1]))
        header: dict[str, Any] = {
            "about": "answer", "sender": WEST, "to": EAST, "key": self.key.public.id, "id": b"a" * 16,
            "instant": self.west.clock.now(), "answers": asked.id,
        }  # fmt: skip
        data = seal(Header(**header | self.header, size=0), encode(said), sign=self.key.sign)
        return httpx.Response(200, content=data)

    async def bring(self, *batch: Outgoing, office: str = WEST) -> list[Result]:
        return await self.post.doors()[0].deliver(office, batch)


def outgoing(number: int = 1, *, sender: str = "alice", body: bytes | Body = b"") -> Outgoing:
    name = f"{WEST}#bob"
    return Outgoing(
        message(number, body, sender=sender, recipients=(name,)), Envelope(sender=sender, recipients=(name,)),
        large if isinstance(body, Body) else None,
    )  # fmt: skip


async def large(start: int = 0, /) -> AsyncIterator[bytes]:
    yield DATA[start:]


def told(results: list[Result]) -> list[str]:
    return [result.status for result in results]


async def test_all_that_fits_goes_in_one_frame() -> None:
    there = Elsewhere()
    assert told(await there.bring(*map(outgoing, range(1, 101)))) == ["delivered"] * 100
    assert [len(frame) for frame in there.frames] == [100]


async def test_what_does_not_fit_goes_in_several() -> None:
    there = Elsewhere(aim_bytes=1_000)
    batch = [outgoing(number, body=b"x" * 400) for number in range(1, 8)]
    assert told(await there.bring(*batch)) == ["delivered"] * 7
    assert len(there.frames) > 3
    heads = [letter.head for frame in there.frames for letter in frame]
    assert heads == [each.message.head for each in batch]


async def test_a_peer_that_takes_fewer_is_brought_fewer_from_then_on() -> None:
    there = Elsewhere()
    there.say = lambda _: (
        Answer(verdict="too large", most_letters=3, most_bytes=1_000_000) if len(there.frames[-1]) > 3 else Answer()
    )
    assert told(await there.bring(*map(outgoing, range(1, 8)))) == ["delivered"] * 7
    assert [len(frame) for frame in there.frames] == [7, 3, 3, 1]


async def test_a_frame_that_is_too_large_is_halved_until_it_fits() -> None:
    there = Elsewhere()
    there.say = lambda _: httpx.Response(413) if len(there.frames[-1]) > 2 else Answer()
    assert told(await there.bring(*map(outgoing, range(1, 9)))) == ["delivered"] * 8
    there.say = lambda _: httpx.Response(413)
    (result,) = await there.bring(outgoing())
    assert (result.status, result.reason) == ("unreachable", "it takes no frame as large as this one")


async def test_fates_are_results() -> None:
    there = Elsewhere()
    fates = (Fate("delivered"), Fate("refused", "never"), Fate("unreachable", "later"))
    there.say = lambda _: Answer(fates=fates)
    batch = [outgoing(1, sender="a"), outgoing(2, sender="b"), outgoing(3, sender="c")]
    assert await there.bring(*batch) == [Result(fate.status, fate.reason) for fate in fates]


async def test_a_lane_that_is_held_up_stays_so_in_the_following_frames() -> None:
    there = Elsewhere(aim_bytes=1)
    there.say = lambda _: Answer(fates=(Fate("unreachable", "full") if len(there.frames) == 1 else Fate("delivered"),))
    batch = [outgoing(1), outgoing(2), outgoing(3, sender="carol")]
    assert told(await there.bring(*batch)) == ["unreachable", "unreachable", "delivered"]
    assert len(there.frames) == 2


@pytest.mark.parametrize(
    ("said", "reason", "pause"),
    [
        (httpx.Response(503, headers={"retry-after": "7"}), "asks to come back later", 7.0),
        (httpx.Response(429), "asks to come back later", 1.0),
        (httpx.Response(503, headers={"retry-after": "99999999"}), "asks to come back later", 3600.0),
        (httpx.Response(503, headers={"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}), "come back", 1.0),
        (Answer(verdict="busy", reason="enough", pause=2.5), "asks to come back later: enough", 2.5),
        (httpx.Response(403), "does not know this one", None),
        (httpx.Response(404), "is no office: status 404", None),
        (httpx.Response(200, content=b"welcome"), "cannot be read", None),
        (httpx.Response(302, headers={"location": "http://elsewhere.example/"}), "status 302", None),
        (Answer(verdict="unreadable", reason="odd"), "could not read the frame: odd", None),
        (Answer(verdict="clock"), "clock", None),
        (Answer(fates=(Fate("delivered"),) * 3), "3 answers came for 2", None),
        (httpx.ConnectError("refused"), "no connection: refused", None),
        (httpx.ConnectTimeout(""), "no connection in time", None),
        (httpx.ReadTimeout(""), "no answer in time", None),
        (httpx.RemoteProtocolError("gone"), "connection was lost: gone", None),
    ],
)
async def test_everything_else_means_that_nothing_is_known(
    said: Answer | httpx.Response | Exception, reason: str, pause: float | None
) -> None:
    there = Elsewhere()
    there.say = lambda _: said
    results = await there.bring(outgoing(1), outgoing(2))
    assert told(results) == ["unreachable"] * 2
    assert reason in results[0].reason
    assert results[0].pause == pause


@pytest.mark.parametrize(
    ("key", "header"),
    [
        (WRONG_KEY, {}),
        (a_key(1), {}),
        (WEST_KEY, {"answers": b"x" * 16}),
        (WEST_KEY, {"answers": b""}),
        (WEST_KEY, {"to": "http://other.example:8025/o"}),
        (WEST_KEY, {"sender": EAST}),
        (WEST_KEY, {"about": "letters"}),
    ],
    ids=["wrong key", "our own key", "another frame", "no frame", "somebody else", "ourselves", "no answer"],
)
async def test_a_forged_answer_is_not_believed(key: OwnKey, header: dict[str, Any]) -> None:
    there = Elsewhere()
    there.key, there.header = key, header
    (result,) = await there.bring(outgoing())
    assert result.status == "unreachable"
    assert "not the office that is listed" in result.reason


async def test_an_answer_of_yesterday_is_not_believed() -> None:
    there = Elsewhere()
    kept: list[httpx.Response] = []

    def answer(request: httpx.Request) -> httpx.Response:
        kept.append(there.answer(request))
        return httpx.Response(200, content=kept[0].content)

    there.post.caller.transport = Wire(answer)
    assert told(await there.bring(outgoing(1))) == ["delivered"]
    assert told(await there.bring(outgoing(2))) == ["unreachable"]


async def test_the_difference_of_the_clocks_is_told() -> None:
    there = Elsewhere()
    there.say = lambda _: Answer(verdict="clock")
    there.header = {"instant": there.west.clock.now() + 1_000_000_000}
    (result,) = await there.bring(outgoing())
    assert "its clock is 1000 s ahead of the clock here" in result.reason


async def test_an_office_by_way_of_another() -> None:
    there = Elsewhere()
    assert told(await there.bring(outgoing(), office="http://far.example:8025/f")) == ["delivered"]


async def test_an_office_nobody_has_listed() -> None:
    there = Elsewhere()
    (result,) = await there.bring(outgoing(), office="http://nobody.example:8025/n")
    assert (result.status, there.frames) == ("unreachable", [])
    assert "list it under [peers]" in result.reason


async def test_a_body_goes_first_and_only_what_is_missing_of_it() -> None:
    there = Elsewhere(piece_bytes=1_000)
    have = 2_000

    def say(asked: Header) -> Answer:
        nonlocal have
        if asked.about == "piece":
            have += len(there.pieces[-1].data)
        return Answer(have=have) if asked.about == "piece" else Answer()

    there.say = say
    assert told(await there.bring(outgoing(1, sender="dave"), outgoing(2, body=BODY), outgoing(3))) == ["delivered"] * 3
    assert [(piece.start, len(piece.data)) for piece in there.pieces] == [
        (0, 0), (2_000, 1_000), (3_000, 1_000), (4_000, 1_000),
    ]  # fmt: skip
    assert [len(frame) for frame in there.frames] == [1, 1, 1], "who stands in no lane with it went before"


async def test_a_body_that_is_there_already_is_not_sent() -> None:
    there = Elsewhere()
    there.say = lambda asked: Answer(have=BODY.size) if asked.about == "piece" else Answer()
    assert told(await there.bring(outgoing(1, body=BODY))) == ["delivered"]
    assert len(there.pieces) == 1


@pytest.mark.parametrize(
    ("said", "status", "pause"),
    [
        (Answer(verdict="refused", reason="too large"), "refused", None),
        (Answer(verdict="busy", reason="no room", pause=30.0), "unreachable", 30.0),
        (Answer(have=0, reason="it begins again"), "unreachable", None),
        (httpx.ConnectError("refused"), "unreachable", None),
    ],
)
async def test_a_body_that_is_not_taken_holds_up_its_lane_only(said: Any, status: str, pause: float | None) -> None:
    there = Elsewhere()
    there.say = lambda asked: said if asked.about == "piece" else Answer()
    results = await there.bring(outgoing(1, body=BODY), outgoing(2), outgoing(3, sender="dave"))
    assert told(results) == [status, "delivered" if status == "refused" else "unreachable", "delivered"]
    assert results[0].pause == pause


async def test_a_slow_body_goes_on_at_the_next_walk() -> None:
    there = Elsewhere(piece_bytes=1_000, upload_seconds=5.0)
    have = 0

    def say(asked: Header) -> Answer:
        nonlocal have
        if asked.about == "piece":
            there.west.clock.advance(2)
            have += len(there.pieces[-1].data)
        return Answer(have=have) if asked.about == "piece" else Answer()

    there.say = say
    (result,) = await there.bring(outgoing(1, body=BODY))
    assert result == Result("unreachable", f"2000 of {BODY.size} bytes of its body are there", 0.0)
    walks = 1
    while (await there.bring(outgoing(1, body=BODY)))[0].status != "delivered":
        walks += 1
    assert walks == 2


async def test_a_body_that_is_gone_here_is_refused() -> None:
    async def gone(_start: int = 0, /) -> AsyncIterator[bytes]:
        for _ in ():
            yield b""
        raise BodyMissing("the file of a large body is gone")

    there = Elsewhere()
    there.say = lambda asked: Answer(have=0) if asked.about == "piece" else Answer()
    (result,) = await there.bring(outgoing(1, body=BODY)._replace(pieces=gone))
    assert result.status == "refused"


async def test_a_peer_that_answers_without_end_is_given_up() -> None:
    there = Elsewhere(frame_bytes=10_000)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1_000

    there.say = lambda _: httpx.Response(200, content=endless())
    (result,) = await there.bring(outgoing())
    assert "larger than any" in result.reason


async def test_a_peer_that_does_not_answer_is_given_up() -> None:
    there = Elsewhere(answer_within=0.05)

    class Silent(httpx.AsyncBaseTransport):
        async def handle_async_request(self, _request: httpx.Request) -> httpx.Response:
            await asyncio.Event().wait()
            raise AssertionError

    there.post.caller.transport = Silent()
    (result,) = await there.bring(outgoing())
    assert result.reason == "no answer within 0.05 s"


async def test_certificates_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    there = Elsewhere(ca=str(tmp_path / "nowhere.pem"))
    there.post.caller.transport = None
    with pytest.raises(Exception, match="expected a file of certificates in PEM"):
        await there.bring(outgoing())


def test_letters_are_what_they_were() -> None:
    letter = msgspec.msgpack.decode(encode(Letter(b"head", BODY)), type=Letter)
    assert letter == Letter(b"head", BODY)
