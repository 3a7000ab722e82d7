"""The desk of an office, put together: who answers which call, and the daemon that does what is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from posthouse.clock import Clock
from posthouse.office import deskcalls
from posthouse.office.agenda import Agenda
from posthouse.office.calls import Call
from posthouse.office.desk.bags import Bags
from posthouse.office.desk.commanding import Commands
from posthouse.office.desk.daemon import Daemon
from posthouse.office.desk.editing import Editing
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.handling import Handling
from posthouse.office.desk.mailbagrun import MailbagRun
from posthouse.office.desk.reading import Reading
from posthouse.office.desk.skipping import Skipping
from posthouse.office.desk.telling import Telling
from posthouse.office.intake import Intake
from posthouse.office.terms import Terms
from posthouse.store.ports import Store


class Desk:
    """The parts of the desk, wired to one another."""

    def __init__(self, clock: Clock, terms: Terms, *, store: Store, intake: Intake, agenda: Agenda) -> None:
        agenda.desk = self._agenda = Agenda(clock)
        executor = Executor(clock, terms, store=store, intake=intake, agenda=agenda)
        run = MailbagRun(clock, store=store, executor=executor)
        name = terms.mailing.name or "localhost"
        telling = Telling(clock, name, store=store, executor=executor, library=intake.library)
        self.daemon = Daemon(clock, store=store, intake=intake, executor=executor, run=run, telling=telling)
        self._reading = Reading(clock, store)
        self._commands = Commands(clock, store=store, executor=executor)
        self._handling = Handling(clock, store=store, executor=executor, commands=self._commands)
        self._skipping = Skipping(clock, store=store, executor=executor)
        self._editing = Editing(clock, bodies=store.bodies, executor=executor, commands=self._commands)
        self._bags = Bags(clock, store=store, executor=executor, run=run)

    async def run(self) -> None:
        """Do what is due until cancelled."""
        await self.daemon.run(self._agenda)

    # `Any`: each call names its own reply.
    def answers(self) -> dict[type[Call[Any]], Callable[[Any], Awaitable[Any]]]:
        """Say which part answers which call."""
        return {
            deskcalls.ListDockets: self._reading.dockets,
            deskcalls.CountDockets: self._reading.counts,
            deskcalls.TellCase: self._reading.told,
            deskcalls.FindCases: self._reading.found,
            deskcalls.ListMailbags: self._reading.mailbags,
            deskcalls.OpenDocket: self._handling.open,
            deskcalls.Claim: self._handling.claim,
            deskcalls.Annotate: self._handling.annotate,
            deskcalls.Edit: self._editing.edit,
            deskcalls.HoldCase: self._handling.hold,
            deskcalls.Decide: self._commands.decide,
            deskcalls.Undo: self._commands.undo,
            deskcalls.Recall: self._commands.recall,
            deskcalls.SkipStop: self._skipping.skip,
            deskcalls.WriteMailbag: self._bags.write,
            deskcalls.RemoveMailbag: self._bags.remove,
            deskcalls.RunMailbag: self._bags.run,
            deskcalls.ConfirmClock: self.daemon.confirm,
        }
