"""The states a disk may be in after the power went: what was synced is there, of the rest any part may be missing.

A write may have reached the disk in some of its sectors only. Files and folders that were named but not synced under
their names may be there or not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from posthouse.testing.disk import Cut, Deed, Named, Record, Synced, Unnamed, Wrote

SECTOR: Final = 512
FOLDER: Final = 0

Content = dict[int, bytearray]
Names = dict[Path, int]


@dataclass(frozen=True)
class State:
    """What is on the disk: the content of each file, and folders as None."""

    at: int
    """The place of the record at which the power went."""
    lost: int
    """How many unsynced deeds it did without, in part or whole."""
    files: dict[Path, bytes | None]

    def lay_out(self, old: Path, new: Path) -> None:
        """Write the state into an empty folder in place of the one that was recorded."""
        for path in sorted(self.files):
            content = self.files[path]
            place = new / path.relative_to(old)
            # A folder whose name was lost takes with it what was in it.
            if place.parent.is_dir():
                place.mkdir(exist_ok=True) if content is None else place.write_bytes(content)


@dataclass
class Replay:
    """Walks along a record and knows at each place what is on the disk for certain, and what may be."""

    record: Sequence[Deed]
    place: int = 0
    content: Content = field(default_factory=dict)
    names: Names = field(default_factory=dict)
    open_deeds: list[tuple[int, Deed]] = field(default_factory=list)

    def go_to(self, place: int) -> None:
        """Go on to a later place of the record."""
        while self.place < place:
            deed = self.record[self.place]
            if isinstance(deed, Synced):
                self._settle(deed)
            else:
                self.open_deeds.append((self.place, deed))
            self.place += 1

    def states(self, chance: random.Random, *, most: int) -> Iterator[State]:
        """Give states the power may leave if it goes here: all of them where they are few, else some by chance."""
        count = len(self.open_deeds)
        if 2**count <= most:
            choices = [[bool(number >> bit & 1) for bit in range(count)] for number in range(2**count)]
            yield from (self._state(choice, None) for choice in choices)
            return
        yield self._state([False] * count, None)
        yield self._state([True] * count, None)
        for number in range(most - 2):
            share = chance.random()
            choice = [chance.random() < share for _ in range(count)]
            yield self._state(choice, chance if number % 2 else None)

    def _settle(self, synced: Synced) -> None:
        left = []
        for place, deed in self.open_deeds:
            if place < synced.upto and _is_about(deed, synced):
                _do(deed, self.content, self.names)
            else:
                left.append((place, deed))
        self.open_deeds = left

    def _state(self, choice: Sequence[bool], torn: random.Random | None) -> State:
        content = {number: bytearray(data) for number, data in self.content.items()}
        names = dict(self.names)
        lost = 0
        for (_, deed), kept in zip(self.open_deeds, choice, strict=True):
            if kept:
                _do(deed, content, names)
            elif torn is not None and isinstance(deed, Wrote):
                _do_in_part(deed, content, torn)
            lost += not kept
        files = {path: None if number == FOLDER else bytes(content.get(number, b"")) for path, number in names.items()}
        return State(self.place, lost, files)


def _is_about(deed: Deed, synced: Synced) -> bool:
    match deed:
        case Wrote(file=number) | Cut(file=number):
            return number == synced.file
        case Named(path=path) | Unnamed(path=path):
            return path.parent == synced.folder
        case Synced():
            return False


def _do(deed: Deed, content: Content, names: Names) -> None:
    match deed:
        case Wrote(file=number, offset=offset, data=data):
            _write(content.setdefault(number, bytearray()), offset, data)
        case Cut(file=number, size=size):
            held = content.setdefault(number, bytearray())
            del held[size:]
            held.extend(bytes(size - len(held)))
        case Named(path=path, file=number, instead_of=before):
            names[path] = number
            if before is not None:
                names.pop(before, None)
        case Unnamed(path=path):
            names.pop(path, None)
        case Synced():
            pass


def _do_in_part(deed: Wrote, content: Content, chance: random.Random) -> None:
    held = content.setdefault(deed.file, bytearray())
    start = 0
    while start < len(deed.data):
        end = min(start + SECTOR - (deed.offset + start) % SECTOR, len(deed.data))
        if chance.random() < 0.5:
            _write(held, deed.offset + start, deed.data[start:end])
        start = end


def _write(held: bytearray, offset: int, data: bytes) -> None:
    held.extend(bytes(max(0, offset - len(held))))
    held[offset : offset + len(data)] = data


def cuts(record: Record, chance: random.Random, *, count: int) -> list[int]:
    """Choose places to cut the power at: by chance, and every second one right before a sync, where most is open."""
    syncs = [place for place, deed in enumerate(record.deeds) if isinstance(deed, Synced)]
    chosen = {chance.randrange(len(record.deeds) + 1) for _ in range(count - count // 2)}
    if syncs:
        chosen |= {chance.choice(syncs) for _ in range(count // 2)}
    return sorted(chosen)
