"""`posthouse mail`: mail is written and sent, looked into, and what goes out is held or hurried."""

from __future__ import annotations

import mimetypes
import os
import pwd
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from posthouse.cli import exitcode
from posthouse.cli.blocking import apart
from posthouse.cli.content import standard_input
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.paging import all_depths
from posthouse.cli.printer import clean, local_time, plural
from posthouse.cli.trace import MessageUnknown, find_message
from posthouse.client import Draft, Refused
from posthouse.clock import SystemClock
from posthouse.message.features import MailFeatures, features_of_mail
from posthouse.message.form.composition import MAIL_TYPE, Attached, Writing, address_of, is_mail, mended, written
from posthouse.message.message import Message, read_head
from posthouse.message.name import MalformedName, parse_mailbox, parse_office
from posthouse.office.calls import AskStatus, Destination, FlushPlace, HoldPlace, ListHeld, Tell
from posthouse.server.quantity import print_size
from posthouse.store.ports import Depth

_MOST: Final = 26_214_400
"""Bytes of a mail that is written or shown here."""


@click.group(cls=Listing)
def mail() -> None:
    """Send mail, look into one, hold or hurry what goes out.

    Mail goes out where the setting outgoing.name says what the office is called; routes say where to.
    """


@mail.command()
@click.argument("to", nargs=-1, metavar="[ADDRESS]...")
@click.option("--from", "sender", metavar="ADDRESS", help="Who it is from; the mailbox of your name if left out.")
@click.option("--cc", multiple=True, metavar="ADDRESS", help="Who gets a copy; may be given several times.")
@click.option("--bcc", multiple=True, metavar="ADDRESS", help="Who gets one that the others do not see.")
@click.option("--subject", default="", metavar="TEXT", help="What it is about.")
@click.option("--text", metavar="TEXT", help="What it says; left out, standard input.")
@click.option(
    "--attach", multiple=True, type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="A file to go with it; may be given several times.",
)  # fmt: skip
@click.option("--eml", metavar="FILE", help="Send this whole mail instead; - is standard input.")
@at_desk
# `Any`: what click read, each as its option says.
def send(desk: Desk, to: tuple[str, ...], sender: str | None, **given: Any) -> int:
    """Write a mail and send it.

    posthouse mail send bob@bakery.example --subject "Two loaves" --text "as always"

    The answer is the id of the message, once it is safe on the disk.
    """
    written_here = any(given[name] for name in ("cc", "subject", "attach")) or given["text"] is not None
    if given["eml"] is not None and written_here:
        raise misuse("--eml says everything but who gets it: --cc, --subject, --text and --attach do not go with it")
    if not (to or given["cc"] or given["bcc"]):
        raise misuse("an address is missing: posthouse mail send bob@bakery.example")
    desk.run(_send(desk, to, sender or pwd.getpwuid(os.getuid()).pw_name, given))
    return exitcode.OK


@mail.command()
@click.argument("message", metavar="ID")
@click.option("--raw", is_flag=True, help="Write the mail as it is, byte for byte.")
@at_desk
def show(desk: Desk, message: str, *, raw: bool) -> None:
    """Show a mail: its header, its parts, its text."""
    found, body = desk.run(_load(desk, message))
    if raw:
        sys.stdout.buffer.write(body)
        return
    features = features_of_mail(body, size=found.size)
    if desk.as_json:
        desk.printer.document(_document(found, features))
        return
    desk.printer.facts([(_titled(name), value) for name, value in features.headers])
    for attachment in features.attachments or ():
        size = "?" if attachment.size is None else print_size(attachment.size)
        desk.printer.line(f"[{clean(attachment.name) or 'no name'}: {clean(attachment.content_type)}, {size}]")
    desk.printer.line("")
    desk.printer.line(clean((features.text or "").rstrip("\n"), keep="\n\t"))


@mail.command()
@at_desk
def queue(desk: Desk) -> None:
    """List the domains that mail waits for, and how the way there is."""
    rows = desk.run(_queue(desk))
    if desk.as_json:
        desk.printer.documents(rows)
        return
    desk.printer.table(
        ("domain", "messages", "bytes", "state", "next try", "last fault"),
        [
            (
                row["domain"],
                row["messages"],
                print_size(row["bytes"]),
                row["state"],
                local_time(row["next"]),
                row["fault"],
            )
            for row in rows
        ],
        empty="no mail waits to go out",
    )


@mail.command()
@click.argument("place", metavar="DOMAIN")
@at_desk
def hold(desk: Desk, place: str) -> None:
    """Send nothing to a domain until it is flushed; what comes for it waits."""
    name = _place(place)
    desk.run(_hold(desk, name))
    _say(desk, name, held=True, count=None)


@mail.command()
@click.argument("place", metavar="DOMAIN")
@at_desk
def flush(desk: Desk, place: str) -> None:
    """Send what waits for a domain at once, and hold it no longer."""
    name = _place(place)
    count = desk.run(_flush(desk, name))
    _say(desk, name, held=False, count=count)


def _place(text: str) -> str:
    """Give the name of the place that is meant: a domain, or the name of any office elsewhere."""
    return str(parse_office(text if ":" in text else f"smtp:{text}"))


