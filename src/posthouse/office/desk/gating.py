"""The action `gate` of a gatekeeper's rule: more gatekeepers have it before it goes home."""

from __future__ import annotations

from posthouse.gate import wrapper as wrappers
from posthouse.gate.opening import parties_of
from posthouse.gate.seat import seated
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers, concluding, go_on, reviewed, ruled


def gate_further(papers: Papers) -> Deed:
    """Add gatekeepers before the origin and go on to the next stop."""
    limit = wrappers.limit_of(papers.wrapper, "gate", policy=papers.setting.policy)
    if limit is not None:
        return put_in_list(papers, fault=limit.text)
    wrapper = ruled(papers)
    parties = parties_of(wrapper.sender, (*wrapper.recipients, *wrapper.blind))
    stops = seated(papers.order.stops, papers.setting.organisation, now=papers.now, parties=parties)
    onward = wrappers.gate_further(wrapper, reviewed(papers), stops=stops, policy=papers.setting.policy)
    named = ", ".join(stop.gatekeeper for stop in stops)
    return go_on(papers, onward, done=concluding(papers, "released", action=f"gated to {named}"))
