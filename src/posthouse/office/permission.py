"""What a permit allows: one table over all calls, decided without asking anybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.message.name import OfficeName
from posthouse.office import calls
from posthouse.office.calls import Call, Handed, Story
from posthouse.office.permit import Permit


class NotPermitted(PosthouseError):
    """The key is good, but does not permit what was asked."""

    code: ClassVar[str] = "call.forbidden"
    public: ClassVar[str] = "The key does not permit this."


# `Any`: each rule belongs to the type of call it stands beside.
Rule = Callable[[Permit, Any, OfficeName], NotPermitted | None]


def permits(permit: Permit, call: Call[Any], *, office: OfficeName) -> NotPermitted | None:
    """Give why a call is not permitted, None where it is; the office is the one that is asked."""
    return RULES[type(call)](permit, call, office)


def permits_story(permit: Permit, story: Story, *, office: OfficeName) -> NotPermitted | None:
    """Say it of the life of one message: its sender may see it, and whoever may read what it was sent to."""
    envelope = story.envelope
    if permit.administers or envelope.principal == permit.principal:
        return None
    if any(permit.covers("read", name, office=office) for name in envelope.recipients):
        return None
    return _refusal("administer", "see this message")


def _refusal(scope: str, what: str) -> NotPermitted:
    return NotPermitted(f"the key does not permit to {what}", hint=f"that needs a key with the scope `{scope}`")


def _anybody(_permit: Permit, _call: Call[Any], _office: OfficeName) -> None:
    return None


def _nobody(_permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted:
    return NotPermitted(
        "this is done on the office's own machine only", hint="use the command line there: posthouse --help"
    )


def _administrator(permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted | None:
    return None if permit.administers else _refusal("administer", "look after the office")


def _sender(permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted | None:
    return None if permit.has("send") else _refusal("send as NAME", "send anything")


def _some_reader(permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted | None:
    # A large body is named by the hash of its content, which nobody knows who was not given the message.
    return None if permit.has("read") else _refusal("read MAILBOX", "read anything")


def _put(permit: Permit, call: calls.Put, office: OfficeName) -> NotPermitted | None:
    for parcel in call.parcels:
        refusal = permits_parcel(permit, parcel, office=office)
        if refusal is not None:
            return refusal
    return None if call.parcels else _sender(permit, call, office)


def permits_parcel(permit: Permit, parcel: Handed, *, office: OfficeName) -> NotPermitted | None:
    """Say it of one message."""
    return permits_sender(permit, parcel.envelope.sender, office=office)


def permits_sender(permit: Permit, sender: str | None, *, office: OfficeName) -> NotPermitted | None:
    """Say it of who sends: the envelope decides who that is, and one that names nobody needs `send as *`."""
    if permit.covers("send", sender or "", office=office):
        return None
    return _refusal(f"send as {sender or '*'}", f"send as {sender}" if sender else "send without a sender")


def _reader(permit: Permit, call: calls.TakeNext | calls.AwaitArrival, office: OfficeName) -> NotPermitted | None:
    return _reads(permit, call.mailbox, office)


def _reads(permit: Permit, mailbox: str, office: OfficeName) -> NotPermitted | None:
    return None if permit.covers("read", mailbox, office=office) else _refusal(f"read {mailbox}", f"read {mailbox}")


def _settler(permit: Permit, call: calls.SettleTaken, office: OfficeName) -> NotPermitted | None:
    for elsewhere, box in {(slip.office, slip.box) for slip in call.slips}:
        # What was taken out of a mailbox elsewhere is settled by whoever may read that mailbox.
        refusal = _reads(permit, f"{elsewhere}{box}", office) if elsewhere else _box(permit, box, office)
        if refusal is not None:
            return refusal
    return None if call.slips else _some_reader(permit, call, office)


def _box_of(permit: Permit, call: calls.ListQueue | calls.ListDead, office: OfficeName) -> NotPermitted | None:
    return _administrator(permit, call, office) if call.box is None else _box(permit, call.box, office)


def _box(permit: Permit, box: str, office: OfficeName) -> NotPermitted | None:
    """Boxes that begin with # are mailboxes here; all others are lines to places elsewhere."""
    if permit.administers:
        return None
    if not box.startswith("#"):
        return _refusal("administer", "look after the lines to other offices")
    return _reads(permit, box.removeprefix("#"), office)


RULES: Final[dict[type[Call[Any]], Rule]] = {
    calls.Put: _put,
    calls.TakeNext: _reader,
    calls.SettleTaken: _settler,
    calls.AwaitArrival: _reader,
    calls.BeginBody: _sender,
    calls.AddToBody: _sender,
    calls.EndBody: _sender,
    calls.AbandonBody: _sender,
    calls.ReadBody: _some_reader,
    calls.ListMailboxes: _administrator,
    calls.ListSetups: _administrator,
    calls.SetUp: _administrator,
    calls.HoldPlace: _administrator,
    calls.ListHeld: _administrator,
    calls.FlushPlace: _administrator,
    calls.ListQueue: _box_of,
    calls.ListDead: _box_of,
    calls.RedriveDead: _administrator,
    calls.ListAside: _administrator,
    calls.ResendAside: _administrator,
    calls.Lookup: _administrator,
    calls.Tell: _administrator,
    calls.AskStatus: _administrator,
    calls.Examine: _anybody,
    calls.CreateCredential: _administrator,
    calls.ListCredentials: _administrator,
    calls.RevokeCredential: _administrator,
    calls.Reload: _nobody,
    calls.Backup: _nobody,
    calls.Verify: _nobody,
}
"""Every call has its line; `Tell` is also open to those whom `permits_story` lets see the message it tells of."""
