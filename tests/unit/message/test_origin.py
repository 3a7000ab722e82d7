"""Names in the head of a message that came from elsewhere."""

from __future__ import annotations

import pytest

from posthouse.message.message import HOP, Message, Section
from posthouse.message.origin import origin, seen_from_here
from posthouse.testing.journey import message

NORTH = "http://north.example:8025/n"


def passed(*hops: str) -> Message:
    given = message()
    for hop in hops:
        given = given.with_section(Section("note", b"something else")).with_section(Section(HOP, hop.encode()))
    return given


def test_a_message_comes_from_the_first_office_it_passed() -> None:
    assert origin(message()) is None
    assert str(origin(passed(f"{NORTH} 1", "http://middle.example:8025/m 2"))) == NORTH
    assert origin(passed("local: 1")) is None
    assert origin(passed("garbage: 1")) is None
    assert origin(message().with_section(Section(HOP, b"\xff\xfe 1"))) is None


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("alice", f"{NORTH}#alice"),
        ("local:#alice", f"{NORTH}#alice"),
        ("http://east.example:8025/e#alice", "http://east.example:8025/e#alice"),
        ("alice@mail.example", "alice@mail.example"),
        ("http://[", "http://["),
    ],
)
def test_short_names_are_those_of_its_home(name: str, seen: str) -> None:
    assert seen_from_here(name, passed(f"{NORTH} 1")) == seen
    assert seen_from_here(name, message()) == name
