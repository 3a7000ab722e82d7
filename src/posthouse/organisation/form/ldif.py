"""LDIF (RFC 2849) as directories export it, read as an organisation: people with titles and managers, and groups.

It reads records of content; records of changes and values that stand elsewhere are faults. Nothing is fetched.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

import msgspec

from posthouse.message.name import MalformedName
from posthouse.message.spelling import quoted
from posthouse.organisation.address import short_address
from posthouse.organisation.check import Shelf
from posthouse.organisation.directory import Directory, Group, key_of
from posthouse.organisation.form.fault import Faults
from posthouse.organisation.form.people import Person, gather

ATTRIBUTES: Final = {
    "name": ("displayname", "cn", "commonname"),
    "address": ("mail", "rfc822mailbox"),
    "aliases": ("proxyaddresses", "mailalternateaddress", "maillocaladdress", "othermailbox", "mailalias",
                "rfc822mailalias"),
    "title": ("title",),
    "reports_to": ("manager",),
    "unit": ("department", "ou", "organizationalunitname"),
    "location": ("l", "localityname", "physicaldeliveryofficename"),
    "members": ("member", "uniquemember"),
    "addresses": ("rfc822mailmember", "mgrprfc822mailmember", "rfc822member"),
    "disabled": ("nsaccountlock", "logindisabled", "accountdisabled"),
    "control": ("useraccountcontrol",),
    "class": ("objectclass",),
    "number": ("employeenumber", "employeeid", "uid", "samaccountname"),
}  # fmt: skip
"""What is read of an entry, and from which attributes; where several hold it, the first of these counts."""
GROUPS: Final = frozenset({
    "groupofnames", "groupofuniquenames", "group", "mailgroup", "rfc822mailgroup", "groupofmembers", "nismailalias",
})  # fmt: skip
PERSONS: Final = frozenset({"person", "organizationalperson", "inetorgperson", "user", "mailrecipient"})
OTHERS: Final = frozenset({"computer", "organizationalunit", "organization", "contact", "domain"})
_FIELDS: Final = {name: field for field, names in ATTRIBUTES.items() for name in names}
_RANKS: Final = {name: rank for names in ATTRIBUTES.values() for rank, name in enumerate(names)}
_LINE: Final = re.compile(r"([A-Za-z0-9.][A-Za-z0-9.-]*)((?:;[A-Za-z0-9-]+)*):(:|<)?[ ]*(.*)", re.DOTALL)
_FOLD: Final = re.compile(r"\r?\n ")
_DISABLED: Final = 2
"""The bit of userAccountControl that says so."""


class _Entry(msgspec.Struct, gc=False):
    at: int
    dn: str
    values: dict[str, list[tuple[int, str, int]]]
    """Of each field: rank of the attribute, value, place."""


def read_ldif(text: str) -> Directory:
    """Read what a directory exported; UnreadableText tells all its faults.

    Entries that are no people and no groups with an address are passed over.
    """
    faults = Faults(text)
    entries = list(_entries(text, faults))
    people = [_person(entry, faults) for entry in entries if _is_person(entry)]
    groups = list(_groups(entries, people, faults))
    found = gather(people, groups, faults=faults)
    faults.finish()
    return found


def dn_key(dn: str) -> str:
    """Give what distinguished names are compared by: without case, and without blanks around `,` and `=`."""
    plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: f"\\{chr(int(found[1], 16))}", dn)
    return re.sub(r"\s*(?<!\\)([,=+])\s*", r"\1", plain.strip()).casefold()


# --- lines ------------------------------------------------------------------------------------------------------------


def _entries(text: str, faults: Faults) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for at, line in _lines(text):
        if not line:
            if entry is not None:
                yield entry
            entry = None
        elif not line.startswith("#"):
            found = _LINE.fullmatch(line)
            if found is None:
                faults.note(at, "an attribute and its value, such as mail: ann@alpha.example", found=quoted(line, 40))
            elif entry is None:
                entry = _begin(found, at, faults)
            else:
                _add(entry, found, at, faults)
    if entry is not None:
        yield entry


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Give each line with those that continue it, and where it begins."""
    at = int(text.startswith("\ufeff"))
    while at < len(text):
        end = text.find("\n", at)
        while end >= 0 and text[end + 1 : end + 2] == " ":
            end = text.find("\n", end + 1)
        stop = len(text) if end < 0 else end
        line = text[at:stop].removesuffix("\r")
        yield at, _FOLD.sub("", line) if "\n" in line else line
        at = stop + 1


def _begin(found: re.Match[str], at: int, faults: Faults) -> _Entry | None:
    if found[1].lower() == "version":
        if found[4].strip() != "1":
            faults.note(at, "version: 1", found=quoted(found[4], 40))
        return None
    entry = _Entry(at, "", {})
    if found[1].lower() == "dn":
        entry.dn = _value(found, at, faults)
    else:
        faults.note(at, "a record that begins with dn:", found=quoted(found[1], 40))
        _add(entry, found, at, faults)
    return entry


