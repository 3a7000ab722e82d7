"""What an office has decided about gating once for all: the book `policy`, read into one frozen value.

docs/reference/policy.md lists every setting; nothing that is not written there is understood.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from posthouse.errors import PosthouseError
from posthouse.gate.calendar import Span, Unit

BOOK: Final = "policy"
NoRule = Literal["review", "release", "return", "extend"]
FourEyes = Literal["activate", "release", "return", "delete"]
Digest = Literal["off", "daily"]
Mode = Literal["rank", "first"]
TellSender = Literal["no", "yes", "with reason"]

_MOST: Final = 10_000
_LONGEST: Final = 500
_HOURS: Final = 24
_SPAN: Final = re.compile(r"([0-9]{1,6}) (second|minute|hour|day|week)s?")


class MalformedPolicy(PosthouseError):
    """A text that is not a policy of this office: at which setting, what was expected, what was found."""

    code: ClassVar[str] = "policy.malformed"
    public: ClassVar[str] = "The policy cannot be read."


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for one gatekeeper, or for all that say nothing else."""

    inbox: Span = Span(10)
    """How long a message lies in the inbox before the gatekeeper's rules are asked."""
    no_rule: NoRule = "review"
    """What is done on expiry where none of them fires."""
    extensions: int = 3
    """How often `extend` gives it one interval more, before it goes to the review list after all."""
    opened_counts_as_handled: bool = False
    """Whether a message that was opened, but not decided on, is left alone on expiry."""
    digest: Digest = "off"
    """Whether the gatekeeper is told each morning what expires soon and what was handled by itself."""
    mode: Mode = "first"
    """Whether the gatekeeper's rules are asked until one fires, or all of them and the highest rank counts."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The whole policy; an office without one goes by these defaults."""

    zone: str = "UTC"
    """The time zone of the office: its days begin there at midnight."""
    rules: Mode = "rank"
    """Whether the rules of the office are all asked and the highest rank counts, or the first one that fires."""
    single_action: bool = False
    """Whether exactly one action is carried out, copies and notices included."""
    undo: Span = Span(30, "seconds")
    """How long a decision can be taken back; nothing leaves the office before."""
    max_passes: int = 5
    """How often the rules may gate one message."""
    max_forwards: int = 5
    """How often one message may be forwarded between gatekeepers."""
    hop_limit: int = 50
    """How many stops one case may make."""
    auto_release_innoculates: bool = True
    """Whether a release by a gatekeeper's rules counts like one by a person."""
    edit_voids_innoculation: bool = False
    """Whether a later edit makes those who reviewed the text before it count as not asked."""
    four_eyes: tuple[FourEyes, ...] = ()
    """What needs a second person to agree."""
    tell_sender: TellSender = "no"
    """Whether a sender hears that the message waits, where no rule says it."""
    tell_sender_of_edit: bool = False
    """Whether a sender hears that a reviewer changed the text."""
    reviewed_header: bool = False
    """Whether a released mail bears the header `X-Reviewed`."""
    edit_note: str = "[This message was changed by a reviewer.]"
    """The line put before a text that was changed; empty for none."""
    warn_gatekeeper: Span = Span(10)
    """After what time in the review list or a plain mailbag its gatekeeper is told."""
    warn_administrator: Span = Span(30)
    """After what time the administrator is told."""
    retention: Span = Span(365)
    """How long the record of a decided case is kept."""
    wake: Span = Span(60, "seconds")
    """How long the desk sleeps at most before it looks what is due."""
    digest_hour: int = 7
    """The hour of the day at which digests are written."""
    inbox: Span = Span(10)
    no_rule: NoRule = "review"
    extensions: int = 3
    opened_counts_as_handled: bool = False
    digest: Digest = "off"
    mode: Mode = "first"
    gatekeepers: Mapping[str, Habits] = MappingProxyType({})
    """Those with habits of their own, by role in lower case."""

    def habits(self, gatekeeper: str) -> Habits:
        """Give what holds for one gatekeeper."""
        own = self.gatekeepers.get(gatekeeper.casefold())
        if own is not None:
            return own
        return Habits(**{name: getattr(self, name) for name in Habits.__struct_fields__})

    @property
    def tzinfo(self) -> tzinfo:
        """The time zone itself."""
        return _zone(self.zone)


DEFAULT: Final = Policy()


