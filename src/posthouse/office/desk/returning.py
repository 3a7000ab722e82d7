"""The action `return`: the original goes back to its sender with an explanation, and nobody else gets it."""

from __future__ import annotations

from typing import Final

import msgspec

from posthouse.gate import wrapper as wrappers
from posthouse.gate.emission import returned
from posthouse.gate.opening import narrowed
from posthouse.message.message import Body
from posthouse.office.desk.listing import put_in_list
from posthouse.office.desk.papers import Deed, Papers, audited, concluding, ended, reviewed, ruled

RECALLED: Final = "recalled"
_USUAL: Final = "it was not released"


def give_back(papers: Papers) -> Deed:
    """Return a message; one without a sender cannot be, so that somebody has to look at it."""
    wrapper, order = papers.wrapper, papers.order
    is_recall = order.command == "recall"
    saying = order.saying or (RECALLED if is_recall else "; ".join(_reasons(papers)) or _USUAL)
    everybody = (*wrapper.recipients, *wrapper.blind)
    envelope = narrowed(papers.journey, everybody).luggage.envelope
    original = papers.original if order.includes_original else msgspec.structs.replace(papers.original, body=_NOTHING)
    sent = returned(original, envelope, saying=saying, writer=papers.writer)
    if sent is None:
        return put_in_list(papers, fault="there is no sender to return it to")
    over = wrappers.end(ruled(papers), reviewed(papers))
    outcome = RECALLED if is_recall else "returned"
    audit = audited(papers, f"case.{outcome}", saying=saying, to=envelope.sender)
    return Deed(
        cases=(ended(papers, over, outcome=outcome),),
        dockets=(concluding(papers, "returned", action=outcome),),
        emitted=(sent,),
        must_arrive=True,
        audits=(audit,),
    )


_NOTHING: Final = Body("0" * 64, 0)
"""Stands in for a body that is not sent back."""


def _reasons(papers: Papers) -> list[str]:
    return [papers.docket.reason] if papers.docket.reason else []
