"""Errands to offices over HTTP: a call goes in a signed frame, and the answer comes back in one."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.transport.http.caller import Caller, NotHeard
from posthouse.transport.ports import Unreachable

# Calls that may wait at one office at a time; fewer than the connections there are.
_AT_ONCE: Final = 64


class NotListed(PosthouseError):
    """An office can only be asked for what lies in its mailboxes if it is a peer, with its keys."""

    code: ClassVar[str] = "peer.not-listed"
    public: ClassVar[str] = "The other office cannot be asked."


class HttpErrand:
    """See `ports.Errand`; `caller` is one of its own, so that takers who wait keep no message from going."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._waiting: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_AT_ONCE))

    async def ask(self, office: str, question: bytes) -> bytes:
        peer = next((peer for peer in self._caller.peers if peer.office == office), None)
        if peer is None or not peer.keys:
            raise NotListed(
                "expected an office that is listed with its keys, for only its mail can go by way of another",
                where=office,
                hint="list it under [peers]",
            )
        async with self._waiting[office]:
            try:
                answer = await self._caller.say(peer, question, about="call")
            except NotHeard as fault:
                raise Unreachable(fault.what, where=office, hint=fault.hint) from fault
        if answer.verdict != "taken":
            raise Unreachable(f"it does not answer calls: {answer.reason}", where=office)
        return answer.reply

    async def close(self) -> None:
        await self._caller.close()
