"""What happens to cases, as it happens: server-sent events, each a CloudEvent, of what the asker may see."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from posthouse.errors import PosthouseError
from posthouse.office.deskcalls import HearCases
from posthouse.office.permit import Permit
from posthouse.office.tiding import cloud_event
from posthouse.web.api.document import EventStream
from posthouse.web.api.gate import TAGS
from posthouse.web.front import Front
from posthouse.web.problem import problem_of

_STILL_HERE_S: Final = 15.0
_AT_ONCE: Final = 100

_encode: Final = msgspec.json.Encoder().encode

Numbered = Annotated[
    int | None, QueryParameter(ge=0, le=2**62, description="The id of the last event you have; else what comes now.")
]
Last = Annotated[int | None, HeaderParameter(name="last-event-id", ge=0, le=2**62, required=False)]


@get("/gate/events", summary="Hear what happens to cases", tags=TAGS, operation_class=EventStream)
async def events(
    *,
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
    after: Numbered = None,
    last: Last = None,
) -> Stream:
    """Send each change of a case as a server-sent event that holds a CloudEvent; its type is the event's.

    You hear of the cases you may see: as whoever you review as, as an auditor of all, and of the messages you sent that
    they are held and that it is over. Whoever connects again with `Last-Event-ID` misses nothing.
    """
    begin = last if last is not None else after
    if begin is None:
        begin = (await front.ask(permit, HearCases(limit=1))).after
    return Stream(
        _events(front, permit, begin),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _events(front: Front, permit: Permit, after: int) -> AsyncGenerator[bytes, None]:
    source = str(front.name)
    yield b": open\n\n"
    while not front.closing.is_set():
        try:
            if not permit.is_account:
                front.keyring.check(permit)
            heard = await front.ask(permit, HearCases(after=after, limit=_AT_ONCE, wait=_STILL_HERE_S))
        except PosthouseError as fault:
            yield b"event: problem\ndata: %b\n\n" % _encode(problem_of(fault))
            return
        after = heard.after
        for event in heard.events:
            written = cloud_event(event, source)
            yield b"event: %b\nid: %d\ndata: %b\n\n" % (event.type.encode(), event.number, written)
        if not heard.events:
            yield b": still here\n\n"


HANDLERS = [events]
