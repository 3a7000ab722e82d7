"""`posthouse read`: a message is taken, written out, and acknowledged once the output has been taken in hand."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import click
import msgspec

from posthouse.cli.blocking import apart
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.parameter import duration, duration_or_forever, mailbox_name, seconds_or_none
from posthouse.cli.printer import clean, flush, write_all
from posthouse.client import Delivery, Filter, LeaseLost, Office
from posthouse.errors import PosthouseError
from posthouse.message.form.plain import fields_of, shown_body, shown_instant, text_of
from posthouse.message.name import MailboxName

# How often the lease of a message is renewed whose reader takes its time.
_RENEW_EVERY: Final = 5.0
# How many are taken at a time where several are wanted.
_HANDFUL: Final = 64
# The largest body that is written as JSON.
_MOST_IN_JSON: Final = 32 * 1_048_576


class MailboxEmpty(PosthouseError):
    """There is nothing to take from the mailbox, or nothing of what was asked for."""

    code: ClassVar[str] = "mailbox.empty"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The mailbox is empty."


class OutputUnfit(PosthouseError):
    """A body cannot be written in the way that was asked for; the message went back."""

    code: ClassVar[str] = "output.unfit"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of the command were given."""

    mailbox: MailboxName
    kind: str | None
    correlation: str | None
    wait: float
    lease: float | None
    follow: bool
    count: int
    keep: bool
    out: Path | None
    verbose: bool


