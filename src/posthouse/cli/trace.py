"""`posthouse trace`: one message, and a line for each thing that happened to it."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final
from uuid import UUID

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.printer import clean, local_time
from posthouse.cli.sheet import facts
from posthouse.client import Message, Office
from posthouse.errors import PosthouseError
from posthouse.message.form.plain import fields_of, shown_body, shown_instant, text_of
from posthouse.message.message import read_head
from posthouse.message.trace import Step
from posthouse.office.calls import Lookup, Story, Tell

_MOST_TOLD: Final = 10
_MOST_BODY: Final = 32 * 1_048_576
_WHOLE: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DIGITS: Final = re.compile(r"[0-9a-fA-F-]{1,36}")


class MessageUnknown(PosthouseError):
    """No message has this id."""

    code: ClassVar[str] = "message.unknown"
    public: ClassVar[str] = "There is no such message."


class IdAmbiguous(PosthouseError):
    """More than one message has an id that begins like this."""

    code: ClassVar[str] = "id.ambiguous"


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """A message, what happened to it, and its body if it was asked for."""

    message: Message
    story: Story
    body: bytes | None


@click.command()
@click.argument("message", metavar="ID")
@click.option("--body", is_flag=True, help="Show the body too.")
@at_any_desk
def trace(desk: Desk, message: str, body: bool) -> None:  # noqa: FBT001 - click names it
    """Tell the life of one message.

    ID is the message's id, or as many of its first digits as tell it from others.
    """
    life = desk.run(_life(desk, message, with_body=body))
    if desk.as_json:
        desk.printer.document(_document(life))
    else:
        _tell(desk, life)


async def _life(desk: Desk, written: str, *, with_body: bool) -> Life:
    async with desk.office() as office:
        story = await office.call(Tell(message=await find_message(office, written)))
        if story is None:
            raise _unknown(written)
        message = read_head(story.head, story.body, sections=story.sections)
        body = None
        if with_body and message.size <= _MOST_BODY:
            body = b"".join([piece async for piece in office.body(message)])
    return Life(message=message, story=story, body=body)


async def find_message(office: Office, written: str) -> UUID:
    """Give the id that is written, or that begins with what is written."""
    if not _DIGITS.fullmatch(written):
        raise click.UsageError(f"expected the id of a message or its first digits, found {clean(written)!r}")
    if _WHOLE.fullmatch(written):
        return UUID(written)
    found = await office.call(Lookup(prefix=written.lower(), limit=_MOST_TOLD + 1))
    if not found:
        raise _unknown(written)
    if len(found) > 1:
        named = ", ".join(map(str, found[:_MOST_TOLD]))
        more = " and more" if len(found) > _MOST_TOLD else ""
        raise IdAmbiguous(f"several messages begin with {written}: {named}{more}", hint="write more of its digits")
    return found[0]


def _unknown(written: str) -> MessageUnknown:
    return MessageUnknown(f"no message has an id that begins with {written}")


# `Any`: the members of a JSON object.
def _document(life: Life) -> dict[str, Any]:
    envelope = life.story.envelope
    return (
        fields_of(life.message)
        | {
            "envelope": {
                "from": envelope.sender,
                "to": envelope.recipients,
                "blind": envelope.blind,
                "principal": envelope.principal,
                "key": envelope.idempotency,
                "not_before": shown_instant(envelope.not_before),
            },
            "accepted": shown_instant(life.story.accepted),
            "trace": [_step(step) for step in life.story.steps],
        }
        | ({} if life.body is None else shown_body(life.message.content_type, life.body))
    )


def _step(step: Step) -> dict[str, Any]:
    return {"at": shown_instant(step.at), "happened": step.happened, "place": step.place, "detail": step.detail}


def _tell(desk: Desk, life: Life) -> None:
    printer, envelope = desk.printer, life.story.envelope
    printer.facts(
        [
            *facts(life.message),
            ("blind", ", ".join(envelope.blind) or None),
            ("key", envelope.idempotency),
            ("held back", None if envelope.not_before is None else f"until {local_time(envelope.not_before)}"),
        ]
    )
    printer.line("")
    steps = life.story.steps
    printer.table(
        ("at", "after", "happened", "where", "detail"),
        [
            (local_time(step.at), _after(steps, number), step.happened, step.place.removeprefix("#"), step.detail)
            for number, step in enumerate(steps)
        ],
    )
    if life.body is not None:
        text = text_of(life.body)
        printer.line("")
        printer.line("(the body is no text)" if text is None else clean(text.rstrip("\n"), keep="\n\t"))


def _after(steps: list[Step], number: int) -> str:
    """Say how long after the step before it a step came."""
    if number == 0:
        return ""
    seconds = (steps[number].at - steps[number - 1].at) / 1_000_000
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    return (
        f"{seconds:.1f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7_200
        else f"{seconds / 3_600:.0f} h"
    )
