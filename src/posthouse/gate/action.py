"""The table of actions: where each can be used, which rank it has, and whether it stands beside the ranked ones.

docs/reference/actions.md is the same table in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from posthouse.gate.ruling import Course
from posthouse.matching.language.rule.rule import ActionName

POSTMASTER: Final = "postmaster"
"""The role that a message goes to where a rule cannot say to whom."""


class Place(msgspec.Struct, frozen=True):
    """Where one action stands in the table."""

    at_office: bool
    """The rules of an office can say it."""
    by_gatekeeper: bool
    """The rules of a gatekeeper can say it."""
    rank: int | None = None
    """Among the actions of an office, of which one is carried out; none where it is carried out beside it."""
    course: Course | None = None
    """What becomes of the message where it wins."""
    alone: int = 0
    """The rank of what stands beside, where one action alone may be carried out."""


TABLE: Final[Mapping[ActionName, Place]] = MappingProxyType({
    "gate": Place(True, True, 100, "gate"),
    "defer": Place(True, False, 80, "defer"),
    "return": Place(True, True, 60, "return"),
    "delete": Place(True, True, 50, "delete"),
    "forward": Place(True, True, 40, "forward"),
    "release": Place(True, True, 20, "release"),
    "copy": Place(True, True, alone=10),
    "notify": Place(True, True, alone=5),
    "review": Place(False, True, 30, "review"),
    "file": Place(False, True, 25, "file"),
})  # fmt: skip


def side_of(name: ActionName) -> Literal["copy", "notify"] | None:
    """Give an action that is carried out beside the ranked ones; None for these."""
    return name if name == "copy" or name == "notify" else None  # noqa: PLR1714 - so that its type is known
