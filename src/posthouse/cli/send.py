"""`posthouse send`: one message from the command line, a file, standard input or a document, or many from a stream."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from posthouse.cli import exitcode
from posthouse.cli.blocking import apart
from posthouse.cli.content import Typed, from_argument, from_file, from_input, standard_input
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.document import Line, read_document, read_lines
from posthouse.cli.ending import misuse, warn
from posthouse.cli.parameter import attribute, duration
from posthouse.cli.printer import plural
from posthouse.cli.progress import progress
from posthouse.client import Draft, Office, Receipt, Refused
from posthouse.clock import SystemClock
from posthouse.message.attribute import Value
from posthouse.message.form.form import MAX_FORM
from posthouse.office.calls import AskStatus

# Options a document says for itself.
_IN_DOCUMENT: Final = (
    "also", "attribute", "content_type", "correlation", "expires", "kind", "lane", "memory", "priority", "reply_to",
    "sender", "unordered",
)  # fmt: skip


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of the command were given."""

    to: str | None
    body: str | None
    file: Path | None
    document: str | None
    batch: bool
    kind: str | None
    also: tuple[str, ...]
    blind: tuple[str, ...]
    sender: str | None
    reply_to: str | None
    correlation: str | None
    priority: int | None
    attribute: tuple[tuple[str, Value], ...]
    content_type: str | None
    delay: float
    expires: float | None
    lane: str | None
    unordered: bool
    key: str | None
    memory: bool


@click.command()
@click.argument("to", required=False, metavar="[MAILBOX]")
@click.argument("body", required=False)
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Take the body from a file.",
)
@click.option("--document", metavar="FILE", help="Take the whole message from a JSON document; - is standard input.")
@click.option("--batch", is_flag=True, help="Send a message for each line of standard input: one JSON document each.")
@click.option(
    "--type", "--kind", "kind", metavar="KIND", help="What it is: mail (if left out), event, request, response, ..."
)
@click.option("--also", multiple=True, metavar="MAILBOX", help="One more recipient; may be given several times.")
@click.option("--blind", multiple=True, metavar="MAILBOX", help="One more recipient, whom the others do not see.")
@click.option("--sender", metavar="MAILBOX", help="Who sends it.")
@click.option("--reply-to", metavar="MAILBOX", help="Where answers go, and the notice if it cannot be delivered.")
@click.option("--correlation", metavar="TEXT", help="What it belongs to; for a response the id of the request.")
@click.option("--priority", type=click.IntRange(1, 10), help="1 to 10, where 10 is most urgent and 5 usual.")
@click.option(
    "--attribute",
    type=attribute,
    metavar="NAME[:TYPE]=VALUE",
    multiple=True,
    help="A value with a name, as in amount:int32=5.",
)
@click.option("--content-type", metavar="TYPE", help="The media type of the body; guessed where it is left out.")
@click.option(
    "--delay", type=duration, metavar="DURATION", default=0.0, help="Hold it back for a time, such as 5s or 2h."
)
@click.option("--expires", type=duration, metavar="DURATION", help="How long it is worth delivering, such as 10m.")
@click.option("--lane", metavar="TEXT", help="What it must stay in order with; the sender, where it is left out.")
@click.option("--unordered", is_flag=True, help="Let it wait for no other message.")
@click.option("--key", metavar="TEXT", help="An idempotency key: sent twice under one key, it is accepted once.")
@click.option("--memory", is_flag=True, help="Keep it in memory only: it is lost when the office stops.")
@at_any_desk
# `Any`: the fields of `Order`, as click read them.
def send(desk: Desk, **given: Any) -> int:
    """Send a message.

    posthouse send orders "two loaves" --type request --attribute amount:int32=2

    BODY is the text to send; - takes it from standard input, of any size. The answer is the id of the message, once it
    is safe on the disk.
    """
    order = Order(**given)
    _check(order)
    if order.batch:
        return desk.run(_send_batch(desk))
    desk.run(_send_one(desk, order))
    return exitcode.OK


