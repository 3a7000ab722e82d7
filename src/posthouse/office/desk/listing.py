"""The action `review`: a docket goes to the review list of its gatekeeper, and nothing leaves the office."""

from __future__ import annotations

from posthouse.gate.calendar import later
from posthouse.gate.mailbag import in_review
from posthouse.office.desk.notice import to_gatekeeper
from posthouse.office.desk.papers import Deed, Papers, audited


def put_in_list(papers: Papers, *, fault: str = "") -> Deed:
    """Put a docket in the review list, with why where something could not be done; its gatekeeper is told."""
    setting, order = papers.setting, papers.order
    warns = later(setting.now, setting.policy.warn_gatekeeper, zone=setting.zone)
    is_by_itself = order.actor != "person"
    docket = in_review(papers.docket, warns=warns, is_expired=is_by_itself, fault=fault)
    told = to_gatekeeper(papers, f"waits in your review list: {fault or order.comment}") if is_by_itself else ()
    return Deed(dockets=(docket,), emitted=told, audits=(audited(papers, "case.listed", fault=fault),))
