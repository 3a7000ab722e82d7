"""The routes of the API, version 1; what they need beside the office hangs on their router."""

from __future__ import annotations

from litestar import Router
from litestar.di import NamedDependency, Provide

from posthouse.office.permit import Permit
from posthouse.web.api import backroom, gate, gatebooks, gateevents, mailbox, put, stream, take
from posthouse.web.api.lending import Lending, Reader
from posthouse.web.front import Front


def _reader(
    front: NamedDependency[Front], permit: NamedDependency[Permit], *, lending: NamedDependency[Lending]
) -> Reader:
    return Reader(front, permit, lending)


def make_routes() -> list[Router]:
    """Make the routes of one office."""
    lending = Lending()
    handlers = [
        put.put,
        put.put_into,
        put.put_body,
        take.take,
        take.get_messages,
        take.acknowledge,
        take.give_back,
        take.fail,
        take.renew,
        stream.stream,
        stream.socket,
        mailbox.list_boxes,
        mailbox.list_set_up,
        mailbox.set_up,
        mailbox.remove_set_up,
        backroom.status,
        backroom.queue,
        backroom.dead,
        backroom.redrive,
        backroom.drop,
        backroom.aside,
        backroom.resend,
        backroom.find,
        backroom.message,
        backroom.trace,
        backroom.body,
        *gate.HANDLERS,
        *gatebooks.HANDLERS,
        *gateevents.HANDLERS,
    ]
    return [
        Router(
            path="/api/v1",
            route_handlers=handlers,
            dependencies={
                "lending": Provide(lambda: lending, sync_to_thread=False),
                "reader": Provide(_reader, sync_to_thread=False),
            },
        )
    ]
