"""Messages as people write them: read from a stream, line by line, whatever stands there."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.cli.document import Line, read_document, read_lines
from posthouse.clock import SystemClock
from posthouse.message.form.form import MAX_FORM, MalformedForm


class Pieces(io.BytesIO):
    """A stream that gives its bytes in pieces of its own choice, as a pipe does."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self._pieces: Iterator[bytes] = iter([piece for piece in pieces if piece])

    def read(self, _size: int | None = -1) -> bytes:
        return next(self._pieces, b"")


async def lines_of(*pieces: bytes) -> list[Line]:
    return [line async for lines in read_lines(Pieces(list(pieces)), SystemClock()) for line in lines]


async def test_lines_across_pieces() -> None:
    lines = await lines_of(b'{"to": "a"', b', "text": "one"}\n\n  \n{"to": "b"}\n{"to', b'": "c"}')
    assert [(line.number, line.draft.to if line.draft else None) for line in lines] == [
        (1, ("a",)),
        (4, ("b",)),
        (5, ("c",)),
    ]


async def test_a_line_that_is_too_long_is_a_fault_and_the_next_one_is_read() -> None:
    piece = b"x" * 1_048_576
    lines = await lines_of(*[piece] * (MAX_FORM // len(piece) + 2), b'\n{"to": "a"}\n')
    assert [(line.number, type(line.fault)) for line in lines] == [(1, MalformedForm), (2, type(None))]


def test_a_document_says_everything() -> None:
    draft = read_document(
        b'{"to": ["a", "b"], "from": "c", "kind": "request", "priority": 7, "reply_to": "c", "correlation": "x",'
        b' "lane": "l", "keep": "memory", "expires": "2030-01-01T00:00:00Z", "attributes": {"n": 5}, "base64": "AAE="}',
        SystemClock(),
    )
    assert (draft.to, draft.sender, draft.kind, draft.priority) == (("a", "b"), "c", "request", 7)
    assert (draft.reply_to, draft.correlation, draft.lane, draft.keep) == ("c", "x", "l", "memory")
    assert (draft.attributes, draft.body, draft.content_type) == ({"n": 5}, b"\x00\x01", "application/octet-stream")
    assert draft.expires is not None
    assert draft.expires.isoformat() == "2030-01-01T00:00:00+00:00"


@pytest.mark.parametrize("document", [b"", b"[]", b"{", b'{"txt": 1}', b"\xff", b'{"text": "a", "base64": ""}'])
def test_what_is_no_document_is_one_fault(document: bytes) -> None:
    with pytest.raises(MalformedForm):
        read_document(document, SystemClock())


@given(st.lists(st.binary(max_size=40)))
async def test_any_stream_is_lines_or_faults(pieces: list[bytes]) -> None:
    lines = await lines_of(*pieces)
    whole = b"".join(pieces).split(b"\n")
    assert [line.number for line in lines] == [number for number, text in enumerate(whole, 1) if text.strip()]
