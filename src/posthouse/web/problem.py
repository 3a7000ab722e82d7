"""Errors as they are told over HTTP: problem documents (RFC 9457) that say what to do, and nothing about the inside."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from posthouse.errors import PosthouseError
from posthouse.web.asgi import Send

MEDIA_TYPE: Final = "application/problem+json"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem; `code` is the stable name that programs look at."""

    type: str
    title: str
    status: int
    code: str
    detail: str = ""
    hint: str = ""
    """What to do about it."""
    incident: str = ""
    """What the log of the office calls it, where the office is to blame."""


class Rank(msgspec.Struct, frozen=True):
    """How one kind of error is told."""

    status: int
    hint: str = ""
    told: bool = True
    """Whether the asker is told what was expected and found; only where that is about what they sent."""


_LATER: Final = "try again in a moment; the same idempotency key or message id makes that harmless"

RANKS: Final[Mapping[str, Rank]] = {
    "account.password-unfit": Rank(400),
    "account.refused": Rank(401),
    "attribute.malformed": Rank(400),
    "body.missing": Rank(404, "only a body of a message that is kept can be read", told=False),
    "body.too-large": Rank(413, "send it in pieces, or have limits.body_bytes raised"),
    "book.faulty": Rank(409),
    "book.unknown": Rank(404),
    "book.unreadable": Rank(503, "activate an edition that can be read", told=False),
    "call.forbidden": Rank(403),
    "call.malformed": Rank(400),
    "case.not-found": Rank(404),
    "confirmation.needed": Rank(409),
    "credential.refused": Rank(401),
    "credential.unknown": Rank(404),
    "docket.not-found": Rank(404),
    "form.malformed": Rank(400),
    "frame.too-large": Rank(413),
    "head.malformed": Rank(400),
    "id.ambiguous": Rank(409),
    "lease.lost": Rank(409),
    "mailbag.refused": Rank(409),
    "mailbox.elsewhere": Rank(404),
    "mailbox.empty": Rank(404),
    "message.not-found": Rank(404),
    "message.refused": Rank(422),
    "message.unknown": Rank(404),
    "name.malformed": Rank(400),
    "office.unavailable": Rank(503, _LATER, told=False),
    "person.second-needed": Rank(403),
    "request.malformed": Rank(400),
    "request.slow": Rank(408),
    "request.too-large": Rank(413),
    "request.too-many": Rank(429),
    "request.unfinished": Rank(503),
    "scope.malformed": Rank(400),
    "slip.malformed": Rank(400),
    "store.locked": Rank(503, _LATER, told=False),
    "store.unavailable": Rank(503, _LATER, told=False),
}
"""An error that is not here is the office's own affair: its public text is told, and nothing else."""

_INSIDE: Final = "if it stays, look into the log of the office"


def problem_of(fault: PosthouseError, *, incident: str = "") -> Problem:
    """Say an error of the house to whoever asked."""
    rank = RANKS.get(fault.code) or Rank(500 if fault.permanent else 503, _INSIDE, told=False)
    place = "" if fault.where is None or not rank.told else f"{fault.where}: "
    return Problem(
        type=f"urn:posthouse:problem:{fault.code}",
        title=fault.public,
        status=rank.status,
        code=fault.code,
        detail=f"{place}{fault.what}" if rank.told else "",
        hint=(fault.hint or rank.hint) if rank.told else rank.hint,
        incident=incident,
    )


def problem_of_status(status: int, *, detail: str = "", hint: str = "", incident: str = "") -> Problem:
    """Say what HTTP itself has a number for."""
    phrase = HTTPStatus(status).phrase
    code = f"http.{phrase.lower().replace(' ', '-')}"
    return Problem(
        type=f"urn:posthouse:problem:{code}",
        title=phrase,
        status=status,
        code=code,
        detail=detail,
        hint=hint,
        incident=incident,
    )


def headers_of(problem: Problem) -> dict[str, str]:
    """Give the headers that belong to a problem."""
    headers = {"content-type": MEDIA_TYPE, "cache-control": "no-store"}
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = 'Bearer realm="posthouse"'
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["retry-after"] = "1"
    return headers


def encoded(problem: Problem) -> bytes:
    """Write a problem as JSON."""
    return msgspec.json.encode(problem)


async def send_problem(
    send: Send, problem: Problem, *, headers: Mapping[str, str] | None = None, last: bool = True
) -> None:
    """Answer a request with a problem; where it is not the last, the caller ends the body."""
    body = encoded(problem)
    named = headers_of(problem) | dict(headers or {}) | {"content-length": str(len(body))}
    await send(
        {
            "type": "http.response.start",
            "status": problem.status,
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": not last})


# `Any`: what a validator has found, as it tells it.
def faults_told(extra: Any) -> str:
    """Say what is wrong with the parameters of a request, all of it at once."""
    if not isinstance(extra, list):
        return ""
    parts = [
        f"{one.get('key') or one.get('source') or 'request'}: {one.get('message', 'not as expected')}"
        for one in extra
        if isinstance(one, dict)
    ]
    return "; ".join(parts)[:1_000]
