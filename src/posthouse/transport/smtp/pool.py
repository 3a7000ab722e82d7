"""Open talks, kept for the next mail: so many at a time with one server, and none for long without use."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import structlog

from posthouse.message.mailroute import Encryption
from posthouse.transport.smtp.client import Place, Talk

# Servers hang up on those who stay longer, and count how much one of them brings.
_IDLE_SECONDS: Final = 10.0
_MOST_MAILS: Final = 1_000

_log = structlog.get_logger("posthouse.mail")


class Address(NamedTuple):
    """A server and how it is talked to; talks of one address are as good as each other."""

    place: Place
    encryption: Encryption
    is_known: bool = False
    """This office shows who it is there."""


Opener = Callable[[Address], Awaitable[Talk]]


class Pool:
    """The talks of one office."""

    def __init__(self, open_talk: Opener, *, at_once: int) -> None:
        self._open_talk = open_talk
        self.at_once = at_once
        self._idle: dict[Address, list[tuple[Talk, asyncio.TimerHandle]]] = {}
        self._turns: dict[Address, asyncio.Semaphore] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def lend(self, address: Address) -> Talk:
        """Give a talk that is ready, an open one if there is one; it must be given back."""
        turns = self._turns.setdefault(address, asyncio.Semaphore(self.at_once))
        await turns.acquire()
        try:
            while self._idle.get(address):
                talk, timer = self._idle[address].pop()
                timer.cancel()
                if talk.is_ready:
                    return talk
                self._end(talk)
            return await self._open_talk(address)
        except BaseException:
            self._release(address)
            raise

    def give_back(self, address: Address, talk: Talk) -> None:
        """Take a talk back, for the next mail if it is good for one."""
        self._release(address)
        if not talk.is_ready or talk.carried >= _MOST_MAILS:
            self._end(talk)
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(_IDLE_SECONDS, self._expire, address, talk)
        self._idle.setdefault(address, []).append((talk, timer))

    async def close(self) -> None:
        """End all talks."""
        for talks in self._idle.values():
            for talk, timer in talks:
                timer.cancel()
                self._end(talk)
        self._idle.clear()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _release(self, address: Address) -> None:
        turns = self._turns[address]
        turns.release()

    def _expire(self, address: Address, talk: Talk) -> None:
        talks = [each for each in self._idle.get(address, []) if each[0] is not talk]
        if talks:
            self._idle[address] = talks
        else:
            self._idle.pop(address, None)
        self._end(talk)

    def _end(self, talk: Talk) -> None:
        task = asyncio.create_task(talk.end())
        self._ending.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None and not isinstance(fault, ssl.SSLError):
            _log.warning("mail.talk-ended-badly", fault=type(fault).__name__)
