"""The message that an example of a rule describes, as a record: what is not said is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from posthouse.matching.language.rule.rule import Example, Fact
from posthouse.matching.predicate.node import Constant, Moment
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.column import COLUMNS, from_row
from posthouse.matching.value.record import Context, History, Record
from posthouse.matching.value.type import SECOND, Instant
from posthouse.message.attribute import Int32, Value
from posthouse.message.instant import from_microseconds

_SENDER: Final = "sender@example.com"
_MONDAY: Final = 1_767_571_200 * SECOND
"""5 January 2026, on which an example stands that says a time of day or a weekday only."""
_MAIL: Final = frozenset({"subject", "message.hidden", "is_signed", "is_encrypted", "header", "authentication"})
_MAIL_FAMILIES: Final = ("mail.", "from.", "to.", "cc.", "reply_to.", "attachment.")
_HISTORY: Final = frozenset({
    "history.fired_count", "history.offices", "history.proposed_actions", "history.gatekeepers", "history.last_action",
    "history.auto_released", "history.edited", "history.passes", "history.folder", "history.status",
    "history.retain_until",
})  # fmt: skip
_PEOPLE: Final = frozenset({
    f"{who}.{what}" for who in ("sender", "recipient") for what in ("role", "under", "location", "external")
})  # fmt: skip
SETTABLE: Final = frozenset({
    *(name for name in COLUMNS if name in CATALOGUE), *_HISTORY, *_PEOPLE, "attribute", "header", "levels_between",
    "now", "now.time", "now.weekday", "office.stat", "sender.stat", "authentication", "history.fired", "history.age",
})  # fmt: skip
"""What an example can say; all else follows from it."""


class Company(msgspec.Struct, frozen=True):
    """What an example says of its people."""

    roles: Mapping[str, tuple[str, ...]]
    higher: Mapping[str, tuple[str, ...]]
    """The roles above all roles of an address."""
    locations: Mapping[str, str]
    external: frozenset[str]
    levels: Mapping[str, int]

    def roles_of(self, address: str) -> tuple[str, ...]:
        return self.roles.get(address) or self.higher.get(address, ())

    def above(self, role: str) -> tuple[str, ...]:
        higher = [name for address, held in self.roles.items() if role in held for name in self.higher.get(address, ())]
        return tuple(dict.fromkeys((role, *higher)))

    def levels_between(self, lower: str, upper: str) -> int | None:
        return None if lower == upper else self.levels.get(upper)

    def location_of(self, address: str) -> str | None:
        return self.locations.get(address)

    def is_external(self, address: str) -> bool:
        return address in self.external


def record_of(example: Example) -> Record:
    """Give the record of an example that describes its message itself."""
    facts = {(fact.part.name, fact.part.argument): _values(fact) for fact in example.facts}
    row = _row_of(facts)
    record = from_row(row, _context(facts, row))
    attributes = {argument: _attribute(values) for (name, argument), values in facts.items() if name == "attribute"}
    return msgspec.structs.replace(record, attributes=attributes)


# What an example says: the values of each part, as many types as there are parts.
_Facts = Mapping[tuple[str, str | None], tuple[Any, ...]]


def _values(fact: Fact) -> tuple[Any, ...]:
    return tuple(_value(constant) for constant in fact.values)


def _value(constant: Constant) -> object:
    if isinstance(constant, Moment) and constant.type == "instant":
        return Instant(constant.value)
    return constant.value


def _attribute(values: tuple[Any, ...]) -> Value:
    found = tuple(_plain(value) for value in values)
    return found[0] if len(found) == 1 else found


def _plain(value: object) -> Value:
    if isinstance(value, Instant):
        return from_microseconds(value) or datetime.max.replace(tzinfo=UTC)
    # An attribute has no truth; what is said to be true travels as 1.
    return Int32(value) if isinstance(value, bool) else value  # type: ignore[return-value]  # a constant's value


# --- the message ------------------------------------------------------------------------------------------------------


def _row_of(facts: _Facts) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: list(values) if COLUMNS[name].startswith("[") else values[0]
        for (name, _), values in facts.items()
        if name in COLUMNS and name != "attribute"
    }
    if "attachment.sha256" in row:
        row["attachment.sha256"] = [_octets(written) for written in row["attachment.sha256"]]
    names = [name for name, _ in facts]
    row["is_mail"] = any(name in _MAIL or name.startswith(_MAIL_FAMILIES) for name in names)
    row.setdefault("message.kind", "mail" if row["is_mail"] else "object")
    if any(name.startswith("sender.") or name == "levels_between" for name in names):
        row.setdefault("sender.address", _SENDER)
    many = max((len(values) for (name, _), values in facts.items() if _is_of_recipients(name)), default=0)
    known = row.get("recipient.address", [])
    row["recipient.address"] = [*known, *(f"recipient{place + 1}@example.com" for place in range(len(known), many))]
    headers = [(argument, value) for (name, argument), values in facts.items() if name == "header" for value in values]
    row["header.name"] = [str(name).lower() for name, _ in headers]
    row["header.value"] = [value for _, value in headers]
    row["authentication"] = {
        str(argument).lower(): values[0] for (name, argument), values in facts.items() if name == "authentication"
    }
    for family in ("from", "to", "cc", "reply_to"):
        _level(row, f"{family}.name", f"{family}.address", empty="")
    if row["is_mail"]:
        row.setdefault("attachment.name", [])
        _level(row, *(name for name in COLUMNS if name.startswith("attachment.")), empty=None)
        row["attachment.type"] = [kind or "application/octet-stream" for kind in row["attachment.type"]]
        row["attachment.name"] = [name or "" for name in row["attachment.name"]]
    return row


def _octets(written: str) -> bytes | None:
    try:
        return bytes.fromhex(written)
    except ValueError:
        return None


def _is_of_recipients(name: str) -> bool:
    return name == "levels_between" or (name.startswith("recipient.") and name != "recipient.count")


def _level(row: dict[str, Any], *names: str, empty: str | None) -> None:
    """Make lists that stand beside each other equally long."""
    longest = max(len(row.get(name) or ()) for name in names)
    for name in names:
        values = list(row.get(name) or ())
        row[name] = values + [empty] * (longest - len(values))


# --- what is handed in beside it --------------------------------------------------------------------------------------


def _context(facts: _Facts, row: Mapping[str, Any]) -> Context:
    now = _now(facts)
    return Context(
        now=now,
        organisation=_company(facts, row),
        office_statistics={str(argument): value for argument, value in _figures(facts, "office.stat")},
        sender_statistics={str(argument): value for argument, value in _figures(facts, "sender.stat")},
        history=_history(facts, now),
    )


def _now(facts: _Facts) -> int:
    (now,) = facts.get(("now", None), (_MONDAY,))
    for (name, _), values in facts.items():
        if name == "now.time":
            now += values[0] * SECOND
        elif name == "now.weekday":
            now += (values[0] - 1) * 86_400 * SECOND
    return int(now)


def _figures(facts: _Facts, family: str) -> Iterator[tuple[str | None, Any]]:
    return ((argument, values[0]) for (name, argument), values in facts.items() if name == family)


def _company(facts: _Facts, row: Mapping[str, Any]) -> Company:
    sender, recipients = row.get("sender.address", _SENDER), row["recipient.address"]

    def said(what: str) -> dict[str, Any]:
        """Give what is said of each address; the values of recipients belong to them one by one."""
        found = dict(zip(recipients, facts.get((f"recipient.{what}", None), ()), strict=False))
        if (f"sender.{what}", None) in facts:
            found[sender] = facts[f"sender.{what}", None]
        return found

    def as_tuple(value: object) -> tuple[Any, ...]:
        return value if isinstance(value, tuple) else (value,)

    return Company(
        roles={address: as_tuple(value) for address, value in said("role").items()},
        higher={address: as_tuple(value) for address, value in said("under").items()},
        locations={address: as_tuple(value)[0] for address, value in said("location").items()},
        external=frozenset(address for address, value in said("external").items() if as_tuple(value)[0]),
        levels=dict(zip(recipients, facts.get(("levels_between", None), ()), strict=False)),
    )


def _history(facts: _Facts, now: int) -> History | None:
    if not any(name.startswith("history.") for name, _ in facts):
        return None
    fields: dict[str, Any] = {}
    for (name, _), values in facts.items():
        if name in _HISTORY:
            fields[name.removeprefix("history.")] = values if CATALOGUE[name].is_many else values[0]
    fields["fired"] = tuple(
        argument for (name, argument), values in facts.items() if name == "history.fired" and values[0]
    )
    age = facts.get(("history.age", None))
    fields["since"] = None if age is None else now - age[0]
    return History(**fields)
