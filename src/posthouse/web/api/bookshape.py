"""The shapes of mailbags, books, the audit and accounts as they are told over HTTP."""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec

from posthouse.message.case import Activation, Edition, Mailbag
from posthouse.message.credential import Account
from posthouse.message.form.plain import shown_instant
from posthouse.store.gateports import AuditLine

_decode: Final = msgspec.msgpack.Decoder().decode


class RhythmShape(msgspec.Struct, frozen=True, kw_only=True):
    """When a mailbag runs."""

    every: str
    count: int
    day: int
    date: str
    period: str


class MailbagShape(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of one gatekeeper with what is done to all that lies in it, and when."""

    id: str
    gatekeeper: str
    name: str
    function: str
    to: str
    saying: str
    rhythm: RhythmShape
    last_run: str | None
    next_run: str | None
    version: int


class EditionShape(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a book."""

    book: str
    edition: int
    author: str
    note: str
    written: str | None
    text: str
    """Empty in lists."""


class ActivationShape(msgspec.Struct, frozen=True, kw_only=True):
    """From when an edition was the one in force."""

    book: str
    edition: int
    at: str | None
    by: str
    second: str


class AuditShape(msgspec.Struct, frozen=True, kw_only=True):
    """One record of the audit."""

    number: int
    epoch: int
    at: str | None
    actor: str
    act: str
    subject: str
    commitment: str
    chain: str
    # `Any`: what was said of the act, as it was recorded.
    said: dict[str, Any] | None
    """None once it was erased."""


class AccountShape(msgspec.Struct, frozen=True, kw_only=True):
    """A person who signs in."""

    name: str
    address: str
    scopes: list[str]
    created: str | None
    closed: bool


def mailbag_of(bag: Mailbag) -> MailbagShape:
    """Give one mailbag."""
    return MailbagShape(
        id=bag.id, gatekeeper=bag.gatekeeper, name=bag.name, function=bag.function, to=bag.to, saying=bag.saying,
        rhythm=RhythmShape(**msgspec.structs.asdict(bag.rhythm)),
        last_run=shown_instant(bag.last_run), next_run=shown_instant(bag.next_run),
        version=bag.version,
    )  # fmt: skip


def edition_of(edition: Edition) -> EditionShape:
    """Give one version of a book."""
    return EditionShape(
        book=edition.book, edition=edition.number, author=edition.author, note=edition.note,
        written=shown_instant(edition.at), text=edition.text,
    )  # fmt: skip


def activation_of(one: Activation) -> ActivationShape:
    """Say from when an edition was in force."""
    return ActivationShape(
        book=one.book, edition=one.number, at=shown_instant(one.at), by=one.by, second=one.second
    )  # fmt: skip


def audit_of(line: AuditLine) -> AuditShape:
    """Give one record of the audit."""
    return AuditShape(
        number=line.number, epoch=line.epoch, at=shown_instant(line.at), actor=line.actor, act=line.act,
        subject=line.subject, commitment=line.commitment.hex(), chain=line.chain.hex(),
        said=None if line.payload is None else said_of(line.payload),
    )  # fmt: skip


# `Any`: what was said of an act, as it was recorded.
def said_of(payload: bytes) -> dict[str, Any]:
    """Give what the audit says of an act beside its bare facts."""
    if not payload:
        return {}
    try:
        said = _decode(payload)
    except msgspec.DecodeError:
        said = None
    return said if isinstance(said, dict) else {"base64": base64.b64encode(payload).decode()}


def account_of(account: Account) -> AccountShape:
    """Give one account."""
    return AccountShape(
        name=account.name, address=account.address, scopes=list(account.scopes),
        created=shown_instant(account.created), closed=account.is_closed,
    )  # fmt: skip
