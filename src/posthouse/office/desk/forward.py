"""The action `forward`: another gatekeeper has it next, or a person who is to answer gets a copy."""

from __future__ import annotations

import msgspec

from posthouse.gate import wrapper as wrappers
from posthouse.gate.emission import copied, noticed
from posthouse.gate.review import due_of
from posthouse.message.case import Side, Stop
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers, audited, changed, concluding, go_on, reviewed, ruled


def is_person(to: str) -> bool:
    """Say whether a forward goes to somebody with an address and not to a role."""
    return any(sign in to for sign in "@#:")


def forward(papers: Papers) -> Deed:
    """Send a message to another gatekeeper, or ask a person."""
    if is_person(papers.order.to):
        return _asked(papers)
    limit = wrappers.limit_of(papers.wrapper, "forward", policy=papers.setting.policy)
    if limit is not None:
        return put_in_list(papers, fault=limit.text)
    order = papers.order
    reasons = (order.comment,) if order.comment else (papers.docket.reason,) if papers.docket.reason else ()
    stop = Stop(gatekeeper=order.to, reasons=reasons, instructions=order.saying or None, within=order.within)
    onward = wrappers.forward(ruled(papers), reviewed(papers), to=stop, comes_back=order.comes_back)
    return go_on(papers, onward, done=concluding(papers, "released", action=f"forwarded to {order.to}"))


def _asked(papers: Papers) -> Deed:
    """Ask a person: the case stays here and waits for the answer, its clock goes on."""
    order, docket = papers.order, papers.docket
    wrapper = wrappers.with_review(ruled(papers), reviewed(papers, action="copy"))
    case = changed(papers.case, wrapper)
    waiting = msgspec.structs.replace(
        docket, version=docket.version + 1, status="awaiting response", pending=b"",
        last_action=f"forwarded to {order.to}",
    )  # fmt: skip
    waiting = msgspec.structs.replace(waiting, due=due_of(waiting, case))
    side = Side(action="copy", to=(order.to,), rule=order.id)
    copy = copied(papers.message, side, writer=papers.writer, case=papers.case.id)
    saying = order.saying or "please look at the message that comes with this and answer"
    notice = noticed(
        papers.message, Side(action="notify", to=(order.to,), saying=saying, rule=order.id), writer=papers.writer
    )
    audit = audited(papers, "case.forwarded", to=order.to, instructions=order.saying)
    return Deed(cases=(case,), dockets=(waiting,), emitted=(copy, notice), audits=(audit,))
