"""The digest of a gatekeeper: what expires within a day, and what was handled by itself since yesterday, by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from posthouse.gate.calendar import Span
from posthouse.gate.policy import Policy
from posthouse.message.case import INBOX, Docket

DAY: Final = Span(24, "hours").microseconds
_BY_ITSELF: Final = frozenset({"rules", "mailbag", "retain date"})
_DONE: Final = {
    "case.released": "released", "case.returned": "returned", "case.deleted": "deleted", "case.purged": "deleted",
    "case.forwarded": "forwarded", "case.gated-further": "gated further", "case.filed": "filed",
    "case.listed": "put into the review list",
}  # fmt: skip


class Handled(NamedTuple):
    """What was done by itself: what, by which rule, how often."""

    gatekeeper: str
    done: str
    by: str


def wants_digests(policy: Policy) -> bool:
    """Say whether any gatekeeper may want one."""
    return policy.digest == "daily" or any(habits.digest == "daily" for habits in policy.gatekeepers.values())


def handled(act: str, payload: bytes | None, *, actor: str) -> Handled | None:
    """Read a line of the audit; none where it tells of nothing that was handled by itself."""
    if act not in _DONE or not payload:
        return None
    # `Any`: what is recorded, each act its own.
    said: Mapping[str, Any] = msgspec.msgpack.decode(payload)
    if said.get("by") not in _BY_ITSELF:
        return None
    return Handled(str(said.get("gatekeeper", "")), _DONE[act], f"rule {said['rule']}" if said.get("rule") else actor)


def expiring(dockets: Iterable[Docket], *, now: int) -> list[Docket]:
    """Give what expires within a day."""
    return [
        docket for docket in dockets
        if docket.folder == INBOX and docket.expires is not None and docket.expires <= now + DAY
    ]  # fmt: skip


def written(gatekeeper: str, *, soon: Iterable[Docket], counts: Counter[Handled]) -> tuple[str, str] | None:
    """Give subject and text of a digest; none where there is nothing to tell."""
    coming = sorted(soon, key=lambda docket: docket.expires or 0)
    own = sorted((one, count) for one, count in counts.items() if one.gatekeeper.casefold() == gatekeeper.casefold())
    total = sum(count for _, count in own)
    if not coming and not total:
        return None
    lines = [f"{_messages(len(coming))} before {gatekeeper} will be reviewed by rule within 24 hours."]
    lines += [f"  {docket.subject or docket.message} from {docket.sender or 'nobody'}" for docket in coming[:_SHOWN]]
    if len(coming) > _SHOWN:
        lines.append(f"  and {len(coming) - _SHOWN} more")
    lines += ["", f"{_messages(total)} handled by itself since the day before."]
    lines += [f"  {count} {one.done} by {one.by}" for one, count in own]
    return f"{gatekeeper}: {len(coming)} expire soon, {total} handled", "\n".join(lines) + "\n"


_SHOWN: Final = 20


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
