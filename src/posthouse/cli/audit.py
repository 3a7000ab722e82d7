"""`posthouse audit`: the record of what was decided, proved, shown, exported, and erased where the law asks for it."""

from __future__ import annotations

import binascii
import getpass
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import click

from posthouse.cli import exitcode
from posthouse.cli.auditproof import Proof, prove_export, prove_store
from posthouse.cli.desk import Desk, OfficeMissing, at_any_desk, at_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.printer import clean, local_time, plural, shown_path
from posthouse.client import Office
from posthouse.clock import SystemClock
from posthouse.message.audit import START, Seal
from posthouse.message.case import AuditEntry
from posthouse.message.form.auditlines import head_line, read_key, record_line, says, seal_line
from posthouse.message.form.plain import shown_instant
from posthouse.message.proof import Link
from posthouse.office.deskcalls import EraseAudit, ListAudit, ListSeals
from posthouse.store.gateports import AuditLine

_PAGE: Final = 1_000
_KEY_BYTES: Final = 32


@click.group(cls=Listing)
def audit() -> None:
    """Prove, show and export the record of what was decided and looked at.

    Each record is linked to all before it, and the office seals the newest one with its key every minute. So what was
    changed, removed, reordered or cut off afterwards is found, by whoever has an export and the office's public key.
    """


@audit.command()
@click.argument("export", metavar="[EXPORT]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--against",
    "copies",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="An older export: what it holds must still be there.",
)
@click.option("--trust", "keys", multiple=True, metavar="KEY", help="The only public key seals may be made with.")
@at_desk
def verify(desk: Desk, export: Path | None, *, copies: tuple[Path, ...], keys: tuple[str, ...]) -> int:
    """Prove that nothing was changed, removed, reordered or cut off.

    Reads the office's own store, beside the office that runs, or an EXPORT, for which no office is needed. Names the
    first record that is not as it was; the exit code is then 1.
    """
    trusted = frozenset(map(_key, keys))
    if export is not None:
        proof = prove_export(export, keys=trusted, copies=copies)
    elif desk.path.exists():
        proof = prove_store(desk.path, keys=trusted, copies=copies)
    else:
        raise OfficeMissing(
            "there is no office here", where=shown_path(desk.path), hint="name one with --store, or an export"
        )
    if desk.as_json:
        desk.printer.document(_proof_row(proof))
    else:
        for line in _told(proof):
            desk.printer.line(clean(line))
    return exitcode.OK if proof.flaw is None else exitcode.FAILURE


@audit.command()
@click.option("--subject", metavar="TEXT", help="Only what is about this case, message, book or account.")
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="N", help="Only what comes after this record.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many records.")
@at_any_desk
def show(desk: Desk, subject: str | None, *, after: int, limit: int) -> int:
    """Show records, oldest first: who did what, when, to what."""
    lines = desk.run(_lines(desk, ListAudit(subject=subject, after=after, limit=limit)))
    if desk.as_json:
        desk.printer.documents(map(_line_row, lines))
    else:
        desk.printer.table(
            ("record", "at", "who", "did", "to", "says"),
            [
                (line.number, local_time(line.at), clean(line.actor), clean(line.act), clean(line.subject), _says(line))
                for line in lines
            ],
            empty="nothing is recorded",
        )
    return exitcode.OK if lines else exitcode.NOTHING


@audit.command()
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a new file, not to the screen."
)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="N", help="Only what comes after this record.")
@at_any_desk
def export(desk: Desk, output: Path | None, *, after: int) -> None:
    """Write all records and seals as JSON Lines, with everything a stranger needs to prove them.

    The newest record is sealed before. Keep exports where the office cannot write: `audit verify --against` finds by
    them what was cut off since.
    """
    if output is None:
        desk.run(_export(desk, after, desk.printer.raw))
        return
    try:
        with output.open("xb") as file:
            count = desk.run(_export(desk, after, file.write))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise misuse(f"{output} is there already: an export never takes the place of another") from None
    if desk.as_json:
        desk.printer.document({"records": count, "file": str(output)})
    else:
        desk.printer.line(f"{plural(count, 'record')} exported to {output}")


