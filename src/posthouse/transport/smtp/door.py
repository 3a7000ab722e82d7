"""The door for `smtp:` names: mail goes to the servers of a domain, to a relay, to a store of mailboxes, or a maildir.

A message brought twice arrives twice, for mail servers know no ids: it happens where a line breaks between the end of a
mail and the reply to it, or the office dies before it has written the reply down. Lost is nothing.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Sequence
from typing import Final

import structlog

from posthouse.clock import Clock
from posthouse.message.answer import Answer
from posthouse.message.mailing import Mailing
from posthouse.message.mailroute import Routes
from posthouse.message.name import parse_office
from posthouse.transport.ports import Outgoing, Result, result_of
from posthouse.transport.smtp.client import NoTalk, Patience, Said, Talk, open_talk, trust
from posthouse.transport.smtp.dialogue.client import Manner
from posthouse.transport.smtp.dialogue.credential import Credentials
from posthouse.transport.smtp.dialogue.hearing import is_good, status_of, told
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.maildir import Maildirs
from posthouse.transport.smtp.mx import DeadEnd
from posthouse.transport.smtp.names import NamesUnavailable, Resolver
from posthouse.transport.smtp.parcel import Parcel, Unfit, parcel_of
from posthouse.transport.smtp.pool import Address, Opener, Pool
from posthouse.transport.smtp.road import Road, Roads
from posthouse.transport.smtp.sts import Policies, fetch

# A second talk is worth its greetings once so many mails are there for each.
_MAILS_A_TALK: Final = 4
_MOST_IN_VAIN: Final = 3

_log = structlog.get_logger("posthouse.mail")


class SmtpDoor:
    """See `ports.Door`."""

    protocol = "smtp"

    def __init__(self, roads: Roads, pool: Pool, *, mailing: Mailing) -> None:
        self.seconds = mailing.walk_seconds
        self._roads = roads
        self._pool = pool
        self._name = mailing.name
        self._most_hops = mailing.hops
        self._maildirs = Maildirs(mailing.name)
        self._talks_at_once = pool.at_once

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        domain = parse_office(office).host
        try:
            road = await self._roads.find(domain)
        except NamesUnavailable as fault:
            return [Result("unreachable", fault.what)] * len(batch)
        if isinstance(road, DeadEnd):
            return [_refused(outgoing, road.reason, road.status) for outgoing in batch]
        walk = _Walk(self._pool, self._roads, road=road)
        for number, outgoing in enumerate(batch):
            parcel = await parcel_of(outgoing, name=self._name, most_hops=self._most_hops)
            if isinstance(parcel, Unfit):
                walk.results[number] = _refused(outgoing, parcel.reason, parcel.status)
            elif road.target.kind == "maildir":
                walk.results[number] = await self._maildirs.keep(parcel, outgoing, pattern=road.target.path)
            else:
                walk.waiting.append((number, parcel))
        await walk.go(self._talks_at_once)
        return [walk.results[number] for number in range(len(batch))]

    async def greet(self) -> None:
        # Mail servers are not told that this one is there; those that have mail for it come by themselves.
        return

    async def close(self) -> None:
        await self._pool.close()


def mail_door(mailing: Mailing, clock: Clock) -> SmtpDoor:
    """Make the door through which mail goes out; nothing is asked, and no certificate read, before there is some."""
    names = Resolver()
    policies = Policies(clock, names, fetch=fetch) if mailing.mta_sts else None
    roads = Roads(
        clock,
        names,
        routes=Routes(mailing.routes),
        policies=policies,
        own=frozenset({mailing.name}),
        encryption=mailing.encryption,
    )
    return SmtpDoor(roads, Pool(opener(mailing, clock), at_once=mailing.talks), mailing=mailing)


def opener(mailing: Mailing, clock: Clock) -> Opener:
    """Give what opens talks on these terms; certificates are read when the first one is opened."""
    patience = Patience(
        connect=mailing.connect_seconds, greeting=mailing.reply_seconds, reply=mailing.reply_seconds,
        piece=mailing.reply_seconds, end=mailing.end_seconds,
    )  # fmt: skip
    trusted = functools.cache(functools.partial(trust, mailing.ca))
    credentials = Credentials(mailing.user, mailing.password) if mailing.user else None

    async def open_one(address: Address) -> Talk:
        manner = Manner(
            mailing.name,
            encryption=address.encryption,
            credentials=credentials if address.is_known else None,
            nonce=clock.new_id().hex,
        )
        return await open_talk(address.place, manner, trusted=trusted(), patience=patience)

    return open_one


class _Walk:
    """One batch on its way, over as many talks as are worth it."""

    def __init__(self, pool: Pool, roads: Roads, *, road: Road) -> None:
        self.waiting: deque[tuple[int, Parcel]] = deque()
        self.results: dict[int, Result] = {}
        self._pool = pool
        self._roads = roads
        self._road = road

    async def go(self, talks_at_once: int) -> None:
        """Bring all that waits; what nobody took for want of a server is unreachable."""
        count = min(talks_at_once, -(-len(self.waiting) // _MAILS_A_TALK))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._work()) for _ in range(count)]
        reasons = [task.result() for task in tasks if task.result()]
        for number, _ in self.waiting:
            self.results[number] = Result("unreachable", reasons[0] if reasons else "no server answered")

    async def _work(self) -> str:
        """Bring mails while there are any and a server takes them; say why no server does."""
        in_vain = 0
        while self.waiting:
            before = len(self.results)
            try:
                address, talk = await self._talk()
            except (NoTalk, NamesUnavailable) as fault:
                return fault.what
            try:
                await self._use(talk)
            finally:
                self._pool.give_back(address, talk)
            in_vain = in_vain + 1 if len(self.results) == before else 0
            if in_vain == _MOST_IN_VAIN:
                return f"{talk.place}: the server hangs up before a mail is offered"
        return ""

    async def _use(self, talk: Talk) -> None:
        while self.waiting and await talk.settle():
            number, parcel = self.waiting.popleft()
            # Whatever becomes of this talk, the mail has its answer.
            self.results[number] = Result("deferred", "the office stopped in the middle of it")
            said = await talk.bring(parcel.mail, parcel.pieces)
            self.results[number] = _result(parcel, said, server=str(talk.place), is_final=talk.place.is_lmtp)

    async def _talk(self) -> tuple[Address, Talk]:
        """Open a talk with the first server that lets us."""
        last: NoTalk | None = None
        async for address in self._roads.addresses(self._road):
            try:
                return address, await self._pool.lend(address)
            except NoTalk as fault:
                _log.info("mail.server-unreachable", server=str(address.place), fault=fault.what)
                last = last or fault
        raise last or NoTalk(f"{', '.join(self._road.hosts)}: the DNS has no address of it")


def _result(parcel: Parcel, said: Said, *, server: str, is_final: bool) -> Result:
    answers = tuple(
        _answer(name, reply, said, server=server, is_final=is_final)
        for name, reply in zip(parcel.names, said.replies, strict=True)
    )
    return result_of(answers)


def _answer(name: str, reply: Reply | None, said: Said, *, server: str, is_final: bool) -> Answer:
    if reply is None:
        return Answer(name, "deferred", f"{server}: {said.fault}", "4.4.2", server)
    if is_good(reply):
        return Answer(name, "delivered", told(reply), status_of(reply), server, said.passes_wishes_on and not is_final)
    return Answer(name, "deferred" if reply.is_temporary else "refused", told(reply), status_of(reply), server)


def _refused(outgoing: Outgoing, reason: str, status: str) -> Result:
    return result_of([Answer(name, "refused", reason, status) for name in outgoing.envelope.everybody])
