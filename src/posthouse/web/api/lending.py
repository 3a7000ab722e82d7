"""What streams have lent and not got back: a stream lends no more than it was asked to at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, NamedTuple

from posthouse.office.calls import Slip
from posthouse.office.permit import Permit
from posthouse.web.front import Front

Mark = tuple[str, bool, int, int]


class Loan:
    """What one stream has lent; `back` is set whenever something comes back."""

    def __init__(self) -> None:
        self.slips: dict[Mark, Slip] = {}
        self.back = asyncio.Event()

    def __len__(self) -> int:
        return len(self.slips)


class Reader(NamedTuple):
    """Who takes messages, and where."""

    front: Front
    permit: Permit
    lending: Lending


class Lending:
    """The loans of all streams of an office; used on the event loop only."""

    def __init__(self) -> None:
        self._loans: dict[Mark, Loan] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def lend(self, loan: Loan, slips: Iterable[Slip]) -> None:
        """Note what a stream has lent."""
        for slip in slips:
            loan.slips[_mark(slip)] = slip
            self._loans[_mark(slip)] = loan

    def settled(self, slips: Iterable[Slip]) -> None:
        """Hear what is settled, by whichever way."""
        for slip in slips:
            loan = self._loans.pop(_mark(slip), None)
            if loan is not None:
                del loan.slips[_mark(slip)]
                loan.back.set()

    def afterwards(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what is left to do when a stream has ended."""
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def end(self, loan: Loan) -> list[Slip]:
        """Forget a loan, and give what never came back."""
        for mark in loan.slips:
            self._loans.pop(mark, None)
        return list(loan.slips.values())


def _mark(slip: Slip) -> Mark:
    return slip.office, slip.passing, slip.entry, slip.token
