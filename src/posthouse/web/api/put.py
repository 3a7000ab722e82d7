"""Messages in: one or a batch, in any of the forms, each answered for itself; and large bodies beforehand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import msgspec
from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from posthouse.errors import PosthouseError
from posthouse.office.calls import BeginBody
from posthouse.office.permission import NotPermitted, permits, permits_sender
from posthouse.office.permit import Permit
from posthouse.office.sorting import Parcel
from posthouse.web.api.arriving import Arrived, Bundle, Post, unpack
from posthouse.web.api.document import PutBody, PutMany, RawBody
from posthouse.web.api.path import mailbox_in
from posthouse.web.api.shape import Kept, PutAnswer, PutAnswers, answer_of, refusal_of
from posthouse.web.front import Front
from posthouse.web.guard import Answered
from posthouse.web.problem import Problem

_STATUS: Final = {"accepted": 201, "duplicate": 200}
_RETRY: Final = {"retry-after": "1"}
_NO_SENDER: Final = frozenset("*")

Answer = Response[PutAnswer] | Response[PutAnswers]


@post(
    "/messages", summary="Hand in one message or many", tags=["Messages in"], operation_class=PutMany, status_code=201
)
# `Any`: nobody signs in with Litestar's own means.
async def put(
    *, request: Request[Any, Any, Any], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Answer:
    """Hand in messages; what is answered with accepted is on the disk.

    A single message is answered by itself, and a refusal is a problem. Of a list each is answered for itself, in order.
    """
    return await _hand_in(
        front, permit, bundle=unpack(await _post(request, permit, mailbox=None), front.clock), request=request
    )


@post(
    "/mailboxes/{mailbox:str}/messages",
    summary="Hand in messages for one mailbox",
    tags=["Messages in"],
    operation_class=PutBody,
    status_code=201,
)
async def put_into(
    *,
    mailbox: FromPath[str],
    request: Request[Any, Any, Any],
    front: NamedDependency[Front],
    permit: NamedDependency[Permit],
) -> Answer:
    """Hand in messages that name no other recipient; a body of any other content type is itself the message's body."""
    bundle = unpack(await _post(request, permit, mailbox=mailbox_in(mailbox)), front.clock)
    return await _hand_in(front, permit, bundle=bundle, request=request)


@post("/bodies", summary="Hand in a large body", tags=["Messages in"], operation_class=RawBody, status_code=201)
async def put_body(
    *, request: Request[Any, Any, Any], front: NamedDependency[Front], permit: NamedDependency[Permit]
) -> Kept:
    """Keep a large body; a message then names it as its `ref`. What no message names for a while is cleared away."""
    refusal = permits(permit, BeginBody(), office=front.name)
    if refusal is not None:
        raise refusal
    body = await front.counter.save_body(_pieces(request))
    return Kept(sha256=body.sha256, size=body.size)


async def _pieces(request: Request[Any, Any, Any]) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        yield piece


async def _post(request: Request[Any, Any, Any], permit: Permit, *, mailbox: str | None) -> Post:
    headers = list(request.headers.items())
    content_type = request.headers.get("content-type", "")
    return Post(content_type, headers, await request.body(), mailbox=mailbox, sender=_usual_sender(permit))


def _usual_sender(permit: Permit) -> str | None:
    """Give the one name a key may send as, where there is just one."""
    patterns = [scope.pattern for scope in permit.scopes if scope.kind == "send"]
    return patterns[0] if len(patterns) == 1 and _NO_SENDER.isdisjoint(patterns[0]) and not permit.administers else None


async def _hand_in(front: Front, permit: Permit, *, bundle: Bundle, request: Request[Any, Any, Any]) -> Answer:
    only = bundle.items[0] if not bundle.is_many else None
    if isinstance(only, PosthouseError):
        raise only
    if only is not None and (refusal := permits_sender(permit, only.envelope.sender, office=front.name)) is not None:
        raise refusal
    answers = await _answers(front, permit, items=bundle.items, key=request.headers.get("idempotency-key"))
    if bundle.is_many:
        return Response(PutAnswers(results=answers), status_code=200)
    answer = answers[0]
    if answer.status == "refused":
        raise Answered(_problem(answer), _RETRY if answer.temporary else {})
    return Response(answer, status_code=_STATUS[answer.status], headers={"location": f"/api/v1/messages/{answer.id}"})


async def _answers(
    front: Front, permit: Permit, *, items: Sequence[Arrived | PosthouseError], key: str | None
) -> list[PutAnswer]:
    answers: list[PutAnswer | None] = [None] * len(items)
    going: list[tuple[int, Parcel]] = []
    senders: dict[str | None, NotPermitted | None] = {}
    for number, item in enumerate(items):
        if isinstance(item, PosthouseError):
            answers[number] = refusal_of(item)
            continue
        sender = item.envelope.sender
        if sender not in senders:
            senders[sender] = permits_sender(permit, sender, office=front.name)
        refusal = senders[sender]
        if refusal is not None:
            answers[number] = refusal_of(refusal)
            continue
        own = key if key is not None and len(items) == 1 else item.envelope.idempotency
        envelope = msgspec.structs.replace(item.envelope, principal=permit.principal, idempotency=own)
        going.append((number, Parcel(item.message, envelope)))
    receipts = await front.counter.accept([parcel for _, parcel in going]) if going else []
    for (number, _), receipt in zip(going, receipts, strict=True):
        answers[number] = answer_of(receipt)
    return [answer for answer in answers if answer is not None]


def _problem(answer: PutAnswer) -> Problem:
    later = "try again in a moment; the same message id or idempotency key makes that harmless"
    return Problem(
        type=f"urn:posthouse:problem:{answer.code}",
        title="The message was refused.",
        status=503 if answer.temporary else 422,
        code=answer.code,
        detail=answer.reason,
        hint=later if answer.temporary else "",
    )
