"""The action `copy`: somebody who is no recipient gets a copy, and nothing is decided by it."""

from __future__ import annotations

import msgspec

from posthouse.gate import wrapper as wrappers
from posthouse.gate.emission import copied
from posthouse.gate.review import due_of
from posthouse.message.case import Side
from posthouse.office.desk.papers import Deed, Papers, audited, changed, reviewed, ruled


def copy(papers: Papers) -> Deed:
    """Send copies to one or several, whose names stand with commas between them."""
    order, docket = papers.order, papers.docket
    to = tuple(name.strip() for name in order.to.split(",") if name.strip())
    case = changed(papers.case, wrappers.with_review(ruled(papers), reviewed(papers)))
    kept = msgspec.structs.replace(
        docket,
        version=docket.version + 1,
        status=order.before,
        pending=b"",
        last_action=f"copied to {order.to}"[:1_000],
    )
    kept = msgspec.structs.replace(kept, due=docket.due if not docket.pending else due_of(kept, case))
    sent = copied(papers.message, Side(action="copy", to=to, rule=order.id), writer=papers.writer, case=papers.case.id)
    return Deed(cases=(case,), dockets=(kept,), emitted=(sent,), audits=(audited(papers, "case.copied", to=to),))
