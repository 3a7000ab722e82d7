"""Records made by chance from a small world, so that predicates from `testing.predicate` are often true of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Final

import msgspec
from hypothesis import strategies as st

from posthouse.matching.value.record import Context, History, Record, make_record
from posthouse.matching.value.wordlist import WordList
from posthouse.message.attribute import Int32, Value
from posthouse.message.envelope import Envelope
from posthouse.message.features import VERSION, Address, Attachment, Features, MailFeatures
from posthouse.message.message import Head, Message, compose
from posthouse.testing.build import SECOND, START, identity

# What folds, what does not, what composes, what is one word inside another; and nothing at all.
WORDS: Final = (
    "alpha", "Alpha", "alphabet", "beta", "BETA", "gamma ray", "straße", "STRASSE", "ﬁnance", "finance", "naïve",
    "nai\u0308ve", "İzmir", "x", "", "secret plan", "plan.", "10 %", "a\nb", "가", "ᄀ\u1161", "０１",
)  # fmt: skip
TEXT_WORDS: Final = (*WORDS, "the", "of", "and", "report", "late")
DOMAINS: Final = ("alpha.example", "beta.example", "mail.beta.example", "Gamma.Example")
LOCALS: Final = ("ann", "Bob", "c.d", "zoë")
MAILBOXES: Final = ("orders", "http://far.example/main#desk", "alpha")
ADDRESSES: Final = (*(f"{local}@{domain}" for local in LOCALS for domain in DOMAINS), *MAILBOXES)
HEADERS: Final = ("x-alpha", "x-beta", "received", "list-id")
ATTRIBUTES: Final = ("amount", "floor.room", "tags", "weight", "due", "seal", "absent")
STATISTICS: Final = ("queue_length", "gated.1h", "load")
FILES: Final = ("plan.pdf", "alpha.EXE", "Straße.doc", "archive.tar.gz")
TYPES: Final = ("application/pdf", "application/octet-stream", "text/plain", "image/png")
CONTENT_TYPES: Final = ("text/plain", "text/plain; charset=utf-8", "text/csv; charset=iso-8859-1", "application/json")
KINDS: Final = ("event", "request", "object", "notice", "com.example.late")
RULES: Final = ("big-mail", "r1", "alpha")
ZONES: Final = (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
NUMBERS: Final = (0, 1, -1, 2, 3, 5, 7, 1000, 1024, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
REALS: Final = (0.0, -0.0, 0.5, 1.0, 2.5, -3.25, 1e300, float("inf"), float("-inf"), float("nan"))
LISTS: Final = {
    "partners": WordList(("alpha.example", "BETA.example", "ann@alpha.example")),
    "words": WordList((*WORDS[:12], *(f"filler{number}" for number in range(50)))),
}
"""Named lists; a predicate may also name `absent`, which is not there."""


class Tree(msgspec.Struct, frozen=True):
    """A small company: who holds which roles, and to whom each role reports."""

    held: Mapping[str, tuple[str, ...]]
    reports_to: Mapping[str, str]
    places: Mapping[str, str]

    def roles_of(self, address: str) -> tuple[str, ...]:
        return self.held.get(address, ())

    def above(self, role: str) -> tuple[str, ...]:
        way = [role]
        while way[-1] in self.reports_to:
            way.append(self.reports_to[way[-1]])
        return tuple(way)

    def levels_between(self, lower: str, upper: str) -> int | None:
        found = [
            self.above(role).index(other)
            for role in self.roles_of(lower)
            for other in self.roles_of(upper)
            if other in self.above(role)
        ]
        return min(found, default=None)

    def location_of(self, address: str) -> str | None:
        return self.places.get(address)

    def is_external(self, address: str) -> bool:
        return address not in self.held


ROLES: Final = ("CEO", "VP", "Manager", "Clerk", "Design", "Straße")
COMPANY: Final = Tree(
    held={
        "ann@alpha.example": ("CEO",),
        "Bob@alpha.example": ("VP", "Design"),
        "c.d@alpha.example": ("Manager",),
        "zoë@alpha.example": ("Clerk",),
        "orders": ("Design",),
        "ann@beta.example": (),
    },
    reports_to={"Clerk": "Manager", "Manager": "VP", "VP": "CEO", "Design": "CEO"},
    places={"ann@alpha.example": "Straße 1", "orders": "alpha", "zoë@alpha.example": "beta"},
)


def draw_text(chance: Random, most: int = 12) -> str:
    """Give a few words."""
    return chance.choice((" ", " ", ", ", "")).join(chance.choice(TEXT_WORDS) for _ in range(chance.randint(0, most)))


def draw_value(chance: Random) -> Value:
    """Give the value of an attribute, of any type."""
    make = chance.choice((
        lambda: chance.choice(WORDS),
        lambda: Int32(chance.choice(NUMBERS[:-2])),
        lambda: chance.choice(NUMBERS),
        lambda: chance.choice(REALS),
        lambda: chance.choice((b"", b"\x00\xff", b"alpha")),
        lambda: datetime(2026, 1, chance.randint(1, 7), chance.randint(0, 23), tzinfo=UTC),
    ))  # fmt: skip
    value: Value = make()
    return value


def draw_attributes(chance: Random) -> dict[str, Value]:
    """Give a few attributes, some of them lists."""
    names = [name for name in ATTRIBUTES[:-1] if chance.random() < 0.5]
    return {
        name: tuple(draw_value(chance) for _ in range(chance.randint(0, 3)))
        if chance.random() < 0.3
        else draw_value(chance)
        for name in names
    }


def draw_mail(chance: Random) -> MailFeatures:
    """Give what a mail says of itself, with gaps and with fields that could not be read."""

    def people() -> tuple[Address, ...]:
        return tuple(Address(chance.choice(WORDS), chance.choice(ADDRESSES[:-3])) for _ in range(chance.randint(0, 2)))

    fields = ("text", "subject", "headers", "attachments", "to", "sender", "x-alpha", "date")
    return MailFeatures(
        headers=tuple((chance.choice(HEADERS), draw_text(chance, 3)) for _ in range(chance.randint(0, 4))),
        sender=people(),
        to=people(),
        cc=people(),
        reply_to=people(),
        subject=chance.choice((None, draw_text(chance, 4), draw_text(chance, 4))),
        date=chance.choice((None, START - chance.randint(0, 10**12))),
        message_id=chance.choice((None, "<1@alpha.example>")),
        text=chance.choice((None, draw_text(chance), draw_text(chance), draw_text(chance))),
        attachments=chance.choice((None, (), _draw_attachments(chance), _draw_attachments(chance))),
        is_signed=chance.choice((None, True, False)),
        is_encrypted=chance.choice((None, True, False)),
        unknown=tuple(field for field in fields if chance.random() < 0.05),
        hidden=chance.choice((None, "", draw_text(chance, 4))),
        authentication=chance.choice(({}, {"spf": "pass"}, {"spf": "fail", "dkim": "pass"})),
    )


def _draw_attachments(chance: Random) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            chance.choice(FILES),
            chance.choice(TYPES),
            chance.choice((None, 0, 10, 1000, 2_000_000)),
            chance.choice((None, b"\x01" * 32)),
        )
        for _ in range(chance.randint(1, 3))
    )


def draw_context(chance: Random) -> Context:
    """Give what is handed in beside a message, or not."""
    figures = {name: chance.choice((0, 1, 500, 501, 0.5, 2.5)) for name in STATISTICS if chance.random() < 0.7}
    return Context(
        now=chance.choice((None, START, START + chance.randint(0, 10**13))),
        zone=chance.choice(ZONES),
        organisation=chance.choice((None, COMPANY, COMPANY)),
        office_statistics=chance.choice((None, figures)),
        sender_statistics=chance.choice((None, figures)),
        history=chance.choice((None, _draw_history(chance))),
    )


def _draw_history(chance: Random) -> History:
    return History(
        fired=tuple(rule for rule in RULES if chance.random() < 0.5),
        fired_count=chance.randint(0, 3),
        offices=chance.choice(((), ("main",))),
        gatekeepers=chance.choice(((), ("Manager",), ("Clerk", "Design"))),
        last_action=chance.choice((None, "release")),
        edited=chance.random() < 0.5,
        passes=chance.randint(0, 2),
        since=chance.choice((None, START)),
        status=chance.choice((None, "gated")),
    )


def draw_message(chance: Random) -> tuple[Message, Envelope, Features]:
    """Give a message as it stands at its decision."""
    is_mail = chance.random() < 0.6
    mail = draw_mail(chance) if is_mail else None
    body = b"" if is_mail else draw_text(chance).encode(errors="replace")
    recipients = tuple(chance.choice(ADDRESSES) for _ in range(chance.randint(0, 3)))
    blind = tuple(chance.choice(ADDRESSES) for _ in range(chance.choice((0, 0, 0, 1))))
    envelope = Envelope(sender=chance.choice((None, *ADDRESSES)), recipients=recipients, blind=blind)
    head = Head(
        id=identity(chance.randint(1, 1_000_000)),
        kind="mail" if is_mail else chance.choice(KINDS),
        sender=envelope.sender,
        priority=chance.randint(1, 10),
        created=chance.choice((0, START - chance.randint(0, 10**12))),
        expires=chance.choice((None, START + chance.randint(0, 10**12))),
        content_type="message/rfc822" if is_mail else chance.choice(CONTENT_TYPES),
        correlation=chance.choice((None, "alpha")),
    )
    message = compose(head, body, attributes=draw_attributes(chance))
    size = chance.choice((message.size, 1_000_000, 1_000_001))
    return message, envelope, Features(VERSION, envelope.sender, len(envelope.everybody), size, START + SECOND, mail)


def draw_record(chance: Random) -> Record:
    """Give one message for predicates to read."""
    message, envelope, features = draw_message(chance)
    record = make_record(message, envelope, features=features, context=draw_context(chance))
    return msgspec.structs.replace(record, size=features.size)


RECORDS: Final = st.randoms(use_true_random=False).map(draw_record)
"""Records for hypothesis; a hunt for millions calls `draw_record` with a seeded `Random`."""
