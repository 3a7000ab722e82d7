"""What the office tells people about a case: those who act in a role, and others a gatekeeper writes to."""

from __future__ import annotations

from collections.abc import Sequence

from posthouse.gate.emission import noticed
from posthouse.gate.opening import Setting, parties_of
from posthouse.message.case import Side
from posthouse.message.journey import Emitted
from posthouse.office.desk.papers import Papers
from posthouse.organisation.appointment import gatekeeper_for


def to_gatekeeper(papers: Papers, saying: str, *, role: str = "") -> tuple[Emitted, ...]:
    """Give the notice to those who act in a role; nobody is told where nobody has said who they are."""
    wrapper = papers.wrapper
    parties = parties_of(wrapper.sender, (*wrapper.recipients, *wrapper.blind))
    people = people_of(role or papers.docket.gatekeeper, papers.setting, parties=parties)
    if not people:
        return ()
    what = f"The message {papers.docket.subject or papers.docket.message!s} {saying}"
    side = Side(action="notify", to=tuple(people), saying=what, rule=papers.order.rule or papers.order.id)
    return (noticed(papers.message, side, writer=papers.writer),)


def people_of(role: str, setting: Setting, *, parties: Sequence[str] = ()) -> Sequence[str]:
    """Give the addresses of those who act in a role now."""
    if setting.organisation is None:
        return ()
    return gatekeeper_for(setting.organisation, role, at=setting.now, not_these=parties).people