@audit.command()
@click.argument("subject", metavar="SUBJECT")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is recorded.")
@at_any_desk
def erase(desk: Desk, subject: str, *, reason: str) -> int:
    """Erase what the records say of persons about one subject.

    The records themselves and their chain stay, so the audit can still be proved; that it was erased is recorded too.
    """
    count = desk.run(_erase(desk, EraseAudit(subject=subject, reason=reason, by=getpass.getuser())))
    if desk.as_json:
        desk.printer.document({"subject": subject, "records": count})
    else:
        desk.printer.line(f"{clean(subject)}: erased what {plural(count, 'record')} said")
    return exitcode.OK if count else exitcode.NOTHING


async def _lines(desk: Desk, call: ListAudit) -> list[AuditLine]:
    async with desk.office() as office:
        return await office.call(call)


async def _erase(desk: Desk, call: EraseAudit) -> int:
    async with desk.office() as office:
        return await office.call(call)


# `Any`: whatever the writing gives.
async def _export(desk: Desk, after: int, write: Any) -> int:
    async with desk.office() as office:
        # Sealed first, so that the newest seal is behind the last record that is exported.
        seals = [seal async for seal in _seals(office, after)]
        last = seals[-1].number if seals else None
        behind = Link(after, await _chain_at(office, after))
        write(
            head_line(str(desk.name), seals[-1].key if seals else None, behind=behind, now=SystemClock().now()) + b"\n"
        )
        count = 0
        async for line in _records(office, after):
            if last is not None and line.number > last:
                break
            write(_exported(line) + b"\n")
            count += 1
            while seals and seals[0].number <= line.number:
                write(seal_line(seals.pop(0)) + b"\n")
        return count


async def _seals(office: Office, after: int) -> AsyncIterator[Seal]:
    is_fresh = True
    while page := await office.call(ListSeals(after=after, limit=_PAGE, is_fresh=is_fresh)):
        for seal in page:
            yield seal
        after, is_fresh = page[-1].number, False


async def _records(office: Office, after: int) -> AsyncIterator[AuditLine]:
    while page := await office.call(ListAudit(after=after, limit=_PAGE)):
        for line in page:
            yield line
        after = page[-1].number


async def _chain_at(office: Office, number: int) -> bytes:
    if not number:
        return START
    page = await office.call(ListAudit(after=number - 1, limit=1))
    if not page:
        raise misuse(f"there is no record {number} to begin after")
    return page[0].chain


def _exported(line: AuditLine) -> bytes:
    entry = AuditEntry(
        at=line.at,
        actor=line.actor,
        act=line.act,
        subject=line.subject,
        commitment=line.commitment,
        salt=line.salt or b"",
        payload=line.payload or b"",
    )
    return record_line(
        entry, number=line.number, epoch=line.epoch, chain=line.chain, is_erased=line.payload is None
    )  # fmt: skip


def _key(text: str) -> bytes:
    try:
        key = read_key(text)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != _KEY_BYTES:
        raise misuse(f"expected a public key as `posthouse peer key` shows it, found {clean(text)!r}")
    return key


def _told(proof: Proof) -> list[str]:
    if proof.flaw is not None:
        return [proof.flaw.text, f"{plural(proof.records, 'record')} before it as they were recorded"]
    if not proof.records:
        return ["nothing is recorded"]
    told = [f"{plural(proof.records, 'record')} in order, {plural(proof.seals, 'seal')} up to record {proof.sealed:,}"]
    return told + [f"sealed with {key}" for key in proof.keys]


# `Any`: the members of a JSON object.
def _proof_row(proof: Proof) -> dict[str, Any]:
    flaw = proof.flaw
    return {
        "records": proof.records,
        "seals": proof.seals,
        "sealed": proof.sealed,
        "keys": proof.keys,
        "flaw": None if flaw is None else {"record": flaw.number, "ill": flaw.ill, "text": flaw.text},
    }


def _line_row(line: AuditLine) -> dict[str, Any]:
    return {
        "number": line.number,
        "epoch": line.epoch,
        "at": shown_instant(line.at),
        "actor": line.actor,
        "act": line.act,
        "subject": line.subject,
        "says": says(line.payload),
        "erased": line.payload is None,
    }


def _says(line: AuditLine) -> str:
    if line.payload is None:
        return "(erased)"
    said = says(line.payload)
    if not isinstance(said, dict):
        return "" if said is None else clean(str(said))
    return ", ".join(f"{clean(str(name))} {clean(str(value))}" for name, value in said.items())
