"""The action `file`: a docket lies in another folder from now on; the message is neither copied nor moved."""

from __future__ import annotations

from typing import Final

import msgspec

from posthouse.gate.calendar import later
from posthouse.gate.mailbag import back_in_inbox, filed
from posthouse.message.case import INBOX, REVIEW, Mailbag
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers, audited

OWN: Final = frozenset({INBOX, REVIEW})


def file(papers: Papers) -> Deed:
    """Put a docket into a mailbag, back into the inbox, or into the review list where there is no such mailbag."""
    setting, name = papers.setting, papers.order.mailbag
    if name.casefold() == REVIEW:
        return put_in_list(papers)
    if name.casefold() == INBOX:
        habits = setting.policy.habits(papers.docket.gatekeeper)
        docket = back_in_inbox(papers.docket, setting.now, inbox=habits.inbox, zone=setting.zone, case=papers.case)
    elif papers.bag is None:
        return put_in_list(papers, fault=f"there is no mailbag {name!r}")
    else:
        warns = later(setting.now, setting.policy.warn_gatekeeper, zone=setting.zone)
        order = papers.order
        docket = msgspec.structs.replace(
            filed(papers.docket, papers.bag, warns=warns), decided_by=order.person, decided_at=setting.now,
            is_automatic=order.actor != "person",
        )  # fmt: skip
    return Deed(dockets=(docket,), audits=(audited(papers, "case.filed", folder=docket.folder),))


def mailbag_named(bags: list[Mailbag], gatekeeper: str, *, name: str) -> Mailbag | None:
    """Give the mailbag of a gatekeeper that is meant by its id, its name or a name it had before."""
    wanted = name.casefold()
    own = [bag for bag in bags if bag.gatekeeper.casefold() == gatekeeper.casefold() and not bag.is_removed]
    for meant in (
        lambda bag: bag.id == name,
        lambda bag: bag.name.casefold() == wanted,
        lambda bag: wanted in {former.casefold() for former in bag.formerly},
    ):
        found = next(filter(meant, own), None)
        if found is not None:
            return found
    return None