def read_policy(text: str) -> Policy:
    """Read the text of the book; raises an ExceptionGroup of all its faults."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ExceptionGroup("the policy cannot be used", [MalformedPolicy(f"expected TOML, found: {fault}")]) from None
    faults: list[MalformedPolicy] = []
    people = table.pop("gatekeeper", {})
    known = _read(table, _kinds(Policy), faults)
    known["gatekeepers"] = MappingProxyType(dict(_gatekeepers(people, known, faults)))
    if faults:
        raise ExceptionGroup("the policy cannot be used", faults)
    return Policy(**known)


def _gatekeepers(
    people: object, policy: Mapping[str, Any], faults: list[MalformedPolicy]
) -> Iterator[tuple[str, Habits]]:
    if not isinstance(people, dict):
        faults.append(_wrong("gatekeeper", 'tables such as [gatekeeper."Compliance"]', people))
        return
    usual = {name: policy[name] for name in Habits.__struct_fields__ if name in policy}
    for role, table in people.items():
        place = f'gatekeeper."{role}"'
        if isinstance(table, dict):
            yield role.casefold(), Habits(**usual | _read(table, _kinds(Habits), faults, place=f"{place}."))
        else:
            faults.append(_wrong(place, "a table", table))


# `Any`: what TOML holds and what a field wants.
def _read(
    table: Mapping[str, Any], kinds: Mapping[str, Any], faults: list[MalformedPolicy], *, place: str = "",
) -> dict[str, Any]:  # fmt: skip
    read: dict[str, Any] = {}
    for name, value in table.items():
        if name not in kinds:
            near = get_close_matches(name, kinds, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(kinds)}"
            faults.append(MalformedPolicy("expected a setting of the policy", where=place + name, hint=hint))
            continue
        try:
            read[name] = _READERS.get(name, _by_type(kinds[name]))(value)
        except (ValueError, TypeError) as fault:
            faults.append(_wrong(place + name, str(fault), value))
    return read


def _wrong(place: str, expected: str, found: object) -> MalformedPolicy:
    return MalformedPolicy(f"expected {expected}, found {found!r:.80}", where=place)


def _kinds(kind: type[Policy | Habits]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name != "gatekeepers"}


def _by_type(hint: Any) -> Any:
    if hint is Span:
        return read_span
    if hint is bool:
        return _truth
    if hint is int:
        return _count
    if hint is str:
        return _text
    return lambda value: _choice(value, get_args(hint))


def read_span(value: object) -> Span:
    """Read a length of time such as `10 days` or `90 minutes`."""
    found = _SPAN.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError('a length of time such as "10 days", "12 hours" or "30 seconds"')
    count, unit = int(found[1]), found[2]
    if unit == "week":
        return Span(count * 7)
    units: dict[str, Unit] = {"second": "seconds", "minute": "minutes", "hour": "hours", "day": "days"}
    return Span(count, units[unit])


def _waiting(value: object) -> Span:
    span = read_span(value)
    if span.count == 0:
        raise ValueError("a length of time above zero")
    return span


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError(f"a whole number from 0 to {_MOST}")
    return value


def _hour(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _HOURS:
        raise ValueError("an hour of the day from 0 to 23")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not (value.isprintable() or not value):
        raise ValueError(f"one line of text of at most {_LONGEST} characters")
    return value


def _choice(value: object, choices: tuple[str, ...]) -> str:
    if value not in choices or not isinstance(value, str):
        raise ValueError(" or ".join(f'"{choice}"' for choice in choices))
    return value


def _several(value: object) -> tuple[str, ...]:
    choices = get_args(FourEyes)
    if not isinstance(value, list) or any(one not in choices for one in value):
        raise ValueError("a list of " + ", ".join(f'"{choice}"' for choice in choices))
    return tuple(dict.fromkeys(value))


def _zone_name(value: object) -> str:
    try:
        if isinstance(value, str) and value:
            _zone(value)
            return value
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise ValueError('a time zone such as "Europe/Berlin"')


# `Any`: each reader gives what its field wants.
_READERS: Final[Mapping[str, Any]] = {
    "zone": _zone_name,
    "four_eyes": _several,
    "inbox": _waiting,
    "warn_gatekeeper": _waiting,
    "warn_administrator": _waiting,
    "wake": _waiting,
    "digest_hour": _hour,
}


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    return ZoneInfo(name)
