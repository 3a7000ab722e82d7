"""CloudEvents: events keep to their specification, come back equal, and messages survive being one."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posthouse.message.attribute import Int32
from posthouse.message.form.cloudevent import from_event, to_event
from posthouse.message.form.event import (
    Event,
    check_event,
    read_batch,
    read_binary,
    read_event,
    write_batch,
    write_binary,
    write_event,
)
from posthouse.message.form.form import MAX_FORM, MalformedForm
from posthouse.message.message import Body, Head, Message, Section, compose
from tests.unit.message.examples import (
    CREATED,
    IDENTITY,
    check_cost,
    messages,
    mutated,
    read_or_fault,
    same,
)

CORE: dict[str, Any] = {"specversion": "1.0", "id": "A-1", "source": "/sensors/7", "type": "com.example.warm"}


def written(**members: Any) -> bytes:
    return json.dumps({**CORE, **members}).encode()


def event(**fields: Any) -> Event:
    return Event(**{"id": "A-1", "source": "/sensors/7", "type": "com.example.warm", **fields})


# --- what the specification allows ------------------------------------------------------------------------------------

STRINGS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), max_size=12)
SAID = STRINGS.filter(bool)
SOURCES = st.sampled_from((
    "/sensors/7", "https://example.com/shop?till=3#west", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66",
    "1-555-123-4567", "mailto:desk@example.org", "b%C3%BCro", "urn:posthouse:nobody", "#", "/" + "a" * 1_000,
))  # fmt: skip
TIMES = st.sampled_from((
    None, "2018-04-05T17:31:00Z", "2018-04-05T17:31:00.120Z", "2018-04-05t17:31:00.123456789+02:00",
    "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2016-12-31T23:59:60Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.9-00:00",
))  # fmt: skip
TYPES = st.one_of(
    SAID, st.sampled_from(("com.example.warm", "Contoso/Created", "response", "response.x", "mail", "a" * 256))
)
EXTENSION_NAMES = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=22),
    st.sampled_from(
        ("traceparent", "tracestate", "correlationid", "partitionkey", "expirytime", "to", "priority", "kind")
    ),
).filter(
    lambda name: (
        name not in {*CORE, "subject", "time", "datacontenttype", "dataschema", "data", "posthouse", "posthousetypes"}
    )
)
EXTENSIONS = st.dictionaries(
    EXTENSION_NAMES,
    st.one_of(
        st.booleans(),
        st.integers(-(2**31), 2**31 - 1),
        STRINGS,
        TIMES.filter(bool).map(str),
        st.just(f"00-{'1' * 32}-{'2' * 16}-01"),
    ),
    max_size=5,
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=5,
)
DATA = st.one_of(
    st.just({}),
    st.sampled_from(({"datacontenttype": "application/octet-stream"}, {"datacontenttype": "text/plain"})),
    st.builds(
        lambda value, kind: {"data": json.dumps(value).encode(), "datacontenttype": kind, "shape": "json"},
        JSON_VALUES,
        st.sampled_from(("application/json", "text/json; x=1", "application/vnd.example+json")),
    ),
    st.just({"data": b'{"a": [1.50,\n "a", 1e999], "a":2}', "datacontenttype": "application/json", "shape": "json"}),
    st.builds(
        lambda value, kind: {"data": value.encode(), "datacontenttype": kind, "shape": "text"},
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        st.sampled_from(("text/plain", "text/xml; charset=utf-8", "application/yaml")),
    ),
    st.just({"data": b"Gr\xfc\xdfe", "datacontenttype": "text/plain; charset=ISO-8859-1", "shape": "text"}),
    st.builds(
        lambda value, kind: {"data": value, "datacontenttype": kind},
        st.binary(max_size=12) | st.just(b"{}"),
        st.sampled_from((None, "application/octet-stream", "application/json", "text/plain", "image/png")),
    ),
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    return Event(
        id=draw(SAID),
        source=draw(SOURCES),
        type=draw(TYPES),
        time=draw(TIMES),
        subject=draw(st.none() | SAID),
        dataschema=draw(st.sampled_from((None, "https://example.com/warm.json", "urn:x:y"))),
        extensions=draw(EXTENSIONS),
        **draw(DATA),
    )


@given(events())
def test_events_in_json_are_read_again(some: Event) -> None:
    in_json = write_event(some)
    assert read_event(in_json) == some
    assert json.loads(in_json)["specversion"] == "1.0"
    assert read_batch(write_batch([some, some])) == (some, some)


@given(events())
def test_events_are_equal_after_having_been_messages(some: Event) -> None:
    message = from_event(some, identity=IDENTITY)
    assert message.id == IDENTITY
    assert to_event(message) == some


@given(events())
def test_events_in_headers_are_read_again(some: Event) -> None:
    headers, body = write_binary(some)
    assert all(value.isascii() and value.isprintable() for _, value in headers)
    again = read_binary(headers, body)
    # A body is octets: that they stood as text or value in JSON is seen from their type, that there were none is not.
    assert msgspec.structs.replace(again, data=None, shape="binary") == msgspec.structs.replace(
        some, data=None, shape="binary"
    )
    assert (again.data or b"") == (some.data or b"").strip(b" \t\r\n" if again.shape == "json" else b"")
    if some.shape == "json":
        assert again.shape == "json"


# --- messages as events -----------------------------------------------------------------------------------------------


def as_before(message: Message, again: Message) -> None:
    for field in message.__struct_fields__:
        if field not in ("head", "body", "sections", "attributes"):
            assert getattr(again, field) == getattr(message, field), field
    assert set(again.attributes) == set(message.attributes)
    assert all(same(again.attributes[name], value) for name, value in message.attributes.items())


@given(messages())
def test_messages_survive_being_events(message: Message) -> None:
    one = to_event(message)
    check_event(one)
    again = from_event(read_event(write_event(one)), identity=message.id)
    as_before(message, again)
    if isinstance(message.body, bytes) and one.shape == "json":
        assert again.body == message.body.strip(b" \t\r\n")
    else:
        assert again.body == message.body


@given(messages())
def test_messages_survive_being_headers(message: Message) -> None:
    headers, body = write_binary(to_event(message))
    as_before(message, from_event(read_binary(headers, body), identity=message.id))


@given(st.sampled_from(("correlationid", "partitionkey", "expirytime", "traceparent")), st.data())
def test_attributes_with_the_names_of_fields_stay_attributes(name: str, data: st.DataObject) -> None:
    value: Any = data.draw(
        st.sampled_from(("2018-04-05T17:31:00Z", f"00-{'1' * 32}-{'2' * 16}-01", "", "a", Int32(3), 3, b"a"))
    )
    message = compose(
        Head(id=IDENTITY, kind="mail", correlation=data.draw(st.sampled_from((None, "7")))), attributes={name: value}
    )
    as_before(message, from_event(to_event(message), identity=IDENTITY))


def test_what_becomes_what() -> None:
    message = compose(
        Head(
            id=IDENTITY,
            kind="com.example.order.late",
            sender="http://office.example/main#orders",
            recipients=("stock",),
            created=CREATED,
            expires=CREATED + 1_500_000,
            correlation="case 7",
            lane="north",
            traceparent=f"00-{'1' * 32}-{'2' * 16}-01",
            content_type="application/json",
        ),
        b'{"crates": 3}\n',
        attributes={
            "amount": Int32(5),
            "count": 5,
            "large": 2**40,
            "ratio": math.inf,
            "seal": b"\x00",
            "due": datetime(2026, 1, 31, 12, tzinfo=UTC),
            "city": "Lyngby",
            "subject": "order 7",
            "note": "two\nlines",
            "Tags": ("a", "b"),
        },
    )
    assert json.loads(write_event(to_event(message))) == {
        "specversion": "1.0",
        "id": str(IDENTITY),
        "source": "http://office.example/main#orders",
        "type": "com.example.order.late",
        "subject": "order 7",
        "time": "2026-01-01T00:00:00Z",
        "datacontenttype": "application/json",
        "correlationid": "case 7",
        "partitionkey": "north",
        "traceparent": f"00-{'1' * 32}-{'2' * 16}-01",
        "expirytime": "2026-01-01T00:00:01.5Z",
        "amount": 5,
        "count": 5,
        "large": "1099511627776",
        "ratio": "Infinity",
        "seal": "AA==",
        "due": "2026-01-31T12:00:00Z",
        "city": "Lyngby",
        "posthouse": '{"to":["stock"],"types":{"count":"int64","large":"int64","ratio":"real64","seal":"opaque",'
        '"due":"instant"},"attributes":{"note":{"text":"two\\nlines"},"Tags":{"list":[{"text":"a"},{"text":"b"}]}}}',
        "data": {"crates": 3},
    }


@pytest.mark.parametrize(
    ("sender", "source"),
    [
        (None, "urn:posthouse:nobody"),
        ("urn:posthouse:nobody", "urn:posthouse:nobody"),
        ("orders", "orders"),
        ("local:#late%20orders", "local:#late%20orders"),
        ("smtp:jürgen@example.org", "smtp:j%C3%BCrgen@example.org"),
        ("100% wool", "100%25%20wool"),
        ("a#b#c", "a%23b%23c"),
    ],
)
def test_a_sender_is_a_source(sender: str | None, source: str) -> None:
    one = to_event(compose(Head(id=IDENTITY, kind="mail", sender=sender)))
    assert one.source == source
    assert from_event(one, identity=IDENTITY).sender == sender


def test_who_hands_an_event_in_may_differ_from_its_source() -> None:
    message = from_event(event(), identity=IDENTITY, sender="gateway")
    assert message.sender == "gateway"
    assert message.attributes["ce.source"] == "/sensors/7"
    assert to_event(message).source == "/sensors/7"


def test_what_a_message_cannot_say_is_kept_in_attributes() -> None:
    some = read_event(
        written(type="Contoso/Created", time="2018-04-05T17:31:00.123456789Z", hot=True, level=3, data="a")
    )
    message = from_event(some, identity=IDENTITY)
    assert (message.kind, message.created, message.sender) == ("event", 1_522_949_460_123_456, "/sensors/7")
    assert (message.body, message.content_type) == (b'"a"', "application/json")
    assert message.attributes == {
        "hot": "true",
        "level": 3,
        "ce.boolean": ("hot",),
        "ce.id": "A-1",
        "ce.type": "Contoso/Created",
        "ce.time": "2018-04-05T17:31:00.123456789Z",
    }
    assert isinstance(message.attributes["level"], Int32)


def test_an_event_of_this_house_may_have_its_identity_back() -> None:
    message = compose(Head(id=IDENTITY, kind="mail", created=CREATED))
    assert from_event(to_event(message), identity=IDENTITY) == message


def test_an_event_cannot_be_a_response_to_nothing() -> None:
    assert from_event(event(type="response"), identity=IDENTITY).kind == "event"
    answer = from_event(event(type="response", extensions={"correlationid": "7"}), identity=IDENTITY)
    assert (answer.kind, answer.correlation) == ("response", "7")


def test_a_body_by_reference_stays_one_and_sections_stay_behind() -> None:
    message = compose(Head(id=IDENTITY, kind="mail"), Body("ab" * 32, 9)).with_section(Section("seal", b""))
    assert from_event(to_event(message), identity=IDENTITY) == msgspec.structs.replace(message, sections=())


@given(messages().map(to_event), st.data())
@example(event(extensions={"posthouse": "hello"}), None)
@example(event(extensions={"posthouse": '{"priority":11}'}), None)
@example(event(extensions={"posthouse": '{"types":{"a":"int32"}}', "a": "five"}), None)
@example(event(extensions={"posthouse": '{"types":{"a":"int64"}}', "a": "9" * 30}), None)
@example(event(extensions={"posthouse": '{"types":{"a":"list"}}', "a": "b"}), None)
@example(event(extensions={"posthouse": '{"attributes":{"a":5}}'}), None)
@example(event(extensions={"posthouse": '{"attributes":{"ce.id":{"text":""},"ce.boolean":{"list":[]}}}'}), None)
@example(event(extensions={"posthouse": True}), None)
def test_what_others_write_into_our_extension_is_read_or_refused(some: Event, data: st.DataObject | None) -> None:
    extensions = dict(some.extensions)
    if data is not None and isinstance(mine := extensions.get("posthouse"), str):
        extensions["posthouse"] = data.draw(mutated(st.just(mine.encode()))).decode(errors="replace")
    message = read_or_fault(
        lambda one: from_event(one, identity=IDENTITY), msgspec.structs.replace(some, extensions=extensions)
    )
    if message is not None:
        read_or_fault(to_event, message)


# --- what the specification refuses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "attribute", "what"),
    [
        (written(specversion="0.3"), "specversion", 'expected "1.0"'),
        (b'{"id":"a"}', "specversion", 'expected "1.0"'),
        (b'{"specversion":"1.0","id":"a","type":"b"}', "source", "to be there"),
        (written(id=None), "id", "to be there"),
        (written(id=""), "id", "empty"),
        (written(id=5), "id", "expected text, found 5"),
        (written(id="a\x01"), "id", "control characters"),
        (written(id="a\ufffe"), "id", "control characters"),
        (written(source="two words"), "source", "URI reference"),
        (written(source="%zz"), "source", "URI reference"),
        (written(source="a#b#c"), "source", "URI reference"),
        (written(type=""), "type", "empty"),
        (written(subject=""), "subject", "empty"),
        (written(time="yesterday"), "time", "expected a time"),
        (written(time="2018-04-05 17:31:00Z"), "time", "expected a time"),
        (written(time="2018-04-05T17:31:00"), "time", "expected a time"),
        (written(time="2018-02-30T17:31:00Z"), "time", "expected a time"),
        (written(datacontenttype="text"), "datacontenttype", "media type"),
        (written(dataschema="warm.json"), "dataschema", "expected a URI"),
        (written(Upper="a"), "Upper", "small letters and digits"),
        (written(with_line="a"), "with_line", "small letters and digits"),
        (written(**{"": "a"}), "", "small letters and digits"),
        (written(posthousetypes="a"), "posthousetypes", "not taken"),
        (written(level=2**31), "level", "32 bits"),
        (written(level=3.0), "level", "32 bits"),
        (written(level=[1]), "level", "expected text, a whole number, true or false"),
        (written(level={"a": 1}), "level", "expected text, a whole number, true or false"),
        (written(data="a", data_base64=""), "data", "one of data and data_base64"),
        (written(data_base64="?"), "data_base64", "expected base64"),
        (written(data_base64=5), "data_base64", "expected base64"),
        (written(datacontenttype="text/plain", data={"a": 1}), "data", "text/plain is not JSON"),
        (written(datacontenttype="text/plain; charset=us-ascii", data="é"), "data", "character set"),
        (written(datacontenttype="text/plain; charset=koi8-r", data="a"), "data", "character set"),
    ],
)
def test_a_fault_names_the_attribute(data: bytes, attribute: str, what: str) -> None:
    with pytest.raises(MalformedForm, match=what) as caught:
        read_event(data)
    assert caught.value.where == f"cloud event, attribute {attribute}"
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "truncated"),
        (b"[]", "expected 'object'"),
        (b'{"data":' + b"[" * 100_000, "inside each other"),
        (written()[:-1] + b',"id":"b"}', "'id' twice"),
        (written()[:-1] + b',"x":"\xff"}', "UTF-8"),
        (written()[:-1] + b',"data":["\xff"]}', "value of JSON"),
        (b" " * (MAX_FORM + 1), "at most 33554432 bytes"),
    ],
)
def test_what_is_no_event_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(MalformedForm, match=what):
        read_event(data)


def test_null_says_nothing_except_as_data() -> None:
    assert read_event(written(subject=None, level=None, time=None)) == event()
    null = read_event(written(data=None))
    assert (null.data, null.shape, null.datacontenttype) == (b"null", "json", "application/json")
    assert read_event(written(data=None, data_base64=None)).data == b"null"


@pytest.mark.parametrize(
    "wrong",
    [
        event(data=b" {}", datacontenttype="application/json", shape="json"),
        event(data=b"{", datacontenttype="application/json", shape="json"),
        event(data=b"{}", shape="json"),
        event(data=b"{}", datacontenttype="application/json", shape="text"),
        event(data=b"\xff", datacontenttype="text/plain", shape="text"),
        event(extensions={"data": "a"}),
        event(extensions={"level": 2.5}),
    ],
)
def test_what_could_not_be_read_is_not_written(wrong: Event) -> None:
    for write in (write_event, write_binary, lambda some: from_event(some, identity=IDENTITY)):
        with pytest.raises(MalformedForm, match="cloud event, attribute"):
            write(wrong)


def test_a_bad_event_of_a_batch_is_named() -> None:
    assert read_batch(b"[]") == ()
    with pytest.raises(MalformedForm, match="event 2 of the batch, cloud event, attribute id"):
        read_batch(b"[" + written() + b"," + written(id="") + b"]")
    with pytest.raises(MalformedForm, match="batch: expected 'array'"):
        read_batch(b"{}")


# --- headers ----------------------------------------------------------------------------------------------------------

HEADERS = [("ce-" + name, str(value)) for name, value in CORE.items()]


def test_an_event_in_headers_looks_as_specified() -> None:
    some = event(
        subject='Euro € 😀 "100%"', extensions={"hot": True, "level": 3}, datacontenttype="image/png", data=b"\x00"
    )
    assert write_binary(some) == (
        [
            *HEADERS,
            ("ce-subject", "Euro%20%E2%82%AC%20%F0%9F%98%80%20%22100%25%22"),
            ("ce-hot", "true"),
            ("ce-level", "3"),
            ("ce-posthousetypes", "hot:boolean,level:integer"),
            ("content-type", "image/png"),
        ],
        b"\x00",
    )
    assert read_binary(*write_binary(some)) == some


def test_headers_of_others_are_understood() -> None:
    headers = [(name.upper(), value) for name, value in HEADERS]
    some = read_binary(
        [*headers, ("Host", "office.example"), ("ce-subject", ' "a \\"b\\" %e2%82%ac" '), ("Ce-Level", "3")], b'{"a":1}'
    )
    assert some == event(subject='a "b" €', extensions={"level": "3"}, data=b'{"a":1}')
    assert read_binary([*HEADERS, ("Content-Type", "application/json; x=y")], b' {"a":1}\n').data == b'{"a":1}'
    assert read_binary(HEADERS, b"") == event()


@pytest.mark.parametrize(
    ("header", "attribute", "what"),
    [
        (("ce-id", "b"), "id", "once"),
        (("ce-datacontenttype", "text/plain"), "datacontenttype", "header content-type"),
        (("content-type", "application/cloudevents+json"), "datacontenttype", "found an event in JSON"),
        (("ce-subject", "%C0%A0"), "subject", "UTF-8"),
        (("ce-subject", "é"), "subject", "printable ASCII"),
        (("ce-subject", "%00"), "subject", "control characters"),
        (("ce-data", "a"), "data", "not taken"),
        (("ce-a_b", "a"), "a_b", "small letters"),
    ],
)
def test_a_fault_in_a_header_names_the_attribute(header: tuple[str, str], attribute: str, what: str) -> None:
    with pytest.raises(MalformedForm, match=what) as caught:
        read_binary([*HEADERS, header], b"")
    assert caught.value.where == f"cloud event, attribute {attribute}"


def test_types_that_are_not_kept_are_refused() -> None:
    for text, kind in (("yes", "boolean"), ("3.0", "integer"), ("9999999999", "integer"), ("a", "fraction")):
        with pytest.raises(MalformedForm, match="attribute level"):
            read_binary([*HEADERS, ("ce-level", text), ("ce-posthousetypes", f"level:{kind},gone:integer")], b"")


# --- any bytes --------------------------------------------------------------------------------------------------------


def read_anyhow(data: bytes) -> Event:
    some = read_event(data)
    assert read_event(write_event(some)) == some
    read_binary(*write_binary(some))
    if (message := read_or_fault(lambda one: from_event(one, identity=IDENTITY), some)) is not None:
        again = to_event(message)
        assert again == some or "posthouse" in some.extensions
    return some


WRITTEN = st.one_of(events().map(write_event), messages().map(lambda message: write_event(to_event(message))))


@given(st.binary(max_size=60) | mutated(WRITTEN))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_fault(read_anyhow, data)


@given(
    st.lists(st.tuples(st.sampled_from(("ce-id", "ce-time", "ce-x", "content-type", "x")), st.text(max_size=8))),
    st.binary(),
)
def test_any_headers_are_read_or_refused(headers: list[tuple[str, str]], body: bytes) -> None:
    read_or_fault(lambda given: read_binary(given, body), [*HEADERS[:1], *HEADERS[2:], *headers])


@pytest.mark.fuzz
@given(st.binary(max_size=300) | mutated(WRITTEN))
def test_any_bytes_are_read_or_refused_for_long(data: bytes) -> None:
    read_or_fault(read_anyhow, data)


MEGABYTE = 1_000_000
START = written()[:-1]


@pytest.mark.parametrize("read", [read_event, read_batch])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * MEGABYTE,
        START + b',"data":' + b"[" * MEGABYTE,
        START + b',"data":[' + b'"ab",' * (MEGABYTE // 5) + b"1]}",
        START + b',"x":"' + rb"\u0000" * (MEGABYTE // 6) + b'"}',
        START + b',"x":1' * (MEGABYTE // 6) + b"}",
        START + b"".join(b',"x%06d":1' % number for number in range(MEGABYTE // 11)) + b"}",
        START + b',"data_base64":"' + base64.b64encode(b"a" * MEGABYTE) + b'"}',
        START + b',"x":' + b"9" * MEGABYTE + b"}",
        b"[" + b",".join([written()] * (MEGABYTE // 90)) + b"]",
    ],
    ids=range(9),
)
def test_a_megabyte_costs_little(read: Callable[[bytes], object], data: bytes) -> None:
    check_cost(read, data)