@click.command()
@click.argument("mailbox", type=mailbox_name, metavar="MAILBOX")
@click.option("--type", "--kind", "kind", metavar="KIND", help="Only messages of this kind.")
@click.option(
    "--reply-to", "--correlation", "correlation", metavar="ID",
    help="Only what belongs to this: the answer to the request of this id.",
)  # fmt: skip
@click.option(
    "--wait", type=duration_or_forever, metavar="DURATION", default=0.0,
    help="How long to wait for one: 5s, 2m, forever; not at all where it is left out.",
)  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on with the next one, until Ctrl-C or until the wait is over.")
@click.option("--count", type=click.IntRange(1), default=1, help="Read up to so many.")
@click.option("--keep", "--no-ack", "keep", is_flag=True, help="Leave it in the mailbox, as if it had not been read.")
@click.option(
    "--lease", type=duration, metavar="DURATION", help="How long it is yours while the output is being written."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the body into a file.")
@click.option("--verbose", "-v", is_flag=True, help="Say on standard error what was read.")
@at_any_desk
# `Any`: the fields of `Wanted`, as click read them.
def read(desk: Desk, **given: Any) -> None:
    """Take a message out of a mailbox.

    posthouse read orders --wait 5s

    The body goes to standard output as it is; with --json there is one line for each message, with all it says. A
    message leaves its mailbox once it is written: if the output fails, it goes back.
    """
    wanted = Wanted(**given)
    if wanted.keep and (wanted.follow or wanted.count > 1):
        raise misuse("--keep leaves the message where it is, so only one can be read: without --follow and --count")
    if wanted.out is not None and (wanted.follow or wanted.count > 1):
        raise misuse("--out holds one message: without --follow and --count")
    desk.run(_read(desk, wanted))


async def _read(desk: Desk, wanted: Wanted) -> None:
    count = 0
    chosen = Filter(wanted.kind, wanted.correlation)
    # Who follows and says no time means to wait.
    wait = None if wanted.follow and not wanted.wait else seconds_or_none(wanted.wait)
    async with desk.office() as office:
        while wanted.follow or count < wanted.count:
            limit = _HANDFUL if wanted.follow else min(_HANDFUL, wanted.count - count)
            deliveries = await office.take_many(
                str(wanted.mailbox), limit=limit, chosen=chosen, wait=wait, lease=wanted.lease
            )
            if not deliveries:
                break
            await _hand_over(desk, office, wanted=wanted, deliveries=deliveries)
            count += len(deliveries)
    if not count:
        raise _empty(wanted)


async def _hand_over(desk: Desk, office: Office, *, wanted: Wanted, deliveries: list[Delivery]) -> None:
    """Write messages out, then acknowledge them; what could not be written goes back."""
    written: list[Delivery] = []
    try:
        async with _renewed(office, deliveries, lease=wanted.lease):
            for delivery in deliveries:
                if wanted.verbose:
                    _describe(delivery)
                await _write(desk, office, wanted=wanted, delivery=delivery)
                await apart(flush)
                written.append(delivery)
    finally:
        # Also where the command is being ended: the next one shall not wait for the end of the leases.
        await asyncio.shield(_settle(office, [] if wanted.keep else written, deliveries=deliveries))


async def _settle(office: Office, done: list[Delivery], *, deliveries: list[Delivery]) -> None:
    try:
        if len(done) < len(deliveries):
            await office.give_back(*[delivery for delivery in deliveries if delivery not in done])
    except LeaseLost:
        pass  # they are back already
    if done:
        await office.acknowledge(*done)


@asynccontextmanager
async def _renewed(office: Office, deliveries: list[Delivery], *, lease: float | None) -> AsyncIterator[None]:
    """Renew the leases while the block runs."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(_RENEW_EVERY if lease is None else min(_RENEW_EVERY, lease / 3))
            await office.renew(*deliveries, lease=lease)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


async def _write(desk: Desk, office: Office, *, wanted: Wanted, delivery: Delivery) -> None:
    if wanted.out is not None:
        await _write_file(office, delivery, path=wanted.out)
        if desk.as_json:
            desk.printer.document(_fields(delivery) | {"file": str(wanted.out)})
    elif desk.as_json:
        body = await _whole(office, delivery)
        desk.printer.document(_fields(delivery) | shown_body(delivery.message.content_type, body))
    elif sys.stdout.isatty():
        await _write_terminal(office, delivery)
    else:
        last = b""
        async for piece in office.body(delivery.message):
            await apart(lambda piece=piece: write_all(piece))  # type: ignore[misc]  # the default is the piece of this round
            last = piece or last
        if (wanted.follow or wanted.count > 1) and not last.endswith(b"\n"):
            write_all(b"\n")


async def _write_terminal(office: Office, delivery: Delivery) -> None:
    """Write a body for the eye: nothing in it may play with the terminal."""
    text = text_of(await _whole(office, delivery))
    if text is None:
        raise OutputUnfit(
            f"message {delivery.message.id} is no text but {delivery.message.content_type}, "
            f"{delivery.message.size:,} bytes",
            hint="write it into a file with --out, or into a pipe",
        )
    write_all(clean(text.removesuffix("\n"), keep="\n\t").encode() + b"\n")


async def _write_file(office: Office, delivery: Delivery, *, path: Path) -> None:
    """Write a body into a file that is whole and on the disk before the message is acknowledged."""
    path = await apart(path.resolve)
    if await apart(lambda: path.exists() and not path.is_file()):
        # A device or a pipe takes what it is given: a file in its place would be another thing.
        await _write_stream(office, delivery, path=path)
        return
    partial = path.with_name(f".{path.name}.{delivery.message.id}")
    try:
        await _write_stream(office, delivery, path=partial, durable=True)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


async def _write_stream(office: Office, delivery: Delivery, *, path: Path, durable: bool = False) -> None:
    with await apart(lambda: path.open("wb")) as file:
        async for piece in office.body(delivery.message):
            await apart(lambda piece=piece: file.write(piece))  # type: ignore[misc]  # the piece of this round
        file.flush()
        if durable:
            await apart(lambda: os.fsync(file.fileno()))


async def _whole(office: Office, delivery: Delivery) -> bytes:
    message = delivery.message
    if message.size > _MOST_IN_JSON:
        raise OutputUnfit(
            f"message {message.id} has {message.size:,} bytes, which is too much for one line",
            hint="write it into a file with --out, or into a pipe",
        )
    return b"".join([piece async for piece in office.body(message)])


# `Any`: the members of a JSON object.
def _fields(delivery: Delivery) -> dict[str, Any]:
    return fields_of(delivery.message) | {"attempt": delivery.attempt, "leased_until": shown_instant(delivery.until)}


def _describe(delivery: Delivery) -> None:
    message = delivery.message
    sender = f" from {message.sender}" if message.sender else ""
    again = f", attempt {delivery.attempt}" if delivery.attempt > 1 else ""
    warn(clean(f"{message.id}: {message.kind}{sender}{again}"))


def _empty(wanted: Wanted) -> MailboxEmpty:
    asked = [f"of type {wanted.kind}"] if wanted.kind else []
    asked += [f"that belongs to {wanted.correlation}"] if wanted.correlation else []
    what = f"nothing {' '.join(asked)}".strip()
    waited = " within the wait" if wanted.wait else ""
    return MailboxEmpty(f"{what} to take{waited}", where=str(wanted.mailbox.mailbox))
