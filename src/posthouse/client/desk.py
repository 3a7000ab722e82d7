"""A gatekeeper's desk as a program sees it: what is held for one role, and everything that can be decided about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID

from posthouse.client.office import Office
from posthouse.message.case import Command, Docket
from posthouse.message.tiding import CaseEvent
from posthouse.office.deskcalls import (
    Annotate,
    CaseStory,
    Claim,
    CountDockets,
    Decide,
    Decided,
    Decision,
    Edit,
    HearCases,
    ListDockets,
    OpenDocket,
    TellCase,
    Undo,
)
from posthouse.office.terms import SECOND
from posthouse.store.gateports import DocketFilter, DocketOrder, DocketPlace, place_of

_PAGE: Final = 500
_WAIT: Final = 30.0


class Desk:
    """The desk of one role: `desk = Desk(office, "Sales")`; decisions are answered as values, never by an error."""

    def __init__(self, office: Office, role: str, *, by: str = "") -> None:
        self._office = office
        self._by = by
        self.role = role

    async def dockets(
        self, *, folder: str | None = None, order: DocketOrder = "due", closed: bool = False
    ) -> AsyncIterator[Docket]:
        """Give what lies before the role; with `closed` what was decided as well."""
        chosen = DocketFilter(gatekeeper=self.role, folder=folder, is_open=None if closed else True)
        after: DocketPlace | None = None
        while page := await self._office.call(ListDockets(chosen=chosen, order=order, after=after, limit=_PAGE)):
            for docket in page:
                yield docket
            after = place_of(page[-1], order)

    async def counts(self) -> dict[str, int]:
        """Give how many messages lie in each folder."""
        found = await self._office.call(CountDockets(gatekeeper=self.role))
        return {one.folder: one.count for one in found}

    async def story(self, case: UUID, *, text_bytes: int = 0) -> CaseStory | None:
        """Tell everything that is known of a case; that its body was read is recorded."""
        call = TellCase(case=case, gatekeeper=self.role, by=self._by, body_limit=text_bytes)
        return await self._office.call(call)

    async def open(self, docket: Docket) -> Docket:
        """Say that a message was opened: what was gated is reviewed; nothing is decided."""
        call = OpenDocket(case=docket.case, turn=docket.turn, gatekeeper=self.role, by=self._by)
        return await self._office.call(call)

    async def release(self, *dockets: Docket, comment: str = "", recipients: tuple[str, ...] = ()) -> list[Decided]:
        """Let messages go on, to some of their recipients only where those are named."""
        return await self.decide("release", *dockets, comment=comment, recipients=recipients)

    async def give_back(self, *dockets: Docket, saying: str = "", comment: str = "") -> list[Decided]:
        """Return messages to their senders with an explanation."""
        return await self.decide("return", *dockets, saying=saying, comment=comment)

    async def forward(
        self, *dockets: Docket, to: str, saying: str = "", comes_back: bool = True, within: float | None = None
    ) -> list[Decided]:
        """Hand messages to another role or person; `within` is in seconds."""
        span = None if within is None else round(within * SECOND)
        return await self.decide("forward", *dockets, to=to, saying=saying, comes_back=comes_back, within=span)

    async def file(self, *dockets: Docket, mailbag: str) -> list[Decided]:
        """Put messages into a mailbag, by its name."""
        return await self.decide("file", *dockets, mailbag=mailbag)

    async def delete(self, *dockets: Docket, comment: str = "") -> list[Decided]:
        """Delete messages; nobody gets them."""
        return await self.decide("delete", *dockets, comment=comment)

    # `Any`: the other fields of a `Decision`.
    async def decide(self, command: Command, *dockets: Docket, **fields: Any) -> list[Decided]:
        """Command something for each docket, on the version it was seen in; each is answered for itself."""
        decisions = [
            Decision(case=one.case, turn=one.turn, version=one.version, command=command, **fields) for one in dockets
        ]
        return await self._office.call(Decide(decisions=decisions, gatekeeper=self.role, by=self._by))

    async def undo(self, docket: Docket) -> Decided:
        """Take back a decision that was not carried out yet."""
        return await self._office.call(
            Undo(case=docket.case, turn=docket.turn, gatekeeper=self.role, by=self._by)
        )  # fmt: skip

    async def claim(self, docket: Docket, *, lets_go: bool = False) -> Decided:
        """Take a message for oneself for a while, or let it go."""
        return await self._office.call(
            Claim(case=docket.case, turn=docket.turn, gatekeeper=self.role, by=self._by, lets_go=lets_go)
        )

    async def note(self, docket: Docket, comment: str) -> Decided:
        """Note something for those who look after the case."""
        return await self._office.call(
            Annotate(case=docket.case, turn=docket.turn, gatekeeper=self.role, by=self._by, comment=comment)
        )

    async def edit(self, docket: Docket, text: str, *, is_confirmed: bool = False) -> Decided:
        """Put another text in the place of what a message says; the original is kept."""
        return await self._office.call(
            Edit(
                case=docket.case, turn=docket.turn, gatekeeper=self.role, text=text, by=self._by,
                version=docket.version, is_confirmed=is_confirmed,
            )
        )  # fmt: skip


async def hear_cases(office: Office, *, after: int | None = None) -> AsyncIterator[CaseEvent]:
    """Give what happens to cases as it happens: from now on, or since the event of a number."""
    while True:
        heard = await office.call(HearCases(after=after, wait=_WAIT))
        after = heard.after
        for event in heard.events:
            yield event
