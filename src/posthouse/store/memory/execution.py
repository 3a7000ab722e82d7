"""Carrying out what nothing stands against, and leasing what a take asks for."""

from __future__ import annotations

import msgspec

from posthouse.message.changes import Changes, Leased, Letter, Onward, Post, Redrive, Settle, Take, concerns_gate
from posthouse.message.trace import Step
from posthouse.store.memory.gateexecution import carry_out_gate
from posthouse.store.memory.row import Row
from posthouse.store.memory.tables import Tables


def carry_out(tables: Tables, changes: Changes, *, news: set[str]) -> None:
    """Do everything but the take; boxes in which something may be taken now are added to the news."""
    # Before anything of them may be forgotten because nothing needs it any more.
    continued = [tables.letters[onward.message] for onward in changes.onwards]
    for post in changes.posts:
        _post(tables, post, news=news)
    for settle in changes.settles:
        _settle(tables, settle, news=news)
    for redrive in changes.redrives:
        _redrive(tables, redrive, news=news)
    for resend in changes.resends:
        letter = tables.unshelve(resend.aside)
        tables.note(letter.id, resend.step)
        for entry in resend.entries:
            _tell(tables.add(entry, letter, arrived=resend.step.at), news)
    for onward, letter in zip(changes.onwards, continued, strict=True):
        _go_on(tables, onward, letter=letter, news=news)
    if changes.setups:
        closed = [f"#{setup.mailbox}" for setup in changes.setups if tables.is_closed(f"#{setup.mailbox}")]
        tables.set_up(changes.setups)
        news.update(box for box in closed if not tables.is_closed(box))
    for issue in changes.issues:
        tables.issues[issue.credential.id] = issue
    for revoke in changes.revokes:
        tables.revoke(revoke)
    if changes.pulse is not None:
        tables.pulse = changes.pulse
    if concerns_gate(changes):
        carry_out_gate(tables, changes)
    if changes.key is not None and changes.posts:
        first = changes.posts[0].letter
        tables.remember(changes.key, first.id, accepted=first.accepted)


def lease(tables: Tables, take: Take) -> tuple[Leased, ...]:
    """Lease what comes next."""
    box = tables.boxes.get(take.box)
    if box is None or tables.is_closed(take.box):
        return ()
    chosen = box.choose(take.filter, now=take.now, limit=take.limit)
    for row in chosen:
        row.state = "leased"
        row.token += 1
        row.attempt += 1
        row.until = take.until
        row.holder = take.holder
        tables.timetable.set(row, take.until)
    return tuple(row.leased() for row in chosen)


def _post(tables: Tables, post: Post, *, news: set[str]) -> None:
    letter = post.letter
    tables.letters[letter.id] = letter
    if post.aside is not None:
        tables.shelve(letter, post.aside, at=letter.accepted)
    for entry in post.entries:
        _tell(tables.add(entry, letter, arrived=letter.accepted), news)


def _settle(tables: Tables, settle: Settle, *, news: set[str]) -> None:
    row = tables.rows[settle.entry]
    if settle.step is not None:
        tables.note(row.letter.id, settle.step)
    match settle.act:
        case "done":
            tables.remove(row)
        case "bury":
            tables.bury(row, at=settle.at, reason=settle.reason)
        case "renew":
            row.until = settle.at
            tables.timetable.set(row, settle.at)
            return
        case "wake" if row.state == "held":
            tables.add_again(row, msgspec.structs.replace(row.entry, not_before=None))
        case "wake":
            _free(tables, row, pause=0)
        case "back":
            row.attempt = max(row.attempt - 1, 0)
            _free(tables, row, pause=0)
        case "retry":
            row.failures += 1
            _free(tables, row, pause=settle.at)
    news.add(row.entry.box)


def _free(tables: Tables, row: Row, *, pause: int) -> None:
    """Let a row wait again in its place."""
    row.state = "waiting"
    row.token += 1
    row.pause = pause
    row.holder = ""
    tables.timetable.set(row, row.happens_at())
    for lane in row.lanes:
        lane.look_again()


def _go_on(tables: Tables, onward: Onward, *, letter: Letter, news: set[str]) -> None:
    tables.letters[letter.id] = letter
    tables.note(letter.id, onward.step)
    if onward.aside is not None:
        tables.shelve(letter, onward.aside, at=onward.step.at)
    for entry in onward.entries:
        _tell(tables.add(entry, letter, arrived=onward.step.at), news)


def _redrive(tables: Tables, redrive: Redrive, *, news: set[str]) -> None:
    grave = tables.unbury(redrive.dead)
    tables.note(grave.letter.id, Step(redrive.now, "purged" if redrive.drop else "redriven", grave.entry.box))
    if not redrive.drop:
        entry = msgspec.structs.replace(grave.entry, expires=None, not_before=None)
        _tell(tables.add(entry, grave.letter, arrived=redrive.now), news)


def _tell(row: Row, news: set[str]) -> None:
    if row.state != "held":
        news.add(row.entry.box)
