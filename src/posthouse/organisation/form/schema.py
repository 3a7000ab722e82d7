"""What a book of the organisation may say: kinds of tables and their keys, in the order in which they are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from posthouse.organisation.directory import Group, Role, Unit, User

Shape = Literal["text", "texts", "addresses", "truth", "absences"]


class Key(msgspec.Struct, frozen=True):
    """One key of a table: the field of the value it fills, and what stands behind it."""

    field: str
    shape: Shape = "text"


class Kind(msgspec.Struct, frozen=True):
    """One kind of table."""

    make: type[Unit | Role | User | Group]
    names: str
    """The field that its own name fills."""
    into: str
    """The field of the directory that holds them all."""
    is_address: bool
    keys: Mapping[str, Key]


HEAD: Final[Mapping[str, Key]] = {
    "domains": Key("domains", "texts"),
    "office_administrator": Key("office_administrator"),
    "postmaster": Key("postmaster"),
}
KINDS: Final[Mapping[str, Kind]] = {
    "unit": Kind(
        Unit, "name", "units", is_address=False, keys={"part_of": Key("part_of"), "location": Key("location")}
    ),
    "role": Kind(
        Role, "name", "roles", is_address=False,
        keys={
            "reports_to": Key("reports_to"),
            "unit": Key("unit"),
            "holders": Key("holders", "addresses"),
            "deputies": Key("deputies", "texts"),
            "location": Key("location"),
        },
    ),
    "user": Kind(
        User, "address", "users", is_address=True,
        keys={
            "name": Key("name"),
            "aliases": Key("aliases", "addresses"),
            "location": Key("location"),
            "absences": Key("absences", "absences"),
            "disabled": Key("is_disabled", "truth"),
        },
    ),
    "group": Kind(
        Group, "address", "groups", is_address=True,
        keys={
            "name": Key("name"),
            "aliases": Key("aliases", "addresses"),
            "members": Key("members", "addresses"),
            "roles": Key("roles", "texts"),
        },
    ),
}  # fmt: skip
DEFAULTS: Final = {"text": "", "texts": (), "addresses": (), "truth": False, "absences": ()}
ABSENCE: Final[Mapping[str, str]] = {"from": "first", "until": "last", "reason": "reason"}
"""The keys of one absence, and the fields they fill."""
