"""The process dies after each commit in turn, and another office goes on from what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from posthouse.message.case import Case, Command
from posthouse.message.changes import Changes, Outcome
from posthouse.office.deskcalls import Decide, Decision
from posthouse.office.intake import Stores
from posthouse.route import ROUTE
from posthouse.store.gateports import DocketFilter
from posthouse.store.memory.store import MemoryStore
from posthouse.store.ports import Store, StoreUnavailable
from posthouse.testing.build import identity
from tests.unit.office.gatehouse import begin, eventually
from tests.unit.office.rig import TERMS, Rig

STEPS = range(9)
"""Commits after which it dies: more than any of these lives has."""
OWN = 'RULE "own"\nIF message.size >= 0 B\nTHEN {} \n'


class Dying:
    """A store that writes so often, and then nothing more: its process is dead."""

    def __init__(self, store: Store, commits: int) -> None:
        self._store = store
        self._left = commits

    # `Any`: whatever the store is asked besides.
    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, changes: Sequence[Changes]) -> list[Outcome]:
        if not self._left:
            raise StoreUnavailable("the process is dead")
        # What writes nothing, or only seals the audit, is no step of a decision.
        if any(
            change.posts or change.dockets or change.cases or change.onwards or change.settles for change in changes
        ):
            self._left -= 1
        return await self._store.commit(changes)


async def opened(store: Any, at: int | None = None) -> Rig:
    rig = Rig(Stores(store, await MemoryStore.open(retain=10)), terms=TERMS, route=ROUTE)
    if at is not None:
        rig.clock.set_to(at)
    await rig.start()
    return rig


async def live(rig: Rig, command: Command | None, seconds: float) -> None:
    """Put a message, decide on it where a command is given, and let time pass, as far as the process lives."""
    await rig.put(1)
    (docket,) = await rig.stores.durable.gate.cases.dockets(DocketFilter(message=identity(1)))
    if command is not None:
        await decide(rig, command)
    rig.clock.advance(seconds)
    await rig.clock.somebody_waits()
    assert docket.turn == 1


async def decide(rig: Rig, command: Command) -> None:
    cases = await rig.stores.durable.gate.cases.of_message(identity(1))
    decision = Decision(case=cases[0].id, turn=1, command=command, id="the decision")
    await rig.answer(Decide(decisions=[decision], gatekeeper="g1", by="ada@house.example"))


async def play(commits: int, command: Command | None, policy: str, own: str) -> tuple[Rig, Case]:
    """Let an office die after so many commits, and another one end what was begun; give that one."""
    store = await MemoryStore.open(retain=100)
    first = await opened(store)
    await begin(first, "g1", policy=policy, **({"rules_of_g1": own} if own else {}))
    await first.stop()
    dying = await opened(Dying(store, commits), first.clock.now())
    try:
        await live(dying, command, 3_600.0)
    except (StoreUnavailable, ValueError):
        # It died before the message was accepted, or while somebody waited for an answer.
        pass
    await dying.stop()
    second = await opened(store, dying.clock.now())
    if await store.journal.letter(identity(1)) is None:
        await second.put(1)
    if command is not None:
        # Whoever got no answer asks once more under the same id.
        await decide(second, command)

    async def is_over() -> bool:
        for seconds in (61.0, 3_600.0):
            second.clock.advance(seconds)
            await second.clock.somebody_waits()
        cases = await store.gate.cases.of_message(identity(1))
        return bool(cases) and not any(case.is_open for case in cases)

    await eventually(is_over)
    (case,) = await store.gate.cases.of_message(identity(1))
    return second, case


# G-07, G-75, G-173, G-225
@pytest.mark.parametrize("commits", STEPS)
@pytest.mark.parametrize("undo", ["0 seconds", "30 seconds"])
@pytest.mark.parametrize(("command", "mailbox"), [("release", "bob"), ("return", "alice"), ("delete", None)])
async def test_a_decision_is_done_once_wherever_the_process_dies(
    commits: int, undo: str, command: Command, mailbox: str | None
) -> None:
    rig, case = await play(commits, command, f'undo = "{undo}"\n', "")
    try:
        counts = {name: len(await rig.queued(f"#{name}")) for name in ("bob", "alice")}
        assert counts == {name: int(name == mailbox) for name in counts}
        assert case.outcome == {"release": "released", "return": "returned", "delete": "deleted"}[command]
    finally:
        await rig.stop()


# G-07, G-173, G-225
@pytest.mark.parametrize("commits", STEPS)
@pytest.mark.parametrize(("action", "mailbox"), [("release", "bob"), ("return", "alice"), ("delete", None)])
async def test_what_expires_is_done_once_wherever_the_process_dies(
    commits: int, action: str, mailbox: str | None
) -> None:
    rig, _ = await play(commits, None, 'inbox = "1 minute"\n', OWN.format(action))
    try:
        counts = {name: len(await rig.queued(f"#{name}")) for name in ("bob", "alice")}
        assert counts == {name: int(name == mailbox) for name in counts}
    finally:
        await rig.stop()