def _say(desk: Desk, name: str, *, held: bool, count: int | None) -> None:
    if desk.as_json:
        desk.printer.document({"place": name, "held": held} | ({} if count is None else {"hurried": count}))
    elif held:
        desk.printer.line(f"{name}: held")
    else:
        desk.printer.line(f"{name}: not held, {plural(count or 0, 'message')} hurried")


async def _hold(desk: Desk, name: str) -> None:
    async with desk.office(create=True) as office:
        await office.call(HoldPlace(place=name))


async def _flush(desk: Desk, name: str) -> int:
    async with desk.office() as office:
        await office.call(HoldPlace(place=name, held=False))
        return await office.call(FlushPlace(place=name))


# `Any`: the members of a JSON object.
async def _queue(desk: Desk) -> list[dict[str, Any]]:
    async with desk.office() as office:
        depths = {depth.box: depth async for depth in all_depths(office) if depth.box.startswith("smtp:")}
        held = {place for place in await office.call(ListHeld()) if place.startswith("smtp:")}
        ways = {way.name: way for way in (await office.call(AskStatus())).destinations}
    return [
        _row(depths.get(box, Depth(box=box, messages=0, bytes=0)), ways.get(box), is_held=box in held)
        for box in sorted({*depths, *held})
    ]


def _row(depth: Depth, way: Destination | None, *, is_held: bool) -> dict[str, Any]:
    return {
        "domain": depth.box.removeprefix("smtp:"),
        "messages": depth.messages,
        "bytes": depth.bytes,
        "state": "held" if is_held else way.state if way is not None else "open",
        "next": way.next_try if way is not None else None,
        "fault": way.last_fault if way is not None else "",
    }


async def _load(desk: Desk, text: str) -> tuple[Message, bytes]:
    async with desk.office() as office:
        story = await office.call(Tell(message=await find_message(office, text)))
        if story is None:
            raise MessageUnknown(f"no message has an id that begins with {text}")
        message = read_head(story.head, story.body, sections=story.sections)
        if not is_mail(message):
            raise misuse(f"{message.id} is no mail: look at it with `posthouse trace {message.id} --body`")
        if message.size > _MOST:
            raise misuse(f"the mail has {print_size(message.size)}: at most {print_size(_MOST)} are shown")
        return message, b"".join([piece async for piece in office.body(message)])


# `Any`: see `send`.
async def _send(desk: Desk, to: tuple[str, ...], sender: str, given: dict[str, Any]) -> None:
    name = desk.settings.outgoing.name or "localhost"
    clock = SystemClock()
    if given["eml"] is not None:
        body = mended(await apart(lambda: _read(given["eml"])))
    else:
        text = given["text"] if given["text"] is not None else (await apart(lambda: _read("-"))).decode()
        writing = Writing(
            identity=clock.new_id(),
            sender=_header_address(sender, name),
            to=tuple(_header_address(each, name) for each in to),
            cc=tuple(_header_address(each, name) for each in given["cc"]),
            subject=given["subject"],
            text=text,
            files=tuple([await apart(partial(_attached, path)) for path in given["attach"]]),
            at=clock.now(),
        )
        try:
            body = written(writing, name)
        except ValueError as fault:
            raise misuse(str(fault)) from None
    visible, blind = (*to, *given["cc"]), given["bcc"]
    draft = Draft(to=visible, blind=blind, body=body, kind="mail", content_type=MAIL_TYPE, sender=sender, ordered=False)
    async with desk.office(create=True) as office:
        (receipt,) = await office.put_many([draft])
    if receipt.status == "refused":
        raise Refused(receipt)
    if desk.as_json:
        desk.printer.document({"status": receipt.status, "id": str(receipt.id)})
    else:
        desk.printer.line(str(receipt.id))


def _header_address(text: str, name: str) -> str:
    try:
        parse_mailbox(text)
    except MalformedName as fault:
        raise misuse(str(fault)) from None
    return address_of(text, name)


def _read(name: str) -> bytes:
    with standard_input() if name == "-" else Path(name).open("rb") as file:
        raw = file.read(_MOST + 1)
    if len(raw) > _MOST:
        raise misuse(f"the mail is larger than {print_size(_MOST)}: send it with `posthouse send --file`")
    return raw


def _attached(path: Path) -> Attached:
    with path.open("rb") as file:
        content = file.read(_MOST + 1)
    if len(content) > _MOST:
        raise misuse(f"{path} is larger than {print_size(_MOST)}")
    return Attached(path.name, mimetypes.guess_type(path.name)[0] or "application/octet-stream", content)


def _titled(name: str) -> str:
    return "-".join(part.capitalize() for part in clean(name).split("-"))


def _document(message: Message, features: MailFeatures) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "size": message.size,
        "headers": [list(pair) for pair in features.headers],
        "subject": features.subject,
        "message_id": features.message_id,
        "text": features.text,
        "hidden": features.hidden,
        "attachments": [
            {"name": each.name, "content_type": each.content_type, "size": each.size}
            for each in features.attachments or ()
        ],
        "signed": features.is_signed,
        "encrypted": features.is_encrypted,
        "unknown": list(features.unknown),
    }
