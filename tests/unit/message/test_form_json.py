"""The JSON form: read and write are inverses, head bytes are kept, and a message can be written by hand."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.errors import PosthouseError
from posthouse.message.attribute import Int32, MalformedAttribute
from posthouse.message.envelope import Envelope
from posthouse.message.form import json as form
from posthouse.message.form import msgpack as packed_form
from posthouse.message.form import plain
from posthouse.message.form.form import MAX_FORM, MalformedForm
from posthouse.message.message import Body, Head, MalformedHead, Message, Section, compose, read_head
from tests.unit.message.examples import (
    BODIES,
    CREATED,
    ENVELOPES,
    IDENTITY,
    check_cost,
    messages,
    mutated,
    read_or_fault,
    same,
)

HEAD = b'{ "kind":"mail" , "id":"%b",\n"x-new":[1, 2.50] }' % str(IDENTITY).encode()
MESSAGE = read_head(HEAD, b"Three crates.")
FORM = b'{"head":%b,"base64":"VGhyZWUgY3JhdGVzLg=="}' % HEAD
SPACES = st.text(" \n\t\r", max_size=3)


@st.composite
def json_heads(draw: st.DrawFn) -> bytes:
    """Give a head as others write JSON: fields in any order, unknown ones, white space anywhere."""
    fields: dict[str, Any] = {"id": str(IDENTITY), "kind": "mail", "priority": 7, "content_type": "text/plain"}
    fields |= draw(
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map("x-".__add__), BODIES.map(repr)
        )
    )
    names = draw(st.permutations(list(fields)))
    colon, comma = (f"{draw(SPACES)}{sign}{draw(SPACES)}" for sign in ":,")
    ascii_only = draw(st.booleans())
    members = [f"{json.dumps(n, ensure_ascii=ascii_only)}{colon}{json.dumps(fields[n])}" for n in names]
    return f"{{{draw(SPACES)}{comma.join(members)}{draw(SPACES)}}}".encode()


@given(messages(), ENVELOPES)
def test_what_is_written_is_read_again(message: Message, envelope: Envelope | None) -> None:
    written = form.write(message, envelope)
    assert form.read(written) == (message, envelope)
    assert form.write(*form.read(written)) == written
    json.loads(written)


@given(json_heads(), BODIES, ENVELOPES)
def test_heads_of_others_keep_every_byte_in_both_forms(head: bytes, body: bytes, envelope: Envelope | None) -> None:
    message = read_head(head, body)
    in_json = form.read(form.write(message, envelope))
    in_packed = packed_form.read(packed_form.write(*in_json))
    again = form.read(form.write(*in_packed))
    assert in_json == in_packed == again == (message, envelope)
    assert again[0].head == head
    assert head in form.write(message)
    assert list(form.read_many(io.BytesIO(b"".join(form.write_many([again]))))) == [again]


def test_a_head_of_json_stands_there_as_it_came() -> None:
    assert form.write(MESSAGE) == FORM
    message, envelope = form.read(b'\n { "base64":"VGhyZWUgY3JhdGVzLg==", "head" :   ' + HEAD + b" } ")
    assert (message, envelope) == (MESSAGE, None)
    assert message.head == HEAD


def test_a_head_of_messagepack_stands_there_as_base64() -> None:
    message = compose(Head(id=IDENTITY, kind="mail"))
    assert json.loads(form.write(message)) == {"head_base64": base64.b64encode(message.head).decode()}
    # Base64 is the right place for any head, also for one that could stand there as it is.
    assert form.read(b'{"head_base64":"%b"}' % base64.b64encode(HEAD))[0].head == HEAD


@pytest.mark.parametrize(
    ("content_type", "body", "member"),
    [
        ("text/plain", "Grüße\r\n\x00".encode(), "text"),
        ("TEXT/csv; charset=utf-8", b"a;b", "text"),
        ("application/json", b' {"a":1}', "text"),
        ("application/vnd.example+json; v=1", b"not json", "text"),
        ("image/svg+xml", b"<svg/>", "text"),
        ("text/plain", b"\xff", "base64"),
        ("text/plain", "\ufeffmark".encode(), "text"),
        ("application/octet-stream", b"text", "base64"),
        ("application/jsonl", b"{}", "base64"),
        ("message/rfc822", b"To: a", "base64"),
    ],
)
def test_a_body_stands_as_text_where_it_is_text(content_type: str, body: bytes, member: str) -> None:
    message = compose(Head(id=IDENTITY, kind="mail", content_type=content_type), body)
    written = json.loads(form.write(message))
    assert set(written) == {"head_base64", member}
    assert form.read(form.write(message))[0] == message


def test_large_bodies_and_sections_have_their_places() -> None:
    body = Body("ab" * 32, 5_000_000_000)
    message = compose(Head(id=IDENTITY, kind="mail"), body).with_section(Section("example.seal", b"\x00\xff"))
    written = json.loads(form.write(message, Envelope(recipients=("stock",), blind=("audit",))))
    assert written["ref"] == {"sha256": "ab" * 32, "size": 5_000_000_000}
    assert written["sections"] == [{"name": "example.seal", "base64": "AP8="}]
    assert written["envelope"] == {"recipients": ["stock"], "blind": ["audit"]}


def with_head(members: bytes) -> bytes:
    return b'{"head":{"id":"%b","kind":"mail"},%b}' % (str(IDENTITY).encode(), members)


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (b"", "form", "truncated"),
        (b"{", "form", "truncated"),
        (b"{}", "form", "one of head and head_base64"),
        (b"[]", "form", "expected 'object'"),
        (FORM[:-1], "form", "truncated"),
        (FORM + b"{}", "form", "trailing"),
        (b"\xef\xbb\xbf" + FORM, "form", "malformed"),
        (FORM.replace(b"2.50", b"2.50."), "form", "malformed"),
        (b'{"head":' + b"[" * 100_000, "form", "inside each other"),
        (b'{"head":[]}', "form, head", "expected an object"),
        (b'{"head":null}', "form, head", "expected an object"),
        (b'{"head":{},"head_base64":""}', "form", "one of head and head_base64"),
        (b'{"head_base64":"?"}', "form, head_base64", "base64"),
        (b'{"head_base64":5}', "form, head_base64", "expected 'bytes'"),
        (with_head(b'"text":"a","base64":""'), "form", "one of text, base64 and ref"),
        (with_head(b'"text":5'), "form, text", "expected 'str'"),
        (with_head(rb'"text":"\udc00\ud800"'), "form", "surrogate"),
        (with_head(b'"text":"\xff"'), "form", "UTF-8"),
        (with_head(b'"text":null'), "form, text", "expected 'str'"),
        (with_head(b'"ref":{"sha256":"a"}'), "form, ref.size", "to be there"),
        (with_head(b'"ref":{"sha256":"%b","size":1,"x":1}' % (b"a" * 64)), "form, ref", "unknown field 'x'"),
        (with_head(b'"sections":[{"name":"a","base64":"","x":1}]'), "form, sections[0]", "unknown field"),
        (with_head(b'"sections":{}'), "form, sections", "expected 'array'"),
        (with_head(b'"envelope":{"recipient":[]}'), "form, envelope", "unknown field 'recipient'"),
        (with_head(b'"envelope":{"recipients":[""]}'), "form, envelope.recipients", "without controls"),
        (with_head(b'"envelope":{"blind":["a\\nb"]}'), "form, envelope.blind", "without controls"),
        (with_head(b'"envelope":{"principal":""}'), "form, envelope.principal", "without controls"),
        (with_head(b'"envelope":{"not_before":-1}'), "form, envelope.not_before", "microseconds"),
        (with_head(b'"Text":"a"'), "form", "unknown field 'Text'"),
        (with_head(b'"a\\u0000b":1'), "form", "unknown field"),
        (with_head(b'"text":"a","text":"b"'), "form", "'text' twice"),
        (with_head(b'"envelope":{"sender":"a","sender":"b"}'), "form", "'sender' twice"),
        (with_head(b'"text":"%b"' % (b"a" * MAX_FORM)), "form", "at most 33554432 bytes"),
    ],
)  # fmt: skip
def test_what_is_no_form_is_refused(data: bytes, where: str, what: str) -> None:
    with pytest.raises(MalformedForm, match=what) as caught:
        form.read(data)
    assert caught.value.where == where
    assert read_or_fault(form.read, data) is None


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"head":{}}', "head, field id"),
        (b'{"head_base64":""}', "head"),
        (with_head(b'"ref":{"sha256":"a","size":1}'), "head, field body"),
        (with_head(b'"sections":[{"name":"","base64":""}]'), "sections, number 1"),
        (with_head(b'"sections":[%b]' % b",".join([b'{"name":"a","base64":""}'] * 257)), "sections"),
    ],
)
def test_a_fault_of_the_head_is_the_heads(data: bytes, where: str) -> None:
    with pytest.raises(MalformedHead) as caught:
        form.read(data)
    assert caught.value.where == where


def test_what_could_not_be_read_is_not_written() -> None:
    with pytest.raises(MalformedForm, match="send the body by reference"):
        form.write(compose(Head(id=IDENTITY, kind="mail"), b"a" * MAX_FORM))
    with pytest.raises(MalformedForm, match=r"envelope\.sender"):
        form.write(MESSAGE, Envelope(sender="a\nb"))


def test_lines_hold_one_message_each() -> None:
    letters = [(MESSAGE, None), (compose(Head(id=IDENTITY, kind="mail"), b"a\nb"), Envelope(sender="orders"))]
    lines = list(form.write_many(letters))
    assert [line.count(b"\n") for line in lines] == [1, 1]
    assert list(form.read_many(io.BytesIO(b"\n" + lines[0] + b"  \r\n" + lines[1].rstrip()))) == letters


@pytest.mark.parametrize(
    ("bad", "where"),
    [(b"{}", "line 3, form"), (b'{"head":{}}', "line 3, head, field id"), (b"a" * (MAX_FORM + 9), "line 3, form")],
)
def test_a_bad_line_is_named(bad: bytes, where: str) -> None:
    read = form.read_many(io.BytesIO(next(form.write_many([(MESSAGE, None)])) + b"\n" + bad + b"\n"))
    assert next(read)[0] == MESSAGE
    with pytest.raises(PosthouseError) as caught:
        next(read)
    assert caught.value.where == where


# --- written by hand --------------------------------------------------------------------------------------------------


def by_hand(data: bytes) -> Message:
    return plain.read(data, identity=IDENTITY, created=CREATED)[0]


def test_a_message_can_be_written_by_hand() -> None:
    message = by_hand(
        b"""{"kind": "request", "from": "orders", "to": ["stock", "ledger"], "correlation": "7", "priority": 8,
        "expires": "2026-02-01T00:00:00+01:00", "keep": "memory", "lane": "north", "reply_to": "desk",
        "attributes": {"amount": {"int32": 5}, "count": 3, "ratio": 3.0, "tags": ["a", ["b", 1]], "city": "Lyngby",
        "due": {"instant": "2026-01-31T12:00:00Z"}}, "text": "Three cr\\u00e5tes."}"""
    )
    assert (message.id, message.created, message.expires) == (
        IDENTITY,
        CREATED,
        CREATED + 31 * 86_400_000_000 - 3_600_000_000,
    )
    assert (message.kind, message.sender, message.recipients) == ("request", "orders", ("stock", "ledger"))
    assert (message.keep, message.lane, message.reply_to, message.priority) == ("memory", "north", "desk", 8)
    assert message.body == "Three cråtes.".encode()
    assert message.content_type == "text/plain; charset=utf-8"
    values = dict(message.attributes)
    assert same(values["amount"], Int32(5))
    assert same(values["count"], 3)
    assert same(values["ratio"], 3.0)
    assert values["tags"] == ("a", ("b", 1))
    assert read_head(message.head, message.body) == message


def test_the_envelope_is_written_beside_it() -> None:
    message, envelope = plain.read(
        b"""{"from": "orders", "to": "stock", "blind": ["audit"], "idempotency": "order-7", "data": {"a": [1, 2.50]},
        "not_before": "2026-02-01T00:00:00Z", "id": "019b76da-a801-7000-8000-00000000002a"}""",
        identity=IDENTITY,
        created=CREATED,
    )
    assert str(message.id) == "019b76da-a801-7000-8000-00000000002a"
    assert (message.body, message.content_type) == (b'{"a": [1, 2.50]}', "application/json")
    assert (envelope.sender, envelope.recipients, envelope.blind) == ("orders", ("stock",), ("audit",))
    assert (envelope.idempotency, envelope.not_before) == ("order-7", CREATED + 31 * 86_400_000_000)
    assert b"audit" not in message.head


def test_a_large_body_is_written_by_its_hash() -> None:
    message = by_hand(b'{"ref": {"sha256": "%b", "size": 9}}' % (b"a" * 64))
    assert message.body == Body("a" * 64, 9)


def test_little_needs_to_be_said() -> None:
    message = by_hand(b"{}")
    assert (message.kind, message.body, message.content_type) == ("mail", b"", "application/octet-stream")
    assert by_hand(b'{"to": "stock"}').recipients == ("stock",)
    assert by_hand(b'{"base64": "AP8=", "expires": 7}').body == b"\x00\xff"
    assert by_hand(b'{"text": "{}", "content_type": "application/json"}').content_type == "application/json"


@pytest.mark.parametrize("value", [b"true", b"false", b"null", b"[[null]]"])
def test_what_has_no_type_is_refused_with_advice(value: bytes) -> None:
    with pytest.raises(MalformedAttribute, match=r"attribute 'flag': .*say \{\"int32\": 0\}"):
        by_hand(b'{"attributes": {"flag": %b}}' % value)


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"[]", MalformedForm, "message: expected 'object', got 'array'"),
        (b"{", MalformedForm, "message: input data was truncated"),
        (b'{"name": "x"}', MalformedForm, "message: object contains unknown field 'name'"),
        (b'{"id": "x"}', MalformedForm, "message, id: invalid UUID"),
        (b'{"id": "00000000-0000-4000-8000-000000000000"}', MalformedHead, "head, field id: expected a UUID"),
        (b'{"not_before": "soon"}', MalformedForm, "message, not_before: expected a time"),
        (b'{"text": "a", "base64": ""}', MalformedForm, "message: expected one of text, base64, data and ref"),
        (b'{"text": "a", "text": "b"}', MalformedForm, "message: expected each member once, found 'text' twice"),
        (b'{"attributes": {"a": 1, "a": 2}}', MalformedForm, "message: expected each member once, found 'a' twice"),
        (b'{"expires": "tomorrow"}', MalformedForm, "message, expires: expected a time"),
        (b'{"priority": 11}', MalformedHead, "head, field priority"),
        (b'{"priority": "high"}', MalformedForm, "message, priority: expected 'int'"),
        (b'{"kind": "response"}', MalformedHead, "head, field correlation"),
        (b'{"attributes": {"a": {"int32": "5"}}}', MalformedAttribute, "attribute 'a': expected a whole number"),
        (b'{"attributes": {"a": {"b": 1}}}', MalformedAttribute, "attribute 'a': expected one of the types"),
        (b'{"attributes": {"a": {}}}', MalformedAttribute, "attribute 'a': expected one type"),
        (b'{"attributes": {"a": 9223372036854775808}}', MalformedAttribute, "attribute 'a': .* 64 bits"),
        (b'{"attributes": {"a": 1e999}}', MalformedForm, "message, attributes"),
        (b'{"attributes": {"a": %b%b}}' % (b"[" * 9, b"]" * 9), MalformedAttribute, "attribute 'a': .* 8 deep"),
        (b'{"attributes": {"a": %b%b}}' % (b"[" * 400, b"]" * 400), MalformedAttribute, "attribute 'a': .* 8 deep"),
        (b'{"attributes": {"": 1}}', MalformedAttribute, "attributes: expected a name"),
    ],
)  # fmt: skip
def test_mistakes_by_hand_are_explained(data: bytes, error: type[PosthouseError], text: str) -> None:
    with pytest.raises(error, match=text):
        by_hand(data)


# --- any bytes --------------------------------------------------------------------------------------------------------


def read_anyhow(data: bytes) -> tuple[Message, Envelope | None]:
    letter = form.read(data)
    assert form.read(form.write(*letter)) == letter
    return letter


FORMS = st.builds(form.write, messages(), ENVELOPES) | st.just(FORM)
BY_HAND = st.just(
    b'{"kind":"request","to":["a"],"expires":"2026-02-01T00:00:00Z","attributes":{"a":[1,2.5,{"text":"b"}]},"text":"c"}'
)
READERS: list[tuple[Callable[[bytes], object], st.SearchStrategy[bytes]]] = [(read_anyhow, FORMS), (by_hand, BY_HAND)]


@pytest.mark.parametrize(("read", "documents"), READERS, ids=["form", "by hand"])
@given(st.data())
def test_any_bytes_are_read_or_refused(
    read: Callable[[bytes], object], documents: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    read_or_fault(read, data.draw(st.binary(max_size=60) | mutated(documents)))


@pytest.mark.fuzz
@pytest.mark.parametrize(("read", "documents"), READERS, ids=["form", "by hand"])
@given(st.data())
def test_any_bytes_are_read_or_refused_for_long(
    read: Callable[[bytes], object], documents: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    read_or_fault(read, data.draw(st.binary(max_size=300) | mutated(documents)))


MEGABYTE = 1_000_000


@pytest.mark.parametrize("read", [form.read, by_hand])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * MEGABYTE,
        b'{"a":' * (MEGABYTE // 5),
        b'{"text":"' + rb"\u0000" * (MEGABYTE // 6) + b'"}',
        b'{"text":1' + b',"text":1' * (MEGABYTE // 9) + b"}",
        b'{"attributes":{' + b",".join(b'"%06d":1' % number for number in range(MEGABYTE // 11)) + b"}}",
        with_head(b'"text":"' + "é".encode() * (MEGABYTE // 2) + b'" '),
        with_head(b'"envelope":{"blind":[' + b'"ab",' * (MEGABYTE // 5) + b'"a"]} '),
        with_head(b'"sections":[' + b'{"name":"a","base64":""},' * (MEGABYTE // 25) + b'{"name":"a","base64":""}]'),
        b" " * MEGABYTE,
        b"9" * MEGABYTE,
    ],
    ids=range(10),
)
def test_a_megabyte_costs_little(read: Callable[[bytes], object], data: bytes) -> None:
    check_cost(read, data)


def test_the_form_is_what_json_readers_expect() -> None:
    message = compose(Head(id=IDENTITY, kind="mail"), b"\x00", attributes={"amount": Int32(5)})
    decoded = json.loads(form.write(message, Envelope(recipients=("stock",))))
    assert msgspec.msgpack.decode(base64.b64decode(decoded["head_base64"]))["attributes"] == {"amount": {"int32": 5}}
