"""Why a `Changes` cannot be carried out, decided before anything of it is."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from posthouse.message.changes import Changes, Outcome, Settle, concerns_gate
from posthouse.store.memory.gateexecution import stale_gate
from posthouse.store.memory.row import Row
from posthouse.store.memory.tables import Tables

_STATES: Final = {
    "done": ("waiting", "leased", "held"),
    "renew": ("leased",),
    "back": ("waiting", "leased"),
    "retry": ("waiting", "leased"),
    "wake": ("waiting", "held"),
    "bury": ("waiting", "leased", "held"),
}
"""In which states an entry can be settled how; a waiting one is woken from a pause only."""


def objection(tables: Tables, changes: Changes) -> Outcome | None:
    """Give the outcome of changes that must be refused, None where nothing stands against them."""
    return (
        _duplicate(tables, changes)
        or _stale_register(tables, changes)
        or _full(tables, changes)
        or _stale_row(tables, changes)
        or _stale_credential(tables, changes)
        or (stale_gate(tables, changes) if concerns_gate(changes) else None)
    )


def _duplicate(tables: Tables, changes: Changes) -> Outcome | None:
    posts = changes.posts
    if changes.key is not None and posts:
        first = tables.first_under(changes.key, posts[0].letter.accepted)
        if first is not None:
            return Outcome(status="duplicate", detail="the idempotency key is known", known=first)
    for post in posts:
        if post.letter.id in tables.letters:
            return _known(post.letter.id)
    if len(posts) > 1:
        seen: set[UUID] = set()
        for post in posts:
            if post.letter.id in seen:
                return _known(post.letter.id)
            seen.add(post.letter.id)
    return None


def _known(message: UUID) -> Outcome:
    return Outcome(status="duplicate", detail="the message id is known", known=message)


def _stale_register(tables: Tables, changes: Changes) -> Outcome | None:
    found = tables.register.version
    if changes.register is None or changes.register == found:
        return None
    return Outcome(status="stale", detail=f"expected version {changes.register} of the register, found {found}")


def _full(tables: Tables, changes: Changes) -> Outcome | None:
    for room in changes.rooms:
        box = tables.boxes.get(room.box)
        held, size = (box.rows.present, box.bytes) if box is not None else (0, 0)
        more, larger = _growth(tables, changes, box=room.box)
        for limit, after, before, unit in (
            (room.max_messages, held + more, held, "messages"),
            (room.max_bytes, size + larger, size, "bytes"),
        ):
            if limit is not None and after > limit:
                detail = f"{room.box} is full: it may hold {limit} {unit} and holds {before}"
                return Outcome(status="full", detail=detail)
    return None


def _growth(tables: Tables, changes: Changes, *, box: str) -> tuple[int, int]:
    """Give by how many messages and bytes the changes would fill the box further."""
    come = [entry for post in changes.posts for entry in post.entries]
    come += [entry for resend in changes.resends for entry in resend.entries]
    come += [entry for onward in changes.onwards for entry in onward.entries]
    come += [
        tables.dead[redrive.dead].entry
        for redrive in changes.redrives
        if redrive.dead in tables.dead and not redrive.drop
    ]
    go = [
        tables.rows[settle.entry].entry
        for settle in changes.settles
        if settle.act in {"done", "bury"} and settle.entry in tables.rows
    ]
    sizes = [entry.size for entry in come if entry.box == box]
    gone = [entry.size for entry in go if entry.box == box]
    return len(sizes) - len(gone), sum(sizes) - sum(gone)


def _stale_row(tables: Tables, changes: Changes) -> Outcome | None:
    for settle in changes.settles:
        row = tables.rows.get(settle.entry)
        if row is None or row.token != settle.token or settle.box not in ("", row.entry.box) or not _can(row, settle):
            return Outcome(status="stale", detail=f"entry {settle.entry} is gone or in other hands")
    for redrive in changes.redrives:
        if redrive.dead not in tables.dead:
            return Outcome(status="stale", detail=f"dead letter {redrive.dead} is gone")
    for resend in changes.resends:
        if resend.aside not in tables.asides:
            return Outcome(status="stale", detail=f"message {resend.aside} set aside is gone")
    for onward in changes.onwards:
        if onward.message not in tables.letters:
            return Outcome(status="stale", detail=f"message {onward.message} is unknown")
    rows = len(changes.settles) + len(changes.redrives) + len(changes.resends)
    if rows > 1 and rows > _distinct_rows(changes):
        return Outcome(status="stale", detail="one of its rows is meant twice")
    return None


def _stale_credential(tables: Tables, changes: Changes) -> Outcome | None:
    new = {issue.credential.id for issue in changes.issues}
    ended = {revoke.id for revoke in changes.revokes}
    standing = {name for name in ended if name in tables.issues and tables.issues[name].credential.revoked is None}
    once = len(new | ended) == len(changes.issues) + len(changes.revokes)
    if once and standing == ended and new.isdisjoint(tables.issues):
        return None
    return Outcome(status="stale", detail="a credential of this id is known, or none that stands")


def _distinct_rows(changes: Changes) -> int:
    settled = {settle.entry for settle in changes.settles}
    redriven = {redrive.dead for redrive in changes.redrives}
    resent = {resend.aside for resend in changes.resends}
    return len(settled) + len(redriven) + len(resent)


def _can(row: Row, settle: Settle) -> bool:
    if row.state not in _STATES[settle.act]:
        return False
    return settle.act != "wake" or row.state == "held" or row.pause > 0
