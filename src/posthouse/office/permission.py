"""What a permit allows: one table over all calls, decided without asking anybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.message.name import OfficeName
from posthouse.office import calls, deskcalls
from posthouse.office.calls import Call, Handed, Story
from posthouse.office.permit import Duty, Permit

OWN_RULES: Final = "rules of "
"""How the name of a gatekeeper's own book begins; the role follows."""


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


def permits_case(permit: Permit, story: deskcalls.CaseStory) -> NotPermitted | None:
    """Say it of a case: whoever reviews where it stops or stopped may see it, if it is none of his own, and auditors.

    What its sender may see of it is another matter.
    """
    if permit.may("audit"):
        return None
    if is_own(permit, story):
        return NotPermitted("this message is the asker's own", hint="somebody else has to review it")
    if any(permit.acts_as(docket.gatekeeper) for docket in story.dockets):
        return None
    return _refusal("review ROLE", "see this case")


def is_own(permit: Permit, story: deskcalls.CaseStory) -> bool:
    """Say whether somebody sent the message or is to receive it: then he does not decide about it."""
    everybody = (story.envelope.sender or "", *story.envelope.everybody)
    return bool(permit.address) and permit.address.lower() in {name.lower() for name in everybody}


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


# --- the desk ---------------------------------------------------------------------------------------------------------


def _duty(duty: Duty, what: str) -> Rule:
    def _rule(permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted | None:
        return None if permit.may(duty) else _refusal(duty, what)

    return _rule


def _as(permit: Permit, role: str) -> NotPermitted | None:
    return None if permit.acts_as(role) else _refusal(f"review {role}", f"review as {role}")


# `Any`, here and below: calls that name the role they are made in.
def _reviewer(permit: Permit, call: Any, _office: OfficeName) -> NotPermitted | None:
    return _as(permit, call.gatekeeper)


def _looker(permit: Permit, role: str | None) -> NotPermitted | None:
    """Say it of who lists: whoever reviews sees his own, where he names no role as well; auditors see everything."""
    if permit.may("audit") or (permit.reviews if role is None else permit.acts_as(role)):
        return None
    return _refusal(f"review {role or 'ROLE'}", "see what lies before " + (role or "gatekeepers"))


def _dockets(permit: Permit, call: deskcalls.ListDockets, _office: OfficeName) -> NotPermitted | None:
    return _looker(permit, call.chosen.gatekeeper)


def _of_gatekeeper(
    permit: Permit, call: deskcalls.CountDockets | deskcalls.ListMailbags, _office: OfficeName
) -> NotPermitted | None:
    return _looker(permit, call.gatekeeper)


def _case(permit: Permit, call: deskcalls.TellCase, _office: OfficeName) -> NotPermitted | None:
    if call.gatekeeper and not permit.may("audit"):
        return _as(permit, call.gatekeeper)
    # Whose case it is shows once it is found: `office.asking` tells it to nobody else.
    return None


def _mailbag(permit: Permit, call: deskcalls.WriteMailbag, _office: OfficeName) -> NotPermitted | None:
    return _as(permit, call.mailbag.gatekeeper)


def _knows_desk(permit: Permit) -> bool:
    return permit.reviews or any(permit.may(duty) for duty in ("write rules", "edit organisation", "audit"))


def _some_desk(permit: Permit, _call: Call[Any], _office: OfficeName) -> NotPermitted | None:
    if _knows_desk(permit) or permit.administers:
        return None
    return _refusal("review ROLE", "see what the office goes by")


# `Any`, here and below: calls that name a book.
def _reader_of_book(permit: Permit, call: Any, office: OfficeName) -> NotPermitted | None:
    book: str = call.book
    if permit.may("audit") or _author_of_book(permit, call, office) is None:
        return None
    if book == "policy":
        return _some_desk(permit, call, office)
    # Rules name roles, so their author sees who there is; and he sees what the gatekeepers decide by.
    if permit.may("write rules") and (book == "organisation" or book.startswith(OWN_RULES)):
        return None
    return _refusal("audit", f"read the book {book}")


def _author_of_book(permit: Permit, call: Any, _office: OfficeName) -> NotPermitted | None:
    book: str = call.book
    if book.startswith(OWN_RULES):
        return _as(permit, book.removeprefix(OWN_RULES))
    duty: Duty = "write rules"
    if book == "organisation":
        duty = "edit organisation"
    elif book == "policy":
        # Policy says where a second person has to agree: whoever is bound by it does not write it.
        duty = "administer"
    return None if permit.may(duty) else _refusal(duty, f"write the book {book}")


def _account(permit: Permit, call: deskcalls.WriteAccount, _office: OfficeName) -> NotPermitted | None:
    if permit.administers:
        return None
    changes_more = call.address is not None or call.scopes is not None or call.is_closed is not None
    if permit.is_account and call.name == permit.name and not changes_more:
        return None
    return _refusal("administer", "write accounts")


_administrators_duty: Final = _duty("administer", "do what is left to administrators")
_auditors_duty: Final = _duty("audit", "do what is left to auditors")

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
    deskcalls.ListDockets: _dockets,
    deskcalls.CountDockets: _of_gatekeeper,
    deskcalls.TellCase: _case,
    deskcalls.FindCases: _anybody,
    deskcalls.OpenDocket: _reviewer,
    deskcalls.Decide: _reviewer,
    deskcalls.Undo: _reviewer,
    deskcalls.Claim: _reviewer,
    deskcalls.Edit: _reviewer,
    deskcalls.Annotate: _reviewer,
    deskcalls.HoldCase: _auditors_duty,
    deskcalls.Recall: _anybody,
    deskcalls.SkipStop: _administrators_duty,
    deskcalls.ListMailbags: _of_gatekeeper,
    deskcalls.WriteMailbag: _mailbag,
    deskcalls.RemoveMailbag: _reviewer,
    deskcalls.RunMailbag: _reviewer,
    deskcalls.ListBooks: _some_desk,
    deskcalls.ListEditions: _reader_of_book,
    deskcalls.ReadEdition: _reader_of_book,
    deskcalls.ListActivations: _reader_of_book,
    deskcalls.WriteEdition: _author_of_book,
    deskcalls.Activate: _author_of_book,
    deskcalls.ListAudit: _auditors_duty,
    deskcalls.ListSeals: _auditors_duty,
    deskcalls.EraseAudit: _administrators_duty,
    deskcalls.ListAccounts: _administrators_duty,
    deskcalls.WriteAccount: _account,
    deskcalls.HearCases: _anybody,
    deskcalls.ConfirmClock: _administrators_duty,
}
"""Every call has its line; `Tell` is also open to those whom `permits_story` lets see the message it tells of.

What `TellCase`, `FindCases`, `HearCases` and `Recall` are about shows once it is found: `office.asking` has the last
word there.
"""
