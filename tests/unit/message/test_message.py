"""Heads: what is composed is read again, the bytes stay as they came, each wrong field names itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.attribute import Int32, MalformedAttribute, Value
from posthouse.message.message import (
    MAX_HEAD,
    MAX_SECTIONS,
    Body,
    Head,
    MalformedHead,
    Message,
    Section,
    compose,
    read_head,
    recall_head,
)
from posthouse.testing.build import identity
from tests.unit.message.examples import CREATED, IDENTITY, check_cost, messages, mutated, read_or_fault

SOME = Body(hashlib.sha256(b"a large body").hexdigest(), len(b"a large body"))
OTHER = Body("0" * 64, 12)
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def head(**fields: Any) -> Head:
    return Head(**{"id": IDENTITY, "kind": "mail", **fields})


def json_head(**fields: Any) -> bytes:
    return msgspec.json.encode({"id": str(IDENTITY), "kind": "mail", **fields})


def packed_head(**fields: Any) -> bytes:
    return msgspec.msgpack.encode({"id": IDENTITY.bytes, "kind": "mail", **fields})


def packed(*members: tuple[str, Any]) -> bytes:
    """Give a map that may say a member twice."""
    encode = msgspec.msgpack.encode
    return bytes([0x80 | len(members)]) + b"".join(encode(name) + encode(value) for name, value in members)


@given(messages())
def test_what_is_composed_is_read_again(message: Message) -> None:
    again = read_head(message.head, message.body, sections=message.sections)
    assert again == message
    assert again.head is message.head


def test_a_head_says_everything_there_is_to_say() -> None:
    message = compose(
        head(
            kind="response.partial",
            sender="orders",
            recipients=("stock", "ledger"),
            reply_to="office.example#orders",
            correlation="case 7",
            priority=10,
            created=CREATED,
            expires=CREATED + 1,
            keep="memory",
            content_type="text/plain",
            traceparent=TRACEPARENT,
            lane="north",
        ),
        b"Three crates.",
        attributes={"amount": Int32(3), "price": 3.0},
    )
    fields = msgspec.msgpack.decode(message.head)
    assert fields == {
        "id": IDENTITY.bytes,
        "kind": "response.partial",
        "from": "orders",
        "to": ["stock", "ledger"],
        "reply_to": "office.example#orders",
        "correlation": "case 7",
        "priority": 10,
        "created": CREATED,
        "expires": CREATED + 1,
        "keep": "memory",
        "content_type": "text/plain",
        "traceparent": TRACEPARENT,
        "lane": "north",
        "attributes": {"amount": {"int32": 3}, "price": {"real64": 3.0}},
    }
    fields["id"] = str(IDENTITY)
    assert read_head(msgspec.json.encode(fields), message.body).attributes == message.attributes


def test_unknown_fields_order_and_white_space_survive() -> None:
    written = b'{ "zebra" : {"a":[1,2.50]} ,\n\t"kind":"mail", "id":"%b" }' % str(IDENTITY).encode()
    message = read_head(written)
    assert message.head == written
    assert (message.id, message.kind, message.priority) == (IDENTITY, "mail", 5)
    unknown = packed_head(zebra={"a": [1, None, b"\xff"]}, attributes={})
    assert read_head(unknown).head == unknown


WRONG: list[tuple[str, Any]] = [
    ("kind", ""),
    ("kind", ".mail"),
    ("kind", "mail."),
    ("kind", "two words"),
    ("kind", "é"),
    ("kind", "a" * 256),
    ("from", ""),
    ("from", "a\nb"),
    ("from", "a" * 1001),
    ("to", ("stock", "")),
    ("reply_to", "\u202e"),
    ("correlation", ""),
    ("correlation", "\x00"),
    ("lane", "a\x7f"),
    ("priority", 0),
    ("priority", 11),
    ("priority", -(2**63)),
    ("created", -1),
    ("created", 2**62),
    ("expires", -1),
    ("expires", 2**62),
    ("content_type", ""),
    ("content_type", "text"),
    ("content_type", "text/"),
    ("content_type", "text/plain\r\nx: y"),
    ("content_type", "text/plain; " + "x" * 1000),
    ("traceparent", ""),
    ("traceparent", TRACEPARENT.upper()),
    ("traceparent", TRACEPARENT + "-more"),
    ("traceparent", "ff" + TRACEPARENT[2:]),
    ("traceparent", "00-" + "0" * 32 + TRACEPARENT[35:]),
    ("traceparent", "01" + TRACEPARENT[2:] + "-" + "x" * 1000),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_each_wrong_field_names_itself(field: str, value: Any) -> None:
    place = f"head, field {field}"
    fields = {{"from": "sender", "to": "recipients"}.get(field, field): value}
    with pytest.raises(MalformedHead) as composed:
        compose(head(**fields))
    with pytest.raises(MalformedHead) as in_json:
        read_head(json_head(**{field: value}))
    with pytest.raises(MalformedHead) as in_packed:
        read_head(packed_head(**{field: value}))
    assert composed.value.where == in_json.value.where == in_packed.value.where == place
    assert str(composed.value).isprintable()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 5),
        ("id", "0"),
        ("kind", 5),
        ("kind", None),
        ("from", 5),
        ("to", "stock"),
        ("priority", "5"),
        ("priority", 5.5),
        ("priority", True),
        ("created", "2026-01-31T12:00:00Z"),
        ("keep", "forever"),
        ("attributes", []),
        ("body", "a"),
    ],
)
def test_each_field_of_a_wrong_type_names_itself(field: str, value: Any) -> None:
    for written in (json_head(**{field: value}), packed_head(**{field: value})):
        with pytest.raises(MalformedHead) as caught:
            read_head(written)
        assert caught.value.where == f"head, field {field}"
    with pytest.raises(MalformedHead, match=r"field to\[0\]"):
        read_head(json_head(to=[5]))


def test_a_missing_field_names_itself() -> None:
    with pytest.raises(MalformedHead, match="head, field kind: expected it to be there"):
        read_head(b'{"id": "%b"}' % str(IDENTITY).encode())


def test_huge_numbers_are_refused_in_short() -> None:
    digits = b"9" * 5_000
    for field in (b"priority", b"expires", b"created"):
        fault = b'{"id":"%b","kind":"mail","%b":%b}' % (str(IDENTITY).encode(), field, digits)
        assert read_or_fault(read_head, fault) is None


@pytest.mark.parametrize("identity", [UUID(int=0), UUID(int=2**128 - 1), UUID(int=IDENTITY.int & ~(3 << 62))])
def test_an_identity_is_a_uuid_of_the_rfc(identity: UUID) -> None:
    with pytest.raises(MalformedHead, match="head, field id: expected a UUID of RFC 9562"):
        read_head(json_head(id=str(identity)))
    with pytest.raises(MalformedHead, match="head, field id"):
        compose(head(id=identity))


def test_others_may_draw_other_versions_of_uuid() -> None:
    identity = uuid4()
    assert read_head(json_head(id=str(identity))).id == identity
    assert read_head(packed_head(id=identity.bytes)).id == identity
    assert read_head(packed_head(id=str(identity))).id == identity
    with pytest.raises(MalformedHead, match="version 7"):
        compose(head(id=identity))


@pytest.mark.parametrize("kind", ["response", "response.partial"])
def test_a_response_says_what_it_answers(kind: str) -> None:
    with pytest.raises(MalformedHead, match="head, field correlation"):
        compose(head(kind=kind))
    assert compose(head(kind=kind, correlation="7")).kind == kind
    assert compose(head(kind="responses")).kind == "responses"


def test_a_later_trace_context_may_say_more() -> None:
    later = "01" + TRACEPARENT[2:] + "-more"
    assert read_head(json_head(traceparent=later)).traceparent == later


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (b"", "truncated"),
        (b"{", "ends with }"),
        (b"{}", "field id: expected it to be there"),
        (b"[]", "head: "),
        (b"null", "head: "),
        (b"\xc0", "head: "),
        (b"\x93\x01\x02\x03", "head: "),
        (b"\xef\xbb\xbf{}", "head: "),
        (json_head() + b"\n", "ends with }"),
        (json_head() + b"{}", "trailing"),
        (b'{"x":"\xff"}', "UTF-8"),
        (json_head().replace(b"mail", rb"\ud800\u0041"), "surrogate"),
        (b'{"x":' + b"[" * 100_000 + b"}", "inside each other"),
        (b"\x81\xa1x" + b"\x91" * 100_000, "inside each other"),
        (b" " * (MAX_HEAD + 1), "at most 1048576 bytes"),
        (packed_head()[:-1], "truncated"),
        (packed_head() + b"\x01", "trailing"),
        (json_head(attributes={"amount": 5}), "attribute 'amount': expected one type and its value"),
        (json_head(attributes={"amount": {"int32": 2**31}}), "attribute 'amount': expected a whole number of 32 bits"),
        (json_head(attributes={"a\nb": {"int32": 1}}), "expected a name"),
        (json_head(attributes={f"a{n}": {"int32": 1} for n in range(1_001)}), "at most 1000 attributes"),
        (packed_head(attributes={5: {"int32": 1}}), "head: "),
    ],
)
def test_what_is_no_head_is_refused(written: bytes, what: str) -> None:
    with pytest.raises(MalformedHead, match=what):
        read_head(written)
    assert read_or_fault(read_head, written) is None


@pytest.mark.parametrize(
    "written",
    [
        b'{"id":"%b","kind":"mail","kind":"event"}' % str(IDENTITY).encode(),
        b'{"id":"%b","kind":"mail","x":1,"x":1}' % str(IDENTITY).encode(),
        b'{"id":"%b","kind":"mail","attributes":{"a":{"int32":1},"a":{"int32":2}}}' % str(IDENTITY).encode(),
        b'{"id":"%b","kind":"mail","attributes":{"a":{"int32":1,"int32":2}}}' % str(IDENTITY).encode(),
        packed(("id", IDENTITY.bytes), ("kind", "mail"), ("kind", "event")),
        packed(("id", IDENTITY.bytes), ("kind", "mail"), ("x", 1), ("x", 1)),
        packed(
            ("id", IDENTITY.bytes), ("kind", "mail"), ("attributes", msgspec.Raw(packed(*[("a", {"int32": 1})] * 2)))
        ),
        packed(
            ("id", IDENTITY.bytes), ("kind", "mail"), ("attributes", {"a": msgspec.Raw(packed(*[("int32", 1)] * 2))})
        ),
        packed(
            ("id", IDENTITY.bytes),
            ("kind", "mail"),
            ("attributes", {"a": {"list": [msgspec.Raw(packed(*[("int32", 1)] * 2))]}}),
        ),
    ],
)
def test_nothing_is_said_twice(written: bytes) -> None:
    with pytest.raises(MalformedHead, match="expected each member once"):
        read_head(written)


def test_other_encoders_may_write_numbers_wider_than_needed() -> None:
    wide = packed_head().replace(b"\x82", b"\xdf\x00\x00\x00\x03", 1) + b"\xa8priority\xd3" + (7).to_bytes(8)
    assert read_head(wide).priority == 7


def test_a_body_may_be_named_by_its_hash() -> None:
    message = compose(head(), SOME)
    assert message.body == SOME
    assert message.size == 12
    assert read_head(message.head) == message
    assert read_head(message.head, SOME) == message
    assert read_head(message.head, b"a large body").body == b"a large body"
    # What arrived with its body may be kept apart from it, and its head stays as it is.
    assert read_head(compose(head()).head, SOME).body == SOME
    assert compose(head(), b"abc").size == 3


@pytest.mark.parametrize("body", [OTHER, b"another body", b"a large bodY"])
def test_a_body_is_the_one_its_head_names(body: bytes | Body) -> None:
    with pytest.raises(MalformedHead, match="head, field body: expected the body that the head names"):
        read_head(compose(head(), SOME).head, body)


@pytest.mark.parametrize("body", [Body("0" * 63, 1), Body("G" * 64, 1), Body("A" * 64, 1), Body("0" * 64, -1)])
def test_a_hash_is_a_hash(body: Body) -> None:
    calls: list[Callable[[], Message]] = [
        lambda: compose(head(), body),
        lambda: read_head(compose(head()).head, body),
        lambda: read_head(json_head(body={"sha256": body.sha256, "size": body.size})),
    ]
    for call in calls:
        with pytest.raises(MalformedHead, match="head, field body"):
            call()


def test_hops_append_sections() -> None:
    message = compose(head())
    signed = message.with_section(Section("example.signature", b"\x00\xff")).with_section(Section("x", b""))
    assert message.sections == ()
    assert signed.sections == (Section("example.signature", b"\x00\xff"), Section("x", b""))
    assert signed.head is message.head
    full = read_head(message.head, sections=(Section("x", b""),) * MAX_SECTIONS)
    with pytest.raises(MalformedHead, match="at most 256 sections"):
        full.with_section(Section("x", b""))
    with pytest.raises(MalformedHead, match="sections, number 1: expected a name"):
        message.with_section(Section("a\nb", b""))


def test_a_head_has_its_largest_size() -> None:
    with pytest.raises(MalformedHead, match="at most 1048576 bytes"):
        compose(head(), attributes={"a": "x" * MAX_HEAD})


def test_attributes_are_checked_when_composing() -> None:
    with pytest.raises(MalformedAttribute, match="attribute 'amount'"):
        compose(head(), attributes={"amount": True})
    message = compose(head(), attributes={"list": [1, float("nan")]})  # type: ignore[dict-item] # untyped callers do so
    assert message == read_head(message.head)


def read_anyhow(data: bytes) -> Message:
    message = read_head(data)
    assert message.head == data
    assert read_head(message.head) == message
    return message


HEADS = st.one_of(
    messages().map(lambda message: message.head),
    st.just(
        json_head(to=["stock"], attributes={"a": {"list": [{"real64": "NaN"}]}}, body={"sha256": "0" * 64, "size": 1})
    ),
)


@given(st.binary(max_size=60) | mutated(HEADS))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_fault(read_anyhow, data)


@pytest.mark.fuzz
@given(st.binary(max_size=300) | mutated(HEADS))
def test_any_bytes_are_read_or_refused_for_long(data: bytes) -> None:
    read_or_fault(read_anyhow, data)


LARGE = (MAX_HEAD - 200) // 16 * 16
START_JSON = json_head()[:-1]


@pytest.mark.parametrize(
    "data",
    [
        START_JSON + b',"x":' + b"[" * LARGE,
        START_JSON + b',"x":"' + rb"\u0000" * (LARGE // 6) + b'"}',
        START_JSON + b',"x":[' + b'"ab",' * (LARGE // 5) + b"1]}",
        START_JSON + b"".join(b',"%06d":1' % number for number in range(LARGE // 11)) + b"}",
        START_JSON + b',"x":1' * (LARGE // 6) + b"}",
        START_JSON + b',"priority":' + b"9" * LARGE + b"}",
        json_head(attributes={f"{number}": {"list": [{"int32": 1}] * 60} for number in range(1_000)}),
        json_head(to=["ab"] * (LARGE // 5)),
        b"\x91" * LARGE,
        packed_head(attributes={f"{number}": {"list": [{"int32": 1}] * 100} for number in range(1_000)}),
        packed_head(x=[0] * LARGE),
        packed_head(to=["ab"] * (LARGE // 3)),
        packed_head(attributes={"a": {"text": "é" * (LARGE // 2)}}),
    ],
    ids=range(13),
)
def test_a_large_head_costs_little(data: bytes) -> None:
    check_cost(read_head, data)


def test_a_message_is_shown_in_one_line_whatever_it_carries() -> None:
    """A-022"""
    recipients = tuple(f"r{number}" for number in range(9))
    head = Head(id=IDENTITY, kind="mail", sender="ada", recipients=recipients, created=CREATED)
    shown = str(compose(head, b"x" * 1_000_000))
    assert "1000000 bytes" in shown
    assert "from ada to r0, r1, r2 and 6 more" in shown
    assert len(shown) < 300
    assert "xxx" not in shown


def test_a_head_that_is_recalled_says_what_it_said_when_it_was_read() -> None:
    attributes: dict[str, Value] = {"number": 7, "labels": ("a", "b"), "amount": 1.5}
    body = Body("0" * 64, 7)
    for written in (
        compose(Head(id=identity(1), kind="order", sender="alice", lane="x"), b"body", attributes=attributes),
        compose(Head(id=identity(2), kind="mail"), body),
    ):
        read = read_head(written.head, written.body)
        recalled = recall_head(written.head, written.body)
        assert recalled == read == written
        assert dict(recalled.attributes) == dict(read.attributes)
        assert recall_head(written.head, b"").size == (7 if isinstance(written.body, Body) else 0)
    assert repr(recall_head(read_head(written.head).head).attributes) == "{}"
