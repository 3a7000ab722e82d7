"""One transaction: many changes, each checked against what is there and what the ones before it did, then written.

First every change is checked and noted, then the notes are written in bulk: a few statements a group, not a few a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from posthouse.message import trace
from posthouse.message.changes import (
    DONE,
    Changes,
    Entry,
    Onward,
    Outcome,
    Post,
    Redrive,
    Room,
    Settle,
    Take,
    concerns_gate,
)
from posthouse.message.trace import Step
from posthouse.store.sqlite.credentials import may_issue, write_apart
from posthouse.store.sqlite.gategroup import GateGroup
from posthouse.store.sqlite.lanes import BEHIND, Lanes, Newcomers, Place
from posthouse.store.sqlite.ledger import Ledger
from posthouse.store.sqlite.present import Present, added_by, boxes_of
from posthouse.store.sqlite.rows import (
    HELD,
    JOURNAL_COLUMNS,
    LEASED,
    TRACE_COLUMNS,
    WAITING,
    WORK_NUMBER,
    WORKS,
    Arrival,
    Cell,
    encode_arrivals,
    inserts,
    journal_row,
    leased_of,
    numbers,
)

_decode: Final = msgspec.json.decode
_STALE: Final = Outcome(status="stale", detail="it is no longer what it was: somebody else settled or changed it")


class Group:
    """The changes of one transaction."""

    def __init__(self, ledger: Ledger, changes: Sequence[Changes]) -> None:
        self._ledger = ledger
        self._cursor = ledger.cursor
        self._sql = ledger.sql
        self._lanes = Lanes(ledger.cursor, ledger.sql)
        self._changes = changes
        gated = [change for change in changes if concerns_gate(change)]
        self._gate = GateGroup(ledger, gated) if gated else None
        ledger.meet(boxes_of(changes))
        self._known = self._ids_known()
        self._present = self._entries_present()
        self._last_before = ledger.last_entry
        # The cells of all rows, end to end.
        self._letters: list[Cell] = []
        self._newcomers = Newcomers()
        self._arrivals: list[Arrival] = []
        self._luggage = bytearray()
        # (number until now, number in the lane, highest front mark it may get) of what was held back.
        self._entering: list[tuple[int, int, int]] = []
        self._settled: dict[int, Settle] = {}
        self._steps: list[Cell] = []
        self._keys: dict[tuple[str, str], UUID] = {}
        self._used: set[tuple[str, int]] = set()
        self.stirred: set[str] = set()
        """Boxes in which something may be taken now."""

    def run(self) -> list[Outcome]:
        """Check all, write all, lease last."""
        for room in (room for change in self._changes for room in change.rooms):
            # From now on what comes and goes is counted, also by changes that ask for no room.
            self._ledger.content(self._ledger.box_or_new(room.box))
        outcomes = [self._check(change) for change in self._changes]
        self._write()
        for number, change in enumerate(self._changes):
            if change.take is not None and outcomes[number].status == "done":
                outcomes[number] = self._lease(change.take)
        return outcomes

    # Checking: nothing but set-ups, keys and dead letters is written here.

    def _check(self, change: Changes) -> Outcome:
        refused = self._refusal(change)
        if refused is not None:
            return refused
        for post in change.posts:
            self._note_post(post)
        for settle in change.settles:
            self._note_settle(settle)
        for redrive in change.redrives:
            self._redrive(redrive)
        for resend in change.resends:
            message = self._aside_message(resend.aside)
            self._cursor.execute(self._sql["aside-remove"], (resend.aside,)).fetchall()
            self._used.add(("aside", resend.aside))
            self._note_step(message, resend.step)
            for entry in resend.entries:
                self._note_entry(entry, message, resend.step.at)
        for onward in change.onwards:
            self._note_onward(onward)
        if change.setups:
            self._ledger.set_up(change.setups)
            self.stirred.update(f"#{setup.mailbox}" for setup in change.setups)
        if change.issues or change.revokes or change.pulse is not None:
            write_apart(self._cursor, self._sql, change=change)
        if self._gate is not None:
            self._gate.note(change)
        if change.key is not None:
            self._note_key(change)
        return DONE

    def _refusal(self, change: Changes) -> Outcome | None:
        if change.key is not None and (first := self._key_known(change)) is not None:
            return Outcome(status="duplicate", known=first, detail="the idempotency key is known")
        seen: set[int] = set()
        for post in change.posts:
            identity = post.letter.id
            if identity.int in self._known or identity.int in seen:
                return Outcome(status="duplicate", known=identity, detail="the message id is known")
            seen.add(identity.int)
        if change.register is not None and change.register != self._ledger.register.version:
            return Outcome(status="stale", detail="the register of mailboxes has changed")
        if not self._is_current(change):
            return _STALE
        if self._gate is not None and (objection := self._gate.objection(change)):
            return Outcome(status="stale", detail=objection)
        for room in change.rooms:
            full = self._overflow(room, change)
            if full:
                return Outcome(status="full", detail=full)
        return None

    def _is_current(self, change: Changes) -> bool:
        if (change.issues or change.revokes) and not may_issue(self._cursor, self._sql, change=change):
            return False
        if not (change.settles or change.redrives or change.resends or change.onwards):
            return True
        named = [("entry", settle.entry) for settle in change.settles]
        named += [("dead", redrive.dead) for redrive in change.redrives]
        named += [("aside", resend.aside) for resend in change.resends]
        return (
            len(named) == len(set(named))
            and self._used.isdisjoint(named)
            and all(map(self._may_settle, change.settles))
            and all(self._dead_row(redrive.dead) for redrive in change.redrives)
            and all(self._number_of(onward.message) for onward in change.onwards)
            and all(self._aside_message(resend.aside) for resend in change.resends)
        )

    def _may_settle(self, settle: Settle) -> bool:
        entry = self._present.get(settle.entry)
        earlier = self._settled.get(settle.entry)
        if entry is None or entry.token != settle.token or (earlier is not None and earlier.act != "renew"):
            return False
        if settle.box and self._ledger.name(entry.box) != settle.box:
            return False
        match settle.act:
            case "renew":
                return entry.state == LEASED
            case "wake":
                return entry.state == HELD or entry.ready_at > 0
            case "back" | "retry":
                return entry.state != HELD
            case _:
                return True

    def _overflow(self, room: Room, change: Changes) -> str:
        box = self._ledger.box_or_new(room.box)
        held = self._ledger.content(box)
        added = [entry.size for entry in added_by(change) if entry.box == room.box]
        driven = [self._dead_row(redrive.dead) for redrive in change.redrives if not redrive.drop]
        added += [row[6] for row in driven if row is not None and row[0] == room.box]
        leaving = [self._present[settle.entry] for settle in change.settles if settle.act in {"done", "bury"}]
        removed = [entry.size for entry in leaving if entry.box == box]
        count = held[0] + len(added) - len(removed)
        size = held[1] + sum(added) - sum(removed)
        if room.max_messages is not None and count > room.max_messages:
            return f"mailbox {room.box[1:]} is full: it may hold {room.max_messages} messages and holds {held[0]}"
        if room.max_bytes is not None and size > room.max_bytes:
            return f"mailbox {room.box[1:]} is full: it may hold {room.max_bytes} bytes and holds {held[1]}"
        return ""

    def _key_known(self, change: Changes) -> UUID | None:
        key = change.key
        if key is None:
            return None
        pending = self._keys.get((key.principal, key.key))
        if pending is not None:
            return pending
        now = change.posts[0].letter.accepted if change.posts else 0
        found: Any = self._cursor.execute(self._sql["key-known"], (key.principal, key.key, now)).get
        return None if found is None else UUID(bytes=bytes(found))

    # Noting.

    def _note_post(self, post: Post) -> None:
        letter = post.letter
        ledger = self._ledger
        ledger.last_letter = number = ledger.last_letter + 1
        identity = letter.id.int
        ledger.last_id = max(ledger.last_id, identity)
        self._known.add(identity)
        self._letters += journal_row(number, letter)
        if post.aside is not None:
            self._cursor.execute(self._sql["aside-add"], (number, letter.accepted, post.aside)).fetchall()
        for entry in post.entries:
            self._note_entry(entry, number, letter.accepted)

    def _note_entry(self, entry: Entry, message: int, at: int) -> None:
        ledger = self._ledger
        box = ledger.box_or_new(entry.box)
        ledger.last_entry = seq = ledger.last_entry + 1
        ledger.count(box, messages=1, size=entry.size)
        priority, state, mark, next_at = entry.priority, WAITING, BEHIND, entry.expires
        if entry.not_before is None or entry.not_before <= at:
            mark = self._newcomers.mark(box, entry.lane, priority=priority, kind=entry.kind)
            self.stirred.add(entry.box)
        else:
            # Its priority turned round, for it has no place in its lane yet.
            priority, state = -priority, HELD
            next_at = entry.not_before if next_at is None else min(next_at, entry.not_before)
        arrival = Arrival(
            seq, box, entry.lane, priority, entry.kind, state, mark, next_at, entry.expires, at,
            WORK_NUMBER[entry.work], entry.size, message, entry.correlation, len(self._luggage) + 1, len(entry.luggage),
        )  # fmt: skip
        self._arrivals.append(arrival)
        self._luggage += entry.luggage

    def _note_settle(self, settle: Settle) -> None:
        entry = self._present[settle.entry]
        self._settled[settle.entry] = settle
        if settle.act in {"done", "bury"}:
            self._ledger.count(entry.box, messages=-1, size=-entry.size)
        if settle.act != "renew":
            self.stirred.add(self._ledger.name(entry.box))
        if settle.act == "wake" and entry.state == HELD:
            self._ledger.last_entry += 1
            mark = self._newcomers.mark(entry.box, entry.lane, priority=-entry.priority, kind=entry.kind)
            self._entering.append((entry.seq, self._ledger.last_entry, mark))
        if settle.step is not None:
            self._note_step(entry.message, settle.step)

    def _note_onward(self, onward: Onward) -> None:
        message = self._number_of(onward.message)
        self._note_step(message, onward.step)
        if onward.aside is not None:
            self._cursor.execute(self._sql["aside-add"], (message, onward.step.at, onward.aside)).fetchall()
        for entry in onward.entries:
            self._note_entry(entry, message, onward.step.at)

    def _note_step(self, message: int, step: Step) -> None:
        self._steps += (message, self._ledger.next_stamp(step.at), trace.encode(step))

    def _note_key(self, change: Changes) -> None:
        key = change.key
        if key is None or not change.posts:
            return
        letter = change.posts[0].letter
        self._keys[key.principal, key.key] = letter.id
        self._cursor.execute(self._sql["key-forget"], (letter.accepted,)).fetchall()
        self._cursor.execute(self._sql["key-add"], (key.principal, key.key, letter.id.bytes, key.until)).fetchall()

    def _redrive(self, redrive: Redrive) -> None:
        row = self._dead_row(redrive.dead)
        if row is None:
            return
        box, lane, priority, kind, correlation, work, size, message, luggage = row
        self._cursor.execute(self._sql["dead-remove"], (redrive.dead,)).fetchall()
        self._used.add(("dead", redrive.dead))
        self._note_step(message, Step(redrive.now, "purged" if redrive.drop else "redriven", box))
        if not redrive.drop:
            entry = Entry(
                box=box, work=WORKS[work], lane=lane, priority=priority, kind=kind, correlation=correlation, size=size,
                luggage=luggage,
            )  # fmt: skip
            self._note_entry(entry, message, redrive.now)

    # Writing.

    def _write(self) -> None:
        self._ledger.write_boxes()
        self._insert("journal", JOURNAL_COLUMNS, self._letters)
        self._write_settles()
        self._write_arrivals()
        self._insert("trace", TRACE_COLUMNS, self._steps)
        if self._gate is not None:
            self._gate.write()

    def _write_settles(self) -> None:
        gone: list[int] = []
        places: dict[Place, int] = {}
        for seq, settle in self._settled.items():
            if settle.act in {"done", "bury"}:
                entry = self._present[seq]
                place = Place(entry.box, entry.lane, entry.priority, entry.kind)
                places[place] = max(places.get(place, 0), entry.front)
                gone.append(seq)
            if settle.act != "done":
                self._write_settle(settle)
        if gone:
            self._cursor.execute(self._sql["entries-remove"], (numbers(gone),)).fetchall()
            self._remember_last(gone)
            self._lanes.promote(places)

    def _write_settle(self, settle: Settle) -> None:
        seq, at = settle.entry, settle.at
        match settle.act:
            case "renew":
                self._cursor.execute(self._sql["entry-renew"], (seq, at)).fetchall()
            case "back":
                self._cursor.execute(self._sql["entry-back"], (seq,)).fetchall()
            case "retry":
                self._cursor.execute(self._sql["entry-retry"], (seq, at)).fetchall()
            case "bury":
                self._cursor.execute(self._sql["bury"], (seq, at, settle.reason)).fetchall()
            case "wake" if self._present[seq].state == HELD:
                # Enters its lane together with the arrivals.
                return
            case _:
                self._cursor.execute(self._sql["entry-wake"], (seq,)).fetchall()

    def _remember_last(self, gone: list[int]) -> None:
        # Entry numbers are never given twice, even when the newest entry leaves and the office restarts.
        if max(gone) >= self._last_before:
            self._cursor.execute(self._sql["remember-entry"], (self._ledger.last_entry,)).fetchall()

    def _write_arrivals(self) -> None:
        """Let what was held back enter its lane, then what arrived: none counts those that are younger than itself."""
        for entering in self._entering:
            self._cursor.execute(self._sql["entry-enter"], entering).fetchall()
        if self._arrivals:
            rows = encode_arrivals(self._arrivals).decode()
            self._cursor.execute(self._sql["entries-add"], (rows, bytes(self._luggage))).fetchall()

    def _insert(self, table: str, columns: str, rows: list[Cell]) -> None:
        for statement, cells in inserts(table, columns, cells=rows):
            self._cursor.execute(statement, cells).fetchall()

    def _lease(self, take: Take) -> Outcome:
        box = self._ledger.box(take.box)
        setup = self._ledger.register.setups.get(take.box[1:]) if take.box.startswith("#") else None
        if box is None or (setup is not None and setup.closed):
            return DONE
        chosen = self._lanes.choose(box, take.filter, now=take.now, limit=take.limit)
        if not chosen:
            return DONE
        wanted = numbers(chosen)
        self._cursor.execute(self._sql["lease"], (wanted, take.until, take.holder)).fetchall()
        packed: Any = self._cursor.execute(self._sql["leased"], (wanted,)).fetchall()
        return Outcome(status="done", taken=leased_of(packed[0], box=take.box, until=take.until))

    # Reading what the checks need.

    def _ids_known(self) -> set[int]:
        # An id beyond all that were ever written is new: nearly all are, for ids begin with the time.
        last = self._ledger.last_id
        wanted = [post.letter.id.hex for change in self._changes for post in change.posts if post.letter.id.int <= last]
        if not wanted:
            return set()
        found: Any = self._cursor.execute(self._sql["journal-known"], (msgspec.json.encode(wanted).decode(),)).get
        return {int(identity, 16) for identity in _decode(found)}

    def _entries_present(self) -> dict[int, Present]:
        wanted = {settle.entry for change in self._changes for settle in change.settles}
        if not wanted:
            return {}
        found: Any = self._cursor.execute(self._sql["entries-by-seq"], (numbers(wanted),)).get
        return {row[0]: Present(*row) for row in _decode(found)}

    def _number_of(self, message: UUID) -> int:
        rows: Any = self._cursor.execute(self._sql["letter-step"], (message.bytes,)).fetchall()
        return rows[0][0] if rows else 0

    def _dead_row(self, number: int) -> Any:
        rows: Any = self._cursor.execute(self._sql["dead-row"], (number,)).fetchall()
        return rows[0] if rows else None

    def _aside_message(self, number: int) -> int:
        found: Any = self._cursor.execute(self._sql["aside-row"], (number,)).get
        return int(found or 0)
