"""Everything a memory store holds, and the few changes of it that keep its parts in agreement."""

from __future__ import annotations

from collections import Counter, deque
from heapq import heappop, heappush
from uuid import UUID

import msgspec

from posthouse.message.changes import Entry, Key, Letter, Register, Setup
from posthouse.message.credential import Account, Issue, Revoke
from posthouse.message.trace import Step
from posthouse.store.memory.box import Box
from posthouse.store.memory.gatetables import GateTables
from posthouse.store.memory.row import Grave, Roll, Row, Shelved
from posthouse.store.memory.timetable import Timetable
from posthouse.store.ports import Aside, Dead


class Tables:
    """The tables; only `carry_out` and `lease` change them."""

    def __init__(self, *, retain: int | None = None) -> None:
        self._retain = retain
        self._uses: Counter[UUID] = Counter()
        self._finished: deque[UUID] = deque()
        self.letters: dict[UUID, Letter] = {}
        self.traces: dict[UUID, list[Step]] = {}
        """The lines of each trace after its first, which stands in the letter."""
        self.boxes: dict[str, Box] = {}
        """Those that hold something."""
        self.rows: dict[int, Row] = {}
        self.timetable = Timetable()
        self.graves: Roll[Grave] = Roll()
        self.dead: dict[int, Grave] = {}
        self.shelf: Roll[Shelved] = Roll()
        self.asides: dict[int, Shelved] = {}
        self.register = Register()
        self.issues: dict[str, Issue] = {}
        self.accounts: dict[str, Account] = {}
        self.gate = GateTables()
        self.pulse: int | None = None
        self._keys: dict[tuple[str, str], tuple[int, UUID]] = {}
        self._keys_by_end: list[tuple[int, str, str]] = []
        self._last_row = self._last_dead = self._last_aside = 0

    def add(self, entry: Entry, letter: Letter, *, arrived: int) -> Row:
        """Give a letter a place at the end of a box."""
        return self._place(Row(self._next_row(), entry, letter=letter, arrived=arrived))

    def add_again(self, row: Row, entry: Entry) -> Row:
        """Move a row to the end of its box, under a new number."""
        self.remove(row)
        moved = Row(self._next_row(), entry, letter=row.letter, arrived=row.arrived)
        moved.token, moved.attempt, moved.failures = row.token + 1, row.attempt, row.failures
        return self._place(moved)

    def remove(self, row: Row) -> None:
        name = row.entry.box
        box = self.boxes[name]
        box.remove(row)
        self._release(row.letter)
        if not box.rows.present:
            del self.boxes[name]
        del self.rows[row.number]
        if row.next_at is not None:
            self.timetable.set(row, None)

    def bury(self, row: Row, *, at: int, reason: str) -> None:
        """Move a row to the dead letters."""
        self.remove(row)
        self._last_dead += 1
        dead = Dead(
            number=self._last_dead,
            box=row.entry.box,
            kind=row.entry.kind,
            message=row.letter.id,
            at=at,
            attempts=row.attempt,
            reason=reason,
        )
        grave = Grave(self._last_dead, dead, row.entry, row.letter)
        self._uses[row.letter.id] += 1
        self.dead[self._last_dead] = grave
        self.graves.append(grave)

    def unbury(self, number: int) -> Grave:
        """Take a dead letter out."""
        grave = self.dead.pop(number)
        self.graves.remove(grave)
        self._release(grave.letter)
        return grave

    def shelve(self, letter: Letter, reason: str, *, at: int) -> None:
        """Set a message aside."""
        self._last_aside += 1
        self._uses[letter.id] += 1
        aside = Aside(number=self._last_aside, message=letter.id, at=at, reason=reason)
        shelved = Shelved(self._last_aside, aside, letter)
        self.asides[self._last_aside] = shelved
        self.shelf.append(shelved)

    def unshelve(self, number: int) -> Letter:
        """Take a message set aside up again."""
        shelved = self.asides.pop(number)
        self.shelf.remove(shelved)
        self._release(shelved.letter)
        return shelved.letter

    def note(self, message: UUID, step: Step) -> None:
        """Append a line to a trace."""
        self.traces.setdefault(message, []).append(step)

    def set_up(self, setups: tuple[Setup, ...]) -> None:
        """Write settings; a register once handed out stays as it is."""
        known = dict(self.register.setups)
        for setup in setups:
            if setup.removed:
                known.pop(setup.mailbox, None)
            else:
                known[setup.mailbox] = setup
        self.register = msgspec.structs.replace(self.register, version=self.register.version + 1, setups=known)

    def revoke(self, revoke: Revoke) -> None:
        """End a credential."""
        issue = self.issues[revoke.id]
        ended = msgspec.structs.replace(issue.credential, revoked=revoke.at)
        self.issues[revoke.id] = msgspec.structs.replace(issue, credential=ended)

    def is_closed(self, box: str) -> bool:
        setup = self.register.setups.get(box[1:]) if box.startswith("#") else None
        return setup is not None and setup.closed

    def first_under(self, key: Key, accepted: int) -> UUID | None:
        """Give the message that came first under a key, if the key is still known."""
        until, message = self._keys.get((key.principal, key.key), (0, None))
        return message if accepted < until else None

    def remember(self, key: Key, message: UUID, *, accepted: int) -> None:
        """Keep a key, and forget those that may be forgotten."""
        self._keys[key.principal, key.key] = (key.until, message)
        heappush(self._keys_by_end, (key.until, key.principal, key.key))
        while self._keys_by_end and self._keys_by_end[0][0] <= accepted:
            _, principal, text = heappop(self._keys_by_end)
            until, _ = self._keys.get((principal, text), (accepted + 1, None))
            if until <= accepted:
                del self._keys[principal, text]

    def _release(self, letter: Letter) -> None:
        """Note that one thing less needs a letter; of those nothing needs, only the latest are remembered."""
        self._uses[letter.id] -= 1
        if self._uses[letter.id] > 0:
            return
        del self._uses[letter.id]
        if self._retain is None:
            return
        self._finished.append(letter.id)
        while len(self._finished) > self._retain:
            oldest = self._finished.popleft()
            if oldest not in self._uses:
                self.letters.pop(oldest, None)
                self.traces.pop(oldest, None)

    def _place(self, row: Row) -> Row:
        self._uses[row.letter.id] += 1
        name = row.entry.box
        box = self.boxes.get(name)
        if box is None:
            box = self.boxes[name] = Box()
        box.add(row)
        self.rows[row.number] = row
        at = row.happens_at()
        if at is not None:
            self.timetable.set(row, at)
        return row

    def _next_row(self) -> int:
        self._last_row += 1
        return self._last_row
