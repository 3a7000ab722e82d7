"""Messages out: taken on a lease, or for good; and what becomes of those that were taken."""

from __future__ import annotations

from typing import Any, Literal

from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from posthouse.errors import PosthouseError
from posthouse.message.changes import Filter
from posthouse.message.form import cloudevent, event
from posthouse.message.form.form import MalformedForm
from posthouse.office.calls import SettleTaken, Taken, TakeNext, slip_of
from posthouse.office.permit import Permit
from posthouse.web.api.document import GetMessages
from posthouse.web.api.lending import Reader
from posthouse.web.api.path import mailbox_in
from posthouse.web.api.shape import (
    Deliveries,
    Failing,
    Getting,
    Messages,
    Renewing,
    Settled,
    Slips,
    Taking,
    delivery_of,
    message_of,
    read_slip,
    shown,
)
from posthouse.web.front import Front

Event = Literal["acknowledged", "returned", "failed", "renewed"]


@post("/mailboxes/{mailbox:str}/take", summary="Take messages on a lease", tags=["Messages out"], status_code=200)
async def take(
    *, mailbox: FromPath[str], data: JSONBody[Taking], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Deliveries:
    """Take what comes next: most urgent first, then in order of arrival.

    A taken message is yours until its lease ends; acknowledge it when it is dealt with. With `wait`, the answer comes
    as soon as a message does, or when the wait is over, with nothing in it.
    """
    call = TakeNext(
        mailbox=mailbox_in(mailbox),
        filter=Filter(data.kind, data.correlation),
        limit=data.limit,
        wait=data.wait,
        lease=data.lease,
        holder=permit.principal,
    )
    return Deliveries(deliveries=[delivery_of(taken) for taken in await front.ask(permit, call)])


@post(
    "/mailboxes/{mailbox:str}/get",
    summary="Take messages for good",
    tags=["Messages out"],
    operation_class=GetMessages,
    status_code=200,
)
# `Any`: nobody signs in with Litestar's own means; the body is whichever form was asked for.
async def get_messages(
    *,
    mailbox: FromPath[str],
    data: JSONBody[Getting],
    request: Request[Any, Any, Any],
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> Response[Any]:
    """Take what comes next and acknowledge it at once; should the answer be lost, so are the messages in it.

    With `Accept: application/cloudevents+json` or `application/cloudevents-batch+json` they come as CloudEvents, and
    with `?mode=binary` one comes as headers and its body. Where nothing came, a single one is answered with 204.
    """
    form = _form_of(request, limit=data.limit)
    call = TakeNext(
        mailbox=mailbox_in(mailbox),
        filter=Filter(data.kind, data.correlation),
        limit=data.limit,
        wait=data.wait,
        holder=permit.principal,
    )
    taken = await front.ask(permit, call)
    slips = [slip_of(one) for one in taken]
    try:
        answer = _formed(taken, form)
    except PosthouseError:
        # What cannot be written must not be gone.
        await front.ask(permit, SettleTaken(slips=slips, event="returned"))
        raise
    if slips:
        await front.ask(permit, SettleTaken(slips=slips, event="acknowledged"))
    return answer


@post("/deliveries/acknowledge", summary="Say that messages are dealt with", tags=["Messages out"], status_code=200)
async def acknowledge(
    *,
    data: JSONBody[Slips],
    reader: NamedDependency[Reader],
) -> Settled:
    """They leave their mailbox for good."""
    return await settle(reader, data, event="acknowledged")


@post("/deliveries/return", summary="Put messages back", tags=["Messages out"], status_code=200)
async def give_back(
    *,
    data: JSONBody[Slips],
    reader: NamedDependency[Reader],
) -> Settled:
    """They go back to where they were, as if they had not been taken."""
    return await settle(reader, data, event="returned")


@post("/deliveries/fail", summary="Say that handling failed", tags=["Messages out"], status_code=200)
async def fail(
    *,
    data: JSONBody[Failing],
    reader: NamedDependency[Reader],
) -> Settled:
    """They come again after a pause, and after many failures become dead letters."""
    return await settle(reader, data, event="failed")


@post("/deliveries/renew", summary="Make leases last", tags=["Messages out"], status_code=200)
async def renew(
    *,
    data: JSONBody[Renewing],
    reader: NamedDependency[Reader],
) -> Settled:
    """They are yours for so many seconds from now."""
    return await settle(reader, data, event="renewed")


async def settle(reader: Reader, data: Slips, *, event: Event) -> Settled:
    """Say what became of taken messages, and let the streams that lent them know."""
    slips = [read_slip(text) for text in data.slips]
    call = SettleTaken(
        slips=slips,
        event=event,
        reason=data.reason if isinstance(data, Failing) else "",
        pause=data.pause if isinstance(data, Failing) else None,
        lease=data.lease if isinstance(data, Renewing) else None,
    )
    good = await reader.front.ask(reader.permit, call)
    if event != "renewed":
        reader.lending.settled(slips)
    return Settled(
        settled=[text for text, is_good in zip(data.slips, good, strict=True) if is_good],
        lost=[text for text, is_good in zip(data.slips, good, strict=True) if not is_good],
    )


def binary(found: event.Event) -> Response[bytes]:
    """Answer with an event as headers and a body."""
    headers, body = event.write_binary(found)
    # As a header, not as a media type: that would gain a character set nobody spoke of.
    return Response(body, headers={"content-type": "application/octet-stream"} | dict(headers))


def _form_of(request: Request[Any, Any, Any], *, limit: int) -> str:
    """Say in which form messages are wanted."""
    accepted = request.headers.get("accept", "").lower()
    if request.query_params.get("mode") == "binary":
        form = "binary"
    elif event.BATCH in accepted:
        return event.BATCH
    else:
        form = event.STRUCTURED if event.STRUCTURED in accepted else ""
    if form and limit > 1:
        raise MalformedForm(
            f"expected a limit of 1 with a single CloudEvent, found {limit}",
            where="limit",
            hint=f"accept {event.BATCH}",
        )
    return form


def _formed(taken: list[Taken], form: str) -> Response[Any]:
    messages = [message_of(one) for one in taken]
    if form == event.BATCH:
        return Response(event.write_batch(cloudevent.to_event(message) for message in messages), media_type=event.BATCH)
    if not form:
        return Response(Messages(messages=[shown(message) for message in messages]))
    if not messages:
        return Response(None, status_code=204)
    found = cloudevent.to_event(messages[0])
    if form == event.STRUCTURED:
        return Response(event.write_event(found), media_type=event.STRUCTURED)
    return binary(found)
