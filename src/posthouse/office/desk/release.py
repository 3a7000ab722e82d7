"""The action `release`: a message goes on, for all its recipients or for some of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from posthouse.gate import wrapper as wrappers
from posthouse.gate.emission import noticed
from posthouse.gate.opening import case_id, docket_at, narrowed
from posthouse.gate.review import due_of
from posthouse.message.case import Case, Side, pack_wrapper
from posthouse.message.journey import Emitted, pack
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers, audited, changed, concluding, go_on, homeward, reviewed, ruled
from posthouse.office.desk.rewriting import with_header


def release(papers: Papers) -> Deed:
    """Let a message go on to the next gatekeeper, or home to the rules."""
    everybody = (*papers.wrapper.recipients, *papers.wrapper.blind)
    chosen = [one for one in everybody if one in papers.order.recipients]
    if chosen and len(chosen) < len(everybody):
        return _divided(papers, chosen)
    limit = wrappers.limit_of(papers.wrapper, "release", policy=papers.setting.policy)
    if limit is not None:
        return put_in_list(papers, fault=limit.text)
    onward = wrappers.release(ruled(papers), reviewed(papers))
    deed = go_on(papers, onward, done=concluding(papers, "released", action="release"))
    if onward.current is not None:
        return deed
    policy = papers.setting.policy
    if policy.tell_sender_of_edit and onward.is_edited:
        deed = msgspec.structs.replace(deed, emitted=_told_of_edit(papers))
    return with_header(papers, deed) if policy.reviewed_header else deed


def _told_of_edit(papers: Papers) -> tuple[Emitted, ...]:
    """Tell the sender that the text was changed."""
    if papers.wrapper.sender is None:
        return ()
    saying = "A reviewer has changed the text of your message before it was sent on."
    side = Side(action="notify", to=(papers.wrapper.sender,), saying=saying, rule="of this office")
    return (noticed(papers.message, side, writer=papers.writer),)


def _divided(papers: Papers, chosen: Sequence[str]) -> Deed:
    """Let some recipients have it: they become a case of their own, and the rest stays as it was."""
    case, docket = papers.case, papers.docket
    identity = case_id(case.id, chosen, turn=case.version)
    review = reviewed(papers)
    theirs, left = wrappers.part(wrappers.with_review(ruled(papers), review), identity, recipients=chosen)
    theirs = wrappers.release(theirs, review)
    # What was promised for when the message goes out is done once, with those who get it first.
    left = msgspec.structs.replace(left, sides=())
    mine = narrowed(papers.journey, (*left.recipients, *left.blind))
    going = narrowed(papers.journey, chosen).carrying(case=identity)
    kept = changed(case, left, luggage=pack(mine))
    back = msgspec.structs.replace(
        docket, version=docket.version + 1, status=papers.order.before, pending=b"",
        recipients=len(left.recipients) + len(left.blind), last_action=f"released to {', '.join(chosen)}"[:1_000],
    )  # fmt: skip
    back = msgspec.structs.replace(back, due=due_of(back, kept))
    split = Case(
        id=identity, message=case.message, edited=case.edited, opened=case.opened,
        turn=0 if theirs.current is None else 1,
        is_on_hold=case.is_on_hold, luggage=pack(going), wrapper=pack_wrapper(theirs),
    )  # fmt: skip
    audit = audited(papers, "case.divided", recipients=tuple(chosen), into=str(identity))
    if theirs.current is None:
        onward = homeward(papers, going, case=identity)
        return Deed(cases=(kept, split), dockets=(back,), onwards=(onward,), audits=(audit,))
    following = docket_at(docket, split, wrapper=theirs, setting=papers.setting)
    return Deed(cases=(kept, split), dockets=(back, following), audits=(audit,))
