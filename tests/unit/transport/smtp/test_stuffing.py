from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.transport.smtp.dialogue.stuffing import Look, Stuffing

LINES = st.lists(st.sampled_from([b"", b".", b"..", b".a", b"a.", b"text", b"\x80\xff"]), max_size=12).map(b"\r\n".join)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in at)})
    return [data[start:stop] for start, stop in itertools.pairwise(marks)]


def unstuffed(line: bytes) -> bytes:
    content = line.removesuffix(b".\r\n")
    return b"".join(each[1:] if each.startswith(b".") else each for each in content.splitlines(keepends=True))


@given(LINES, st.lists(st.integers(0, 200), max_size=6))
def test_what_is_stuffed_is_found_again_wherever_it_is_cut(content: bytes, at: list[int]) -> None:
    stuffing = Stuffing()
    line = b"".join(stuffing.stuff(piece) for piece in cut(content, at)) + stuffing.end()
    assert (b"\r\n" + line).count(b"\r\n.\r\n") == 1, "there is one end, at the end"
    assert (b"\r\n" + line).endswith(b"\r\n.\r\n")
    found = unstuffed(line)
    assert found == content if content.endswith(b"\r\n") or not content else found in {content, content + b"\r\n"}


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_the_look_sees_the_same_wherever_it_is_cut(content: bytes, at: list[int]) -> None:
    whole, pieces = Look(), Look()
    whole.at(content)
    for piece in cut(content, at):
        pieces.at(piece)
    for look in (whole, pieces):
        look.end()
    seen = [(look.size, look.is_ascii, look.is_sound, look.received) for look in (whole, pieces)]
    assert seen[0] == seen[1]
    assert whole.is_sound == (
        content.replace(b"\r\n", b"").count(b"\r") + content.replace(b"\r\n", b"").count(b"\n") == 0
    )


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b"Received: a\r\nRECEIVED : b\r\nX-Received: c\r\n\r\nReceived: d\r\n", 2),
        (b"\r\nReceived: a\r\n", 0),
        (b"Received: a", 1),
    ],
)
def test_only_the_header_says_who_received_it(content: bytes, count: int) -> None:
    look = Look()
    for start in range(len(content)):
        look.at(content[start : start + 1])
    look.end()
    assert look.received == count
