"""The content of a mail against a reader that is plain and slow, whole and in pieces."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posthouse.transport.smtp.dialogue.content import Content, Flaw
from posthouse.transport.smtp.dialogue.service import Caps

# What ends mails and what nearly does, drawn far more often than chance would.
BITS = st.lists(
    st.sampled_from([b"\r", b"\n", b".", b"\r\n", b"\r\n.", b".\r\n", b"\r\n.\r\n", b"a", b"\0", b"bc", b"\n.\n"]),
    max_size=24,
).map(b"".join)
CAPS = Caps(line_bytes=40, header_bytes=60, mail_bytes=120, hops=1)


def read(data: bytes, cuts: list[int], *, mend: bool) -> tuple[bytes, bytes | None, Flaw]:
    content = Content(CAPS, mend=mend)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    kept = b""
    for start, stop in itertools.pairwise(edges):
        piece, rest = content.read_dotted(data[start:stop])
        kept += piece
        if rest is not None:
            return kept, rest + data[stop:], content.flaw
    return kept, None, content.flaw


@given(BITS, st.lists(st.integers(0, 200), max_size=6), st.booleans())
@example(b"\0\r", [1], False)
@example(b"a" * 60 + b"\r", [50], False)
def test_pieces_make_no_difference(data: bytes, cuts: list[int], mend: bool) -> None:
    whole = read(data + b"\r\n.\r\nrest", [], mend=mend)
    parts = read(data + b"\r\n.\r\nrest", cuts, mend=mend)
    assert parts[1:] == whole[1:]
    if not whole[2]:
        assert parts[0] == whole[0]


@given(BITS, st.lists(st.integers(0, 200), max_size=6))
def test_only_one_thing_ends_a_mail(data: bytes, cuts: list[int]) -> None:
    sent = data + b"\r\n.\r\nrest"
    kept, rest, flaw = read(sent, cuts, mend=False)
    end = (b"\r\n" + sent).index(b"\r\n.\r\n")
    assert rest == sent[end + 3 :]
    plain = re.sub(rb"(?<=\r\n)\.", b"", b"\r\n" + sent[:end])[2:]
    bare = re.search(rb"\r(?!\n)|(?<!\r)\n", plain) is not None or plain.startswith(b"\n")
    assert (flaw in ("bare", "false end", "nul")) >= bare
    if not flaw:
        assert kept == plain
        assert b"\0" not in kept
    # What a laxer reader takes for the end is never let through.
    if re.search(rb"[\r\n]\.[\r\n]", b"\r\n" + sent[:end]):
        assert flaw == "false end"


@given(BITS, st.lists(st.integers(0, 200), max_size=6))
def test_what_is_mended_has_whole_line_ends(data: bytes, cuts: list[int]) -> None:
    kept, _, flaw = read(data + b"\r\n.\r\n", cuts, mend=True)
    assert flaw not in ("bare", "false end")
    if not flaw:
        assert re.search(rb"\r(?!\n)|(?<!\r)\n", kept) is None


@given(st.lists(BITS, min_size=1, max_size=5))
def test_chunks_are_kept_byte_for_byte(chunks: list[bytes]) -> None:
    content = Content(Caps(), mend=False)
    kept = [content.read_counted(chunk, last=number == len(chunks) - 1) for number, chunk in enumerate(chunks)]
    whole = b"".join(chunks)
    if re.search(rb"\r(?!\n)|(?<!\r)\n", whole):
        assert content.flaw in ("bare", "nul")
    elif b"\0" not in whole:
        assert b"".join(kept) == whole


@pytest.mark.parametrize(
    ("size", "flaw"), [(40, ""), (41, "line"), (4_000, "line")], ids=["as long as may be", "one more", "far more"]
)
def test_a_line_has_its_limit_in_pieces_too(size: int, flaw: Flaw) -> None:
    content = Content(Caps(line_bytes=40), mend=False)
    for byte in b"b\r\n" + b"a" * size + b"\r\nc\r\n.\r\n":
        content.read_dotted(bytes([byte]))
    assert content.flaw == flaw
