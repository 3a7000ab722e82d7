"""Scopes and permits: what a key or an account permits, as values. Nothing here asks who somebody is."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Literal, get_args

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.name import LOCAL, MalformedName, OfficeName, parse_mailbox

MOST_SCOPES: Final = 50
_LONGEST: Final = 200
_WRITTEN: Final = re.compile(r"(send as|read) +(\S+)|(review) +(\S(?:.*\S)?)")
_PATTERN: Final = re.compile(r"[^\x00-\x1f\x7f]+")

Duty = Literal["write rules", "edit organisation", "audit", "administer"]
"""What is permitted as a whole; none of them includes another."""
Kind = Literal["send", "read", "review"] | Duty

DUTIES: Final[tuple[Duty, ...]] = get_args(Duty)
_PLAIN: Final[dict[str, Duty]] = {duty: duty for duty in DUTIES}


class MalformedScope(PosthouseError):
    """Text that is no scope of a key."""

    code: ClassVar[str] = "scope.malformed"
    public: ClassVar[str] = "The scope is malformed."


class Scope(msgspec.Struct, frozen=True, gc=False):
    """One thing a key permits; in the pattern `*` stands for any characters, or none."""

    kind: Kind
    pattern: str = ""

    def reaches(self, here: bool) -> bool:  # noqa: FBT001 - a fact about the name, not a switch
        """Say whether names of this office, or of others, are meant: `h*` must not cover `http://elsewhere#ada`."""
        return here or self.pattern == "*" or "#" in self.pattern

    def __str__(self) -> str:
        if self.kind in _PLAIN:
            return self.kind
        return f"{'send as' if self.kind == 'send' else self.kind} {self.pattern}"


class Permit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Who asks, and what they may ask for."""

    principal: str
    """`key` and the id of the credential: idempotency keys belong to it, and the trace shows it."""
    credential: str
    """The id of the credential; of an account `account` and its name."""
    name: str
    scopes: tuple[Scope, ...]
    address: str = ""
    """Who it is to the organisation; empty for a key."""
    roles: tuple[str, ...] = ()
    """The roles this address holds or deputises by the organisation in force: it may review as each of them."""

    @property
    def is_account(self) -> bool:
        """Say whether a person asks who signed in, and no program with a key."""
        return self.credential.startswith("account ")

    @property
    def signature(self) -> str:
        """Who acts, as decisions and the audit name it: the name of an account, the name and the id of a key."""
        return self.name if self.is_account else f"{self.name} ({self.principal})"

    @property
    def administers(self) -> bool:
        """Say whether the office may be looked after; what is held there is not seen by that."""
        return self.may("administer")

    @property
    def reviews(self) -> bool:
        """Say whether there is any role to review as."""
        return bool(self.roles) or any(scope.kind == "review" for scope in self.scopes)

    def may(self, duty: Duty) -> bool:
        """Say whether a duty is permitted, by itself."""
        return any(scope.kind == duty for scope in self.scopes)

    def acts_as(self, role: str) -> bool:
        """Say whether somebody may review as a role: by a scope, or because the organisation says so."""
        # A role is the same however it is written.
        wanted = role.casefold()
        return wanted in {own.casefold() for own in self.roles} or any(
            scope.kind == "review" and _matches(scope.pattern.casefold(), wanted) for scope in self.scopes
        )

    @property
    def acts_as_all(self) -> bool:
        """Say whether somebody may review as every role there is."""
        return any(scope.kind == "review" and scope.pattern == "*" for scope in self.scopes)

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
    """Read `send as PATTERN`, `read PATTERN`, `review ROLE`, or one of the duties."""
    written = text.strip()
    if written in _PLAIN:
        return Scope(_PLAIN[written])
    found = _WRITTEN.fullmatch(written)
    if found is None or len(text) > _LONGEST or not _PATTERN.fullmatch(found[2] or found[4]):
        raise MalformedScope(
            f"expected `send as NAME`, `read MAILBOX`, `review ROLE`, {', '.join(f'`{duty}`' for duty in DUTIES[:-1])} "
            f"or `{DUTIES[-1]}`, found {text[:_LONGEST]!r}",
            hint="a name may hold * for any characters, such as `read orders*`",
        )
    if found[3]:
        return Scope("review", found[4])
    return Scope("send" if found[1] == "send as" else "read", found[2])


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