def _check(order: Order) -> None:
    """Refuse what does not go together."""
    bodies = sum(given is not None for given in (order.body, order.file))
    written = order.document is not None
    if written or order.batch:
        way = "--batch" if order.batch else "--document"
        if (written and order.batch) or bodies or order.to is not None:
            raise misuse(f"{way} says everything: recipients and body stand in the document")
        said = [name for name in _IN_DOCUMENT if getattr(order, name) not in (None, False, ())]
        said += [name for name in ("blind", "delay", "key") if order.batch and getattr(order, name)]
        if said:
            option = "--type" if said[0] == "kind" else f"--{said[0].replace('_', '-')}"
            raise misuse(f"{option} and {way} do not go together: say it in the document")
        return
    if order.to is None:
        raise misuse('a mailbox is missing: posthouse send MAILBOX "BODY"')
    if bodies == 0:
        raise misuse('a body is missing: type it after the mailbox ("" for an empty one), or - or --file')
    if bodies > 1:
        raise misuse("the body is given twice, as an argument and by --file")


async def _send_one(desk: Desk, order: Order) -> None:
    async with desk.office(create=True) as office, progress("sending") as tally:
        if order.memory and desk.url is None:
            await _refuse_to_forget(office)
        if order.document is not None:
            draft = await _from_document(order, order.document)
        elif order.file is not None:
            draft = _draft(order, await from_file(order.file, tally))
        elif order.body == "-":
            draft = _draft(order, await from_input(tally))
        else:
            draft = _draft(order, from_argument(order.body or ""))
        receipt = (await office.put_many([draft]))[0]
    if receipt.status == "refused":
        raise Refused(receipt)
    _tell(desk, receipt)


def _draft(order: Order, body: Typed) -> Draft:
    return Draft(
        to=((order.to,) if order.to is not None else ()) + order.also,
        body=body.content,
        kind=order.kind or "mail",
        sender=order.sender,
        blind=order.blind,
        attributes=dict(order.attribute),
        content_type=order.content_type or body.content_type,
        priority=order.priority or 5,
        correlation=order.correlation,
        reply_to=order.reply_to,
        lane=order.lane,
        ordered=not order.unordered,
        delay=order.delay,
        expires_in=order.expires,
        keep="memory" if order.memory else "durable",
        key=order.key,
    )


async def _from_document(order: Order, name: str) -> Draft:
    def read() -> bytes:
        with standard_input() if name == "-" else Path(name).open("rb") as file:
            return file.read(MAX_FORM + 1)

    draft = read_document(await apart(read), SystemClock())
    blind = draft.blind + order.blind
    return msgspec.structs.replace(draft, blind=blind, delay=order.delay, key=order.key or draft.key)


async def _refuse_to_forget(office: Office) -> None:
    """Say so where a message in memory would be lost with this very command."""
    if (await office.call(AskStatus())).process == os.getpid():
        raise misuse("no office is running: a message kept in memory would be lost at once")


def _tell(desk: Desk, receipt: Receipt) -> None:
    if desk.as_json:
        desk.printer.document({"status": receipt.status, "id": str(receipt.id)})
        return
    desk.printer.line(str(receipt.id))
    if receipt.status == "duplicate":
        warn("that message was accepted before; this is its id")


async def _send_batch(desk: Desk) -> int:
    sent = malformed = refused = 0
    async with desk.office(create=True) as office, progress("sending") as tally:
        async for lines in read_lines(standard_input(), SystemClock()):
            drafts = [line.draft for line in lines if line.draft is not None]
            receipts = await office.put_many(drafts)
            ahead = iter(receipts)
            for line in lines:
                _answer(desk, line, None if line.draft is None else next(ahead))
            malformed += len(lines) - len(drafts)
            refused += sum(receipt.status == "refused" for receipt in receipts)
            sent += sum(receipt.status != "refused" for receipt in receipts)
            tally.add(len(lines))
    if not desk.as_json:
        warn(f"{plural(sent, 'message')} sent" + (f", {malformed + refused:,} not" if malformed + refused else ""))
    return exitcode.FAILURE if malformed else exitcode.REFUSED if refused else exitcode.OK


def _answer(desk: Desk, line: Line, receipt: Receipt | None) -> None:
    """Answer one line: its id, or what is wrong with it."""
    if line.fault is not None:
        facts = {"status": "malformed", "id": None, "code": line.fault.code, "reason": str(line.fault)}
    elif receipt is not None and receipt.status == "refused":
        facts = {"status": "refused", "id": None, "code": receipt.code, "reason": receipt.reason}
    elif receipt is not None:
        facts = {"status": receipt.status, "id": str(receipt.id), "code": None, "reason": None}
    else:
        return
    if desk.as_json:
        desk.printer.document({"line": line.number, **facts})
    elif facts["id"]:
        desk.printer.line(str(facts["id"]))
    else:
        warn(f"line {line.number}: {facts['reason']}")
