"""An office with rules in force, and what gatekeepers do in it; cases are known by the numbers of their messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from posthouse.message.case import Case, Command, Docket, Mailbag, Rhythm, Wrapper, unpack_wrapper
from posthouse.message.message import Body, Message
from posthouse.office.calls import TakeNext
from posthouse.office.deskcalls import Activate, Decide, Decided, Decision, Undo, WriteEdition, WriteMailbag
from posthouse.store.gateports import DocketFilter
from posthouse.testing.build import identity
from tests.unit.office.rig import Rig, message_of

AT_ONCE = 'undo = "0 seconds"\n'
"""A policy under which what is decided is done at once."""
MINUTE, DAY = 60.0, 86_400.0


def gate_to(*gatekeepers: str, name: str = "all") -> str:
    """Give a rule that gates everything."""
    named = ", ".join(f'"{one}"' for one in gatekeepers)
    return f'RULE "{name}"\nIF message.size >= 0 B\nTHEN gate to {named} because "we look at everything"\n'


async def put_in_force(rig: Rig, **books: str) -> None:
    """Write these books and put them in force; `rules_of_g1` is the book `rules of g1`."""
    for name, text in books.items():
        book = name.replace("_", " ")
        written = await rig.answer(WriteEdition(book=book, text=text, by="author"))
        assert written.edition is not None, written.faults
        await rig.answer(Activate(book=book, number=written.edition.number, by="author"))


async def begin(rig: Rig, *gatekeepers: str, policy: str = AT_ONCE, **books: str) -> None:
    """Put a rule that gates everything to these gatekeepers in force, and a policy."""
    await put_in_force(rig, policy=policy, rules=gate_to(*gatekeepers), **books)


async def dockets(rig: Rig, number: int = 1, *, is_open: bool | None = None) -> list[Docket]:
    """Give the dockets of a message, oldest first."""
    chosen = DocketFilter(message=identity(number), is_open=is_open)
    found = await rig.stores.durable.gate.cases.dockets(chosen)
    return sorted(found, key=lambda docket: (docket.case, docket.turn))


async def docket_of(rig: Rig, number: int = 1) -> Docket:
    """Give the one open docket of a message."""
    (docket,) = await dockets(rig, number, is_open=True)
    return docket


async def case_of(rig: Rig, number: int = 1) -> Case:
    """Give the one case of a message."""
    (case,) = await rig.stores.durable.gate.cases.of_message(identity(number))
    return case


async def wrapper_of(rig: Rig, number: int = 1) -> Wrapper:
    return unpack_wrapper((await case_of(rig, number)).wrapper)


# `Any`: the fields of a decision.
async def decide(
    rig: Rig, command: Command, number: int = 1, *, by: str = "", docket: Docket | None = None, **fields: Any
) -> Decided:
    """Command something for the open docket of a message, as its gatekeeper."""
    known = docket or await docket_of(rig, number)
    decision = Decision(case=known.case, turn=known.turn, command=command, **fields)
    call = Decide(decisions=[decision], gatekeeper=known.gatekeeper, by=by or f"{known.gatekeeper}@house.example")
    decided: Decided
    (decided,) = await rig.answer(call)
    return decided


async def undo(rig: Rig, number: int = 1, *, by: str = "") -> Decided:
    known = (await dockets(rig, number))[-1]
    decided: Decided = await rig.answer(Undo(case=known.case, turn=known.turn, gatekeeper=known.gatekeeper, by=by))
    return decided


async def delivered(rig: Rig, mailbox: str = "bob") -> Message:
    """Wait for what arrives in a mailbox; the test's own deadline ends it."""
    (taken,) = await rig.answer(TakeNext(mailbox=mailbox, wait=None, limit=1, holder="worker"))
    return message_of(taken)


async def body_at(rig: Rig, mailbox: str = "bob") -> bytes:
    """Wait for what arrives in a mailbox, and give its body."""
    body = (await delivered(rig, mailbox)).body
    assert not isinstance(body, Body)
    return body


async def is_empty(rig: Rig, mailbox: str = "bob") -> bool:
    return not await rig.queued(f"#{mailbox}")


async def is_closed(rig: Rig, number: int = 1) -> None:
    """Return once the case of a message is over."""

    async def over() -> bool:
        return not any(case.is_open for case in await rig.stores.durable.gate.cases.of_message(identity(number)))

    await eventually(over)


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    """Return once a condition holds; rows of the gate are written without a word to those who watch queues."""
    while not await condition():  # noqa: ASYNC110 - the store tells of queues only
        await asyncio.sleep(0)


async def mailbag(rig: Rig, name: str, *, gatekeeper: str = "g1", **fields: Any) -> Mailbag:
    """Make a mailbag."""
    wanted = Mailbag(id="", gatekeeper=gatekeeper, name=name, **fields)
    made: Mailbag = await rig.answer(WriteMailbag(mailbag=wanted, by=gatekeeper))
    return made


MONTHLY = Rhythm(every="months", count=1, day=5)
