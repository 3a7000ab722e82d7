"""The workloads, generated from a seed: the same seed gives the same messages on every machine.

Recipients are drawn uniformly from the mailboxes of the filled store.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from posthouse.client import Draft, Int32
from posthouse.message import envelope as envelopes
from posthouse.message.attribute import Value
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose

VERSION: Final = 1
"""Raised whenever the same seed begins to give something else."""

BODY_BYTES: Final = 256
SENDERS: Final = 64
BATCH: Final = 64

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LETTERS: Final = "aaabcdeeeefghiiijklmnnooopqrrssttuuvwxyz"


def mailbox(number: int) -> str:
    """Give the name of a mailbox of the filled store."""
    return f"station-{number:06d}"


def sender(number: int) -> str:
    """Give the name of a sender; his name is his lane."""
    return f"sender-{number:06d}"


def accept_drafts(seed: int, *, number: int, count: int, mailboxes: int) -> Iterator[Draft]:
    """Give what one sender of the accept workload hands in."""
    chance = random.Random(f"posthouse accept {VERSION} {seed} {number}")
    for _ in range(count):
        yield draft(chance, to=mailbox(chance.randrange(mailboxes)), by=sender(number))


def draft(chance: random.Random, *, to: str, by: str, kind: str = "mail", correlation: str | None = None) -> Draft:
    """Give one message of the accept workload: 256 bytes and 8 attributes."""
    return Draft(
        to=to,
        sender=by,
        kind=kind,
        correlation=correlation,
        body=chance.randbytes(BODY_BYTES),
        attributes=_attributes(chance),
    )


def written(draft: Draft, *, identity: UUID, created: int) -> tuple[bytes, bytes, bytes]:
    """Give head, body and envelope of a draft as the office writes them."""
    assert isinstance(draft.to, str)
    assert isinstance(draft.body, bytes)
    head = Head(id=identity, kind=draft.kind, sender=draft.sender, recipients=(draft.to,), created=created)
    envelope = Envelope(sender=draft.sender, recipients=(draft.to,), principal="user 0")
    message = compose(head, draft.body, attributes=draft.attributes)
    return message.head, draft.body, envelopes.encode.encode(envelope)


def _attributes(chance: random.Random) -> dict[str, Value]:
    return {
        "subject": " ".join(_word(chance) for _ in range(4)),
        "customer": f"{_word(chance)}-{chance.randrange(10_000)}",
        "quantity": Int32(chance.randrange(1_000)),
        "line": Int32(chance.randrange(100)),
        "revision": Int32(chance.randrange(10)),
        "amount": round(chance.uniform(0, 100_000), 2),
        "ordered": EPOCH + timedelta(seconds=chance.randrange(31_536_000)),
        "labels": tuple(_word(chance) for _ in range(3)),
    }


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_LETTERS, k=chance.randint(3, 9)))
