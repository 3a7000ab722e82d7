"""Between values and rows of the gate: each row holds its whole value, beside what it is looked for by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from posthouse.message.audit import Seal
from posthouse.message.case import Activation, AuditEntry, Case, Docket, Edition, Mailbag
from posthouse.message.credential import Account
from posthouse.store.gateports import LAST, AuditLine
from posthouse.store.sqlite.rows import Row, written_over

CASE_COLUMNS: Final = "id, message, opened, version, content"
CASE_OVER: Final = written_over("id", "opened, version, content")
DOCKET_COLUMNS: Final = "case_id, turn, version, pile, is_open, due, arrived, sender, status, message, content"
DOCKET_OVER: Final = written_over(
    "case_id, turn", "version, pile, is_open, due, arrived, sender, status, content"
)  # fmt: skip
AUDIT_COLUMNS: Final = "number, record, chain, salt, payload"

encode: Final = msgspec.msgpack.Encoder().encode
case_of: Final = msgspec.msgpack.Decoder(Case).decode
docket_of: Final = msgspec.msgpack.Decoder(Docket).decode
mailbag_of: Final = msgspec.msgpack.Decoder(Mailbag).decode
edition_of: Final = msgspec.msgpack.Decoder(Edition).decode
activation_of: Final = msgspec.msgpack.Decoder(Activation).decode
account_of: Final = msgspec.msgpack.Decoder(Account).decode
seal_of: Final = msgspec.msgpack.Decoder(Seal).decode
_record_of: Final = msgspec.json.Decoder(tuple[int, int, int, str, str, str, str]).decode


def case_row(case: Case) -> Row:
    """Give the row of a case."""
    return (case.id.bytes, case.message.bytes, case.opened, case.version, encode(case))


def docket_row(docket: Docket, pile: int) -> Row:
    """Give the row of a docket."""
    return (
        docket.case.bytes,
        docket.turn,
        docket.version,
        pile,
        docket.is_open,
        LAST if docket.due is None else docket.due,
        docket.arrived,
        docket.sender,
        docket.status,
        docket.message.bytes,
        encode(docket),
    )


def mailbag_row(mailbag: Mailbag) -> Row:
    """Give the row of a mailbag."""
    next_run = None if mailbag.is_removed else mailbag.next_run
    return (mailbag.gatekeeper, mailbag.id, mailbag.version, mailbag.is_removed, next_run, encode(mailbag))


def audit_row(number: int, record: bytes, *, chain: bytes, entry: AuditEntry) -> Row:
    """Give the row of a record."""
    return (number, record, chain, entry.salt, entry.payload)


def line_of(row: Sequence[Any]) -> AuditLine:
    """Give the record of a row."""
    record, chain, salt, payload = row
    number, epoch, at, actor, act, subject, commitment = _record_of(record)
    return AuditLine(
        number=number,
        epoch=epoch,
        at=at,
        actor=actor,
        act=act,
        subject=subject,
        commitment=bytes.fromhex(commitment),
        chain=chain,
        salt=salt,
        payload=payload,
    )
