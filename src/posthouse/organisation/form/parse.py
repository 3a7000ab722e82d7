"""The house's own form of an organisation, read: TOML with a table for each unit, role, user and group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date
from functools import partial
from typing import Any, Final

from posthouse.matching.language.reader import nearest_word
from posthouse.message.name import MalformedName
from posthouse.message.spelling import quoted
from posthouse.organisation.address import short_address
from posthouse.organisation.check import Place, check
from posthouse.organisation.directory import Absence, Directory, key_of
from posthouse.organisation.form.fault import At, Faults
from posthouse.organisation.form.scan import LOST, Table, item_place, scan
from posthouse.organisation.form.schema import ABSENCE, HEAD, KINDS, Key, Shape
from posthouse.organisation.form.walk import Value

MAX_ABSENCES: Final = 1_000


def parse_directory(text: str) -> Directory:
    """Read an organisation; UnreadableText tells all its faults."""
    faults = Faults(text)
    reader = _Reader(text, faults)
    tables = scan(text, faults)
    found = reader.directory(tables)
    check(found, lambda place, **told: faults.note(reader.offset(place), **told), is_whole=not reader.has_lost)
    faults.finish()
    return found


class _Reader:
    """Makes values of the tables of one text, and knows where each of them stands."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults
        self._tables: dict[tuple[str, str], Table] = {}
        self._known: dict[str, str] = {}
        self.has_lost = False
        """A table could not be read, so that it is not known what its name was."""

    def directory(self, tables: list[Table]) -> Directory:
        head, *others = tables
        self._tables["", ""] = head
        found: dict[str, list[Any]] = {kind.into: [] for kind in KINDS.values()}  # Any: one list for each kind
        for table in others:
            if table.kind == LOST:
                self.has_lost = True
            elif table.kind not in KINDS:
                self.has_lost = True
                kinds = ", ".join(KINDS)
                hint = nearest_word(table.kind, KINDS)
                self._faults.note(table.at, f"one of the tables {kinds}", found=quoted(table.kind), hint=hint)
            elif self._is_named(table):
                kind = KINDS[table.kind]
                fields = self._fields(table, kind.keys)
                found[kind.into].append(kind.make(**{kind.names: table.name, **fields}))
            else:
                self.has_lost = True
        fields = self._fields(head, HEAD)
        fields.update((into, tuple(values)) for into, values in found.items())
        return Directory(**fields)

    def offset(self, place: Place) -> int:
        """Give where something stands that was found to be wrong."""
        table = self._tables[place.kind, key_of(place.name)]
        if place.key not in table.places:
            return table.at
        at = table.places[place.key]
        return at if place.item is None else item_place(self._text, at, number=place.item)

    def _is_named(self, table: Table) -> bool:
        if not self._faults.is_sound_name(table.name, table.at, what=f"the name of the {table.kind}"):
            return False
        if KINDS[table.kind].is_address:
            table.name = self._one(self._address(table.name, table.at))
        known = self._tables.setdefault((table.kind, key_of(table.name)), table)
        if known is not table:
            line, _ = self._faults.place(known.at)
            hint = f"it stands in line {line} already; names are the same whatever their case"
            self._faults.note(table.at, f"each {table.kind} once", found=quoted(table.name, 80), hint=hint)
        return known is table

    # Any: the fields of several kinds of values.
    def _fields(self, table: Table, keys: Mapping[str, Key]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for name, value in table.values.items():
            key = keys.get(name)
            if key is None:
                known = nearest_word(name, keys) or f"{table.kind or 'the head'} knows {', '.join(keys)}"
                at = self._text.rfind(name, 0, table.places[name])
                self._faults.note(at, "a key that is known", found=quoted(name), hint=known, length=len(name))
            else:
                fields[key.field] = _READERS[key.shape](self, value, table.places[name])
        return fields

    # --- values -------------------------------------------------------------------------------------------------------

    def text(self, value: Value, at: int) -> str:
        if not isinstance(value, str):
            self._faults.note(at, "a text in quotes", found=_shown(value))
            return ""
        return self._one(value) if not value or self._faults.is_sound_name(value, at, what="a name") else ""

    def truth(self, value: Value, at: int) -> bool:
        if not isinstance(value, bool):
            self._faults.note(at, "true or false", found=_shown(value))
        return value is True

    def texts(self, value: Value, at: int) -> tuple[str, ...]:
        """Read names, of which those of addresses are spelt as the house spells them."""
        return self._each(value, at, lambda name, place: self._address(name, place) if "@" in name else name)

    def addresses(self, value: Value, at: int) -> tuple[str, ...]:
        return self._each(value, at, self._address)

    def absences(self, value: Value, at: int) -> tuple[Absence, ...]:
        if not isinstance(value, list) or len(value) > MAX_ABSENCES:
            expected = f"a list of at most {MAX_ABSENCES}, such as [{{ from = 2026-12-20, until = 2027-01-06 }}]"
            self._faults.note(at, expected, found=_shown(value))
            return ()
        return tuple(self._absence(item, self._item(at, number)) for number, item in enumerate(value))

    def _absence(self, value: Value, at: At) -> Absence:
        if not isinstance(value, dict) or not value.keys() <= ABSENCE.keys():
            self._faults.note(at, "an absence such as { from = 2026-12-20, until = 2027-01-06 }", found=_shown(value))
            return Absence()
        first, last, reason = value.get("from"), value.get("until"), value.get("reason", "")
        for edge in (first, last):
            if edge is not None and not isinstance(edge, date):
                self._faults.note(at, "a day or a time without quotes", found=_shown(edge))
                return Absence()
        if not isinstance(reason, str) or (reason and not self._faults.is_sound_name(reason, at, what="a reason")):
            return Absence()
        assert isinstance(first, date | None)
        assert isinstance(last, date | None)
        absence = Absence(first, last, reason)
        begin, end = absence.span(UTC)
        if begin is None and end is None:
            self._faults.note(at, "an absence with a beginning or an end", found="neither")
        elif begin is not None and end is not None and begin >= end:
            self._faults.note(at, "an absence that ends behind its beginning", found=f"from {first} until {last}")
        return absence

    def _each(self, value: Value, at: int, read: Callable[[str, At], str]) -> tuple[str, ...]:
        if not isinstance(value, list):
            self._faults.note(at, 'a list such as ["Ann", "Ben"]', found=_shown(value))
            return ()
        found: dict[str, str] = {}
        for number, item in enumerate(value):
            place = self._item(at, number)
            if not isinstance(item, str):
                self._faults.note(place, "a text in quotes", found=_shown(item))
            elif self._faults.is_sound_name(item, place, what="a name"):
                name = self._one(read(item, place))
                if found.setdefault(key_of(name), name) is not name:
                    self._faults.note(place, "each name once", found=quoted(name, 80))
        return tuple(found.values())

    def _one(self, name: str) -> str:
        """Give the same text for the same name, so that many who name one keep it in memory once."""
        return self._known.setdefault(name, name)

    def _item(self, at: int, number: int) -> At:
        return partial(item_place, self._text, at, number=number)

    def _address(self, text: str, at: At) -> str:
        try:
            return short_address(text)
        except MalformedName as malformed:
            self._faults.note(at, "an address", found=quoted(text, 80), hint=malformed.reason)
            return text


def _shown(value: Value) -> str:
    return quoted(value, 40) if isinstance(value, str) else _WORDS.get(type(value), "a day")


_WORDS: Final = {bool: "true or false", list: "a list", dict: "a table"}
# `...`: each reads what its own shape asks for.
_READERS: Final[Mapping[Shape, Callable[..., Any]]] = {  # Any: a field of some kind of value
    "text": _Reader.text,
    "texts": _Reader.texts,
    "addresses": _Reader.addresses,
    "truth": _Reader.truth,
    "absences": _Reader.absences,
}
