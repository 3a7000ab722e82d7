"""Scopes and permits: what a credential permits, as values. Nothing here asks who somebody is."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Literal

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.name import LOCAL, MalformedName, OfficeName, parse_mailbox

MOST_SCOPES: Final = 50
_LONGEST: Final = 200
_WRITTEN: Final = re.compile(r"(administer)|(send as|read) +(\S+)")
_PATTERN: Final = re.compile(r"[^\s\x00-\x1f\x7f]+")


class MalformedScope(PosthouseError):
    """Text that is no scope of a key."""

    code: ClassVar[str] = "scope.malformed"
    public: ClassVar[str] = "The scope is malformed."


class Scope(msgspec.Struct, frozen=True, gc=False):
    """One thing a key permits; in the pattern `*` stands for any characters, or none."""

    kind: Literal["send", "read", "administer"]
    pattern: str = ""

    def reaches(self, here: bool) -> bool:  # noqa: FBT001 - a fact about the name, not a switch
        """Say whether names of this office, or of others, are meant: `h*` must not cover `http://elsewhere#ada`."""
        return here or self.pattern == "*" or "#" in self.pattern

    def __str__(self) -> str:
        if self.kind == "administer":
            return self.kind
        return f"{'send as' if self.kind == 'send' else 'read'} {self.pattern}"


class Permit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Who asks, and what they may ask for."""

    principal: str
    """`key` and the id of the credential: idempotency keys belong to it, and the trace shows it."""
    credential: str
    """The id of the credential."""
    name: str
    scopes: tuple[Scope, ...]

    @property
    def administers(self) -> bool:
        """Say whether everything is permitted that can be done from afar."""
        return any(scope.kind == "administer" for scope in self.scopes)

    def covers(self, kind: Literal["send", "read"], name: str, *, office: OfficeName) -> bool:
        """Say whether a name of this office is covered; `*` also covers names of other offices."""
        wanted, here = _plain(name, office)
        return any(
            scope.kind == "administer"
            or (scope.kind == kind and scope.reaches(here) and _matches(scope.pattern, wanted))
            for scope in self.scopes
        )

    def has(self, kind: Literal["send", "read"]) -> bool:
        """Say whether there is any scope of a kind."""
        return any(scope.kind in (kind, "administer") for scope in self.scopes)


def parse_scope(text: str) -> Scope:
    """Read `send as PATTERN`, `read PATTERN` or `administer`."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None or len(text) > _LONGEST or not _PATTERN.fullmatch(found[3] or "-"):
        raise MalformedScope(
            f"expected `send as NAME`, `read MAILBOX` or `administer`, found {text[:_LONGEST]!r}",
            hint="a name may hold * for any characters, such as `read orders*`",
        )
    if found[1]:
        return Scope("administer")
    return Scope("send" if found[2] == "send as" else "read", found[3])


def _plain(name: str, office: OfficeName) -> tuple[str, bool]:
    """Give a name of this office without the office, so that one name written in two ways is the same."""
    try:
        read = parse_mailbox(name)
    except MalformedName:
        return name, False
    here = read.office in (LOCAL, office)
    return (read.mailbox if here else str(read)), here


def _matches(pattern: str, name: str) -> bool:
    """Say whether a name fits; each part is looked for once, so no pattern makes the search take long."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == name
    last = rest.pop()
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    start, end = len(first), len(name) - len(last)
    for part in rest:
        found = name.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True
