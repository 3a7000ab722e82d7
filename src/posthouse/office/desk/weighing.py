"""A gatekeeper's decision is weighed before it is recorded: whether it may be, and what exactly is commanded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from posthouse.gate.opening import Setting, parties_of
from posthouse.gate.review import Order, judge, needs_second, unpack_order
from posthouse.gate.seat import may_act
from posthouse.gate.wrapper import Gatekeeper, innoculant, limit_of
from posthouse.message.case import Case, Docket, Mailbag, Wrapper
from posthouse.office.desk.filing import OWN, mailbag_named
from posthouse.office.desk.forward import is_person
from posthouse.office.deskcalls import Decided, Decision

Word = Literal["done", "already", "stale", "refused", "confirm", "unknown"]


class Weighed(NamedTuple):
    """What a decision rests on."""

    docket: Docket
    case: Case
    wrapper: Wrapper
    setting: Setting
    bags: list[Mailbag]

    def answer(self, status: Word, text: str = "") -> Decided:
        """Give the answer about this docket."""
        return Decided(case=self.docket.case, turn=self.docket.turn, status=status, text=text, docket=self.docket)


def weigh(decision: Decision, on: Weighed, *, by: str, identity: str) -> Order | Decided:
    """Give the order to be recorded, or the answer why there is none."""
    if _is_repeated(decision.id, on):
        return on.answer("done", "it was decided under this id")
    standing = judge(on.docket, on.case, command=decision.command, actor="person")
    if standing.answer != "may":
        return on.answer("already" if standing.answer == "already" else "refused", standing.text)
    if decision.version is not None and decision.version != on.docket.version:
        return on.answer(
            "stale", f"the docket has changed: expected version {decision.version}, it is {on.docket.version}"
        )
    hindrance = _hindrance(decision, on, by)
    if hindrance is not None:
        return hindrance
    return _seconded(_order(decision, on, by=by, identity=identity), on)


def _order(decision: Decision, on: Weighed, *, by: str, identity: str) -> Order:
    return Order(
        id=decision.id or identity, command=decision.command, actor="person", person=by, at=on.setting.now,
        before=on.docket.status, folder_before=on.docket.folder, to=_target(decision, on), mailbag=decision.mailbag,
        saying=decision.saying, comment=decision.comment, recipients=decision.recipients,
        comes_back=decision.comes_back, within=decision.within, includes_original=decision.includes_original,
    )  # fmt: skip


def _is_repeated(identity: str, on: Weighed) -> bool:
    if not identity:
        return False
    if on.docket.pending and unpack_order(on.docket.pending).id == identity:
        return True
    return any(review.decision == identity for review in on.wrapper.reviews)


def _hindrance(decision: Decision, on: Weighed, by: str) -> Decided | None:
    """Say what is in the way of a decision that the state of the docket allows."""
    parties = parties_of(on.wrapper.sender, (*on.wrapper.recipients, *on.wrapper.blind))
    if by and not may_act(by, on.setting.organisation, parties=parties):
        return on.answer("refused", "nobody decides on a message of their own")
    holder = on.docket.claimed_by
    claimed = holder and holder != by and (on.docket.claimed_until or 0) > on.setting.now
    if claimed and not decision.is_confirmed:
        return on.answer("confirm", f"{holder} is working on it")
    match decision.command:
        case "release":
            return _wrong_recipients(decision, on)
        case "file":
            return _wrong_folder(decision, on)
        case "copy":
            return None if decision.to.strip(" ,") else on.answer("refused", "expected whom to copy it to")
        case "forward":
            return _wrong_target(decision, on, parties)
        case _:
            return None


def _wrong_recipients(decision: Decision, on: Weighed) -> Decided | None:
    known = {*on.wrapper.recipients, *on.wrapper.blind}
    others = [name for name in decision.recipients if name not in known]
    return on.answer("refused", f"not among its recipients: {', '.join(others)}") if others else None


def _wrong_folder(decision: Decision, on: Weighed) -> Decided | None:
    if decision.mailbag.casefold() in OWN:
        return None
    if mailbag_named(on.bags, on.docket.gatekeeper, name=decision.mailbag) is not None:
        return None
    known = [*sorted(OWN), *(bag.name for bag in on.bags)]
    return on.answer("refused", f"expected one of {', '.join(known)}, found {decision.mailbag!r}")


def _wrong_target(decision: Decision, on: Weighed, parties: Iterable[str]) -> Decided | None:
    limit = limit_of(on.wrapper, "forward", policy=on.setting.policy)
    target = _target(decision, on)
    if not target:
        return on.answer("refused", "expected a gatekeeper's role or an address to forward it to")
    if is_person(target):
        if not may_act(target, on.setting.organisation, parties=parties) and not decision.is_confirmed:
            return on.answer("confirm", f"{target} is the sender or a recipient, who would get it without a decision")
        return None
    if limit is not None:
        return on.answer("refused", limit.text)
    if on.setting.organisation is not None and on.setting.organisation.role(target) is None:
        return on.answer("refused", f"expected a role or an address, found {target!r}")
    had = innoculant(on.wrapper, on.setting.policy) | {Gatekeeper(on.docket.gatekeeper, "")}
    if Gatekeeper(target, "") in had and not decision.is_confirmed:
        return on.answer("confirm", f"{target} has had it already")
    return None


def _target(decision: Decision, on: Weighed) -> str:
    """Give a role as the organisation writes it, whatever its letters."""
    name = decision.to.strip()
    found = None if on.setting.organisation is None else on.setting.organisation.role(name)
    return name if found is None else found.name


def _seconded(order: Order, on: Weighed) -> Order | Decided:
    """Let a second person agree where two are needed, and no other than a second one."""
    if not needs_second(order.command, on.setting.policy):
        return order
    first = unpack_order(on.docket.pending) if on.docket.pending else None
    if first is None or first.command != order.command:
        return msgspec.structs.replace(order, awaits_second=True)
    if first.person == order.person:
        return on.answer("refused", f"a second person has to agree to what {first.person} wants")
    return msgspec.structs.replace(first, awaits_second=False, second=order.person, at=order.at)