def _add(entry: _Entry, found: re.Match[str], at: int, faults: Faults) -> None:
    name = found[1].lower()
    if name == "changetype" and found[4].strip().lower() != "add":
        faults.note(
            at, "records of content", found=f"changetype: {found[4][:40]}", hint="export the entries themselves"
        )
    field = _FIELDS.get(name)
    if field is None:
        return
    value = _value(found, at, faults).strip()
    is_multiple = field in ("members", "class", "aliases", "addresses")
    if value and (is_multiple or faults.is_sound_name(value[:1_000], at, what=f"a value of {found[1]}")):
        rank = _RANKS[name] + (100 if found[2] else 0)
        entry.values.setdefault(field, []).append((rank, value, at + found.start(4)))


def _value(found: re.Match[str], at: int, faults: Faults) -> str:
    """Give the text of a value."""
    if found[3] == "<":
        faults.note(at, "the value itself", found="the address of a value", hint="nothing is fetched")
        return ""
    if found[3] is None:
        return str(found[4])
    try:
        return b64decode(found[4].strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        faults.note(at, f"text in base64 and UTF-8 as the value of {found[1]}", found=quoted(found[4], 40))
        return ""


# --- entries ----------------------------------------------------------------------------------------------------------


def _all(entry: _Entry, field: str) -> list[tuple[int, str, int]]:
    return sorted(entry.values.get(field, ()), key=lambda held: held[0])


def _one(entry: _Entry, field: str) -> str:
    held = _all(entry, field)
    return held[0][1] if held else ""


def _classes(entry: _Entry) -> set[str]:
    return {value.lower() for _, value, _ in entry.values.get("class", ())}


def _is_person(entry: _Entry) -> bool:
    classes = _classes(entry)
    if classes & (GROUPS | OTHERS):
        return False
    return bool(classes & PERSONS) if classes else "address" in entry.values


def _person(entry: _Entry, faults: Faults) -> Person:
    addresses = _addresses(entry, faults)
    manager = _one(entry, "reports_to")
    control = _one(entry, "control")
    is_locked = _one(entry, "disabled").lower() in ("true", "yes", "1")
    return Person(
        at=entry.at,
        places={field: held[0][2] for field, held in entry.values.items()},
        keys=tuple(filter(None, (dn_key(entry.dn), _one(entry, "number")))),
        address=addresses[0] if addresses else "",
        name=_one(entry, "name"),
        aliases=tuple(addresses[1:]),
        title=_one(entry, "title"),
        reports_to=dn_key(manager) if "=" in manager else manager,
        unit=_one(entry, "unit") or _unit_in(entry.dn),
        location=_one(entry, "location"),
        is_disabled=is_locked or (control.isdecimal() and bool(int(control[:12]) & _DISABLED)),
    )


def _unit_in(dn: str) -> str:
    """Give the innermost unit a distinguished name stands in."""
    found = re.search(r"(?:^|(?<!\\),)\s*ou\s*=\s*((?:[^,\\]|\\.)+)", dn, re.IGNORECASE)
    unit = re.sub(r"\\(.)", r"\1", found[1]).strip() if found else ""
    return "" if unit.casefold() in ("people", "users", "persons", "staff", "accounts") else unit


def _addresses(entry: _Entry, faults: Faults) -> list[str]:
    """Give the address of an entry and then its others; of proxy addresses, `SMTP:` in capitals is the main one."""
    listed: list[tuple[int, str, int]] = []
    for rank, value, at in (*_all(entry, "address"), *_all(entry, "aliases")):
        kind, sign, rest = value.partition(":")
        if not sign:
            listed.append((rank, value, at))
        elif kind.lower() == "smtp":
            listed.append((0 if kind == "SMTP" else rank + 1, rest, at))
    if "address" not in entry.values:
        listed.sort(key=lambda held: held[0])
    return _canonical(listed, faults)


def _canonical(listed: list[tuple[int, str, int]], faults: Faults) -> list[str]:
    found: dict[str, str] = {}
    for _, value, at in listed:
        try:
            address = short_address(value)
        except MalformedName as malformed:
            faults.note(at, "an address", found=quoted(value, 80), hint=malformed.reason)
        else:
            found.setdefault(key_of(address), address)
    return list(found.values())


def _groups(entries: list[_Entry], people: list[Person], faults: Faults) -> Iterator[tuple[int, Group]]:
    """Give the groups that have an address."""
    addressed: dict[str, str] = {one.keys[0]: one.address for one in people if one.keys}
    groups = []
    for entry in entries:
        if _classes(entry) & GROUPS:
            addresses = _addresses(entry, faults)
            addressed[dn_key(entry.dn)] = addresses[0] if addresses else ""
            if addresses:
                groups.append((entry, addresses))
    shelf = Shelf("an entry", addressed)
    for entry, (address, *aliases) in groups:
        members: dict[str, str] = {}
        for _, dn, at in _all(entry, "members"):
            member = addressed.get(dn_key(dn))
            if member is None:
                faults.note(at, "a member who stands in the text", found=quoted(dn, 80), hint=shelf.hint(dn_key(dn)))
            elif member:
                members.setdefault(key_of(member), member)
        for member in _canonical(_all(entry, "addresses"), faults):
            members.setdefault(key_of(member), member)
        yield entry.at, Group(address, _one(entry, "name"), tuple(aliases), tuple(members.values()))
