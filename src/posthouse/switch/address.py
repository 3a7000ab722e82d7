"""The stage `address`: each recipient is a mailbox here or a place elsewhere, and every place is gone to once."""

from __future__ import annotations

from collections.abc import Sequence

from posthouse.message.journey import Journey, Target
from posthouse.message.name import MailboxName, MalformedName, parse_mailbox
from posthouse.message.passage import Facts, Passage
from posthouse.message.verdict import PASS, Verdict, refuse


def address(journeys: Sequence[Journey], facts: Facts) -> Passage:
    """Find the places of each message; one it cannot go to stops it, for half a delivery helps nobody."""
    going: list[Journey] = []
    stopped: list[Journey] = []
    for journey in journeys:
        targets, verdict = _targets(journey, facts)
        if verdict is PASS:
            going.append(journey.carrying(targets=targets))
        else:
            stopped.append(journey.carrying(verdict=verdict))
    return Passage(tuple(going), stopped=tuple(stopped))


def box_of(mailbox: str) -> str:
    """Give the box of a mailbox of this office."""
    return f"#{mailbox}"


def verdict_on(recipient: str, facts: Facts) -> Verdict:
    """Say whether a message could go to one recipient."""
    try:
        return _verdict(parse_mailbox(recipient), facts)
    except MalformedName as fault:
        return refuse(fault.code, str(fault))


def _targets(journey: Journey, facts: Facts) -> tuple[tuple[Target, ...], Verdict]:
    boxes: dict[str, list[str]] = {}
    for recipient in journey.luggage.envelope.everybody:
        try:
            name = parse_mailbox(recipient)
        except MalformedName as fault:
            return (), refuse(fault.code, str(fault))
        verdict = _verdict(name, facts)
        if verdict is not PASS:
            return (), verdict
        here = name.office in facts.here
        boxes.setdefault(box_of(name.mailbox) if here else str(name.office), []).append(str(name))
    return tuple(
        Target(box, "take" if box.startswith("#") else "deliver", tuple(names)) for box, names in boxes.items()
    ), PASS


def _verdict(name: MailboxName, facts: Facts) -> Verdict:
    if name.office in facts.here:
        setup = facts.register.setups.get(name.mailbox)
        if setup is None and facts.limits.listed_only:
            return refuse("mailbox.unknown", f"there is no mailbox {name.mailbox} here")
        if setup is not None and setup.closed:
            return refuse("mailbox.closed", f"the mailbox {name.mailbox} is closed", temporary=True)
    elif name.office.protocol not in facts.protocols:
        return refuse("protocol.unknown", f"this office has no door for {name.office.protocol}: names")
    return PASS
