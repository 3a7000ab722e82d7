"""The MessagePack form: read and write are inverses, alone and in streams."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.errors import PosthouseError
from posthouse.message.envelope import Envelope
from posthouse.message.form import json as json_form
from posthouse.message.form import msgpack as form
from posthouse.message.form.form import MAX_FORM, MalformedForm
from posthouse.message.message import Body, Head, MalformedHead, Message, Section, compose, read_head
from tests.unit.message.examples import ENVELOPES, IDENTITY, check_cost, messages, mutated, read_or_fault

encode = msgspec.msgpack.encode
HEAD = compose(Head(id=IDENTITY, kind="mail")).head
MESSAGE = compose(Head(id=IDENTITY, kind="mail"), b"Three crates.")


def written(**members: Any) -> bytes:
    return encode({"head": HEAD, **members})


@given(messages(), ENVELOPES)
def test_what_is_written_is_read_again(message: Message, envelope: Envelope | None) -> None:
    data = form.write(message, envelope)
    assert form.read(data) == (message, envelope)
    assert form.write(*form.read(data)) == data
    assert form.read(form.write(*json_form.read(json_form.write(message, envelope)))) == (message, envelope)


def test_the_form_is_a_map_of_what_there_is() -> None:
    assert msgspec.msgpack.decode(form.write(MESSAGE)) == {"head": MESSAGE.head, "body": b"Three crates."}
    large = compose(Head(id=IDENTITY, kind="mail"), Body("ab" * 32, 9)).with_section(Section("seal", b"\xff"))
    assert msgspec.msgpack.decode(form.write(large, Envelope(sender="orders", blind=("audit",)))) == {
        "head": large.head,
        "sections": [{"name": "seal", "data": b"\xff"}],
        "ref": {"sha256": "ab" * 32, "size": 9},
        "envelope": {"sender": "orders", "blind": ["audit"]},
    }


def test_a_head_of_json_is_bytes_like_any_other() -> None:
    head = b'{"id":"%b" , "kind":"mail"}' % str(IDENTITY).encode()
    message, _ = form.read(form.write(read_head(head)))
    assert message.head == head


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (b"", "form", "truncated"),
        (b"\xc1", "form", ""),
        (b"\x80", "form, head", "to be there"),
        (b"\x90", "form", "expected 'object'"),
        (form.write(MESSAGE)[:-1], "form", "truncated"),
        (form.write(MESSAGE) + b"\x00", "form", "trailing"),
        (b"\x91" * 100_000, "form", "expected 'object'"),
        (b"\xdf\xff\xff\xff\xff", "form", "truncated"),
        (b"\x81\xa4head\xc6\xff\xff\xff\xff", "form", "truncated"),
        (encode({"head": "text"}), "form, head", "expected 'bytes'"),
        (encode({5: HEAD}), "form", ""),
        (written(x=1), "form", "unknown field 'x'"),
        (written(body="text"), "form, body", "expected 'bytes'"),
        (written(body=b"a", ref={"sha256": "ab" * 32, "size": 1}), "form", "one of body and ref"),
        (written(ref={"sha256": 5, "size": 1}), "form, ref.sha256", "expected 'str'"),
        (written(sections=[{"name": "a"}]), "form, sections[0].data", "to be there"),
        (written(sections=[["a", b""]]), "form, sections[0]", "expected 'object'"),
        (written(envelope={"sender": "\x00"}), "form, envelope.sender", "without controls"),
        (written(envelope={"blnd": ["a"]}), "form, envelope", "unknown field 'blnd'"),
        (b"\x82" + 2 * (encode("head") + encode(HEAD)), "form", "each member once"),
        (written(envelope=msgspec.Raw(b"\x82" + encode("sender") * 4)), "form", "each member once"),
        (written(body=b"a" * MAX_FORM), "form", "at most 33554432 bytes"),
    ],
)  # fmt: skip
def test_what_is_no_form_is_refused(data: bytes, where: str, what: str) -> None:
    with pytest.raises(MalformedForm, match=what or "form: ") as caught:
        form.read(data)
    assert caught.value.where == where


def test_a_fault_of_the_head_is_the_heads() -> None:
    with pytest.raises(MalformedHead, match="head, field id"):
        form.read(encode({"head": b"{}"}))
    with pytest.raises(MalformedHead, match="sections, number 1"):
        form.read(written(sections=[{"name": "", "data": b""}]))


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(MalformedForm, match="send the body by reference"):
        form.write(compose(Head(id=IDENTITY, kind="mail"), b"a" * MAX_FORM))


@given(st.lists(st.tuples(messages(), ENVELOPES), max_size=3))
def test_a_stream_holds_one_form_after_the_other(letters: list[tuple[Message, Envelope | None]]) -> None:
    stream = b"".join(form.write_many(letters))
    assert list(form.read_many(io.BytesIO(stream))) == letters


@pytest.mark.parametrize("size", [100, 1_000, 100_000])
def test_a_stream_takes_forms_of_any_size(size: int) -> None:
    letter = (compose(Head(id=IDENTITY, kind="mail"), b"a" * size), None)
    assert list(form.read_many(io.BytesIO(b"".join(form.write_many([letter, letter]))))) == [letter, letter]


@pytest.mark.parametrize(
    ("bad", "where", "what"),
    [
        (b"\x80", "message 2, form", "expected a bin"),
        (b"\xc5\x00", "message 2, form", "truncated"),
        (b"\xc4\x05\x80", "message 2, form", "truncated"),
        (b"\xc4\x01\x80", "message 2, form, head", "to be there"),
        (b"\xc6\xff\xff\xff\xff", "message 2, form", "at most 33554432 bytes"),
        (encode(encode({"head": b"{}"})), "message 2, head, field id", "to be there"),
    ],
)
def test_a_bad_message_of_a_stream_is_named(bad: bytes, where: str, what: str) -> None:
    read = form.read_many(io.BytesIO(b"".join(form.write_many([(MESSAGE, None)])) + bad))
    assert next(read) == (MESSAGE, None)
    with pytest.raises(PosthouseError, match=what) as caught:
        next(read)
    assert caught.value.where == where


def read_anyhow(data: bytes) -> tuple[Message, Envelope | None]:
    letter = form.read(data)
    assert form.read(form.write(*letter)) == letter
    return letter


def read_stream(data: bytes) -> list[tuple[Message, Envelope | None]]:
    return list(form.read_many(io.BytesIO(data)))


FORMS = st.builds(form.write, messages(), ENVELOPES)


@given(st.binary(max_size=60) | mutated(FORMS))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_fault(read_anyhow, data)
    read_or_fault(read_stream, encode(data) + data)


@pytest.mark.fuzz
@given(st.binary(max_size=300) | mutated(FORMS))
def test_any_bytes_are_read_or_refused_for_long(data: bytes) -> None:
    read_or_fault(read_anyhow, data)
    read_or_fault(read_stream, encode(data) + data)


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"\x91" * MEGABYTE,
        b"\x81\xa4head" * (MEGABYTE // 6),
        b"\xdd\x00\x0f\x42\x40" + b"\x00" * MEGABYTE,
        written(body=b"a" * MEGABYTE) + b"\x00",
        written(envelope={"blind": ["ab"] * (MEGABYTE // 3)}),
        b"\x82" + encode("envelope") + encode({"blind": ["ab"] * (MEGABYTE // 3)}) + encode("head") + encode(HEAD),
        written(sections=[{"name": "a", "data": b""}] * (MEGABYTE // 15)),
    ],
    ids=range(7),
)
def test_a_megabyte_costs_little(data: bytes) -> None:
    check_cost(form.read, data)
