"""One running office: its parts, its tasks, and the answers to what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec
import structlog

from posthouse.clock import Clock
from posthouse.errors import as_one
from posthouse.message.audit import Signer
from posthouse.message.changes import Changes
from posthouse.message.webhook import PROTOCOL
from posthouse.office import calls, deskcalls
from posthouse.office.accounts import Accounts
from posthouse.office.agenda import Agenda
from posthouse.office.asking import Asking
from posthouse.office.audit import AuditRoom
from posthouse.office.backroom import BackRoom
from posthouse.office.bookkeeping import Bookkeeping
from posthouse.office.calls import Call
from posthouse.office.clerk import Clerk
from posthouse.office.counter import Counter
from posthouse.office.desk.desk import Desk
from posthouse.office.examination import Examination
from posthouse.office.herald import HeraldStore
from posthouse.office.holding import Holding
from posthouse.office.intake import Intake, Stores
from posthouse.office.keyring import Keyring
from posthouse.office.letterbox import Letterbox
from posthouse.office.mailbox import BadRequest
from posthouse.office.mailroom import Mailroom
from posthouse.office.meter import Meter, MeteredStore, metered_route
from posthouse.office.postmen import Postmen
from posthouse.office.refusals import RecordedRefusals
from posthouse.office.terms import Terms
from posthouse.office.timekeeper import Timekeeper
from posthouse.organisation.appointment import acting_roles
from posthouse.route import ROUTE, Stage
from posthouse.transport.ports import Door, Errand

Reply = TypeVar("Reply")
# `Any`: each call names its own reply, which `answer` gives back typed.
Answerer = Callable[[Any], Awaitable[Any]]

NO_ERRANDS: Final[Mapping[str, Errand]] = MappingProxyType({})

_log = structlog.get_logger("posthouse.office")


class Keeping(NamedTuple):
    """What only the keeper of the store can do, where it can be done at all."""

    backup: Callable[[str], Awaitable[int]]
    verify: Callable[[bool], Awaitable[list[str]]]


class House:
    """The parts of an office, wired to one another; `start` sets its tasks going, `stop` ends them."""

    def __init__(
        self,
        clock: Clock,
        terms: Terms,
        *,
        stores: Stores,
        keeping: Keeping | None = None,
        route: Sequence[Stage] = ROUTE,
        signer: Callable[[], Signer] | None = None,
    ) -> None:
        self.meter = meter = Meter(clock)
        self.herald = HeraldStore(stores.durable, clock, source=str(terms.name), webhooks=terms.webhooks)
        stores = Stores(
            MeteredStore(self.herald, clock, meter=meter),
            MeteredStore(stores.passing, clock, meter=meter, timed=False),
        )
        route = metered_route(route, meter)
        agenda = Agenda(clock)
        intake = Intake(clock, terms, stores=stores, agenda=agenda, route=route)
        clerk = Clerk(clock, terms, intake=intake, agenda=agenda)
        self._timekeeper = Timekeeper(clock, clerk, agenda=agenda, stores=(stores.durable, stores.passing))
        self._postmen = [
            Postmen(clock, terms, store=store, intake=intake, clerk=clerk, agenda=agenda)
            for store in (stores.durable, stores.passing)
        ]
        self._intake, self._stores = intake, stores
        self.terms, self.clock = terms, clock
        meter.listener = intake.library.hear
        self.keyring = Keyring(clock, stores.durable)
        self.accounts = Accounts(clock, stores.durable, duties=self._duties)
        self.asking = Asking(self, terms.name, refusals=RecordedRefusals(clock, stores.durable))
        self.reload: Answerer = _no_settings
        """What reads the settings again; whoever runs the office by settings puts it here."""
        # Where the office answers over HTTP, and where its doors for mail listen, by their names; who listens says it.
        self.addresses: list[str] = []
        self.mail: Mapping[str, list[str]] = {}
        self.counter = Counter(clock, terms, stores=stores, intake=intake, clerk=clerk, agenda=agenda)
        self.letterbox, self.mailroom = Letterbox(terms, intake), Mailroom(terms, intake)
        backroom = BackRoom(clock, terms, stores=stores, intake=intake, agenda=agenda, postmen=self._postmen[0])
        self.desk = Desk(clock, terms, store=stores.durable, intake=intake, agenda=agenda)
        self.audit = AuditRoom(clock, terms, store=stores.durable, signer=signer)
        self._answers = _answers(self, backroom, keeping=keeping) | self.desk.answers()
        holding = Holding(clock, stores=stores, clerk=clerk, postmen=self._postmen)
        books = Bookkeeping(clock, stores.durable, library=intake.library)
        self._answers |= _answers_apart(self.audit, holding, books=books)
        self._answers[calls.Examine] = Examination(clock, stores.durable).examine
        self._tasks: list[asyncio.Task[None]] = []
        self._doors: Mapping[str, Door] = {}

    async def start(self, doors: Sequence[Door] = (), *, errands: Mapping[str, Errand] = NO_ERRANDS) -> None:
        """Open the doors and set the timekeeper and the postmen going; errands go by the protocol of a name."""
        self._doors = {door.protocol: door for door in doors}
        # What webhooks are told comes from the office: nobody else may have it signed.
        self._intake.serve(frozenset(self._doors) - {PROTOCOL})
        await self.keyring.load()
        await self.accounts.load()
        self.counter.errands.serve(errands)
        setups = (await self._stores.durable.register()).setups
        if setups:
            # A closed mailbox gives out nothing, whichever store it lies in.
            await self._stores.passing.commit([Changes(setups=tuple(setups.values()))])
        for store, postmen in zip((self._stores.durable, self._stores.passing), self._postmen, strict=True):
            postmen.serve(self._doors)
            store.watch(postmen.stir)
            store.watch(self.counter.waiting.stir)
        alone = (self._timekeeper.run(), self.desk.run(), self.audit.run())
        runs = [*alone, *(postmen.run() for postmen in self._postmen)]
        self._tasks = [asyncio.create_task(run) for run in runs]
        for task in self._tasks:
            task.add_done_callback(_report)

    async def announce(self) -> None:
        """Tell the offices elsewhere that this one can be reached."""
        await asyncio.gather(*(door.greet() for door in self._doors.values()))

    def hear(self, office: str) -> None:
        """Hear that an office elsewhere has spoken, so that it can be reached again, perhaps."""
        for postmen in self._postmen:
            postmen.hear(office)

    async def send_away(self) -> None:
        """Send away everybody who waits for something, now that the office closes."""
        self.herald.close()
        await self.counter.close()

    async def stop(self) -> None:
        """Send away who waits, end the tasks and close the doors; the stores are closed by whoever opened them."""
        await self.send_away()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.audit.close()
        await self.counter.errands.close()
        for door in self._doors.values():
            await door.close()

    async def _duties(self, address: str) -> tuple[str, ...]:
        """Give the roles an address may review in, by the organisation in force."""
        in_force = await self._intake.library.in_force(await self._stores.durable.register())
        organisation = None if in_force is None else in_force.organisation
        return () if organisation is None else acting_roles(organisation, address, at=self.clock.now())

    async def answer(self, call: Call[Reply]) -> Reply:
        """Do what is asked."""
        try:
            return cast("Reply", await self._answers[type(call)](call))
        except ExceptionGroup as faults:
            one = as_one(faults)
            raise faults if one is None else one from None


async def _no_settings(_call: calls.Reload) -> calls.Reloaded:
    raise BadRequest("this office runs without settings of its own", hint="posthouse serve runs one by its settings")


def _answers(house: House, backroom: BackRoom, *, keeping: Keeping | None) -> dict[type[Call[Any]], Answerer]:
    """Which part answers which call."""
    counter, keyring = house.counter, house.keyring

    async def reload(call: calls.Reload) -> calls.Reloaded:
        # Whoever runs the office puts its reader there later.
        reloaded: calls.Reloaded = await house.reload(call)
        return reloaded

    async def status(call: calls.AskStatus) -> calls.Status:
        found = await backroom.status(call, counter.waiting)
        return msgspec.structs.replace(
            found, addresses=list(house.addresses), mail=dict(house.mail), domains=list(house.terms.mail.domains)
        )

    table: dict[type[Call[Any]], Answerer] = {
        calls.Put: counter.put,
        calls.TakeNext: counter.take,
        calls.SettleTaken: counter.settle,
        calls.AwaitArrival: counter.await_arrival,
        calls.ReadBody: counter.read_body,
        calls.ListMailboxes: backroom.mailboxes,
        calls.ListSetups: backroom.setups,
        calls.SetUp: backroom.set_up,
        calls.ListQueue: backroom.queue,
        calls.ListDead: backroom.dead,
        calls.RedriveDead: backroom.redrive,
        calls.ListAside: backroom.aside,
        calls.ResendAside: backroom.resend,
        calls.Lookup: backroom.lookup,
        calls.Tell: backroom.tell,
        calls.AskStatus: status,
        calls.CreateCredential: keyring.create,
        calls.ListCredentials: keyring.listed,
        calls.RevokeCredential: keyring.revoke,
        deskcalls.HearCases: house.herald.hear,
        deskcalls.ListAccounts: house.accounts.listed,
        deskcalls.WriteAccount: house.accounts.write,
        calls.Reload: reload,
    }
    if keeping is not None:
        table[calls.Backup] = lambda call: keeping.backup(call.folder)
        table[calls.Verify] = lambda call: keeping.verify(call.repair)
    return table


def _answers_apart(audit: AuditRoom, holding: Holding, *, books: Bookkeeping) -> dict[type[Call[Any]], Answerer]:
    """Which part answers what is asked of places elsewhere, of the books and of the audit."""
    return {
        calls.HoldPlace: holding.hold,
        calls.ListHeld: holding.held,
        calls.FlushPlace: holding.flush,
        deskcalls.ListBooks: books.books,
        deskcalls.ListEditions: books.editions,
        deskcalls.ReadEdition: books.edition,
        deskcalls.ListActivations: books.activations,
        deskcalls.WriteEdition: books.write,
        deskcalls.Activate: books.activate,
        deskcalls.ListAudit: audit.listed,
        deskcalls.ListSeals: audit.seals,
        deskcalls.EraseAudit: audit.erase,
    }


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (fault := task.exception()) is not None:
        _log.error("office.task-ended", fault=type(fault).__name__, exc_info=fault)
