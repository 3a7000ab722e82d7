"""One message as predicates stand on it: what was read and folded once is not read and folded again."""

from __future__ import annotations

from typing import Final

from posthouse.matching.predicate.node import Over, Part
from posthouse.matching.value.catalogue import read_part
from posthouse.matching.value.fold import Collation, fold
from posthouse.matching.value.part import attachments_of
from posthouse.matching.value.reading import Reading
from posthouse.matching.value.record import Record
from posthouse.matching.value.regex import searchable
from posthouse.matching.value.wordlist import NO_LISTS, Lists

_LONG: Final = 100


class Ground:
    """A record with the named lists beside it; judging many predicates on one ground shares the work."""

    __slots__ = ("_folded", "_readings", "_searchable", "attachment", "lists", "recipient", "record")

    def __init__(self, record: Record, lists: Lists = NO_LISTS) -> None:
        self.record: Final = record
        self.lists: Final = lists
        self.recipient: int | None = None
        """The recipient that any, all or none is just looking at, by its place."""
        self.attachment: int | None = None
        self._readings: dict[Part | tuple[Part, int | None], Reading] = {}
        self._folded: dict[tuple[str, Collation], str] = {}
        self._searchable: dict[tuple[str, Collation], str] = {}

    def at(self, over: Over, place: int) -> Ground:
        """Give the same ground, looking at one recipient or one attachment."""
        there = Ground(self.record, self.lists)
        there.recipient, there.attachment = self.recipient, self.attachment
        there._readings, there._folded, there._searchable = self._readings, self._folded, self._searchable
        if over == "recipient":
            there.recipient = place
        else:
            there.attachment = place
        return there

    def read(self, part: Part) -> Reading:
        """Read a part, of what is looked at if it belongs to recipients or attachments."""
        if self.attachment is self.recipient is None:
            place: int | None = None
            key: Part | tuple[Part, int | None] = part
        else:
            place = self.attachment if part.name.startswith("attachment.") else self.recipient
            key = (part, place) if place is not None else part
        found = self._readings.get(key)
        if found is None:
            found = read_part(self.record, part.name, argument=part.argument, place=place)
            self._readings[key] = found
        return found

    def folded(self, text: str, collation: Collation) -> str:
        """Give the text as it is compared."""
        if len(text) <= _LONG:
            return fold(text, collation)
        found = self._folded.get((text, collation))
        if found is None:
            # Without case is the same as normal and then without case, and the normal form is often asked as well.
            normal = self.folded(text, "cased") if collation == "folded" and not text.isascii() else text
            found = self._folded[text, collation] = fold(normal, collation)
        return found

    def searched(self, text: str, collation: Collation) -> str:
        """Give the text in which a regular expression searches: its case is the expression's matter."""
        key = (text, collation)
        found = self._searchable.get(key)
        if found is None:
            form: Collation = "cased" if collation in ("folded", "cased") else "exact"
            found = self._searchable[key] = searchable(self.folded(text, form))
        return found

    def how_many(self, over: Over) -> int | Reading:
        """Say how many recipients or attachments there are, or why that is unknown."""
        if over == "recipient":
            return len(self.record.recipients)
        there = attachments_of(self.record)
        return there if isinstance(there, Reading) else len(there)
