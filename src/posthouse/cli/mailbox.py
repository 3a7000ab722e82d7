"""`posthouse mailbox`: the mailboxes of an office, their quotas, and whether they are open."""

from __future__ import annotations

import math
from typing import Any

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.paging import all_depths
from posthouse.cli.parameter import count_or_none, mailbox_name, size_or_none
from posthouse.cli.printer import plural
from posthouse.client import Office
from posthouse.message.changes import Setup
from posthouse.message.name import MailboxName
from posthouse.office.calls import ListSetups, SetUp
from posthouse.server.quantity import print_size
from posthouse.server.settings import terms_of


@click.group(cls=Listing)
def mailbox() -> None:
    """List mailboxes, set their quotas, close and open them.

    A mailbox needs no setting up: the first message makes it, unless the setting limits.listed_only says otherwise.
    """


@mailbox.command("list")
@at_any_desk
def list_(desk: Desk) -> None:
    """List the mailboxes that hold something or were set up."""
    rows = desk.run(_list(desk))
    if desk.as_json:
        desk.printer.documents(rows)
        return
    desk.printer.table(
        ("mailbox", "messages", "bytes", "quota", "state"),
        [
            (
                row["mailbox"],
                row["messages"],
                print_size(row["bytes"]),
                _quota(row),
                "closed" if row["closed"] else "open",
            )
            for row in rows
        ],
        empty="no mailbox yet: the first message makes one",
    )


@mailbox.command("set")
@click.argument("name", metavar="MAILBOX", type=mailbox_name)
@click.option(
    "--max-messages", type=count_or_none, metavar="NUMBER|none", help="How many messages it may hold, or none."
)
@click.option(
    "--max-bytes",
    type=size_or_none,
    metavar="SIZE|none",
    help="How much its bodies may weigh together: 64KiB, 10MB, or none.",
)
@at_any_desk
def set_(desk: Desk, name: MailboxName, max_messages: float | None, max_bytes: float | None) -> None:
    """Set up a mailbox, with quotas if it is to have any.

    A message that finds no room is refused before it is accepted; what is there already stays.
    """
    limits: dict[str, int | None] = {}
    for field, limit in (("max_messages", max_messages), ("max_bytes", max_bytes)):
        if limit is not None:
            limits[field] = None if math.isinf(limit) else int(limit)
    _change(desk, name, **limits)


@mailbox.command()
@click.argument("name", metavar="MAILBOX", type=mailbox_name)
@at_any_desk
def close(desk: Desk, name: MailboxName) -> None:
    """Close a mailbox: it takes nothing in, gives nothing out, and keeps what it holds."""
    _change(desk, name, closed=True)


@mailbox.command("open")
@click.argument("name", metavar="MAILBOX", type=mailbox_name)
@at_any_desk
def open_(desk: Desk, name: MailboxName) -> None:
    """Open a mailbox that was closed."""
    _change(desk, name, closed=False)


@mailbox.command()
@click.argument("name", metavar="MAILBOX", type=mailbox_name)
@at_any_desk
def remove(desk: Desk, name: MailboxName) -> None:
    """Forget the settings of a mailbox: its quotas, and that it was closed; its messages stay."""
    _change(desk, name, removed=True)


# `Any`: the fields of `Setup` that are to be others, and the members of a JSON object.
def _change(desk: Desk, name: MailboxName, **fields: Any) -> None:
    if desk.url is None and name.office not in (desk.name, *terms_of(desk.settings).here):
        raise misuse(f"{name} is a mailbox of another office: only its own people set it up")
    setup, left = desk.run(_write(desk, name.mailbox, fields))
    row = _row(setup, messages=left[0], size=left[1])
    if desk.as_json:
        desk.printer.document(row | {"removed": setup.removed})
    elif setup.removed:
        desk.printer.line(f"{setup.mailbox}: settings removed, {plural(left[0], 'message')} kept")
    else:
        state = "closed" if setup.closed else "open"
        desk.printer.line(f"{setup.mailbox}: {state}, {_quota(row)}, holding {plural(left[0], 'message')}")


async def _write(desk: Desk, name: str, fields: dict[str, Any]) -> tuple[Setup, tuple[int, int]]:
    async with desk.office(create=True) as office:
        known = {setup.mailbox: setup for setup in await office.call(ListSetups())}
        setup = msgspec.structs.replace(known.get(name, Setup(mailbox=name)), **fields)
        await office.call(SetUp(setup=setup))
        return setup, (await _holdings(office)).get(name, (0, 0))


async def _list(desk: Desk) -> list[dict[str, Any]]:
    async with desk.office() as office:
        setups = {setup.mailbox: setup for setup in await office.call(ListSetups())}
        held = await _holdings(office)
    return [
        _row(setups.get(name, Setup(mailbox=name)), messages=messages, size=size)
        for name, (messages, size) in sorted((dict.fromkeys(setups, (0, 0)) | held).items())
    ]


async def _holdings(office: Office) -> dict[str, tuple[int, int]]:
    """Give what each mailbox here holds; the lines for destinations elsewhere are no mailboxes."""
    return {
        depth.box.removeprefix("#"): (depth.messages, depth.bytes)
        async for depth in all_depths(office)
        if depth.box.startswith("#")
    }


def _row(setup: Setup, *, messages: int, size: int) -> dict[str, Any]:
    return {
        "mailbox": setup.mailbox,
        "messages": messages,
        "bytes": size,
        "max_messages": setup.max_messages,
        "max_bytes": setup.max_bytes,
        "closed": setup.closed,
    }


def _quota(row: dict[str, Any]) -> str:
    parts = []
    if row["max_messages"] is not None:
        parts.append(f"at most {plural(row['max_messages'], 'message')}")
    if row["max_bytes"] is not None:
        parts.append(f"at most {print_size(row['max_bytes'])}")
    return " and ".join(parts) or "no quota"
