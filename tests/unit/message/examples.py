"""Messages, envelopes and bad bytes for the tests of what travels, made by hypothesis."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from posthouse.errors import PosthouseError
from posthouse.message.attribute import Int32, Value
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body, Head, Message, Section, compose
from posthouse.message.spelling import UNSAFE

IDENTITY = UUID("019b76da-a800-7000-8000-000000000007")
CREATED = 1_767_225_600_000_000

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=30)
LABELS = st.text(min_size=1, max_size=30).filter(lambda text: UNSAFE.search(text) is None)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
KINDS = st.sampled_from(("mail", "event", "request", "notice", "object", "com.example.order.late", "x-1.Y_2"))
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
INSTANTS = st.datetimes(timezones=st.just(UTC) | ZONES).filter(lambda instant: 1 < instant.year < 9999)
INT32S = st.integers(-(2**31), 2**31 - 1).map(Int32)
SIMPLE: st.SearchStrategy[Value] = st.one_of(
    INT32S, st.integers(-(2**63), 2**63 - 1), st.floats(), TEXTS, st.binary(max_size=30), INSTANTS
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8
)
NAMES = PRINTABLE.filter(lambda name: name.isprintable() and not name.startswith("ce."))
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=6)
CONTENT_TYPES = st.sampled_from((
    "application/octet-stream", "text/plain", "text/plain; charset=utf-8", "text/html; charset=ISO-8859-1",
    "application/json", "application/vnd.example+json", "image/svg+xml", "image/png", "text/csv; charset=koi8-r",
))  # fmt: skip
BODIES = st.one_of(
    st.binary(max_size=60),
    TEXTS.map(str.encode),
    st.sampled_from((b"", b"{}", b' {"a": [1, null]}\n', b"null", b"1e999")),
)
REFERENCES = st.builds(Body, sha256=st.binary(min_size=32, max_size=32).map(bytes.hex), size=st.integers(0, 2**40))
SECTIONS = st.lists(st.builds(Section, name=LABELS, data=st.binary(max_size=30)), max_size=3).map(tuple)
INSTANT_COUNTS = st.integers(0, 2**62 - 1)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    fields = Head(
        id=UUID(int=draw(st.integers(0, 2**128 - 1)) & ~(0xF << 76 | 3 << 62) | 7 << 76 | 2 << 62),
        kind=draw(KINDS),
        sender=draw(st.none() | LABELS),
        recipients=tuple(draw(st.lists(LABELS, max_size=3))),
        reply_to=draw(st.none() | LABELS),
        correlation=draw(st.none() | LABELS),
        priority=draw(st.integers(1, 10)),
        created=draw(st.just(0) | INSTANT_COUNTS),
        expires=draw(st.none() | INSTANT_COUNTS),
        keep=draw(st.sampled_from(("durable", "memory"))),
        content_type=draw(CONTENT_TYPES),
        traceparent=draw(st.sampled_from((None, f"00-{'1' * 32}-{'2' * 16}-01"))),
        lane=draw(st.none() | LABELS),
    )
    message = compose(fields, draw(BODIES | REFERENCES), attributes=draw(ATTRIBUTES))
    for section in draw(SECTIONS):
        message = message.with_section(section)
    return message


ENVELOPES = st.none() | st.builds(
    Envelope,
    sender=st.none() | LABELS,
    recipients=st.lists(LABELS, max_size=3).map(tuple),
    blind=st.lists(LABELS, max_size=3).map(tuple),
    principal=LABELS,
    idempotency=st.none() | LABELS,
    not_before=st.none() | INSTANT_COUNTS,
)


@st.composite
def mutated(draw: st.DrawFn, documents: st.SearchStrategy[bytes]) -> bytes:
    """Give a document with a few bytes changed, cut out, put in twice, or cut off."""
    data = bytearray(draw(documents))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = draw(st.integers(at, min(len(data), at + 40)))
        match draw(st.sampled_from(("change", "cut", "repeat", "end"))):
            case "change":
                data[at:to] = draw(st.binary(max_size=8) | st.sampled_from((b'"', b"{", b"[", b"null", b"-1", b"\xff")))
            case "cut":
                del data[at:to]
            case "repeat":
                data[at:at] = data[at:to]
            case _:
                del data[max(at, 1) :]
    return bytes(data)


# Whatever the reader takes and gives, of any type: its caller looks at it.
def read_or_fault(read: Callable[[Any], Any], data: Any) -> Any:
    """Read; None where the one planned kind of error comes, which must be one line fit to be shown."""
    try:
        return read(data)
    except PosthouseError as fault:
        raised = fault
    text = str(raised)
    assert text.isprintable(), text
    assert len(text) < 1_000, text
    assert raised.where, text
    return None


def same(one: object, other: object) -> bool:
    """Say whether two values are the same to the last bit: type, zone, sign of zero, NaN."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex() or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def check_cost(read: Callable[[bytes], object], data: bytes) -> None:
    """See that reading takes time and memory in proportion: far more than it needs, far less than a square would."""
    tracemalloc.start()
    try:
        read_or_fault(read, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    started = time.process_time()
    read_or_fault(read, data)
    assert time.process_time() - started < 3.0
    assert peak < 60 * max(len(data), 100_000), peak
