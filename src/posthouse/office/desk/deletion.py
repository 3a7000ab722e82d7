"""The actions `delete` and `purge`: a message reaches nobody; the record of its case stays."""

from __future__ import annotations

from posthouse.gate import wrapper as wrappers
from posthouse.office.desk.notice import to_gatekeeper
from posthouse.office.desk.papers import Deed, Papers, audited, concluding, ended, reviewed, ruled


def delete(papers: Papers) -> Deed:
    """Delete a message; where its retain date did it, the gatekeeper hears of it."""
    is_purge = papers.order.command == "purge"
    over = wrappers.end(ruled(papers), reviewed(papers))
    action = "deleted on its retain date" if is_purge else "delete"
    told = to_gatekeeper(papers, "was deleted on its retain date") if is_purge else ()
    return Deed(
        cases=(ended(papers, over, outcome="deleted"),),
        dockets=(concluding(papers, "deleted", action=action),),
        emitted=told,
        audits=(audited(papers, "case.purged" if is_purge else "case.deleted"),),
    )
