"""The one thread that writes: it takes everything queued whenever it is free and commits it as one transaction.

A lone change goes at once; a crowd shares one sync. There is no timer.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import apsw

from posthouse.errors import PosthouseError
from posthouse.message.changes import DONE, Changes, Outcome
from posthouse.store.ports import StoreUnavailable
from posthouse.store.sqlite.checkpoint import Checkpointer
from posthouse.store.sqlite.connection import REFUSALS, all_statements, open_writer, translate, wrapped
from posthouse.store.sqlite.group import Group
from posthouse.store.sqlite.ledger import Ledger

# A transaction stays this small so that nobody waits long behind it.
_MOST_CHANGES: Final = 4_096

_BROKEN: Final = (
    apsw.IOError, apsw.CorruptError, apsw.NotADBError, apsw.FullError, apsw.ReadOnlyError, apsw.CantOpenError,
)  # fmt: skip


class Job(NamedTuple):
    """Changes somebody waits for."""

    changes: Sequence[Changes]
    answer: asyncio.Future[list[Outcome]]


class Errand(NamedTuple):
    """Something short to do on the writing connection, between two transactions."""

    # `Any`: whatever the work gives; `SqliteStore.between_commits` gives it back typed.
    work: Callable[[apsw.Connection], Any]
    answer: asyncio.Future[Any]


class Answer(NamedTuple):
    """What a job is told, or what went wrong that nobody planned."""

    job: Job
    outcomes: list[Outcome] | None
    fault: BaseException | None = None


class Writer:
    """The writing thread and its connection."""

    def __init__(
        self, path: str, vfs: str | None, *, told: Callable[[frozenset[str]], None], checkpointer: Checkpointer
    ) -> None:
        self._path = path
        self._vfs = vfs
        self._told = told
        self._checkpointer = checkpointer
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[Job | Errand | None] = queue.SimpleQueue()
        self._connection: apsw.Connection | None = None
        self._ledger: Ledger | None = None
        self._sql = all_statements()
        self._thread = threading.Thread(target=self._run, name="posthouse-writer", daemon=True)
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._stopped: asyncio.Future[None] = self._loop.create_future()

    async def start(self) -> None:
        """Open the database and begin to write; raises what refuses it."""
        self._thread.start()
        await self._opened

    async def stop(self) -> None:
        """Write what is queued, then close the database; harmless where it never opened."""
        if self._thread.ident is not None:
            self._jobs.put(None)
            await self._stopped

    def put(self, job: Job | Errand) -> None:
        """Queue changes or an errand; the answer is set on the event loop."""
        self._jobs.put(job)

    @property
    def ledger(self) -> Ledger | None:
        """What the writer knows; its register may be read from everywhere, for it is only ever replaced whole."""
        return self._ledger

    # In the thread.

    def _run(self) -> None:
        try:
            self._open(create=True)
        except BaseException as fault:  # noqa: BLE001 - carried over to whoever opens the store
            self._tell(_settle, self._opened, None, fault)
        else:
            self._tell(_settle, self._opened, None, None)
            self._work()
        self._tell(_settle, self._stopped, None, None)

    def _work(self) -> None:
        while (work := self._next_work()) is not None:
            jobs, errands = work
            if jobs:
                self._tell(self._resolve, *self._carry_out(jobs))
                self._checkpointer.make_room()
            for errand in errands:
                self._tell(_settle, errand.answer, *self._run_errand(errand))
        self._close()

    def _tell(self, callback: Callable[..., object], *told: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *told)
        except RuntimeError:
            # The loop is closed: nobody waits for the answer any more.
            return

    def _next_work(self) -> tuple[list[Job], list[Errand]] | None:
        """Wait for work and take all there is of it; nothing once told to stop."""
        jobs: list[Job] = []
        errands: list[Errand] = []
        size = 0
        work = self._jobs.get()
        while work is not None:
            if isinstance(work, Job):
                jobs.append(work)
                size += len(work.changes)
            else:
                errands.append(work)
            if size >= _MOST_CHANGES:
                return jobs, errands
            try:
                work = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, errands
        if jobs or errands:
            # Told to stop, but not before these are done.
            self._jobs.put(None)
            return jobs, errands
        return None

    def _run_errand(self, errand: Errand) -> tuple[object, BaseException | None]:
        try:
            with wrapped(self._path):
                if self._connection is None:
                    self._open()
                return errand.work(self._connected()), None
        except BaseException as fault:  # noqa: BLE001 - carried over to whoever sent the errand
            return None, fault

    def _carry_out(self, jobs: list[Job]) -> tuple[list[Answer], frozenset[str]]:
        changes = [change for job in jobs for change in job.changes]
        try:
            outcomes, stirred = self._write(changes)
        except REFUSALS as fault:
            if isinstance(fault, apsw.CorruptError) and len(jobs) > 1:
                # A damaged page is met by those who need it only.
                return self._one_by_one(jobs)
            refused = Outcome(status="refused", detail=str(translate(fault, self._path)))
            return [Answer(job, [refused] * len(job.changes)) for job in jobs], frozenset()
        except PosthouseError as fault:
            refused = Outcome(status="refused", detail=str(fault))
            return [Answer(job, [refused] * len(job.changes)) for job in jobs], frozenset()
        except Exception as fault:  # noqa: BLE001 - a bug met by one job is that job's only
            if len(jobs) > 1:
                return self._one_by_one(jobs)
            return [Answer(jobs[0], None, fault)], frozenset()
        answers = []
        start = 0
        for job in jobs:
            answers.append(Answer(job, outcomes[start : start + len(job.changes)]))
            start += len(job.changes)
        return answers, stirred

    def _one_by_one(self, jobs: list[Job]) -> tuple[list[Answer], frozenset[str]]:
        results = [self._carry_out([job]) for job in jobs]
        return [answer for answers, _ in results for answer in answers], frozenset().union(*(s for _, s in results))

    def _write(self, changes: Sequence[Changes]) -> tuple[list[Outcome], frozenset[str]]:
        if self._connection is None:
            self._open()
        ledger = self._ledger
        if ledger is None:
            raise StoreUnavailable("the store is closed", where=self._path)
        cursor = ledger.cursor
        try:
            cursor.execute("BEGIN IMMEDIATE").fetchall()
            group = Group(ledger, changes)
            outcomes = group.run()
            # Before the commit: a disk that fails after it must not turn what is written into a refusal.
            stirred = frozenset(group.stirred)
            cursor.execute("COMMIT").fetchall()
        except BaseException as fault:
            self._roll_back(fault)
            raise
        return outcomes, stirred

    def _roll_back(self, fault: BaseException) -> None:
        """Forget the transaction; after a fault of the disk begin afresh with a new connection.

        A failed sync may have dropped pages the kernel no longer holds, so nothing cached is trusted after one.
        """
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK").fetchall()
            if isinstance(fault, _BROKEN):
                self._close()
            elif self._ledger is not None:
                self._ledger.reload()
        except apsw.Error:
            self._close()

    def _open(self, *, create: bool = False) -> None:
        connection = open_writer(self._path, self._vfs, create=create)
        try:
            connection.set_wal_hook(self._checkpointer.note)
            self._ledger = Ledger(connection, self._sql)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            raise StoreUnavailable("the store is closed", where=self._path)
        return self._connection

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except apsw.Error:
                # What was committed is in the log already; closing only tidies up.
                return

    # On the event loop.

    def _resolve(self, answers: list[Answer], stirred: frozenset[str]) -> None:
        for answer in answers:
            if answer.job.answer.done():
                continue
            if answer.fault is not None:
                answer.job.answer.set_exception(answer.fault)
            else:
                answer.job.answer.set_result(answer.outcomes or [DONE] * len(answer.job.changes))
        if stirred:
            self._told(stirred)


def _settle(answer: asyncio.Future[Any], result: object, fault: BaseException | None) -> None:
    if answer.done():
        return
    if fault is not None:
        answer.set_exception(fault)
    else:
        answer.set_result(result)
