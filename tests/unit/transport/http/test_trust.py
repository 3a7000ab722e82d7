"""Who is heard: keys and their rotation, clocks, and frames that come twice."""

from __future__ import annotations

import msgspec
import pytest

from posthouse.message.peer import Peer
from posthouse.testing.build import SECOND, START
from posthouse.testing.key import a_key
from posthouse.transport.http.frame import split
from posthouse.transport.http.trust import Doorkeeper, Known, MalformedKey, Ring, Turned, Window, public_key
from tests.unit.transport.http.speech import EAST, EAST_KEY, WEST, WRONG_KEY, frame

OLD, NEW = a_key(7), a_key(8)
PEERS = (
    Peer(name="east", office=EAST, keys=(str(EAST_KEY.public),)),
    Peer(name="north", office="http://north.example:8025/n", keys=(str(OLD.public), str(NEW.public))),
)


def doorkeeper() -> Doorkeeper:
    return Doorkeeper(WEST, Ring(PEERS), skew_seconds=300)


def judged(data: bytes, *, now: int = START) -> Known | Turned:
    return doorkeeper().judge(split(data), now=now)


def test_a_peer_is_known_by_its_key() -> None:
    known = judged(frame())
    assert isinstance(known, Known)
    assert known.peer.name == "east"


def test_a_peer_may_have_several_keys_while_it_changes_them() -> None:
    for key in (OLD, NEW):
        known = judged(frame(sender="http://north.example:8025/n", key=key))
        assert isinstance(known, Known)


@pytest.mark.parametrize(
    "data",
    [
        frame(key=WRONG_KEY),
        frame(sender="http://stranger.example:8025/s"),
        # A peer that speaks in the name of another one.
        frame(key=OLD),
        frame(to="http://other.example:8025/o"),
        frame(about="answer"),
    ],
    ids=["wrong key", "stranger", "somebody else's name", "for somebody else", "an answer nobody asked for"],
)
def test_everybody_else_is_a_stranger(data: bytes) -> None:
    assert judged(data) == Turned("stranger")


def test_a_changed_frame_is_a_strangers() -> None:
    whole = frame()
    assert judged(whole[:-1] + bytes([whole[-1] ^ 1])) == Turned("stranger")


@pytest.mark.parametrize(("seconds", "heard"), [(0, True), (299, True), (-299, True), (301, False), (-301, False)])
def test_clocks_may_differ_a_little(seconds: int, heard: bool) -> None:
    found = judged(frame(), now=START + seconds * SECOND)
    assert isinstance(found, Known) is heard
    if isinstance(found, Turned):
        assert found.why == "skewed"
        assert found.known is not None


def test_a_frame_is_heard_once() -> None:
    keeper = doorkeeper()
    assert isinstance(keeper.judge(split(frame()), now=START), Known)
    assert keeper.judge(split(frame()), now=START + SECOND) == Turned("replayed")
    assert isinstance(keeper.judge(split(frame(id=b"j" * 16)), now=START), Known)


def test_a_window_forgets_what_is_too_old_to_come_again() -> None:
    window = Window(most=1_000)
    for number in range(500):
        assert window.is_new(number.to_bytes(16), START + number, oldest=START + number - 10)
    assert len(window) <= 12
    assert not window.is_new((3).to_bytes(16), START + 3, oldest=START + 489)


def test_a_window_that_is_full_takes_nothing_as_old_as_what_it_forgot() -> None:
    window = Window(most=10)
    for number in range(1, 31):
        assert window.is_new(number.to_bytes(16), START + number, oldest=0)
    assert len(window) == 10
    for number in range(1, 31):
        assert not window.is_new(number.to_bytes(16), START + number, oldest=0), number
    assert window.is_new((99).to_bytes(16), START + 31, oldest=0)


def test_keys_are_read_as_they_are_printed() -> None:
    assert public_key(str(EAST_KEY.public)).raw == EAST_KEY.public.raw


@pytest.mark.parametrize("text", ["", "ed25519:", "ed25519:AAAA", "rsa:AAAA", f"{EAST_KEY.public}x", "ed25519:\xe9"])
def test_what_is_no_key_is_told(text: str) -> None:
    with pytest.raises(MalformedKey, match="posthouse peer key"):
        public_key(text)


def test_a_key_of_our_own_shows_nothing_of_itself() -> None:
    assert repr(EAST_KEY) == f"OwnKey({EAST_KEY.public})"
    with pytest.raises(TypeError):
        msgspec.json.encode(EAST_KEY)
