"""What the writer knows by heart between two commits; it is the only one who writes, so it never goes stale.

After a transaction that failed everything is read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import apsw
import msgspec

from posthouse.message.changes import Register, Setup
from posthouse.store.sqlite.gateledger import GateLedger
from posthouse.store.sqlite.rows import BOX_COLUMNS, Cell, inserts

# Above this many names the cache starts afresh rather than grow with the number of mailboxes.
_MOST_NAMES: Final = 200_000

_encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.decode
encode_setup: Final = msgspec.msgpack.Encoder().encode
decode_setup: Final = msgspec.msgpack.Decoder(Setup).decode


class Ledger:
    """Box numbers, the last numbers given, the register, and the content of boxes with a quota."""

    def __init__(self, connection: apsw.Connection, sql: dict[str, str]) -> None:
        self.cursor = connection.cursor()
        self.sql = sql
        self.register = Register()
        self.stamp = 0
        self.gate = GateLedger(self.cursor, sql)
        self.reload()

    def reload(self) -> None:
        """Read everything from the database again."""
        self._boxes: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._contents: dict[int, list[int]] = {}
        self._new_boxes: list[Cell] = []
        rows: Any = self.cursor.execute(self.sql["last-numbers"]).fetchall()
        self.last_letter, self.last_entry, self._last_box, last_id = rows[0]
        self.last_id = int.from_bytes(last_id)
        version: Any = self.cursor.execute(self.sql["register-version"]).get
        setups: Any = self.cursor.execute(self.sql["mailboxes"]).fetchall()
        known = {name: decode_setup(setup) for name, setup in setups}
        self.gate.reload()
        self.register = Register(version=version, setups=known, books=self.gate.books())

    def meet(self, names: Iterable[str]) -> None:
        """Learn the numbers of the boxes that a group speaks of, all at once instead of a statement each."""
        if len(self._boxes) >= _MOST_NAMES:
            self._boxes.clear()
            self._names.clear()
        unknown = [name for name in set(names) if name not in self._boxes]
        if unknown:
            found: Any = self.cursor.execute(self.sql["boxes-find"], (_encode(unknown).decode(),)).get
            for name, number in _decode(found):
                self._learn(name, number)

    def box(self, name: str) -> int | None:
        """Give the number of a box, if it has one."""
        number = self._boxes.get(name)
        if number is None:
            found: Any = self.cursor.execute(self.sql["box-find"], (name,)).get
            if found is None:
                return None
            number = self._learn(name, found)
        return number

    def box_or_new(self, name: str) -> int:
        """Give the number of a box, a new one where it has none; the new ones wait for `write_boxes`."""
        number = self._boxes.get(name) or self.box(name)
        if number is None:
            self._last_box += 1
            number = self._learn(name, self._last_box)
            self._new_boxes += (number, name)
        return number

    def write_boxes(self) -> None:
        """Write the boxes that are new."""
        for statement, cells in inserts("box", BOX_COLUMNS, cells=self._new_boxes):
            self.cursor.execute(statement, cells).fetchall()
        self._new_boxes = []

    def name(self, box: int) -> str:
        """Give the name of a box."""
        name = self._names.get(box)
        if name is None:
            found: Any = self.cursor.execute(self.sql["box-name"], (box,)).get
            name = found
            self._learn(name, box)
        return name

    def _learn(self, name: str, number: int) -> int:
        self._boxes[name] = number
        self._names[number] = name
        return number

    def content(self, box: int) -> list[int]:
        """Give the messages and bytes in a box; from then on the counts are kept."""
        content = self._contents.get(box)
        if content is None:
            rows: Any = self.cursor.execute(self.sql["box-content"], (box,)).fetchall()
            content = self._contents[box] = list(rows[0])
        return content

    def count(self, box: int, *, messages: int, size: int) -> None:
        """Note what came into a box or left it."""
        content = self._contents.get(box)
        if content is not None:
            content[0] += messages
            content[1] += size

    def next_stamp(self, now: int) -> int:
        """Give a time that is later than every one before."""
        self.stamp = max(self.stamp + 1, now)
        return self.stamp

    def set_up(self, setups: tuple[Setup, ...]) -> None:
        """Write settings of mailboxes as a new version of the register."""
        known = dict(self.register.setups)
        for setup in setups:
            if setup.removed:
                known.pop(setup.mailbox, None)
                self.cursor.execute(self.sql["mailbox-remove"], (setup.mailbox,)).fetchall()
            else:
                known[setup.mailbox] = setup
                self.cursor.execute(self.sql["mailbox-set"], (setup.mailbox, encode_setup(setup))).fetchall()
        self._raise_register(setups=known, books=self.register.books)

    def put_in_force(self, editions: dict[str, int]) -> None:
        """Have these editions in force, as a new version of the register; 0 ends a book."""
        books = {book: number for book, number in (self.register.books | editions).items() if number}
        self._raise_register(setups=self.register.setups, books=books)

    def _raise_register(self, *, setups: dict[str, Setup], books: dict[str, int]) -> None:
        self.cursor.execute(self.sql["register-raise"]).fetchall()
        self.register = Register(version=self.register.version + 1, setups=setups, books=books)
