"""A table of people in CSV, as spreadsheets and personnel systems write it, read as an organisation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from posthouse.matching.language.reader import nearest_word
from posthouse.message.name import MalformedName
from posthouse.message.spelling import quoted
from posthouse.organisation.address import short_address
from posthouse.organisation.directory import Directory
from posthouse.organisation.form.fault import Faults
from posthouse.organisation.form.people import Person, gather

COLUMNS: Final = {
    "address": ("address", "mail", "email", "email address", "mail address", "primary email", "work email", "smtp"),
    "name": ("name", "display name", "full name", "cn", "employee name"),
    "first": ("first name", "given name", "first", "forename"),
    "last": ("last name", "surname", "family name", "sn", "last"),
    "id": ("id", "employee id", "employee number", "personnel number", "user id", "uid", "sam account name", "number"),
    "role": ("role", "roles"),
    "title": ("title", "job title", "position", "job", "function"),
    "reports_to": (
        "reports to", "manager", "manager email", "manager id", "manager name", "supervisor", "line manager", "boss",
    ),
    "deputies": ("deputies", "deputy", "substitute", "stands in"),
    "unit": ("unit", "department", "dept", "ou", "division", "organizational unit", "org unit", "team"),
    "location": ("location", "office", "site", "city", "l", "physical delivery office name", "place"),
    "aliases": (
        "aliases", "alias", "other addresses", "other emails", "proxy addresses", "secondary emails", "also known as",
    ),
    "disabled": ("disabled", "is disabled", "inactive", "suspended"),
    "enabled": ("enabled", "active", "is active", "status", "account enabled", "account status"),
}  # fmt: skip
"""What a column holds, and how it may be called; case, blanks, dots, hyphens and underscores do not count."""
MAX_COLUMNS: Final = 200
_BY_NAME: Final = {re.sub(r"\W", "", name): field for field, names in COLUMNS.items() for name in names}
_YES: Final = frozenset({"yes", "true", "1", "x", "y", "active", "enabled", "disabled", "inactive", "suspended"})
_NO: Final = frozenset({"no", "false", "0", "", "n"})
_OFF: Final = frozenset({"disabled", "inactive", "suspended", "terminated", "left", "blocked"})
_SEPARATORS: Final = re.compile(r"[;,|\s]+")
_LISTED: Final = re.compile(r"\s*[;|]\s*")
_Row = list[tuple[str, int]]


def read_sheet(text: str) -> Directory:
    """Read a table of people; UnreadableText tells all its faults.

    The first line names the columns; columns with other names are passed over.
    """
    faults = Faults(text)
    rows = _rows(text, faults)
    header = next(rows, [])
    fields = _fields(header, faults)
    people: list[Person] = []
    for row in rows:
        if any(value for value, _ in row):
            if len(row) > len(header):
                value, at = row[len(header)]
                faults.note(at, f"{len(header)} columns, as in the first line", found=f"one more, {quoted(value, 40)}")
            people.append(_person(row, fields, faults))
    found = gather(people, (), faults=faults)
    faults.finish()
    return found


# --- the table --------------------------------------------------------------------------------------------------------


def _rows(text: str, faults: Faults) -> Iterator[_Row]:
    """Give each line as its values with their places."""
    delimiter = _delimiter(text)
    cell = re.compile(rf'[ ]*+(?:"((?:[^"]|"")*+)"[ ]*+|(?!")([^{delimiter}\r\n]*+))({delimiter}|\r?\n|\r|\Z)')
    at, row = int(text.startswith("\ufeff")), list[tuple[str, int]]()
    while at < len(text) or row:
        found = cell.match(text, at)
        if found is None or len(row) > MAX_COLUMNS:
            closes = "a quotation mark at the end of the value, or doubled inside it"
            faults.note(
                at, closes if found is None else f"at most {MAX_COLUMNS} columns", found=quoted(text[at : at + 40], 40)
            )
            return
        held, plain, end = found.groups()
        row.append((plain.strip() if held is None else held.replace('""', '"').strip(), at))
        at = found.end()
        if end != delimiter:
            yield row
            row = []


def _delimiter(text: str) -> str:
    head = text[: text.find("\n")] if "\n" in text else text
    return max((",", ";", "\t"), key=head[:10_000].count)


def _fields(header: _Row, faults: Faults) -> dict[str, int]:
    """Give which column holds what."""
    fields: dict[str, int] = {}
    for number, (name, at) in enumerate(header):
        field = _BY_NAME.get(re.sub(r"[\W_]", "", name.casefold()))
        if field is not None:
            if field in fields:
                faults.note(
                    at, f"one column with the {field.replace('_', ' ')}", found=f"a second one, {quoted(name, 40)}"
                )
            fields[field] = number
    if "address" not in fields:
        near = next((hint for name, _ in header if (hint := nearest_word(name, COLUMNS["address"]))), None)
        found = ", ".join(quoted(name, 40) for name, _ in header[:10]) or "nothing"
        faults.note(0, "a first line with the names of columns, one of them address", found=found, hint=near)
        faults.give_up()
    return fields


# --- one line ---------------------------------------------------------------------------------------------------------


def _person(row: _Row, fields: dict[str, int], faults: Faults) -> Person:
    values = {field: row[number] for field, number in fields.items() if number < len(row) and row[number][0]}
    places = {field: at for field, (_, at) in values.items()}
    text = {field: value for field, (value, _) in values.items()}
    for field, (value, at) in values.items():
        if field not in _MANY and not faults.is_sound_name(value, at, what="a value"):
            text[field] = ""
    address = _address(text.get("address", ""), places.get("address", 0), faults)
    return Person(
        at=row[0][1],
        places=places,
        keys=(text["id"],) if text.get("id") else (),
        address=address,
        name=text.get("name", "") or " ".join(filter(None, (text.get("first"), text.get("last")))),
        aliases=tuple(_aliases(text.get("aliases", ""), places.get("aliases", 0), faults)),
        role=text.get("role", ""),
        title=text.get("title", ""),
        reports_to=text.get("reports_to", ""),
        deputies=tuple(dict.fromkeys(filter(None, _LISTED.split(text.get("deputies", ""))))),
        unit=text.get("unit", ""),
        location=text.get("location", ""),
        is_disabled=_is_off(values, faults),
    )


_MANY: Final = frozenset({"aliases", "deputies"})


def _address(text: str, at: int, faults: Faults) -> str:
    if not text:
        return ""
    try:
        return short_address(text)
    except MalformedName as malformed:
        faults.note(at, "an address", found=quoted(text, 80), hint=malformed.reason)
        return ""


def _aliases(text: str, at: int, faults: Faults) -> Iterator[str]:
    for alias in filter(None, _SEPARATORS.split(text)):
        kind, sign, rest = alias.partition(":")
        # Directories write other kinds of addresses into the same field: sip, x500, x400.
        if not sign or kind.lower() == "smtp":
            address = _address(rest if sign else alias, at, faults)
            if address:
                yield address


def _is_off(values: dict[str, tuple[str, int]], faults: Faults) -> bool:
    for field in ("disabled", "enabled"):
        value, at = values.get(field, ("", 0))
        word = value.casefold()
        if word not in _YES | _NO | _OFF:
            faults.note(at, "yes or no", found=quoted(value, 40))
        elif word in _OFF or (value and (word in _YES) == (field == "disabled")):
            return True
    return False
