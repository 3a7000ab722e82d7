"""The sealed form: what is signed, what is refused before anything is unpacked."""

from __future__ import annotations

import struct
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.testing.build import START
from posthouse.testing.key import a_key
from posthouse.transport.http.frame import MAX_HEADER, Header, MalformedFrame, payload_of, seal, split

KEY = a_key()
HEADER = Header(
    about="letters", sender="http://a.example:1/a", to="http://b.example:1/b", key=KEY.public.id, id=b"n" * 16,
    instant=START, size=0,
)  # fmt: skip


def sealed(payload: bytes, *, pack: bool = True) -> bytes:
    return seal(HEADER, payload, sign=KEY.sign, pack=pack)


@given(st.binary(max_size=5_000), st.booleans())
def test_what_was_sealed_is_read(payload: bytes, pack: bool) -> None:
    found = split(sealed(payload, pack=pack))
    assert KEY.public.has_signed(found.signature, found.signed)
    assert payload_of(found, limit=5_000) == payload
    assert (found.header.sender, found.header.instant) == (HEADER.sender, START)


def test_a_large_payload_is_packed_where_that_helps() -> None:
    assert len(sealed(b"a" * 100_000)) < 2_000
    assert len(sealed(b"a" * 100_000, pack=False)) > 100_000
    assert split(sealed(b"a" * 100)).header.packed == ""


def test_the_signature_is_over_every_byte() -> None:
    whole = sealed(b"payload")
    for at in range(len(whole)):
        changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        try:
            found = split(changed)
        except MalformedFrame:
            continue
        assert not KEY.public.has_signed(found.signature, found.signed), at


def test_no_part_of_a_frame_is_a_frame() -> None:
    whole = sealed(b"payload" * 400)
    for length in range(0, len(whole), 7):
        try:
            found = split(whole[:length])
        except MalformedFrame:
            continue
        assert not KEY.public.has_signed(found.signature, found.signed)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "expected a frame"),
        (b"x" * 200, "expected a frame"),
        (b"PHX\x02" + b"x" * 200, "expected version 1, found 2"),
        (b"PHX\x01" + b"\xff\xff\xff\xff" + b"x" * 200, f"at most {MAX_HEADER} bytes"),
        (b"PHX\x01\x00\x00\x00\x05" + b"x" * 200, "expected"),
    ],
)
def test_what_is_no_frame_is_told(data: bytes, says: str) -> None:
    with pytest.raises(MalformedFrame, match=says):
        split(data)


def sealed_as_it_is(payload: bytes, **header: object) -> bytes:
    """Give what `seal` would never write: a header that does not fit its payload."""
    written = msgspec.msgpack.encode(msgspec.structs.replace(HEADER, **header))
    signed = b"PHX\x01" + struct.pack(">I", len(written)) + written + payload
    return signed + KEY.sign(signed)


@pytest.mark.parametrize(
    ("payload", "size", "says"),
    [
        (zlib.compress(bytes(50_000_000)), 1_000, "end where it says"),
        (zlib.compress(bytes(50_000_000)), 50_000_000, "at most 1000000 bytes"),
        (zlib.compress(b"abc"), 4, "payload of 4 bytes, found 3"),
        (zlib.compress(b"abc") + b"more", 3, "end where it says"),
        (zlib.compress(b"abc" * 1_000)[:-5], 3_000, "end where it says"),
        (b"not packed at all", 3, "packed by zlib"),
        (b"", -1, "at most"),
    ],
)
def test_what_is_packed_is_never_unpacked_to_more_than_it_says(payload: bytes, size: int, says: str) -> None:
    with pytest.raises(MalformedFrame, match=says):
        payload_of(split(sealed_as_it_is(payload, packed="zlib", size=size)), limit=1_000_000)


def test_an_unpacked_payload_is_as_long_as_it_says() -> None:
    with pytest.raises(MalformedFrame, match="expected a payload of 5 bytes, found 3"):
        payload_of(split(sealed_as_it_is(b"abc", size=5)), limit=10)


@given(st.binary(max_size=300))
def test_garbage_is_refused_and_nothing_else(data: bytes) -> None:
    for garbage in (data, b"PHX\x01" + data, b"PHX\x01\x00\x00\x00" + data):
        try:
            found = split(garbage)
        except MalformedFrame:
            continue
        assert not KEY.public.has_signed(found.signature, found.signed)


@pytest.mark.fuzz
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 400))
def test_a_frame_with_garbage_in_it_is_refused(garbage: bytes, start: int, end: int) -> None:
    whole = sealed(b"payload" * 30)
    broken = whole[:start] + garbage + whole[end:]
    try:
        found = split(broken)
        payload_of(found, limit=1_000_000)
    except MalformedFrame:
        return
    assert broken == whole or not KEY.public.has_signed(found.signature, found.signed)
