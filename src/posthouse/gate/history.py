"""What rules may ask of a case, from its wrapper and the docket it lies under."""

from __future__ import annotations

from posthouse.matching.value.record import History
from posthouse.message.case import Docket, Wrapper


def history_of(wrapper: Wrapper, docket: Docket | None = None) -> History:
    """Give the history of a case as predicates read it."""
    fired, reviews = wrapper.fired, wrapper.reviews
    acting = [fact for fact in fired if fact.mark != "sampled out"]
    offices = (wrapper.origin, *(fact.office for fact in fired), *(review.office for review in reviews))
    gatekeepers = [review.gatekeeper for review in reviews]
    if wrapper.current is not None:
        gatekeepers.append(wrapper.current.gatekeeper)
    return History(
        fired=tuple(dict.fromkeys(fact.rule for fact in acting)),
        fired_count=len({(fact.book, fact.rule) for fact in acting}),
        offices=tuple(dict.fromkeys(filter(None, offices))),
        proposed_actions=tuple(dict.fromkeys(action for fact in acting for action in fact.actions)),
        gatekeepers=tuple(dict.fromkeys(gatekeepers)),
        last_action=reviews[-1].action if reviews else None,
        auto_released=any(review.is_automatic and review.action == "release" for review in reviews),
        edited=wrapper.is_edited,
        passes=wrapper.passes,
        since=wrapper.created,
        folder=None if docket is None else docket.folder,
        status=None if docket is None else docket.status,
        retain_until=None if docket is None else docket.retain,
    )
