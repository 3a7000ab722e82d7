"""The demo office: a small bakery, a few messages in its mailboxes, and somebody who answers at `echo`."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

import msgspec

from posthouse.cli.printer import shown_path
from posthouse.client import Delivery, Draft, LeaseLost, Office
from posthouse.errors import PosthouseError
from posthouse.office.calls import ListMailboxes
from posthouse.server.settings import Settings

STORE: Final = "posthouse-demo/office.db"
DOMAIN: Final = "bakery.example"
MAIL_PORT: Final = 2525

MESSAGES: Final = (
    Draft(
        to="orders", body="Two loaves of rye and a dozen rolls, for Saturday.", kind="request",
        sender="ada", reply_to="ada", attributes={"loaves": 2, "rolls": 12},
    ),
    Draft(
        to="orders", body="One birthday cake, please. It must say: Well done!", kind="request.urgent", priority=8,
        sender="ben", reply_to="ben", attributes={"cakes": 1},
    ),
    Draft(to="ovens", body="oven 2 has reached 230 degrees", kind="event.oven", sender="oven-2"),
    Draft(to="letters", body="The mill raises its prices in May.", sender="cleo"),
)  # fmt: skip


async def furnish(office: Office) -> int:
    """Put the first messages into an office that holds none; gives how many."""
    if await office.call(ListMailboxes(limit=1)):
        return 0
    await office.put_many(MESSAGES)
    return len(MESSAGES)


async def answer_echo(office: Office) -> None:
    """Answer every request that comes to `echo` with its own words, until cancelled."""
    while True:
        delivery = await office.take("echo", wait=None)
        if delivery is not None:
            await _answer(office, delivery)


def with_mail(settings: Settings, store: Path, *, is_free: bool) -> Settings:
    """Give the settings with mail on this machine, where they say nothing of it; its door opens where its port is free.

    What leaves the office is put into folders beside its store: the demo sends nothing to the world.
    """
    if settings.doors or settings.mail.domains or settings.routes:
        return settings
    replace = msgspec.structs.replace
    return replace(
        settings,
        mail=replace(settings.mail, domains=DOMAIN),
        outgoing=replace(settings.outgoing, name=settings.outgoing.name or DOMAIN),
        routes={"*": f"maildir:{store.absolute().parent / 'sent'}/{{domain}}/{{local}}"},
        doors={"demo": f"smtp 127.0.0.1:{MAIL_PORT}"} if is_free else {},
    )


def commands(store: Path) -> list[str]:
    """Give what to try, exactly as it is to be typed where the demo was started."""
    name = shlex.quote(shown_path(sys.argv[0]) if "/" in sys.argv[0] and not _on_path(sys.argv[0]) else "posthouse")
    office = f"--store {shlex.quote(shown_path(store))}"
    return [
        f"{name} read orders {office}",
        f'{name} send echo "is anybody there?" --type request --reply-to me {office}',
        f"{name} read me --wait 5s {office}",
        f"{name} gate list --all-roles {office}",
    ]


def _on_path(name: str) -> bool:
    found = shutil.which("posthouse")
    return found is not None and Path(found).resolve() == Path(name).resolve()


async def _answer(office: Office, delivery: Delivery) -> None:
    request = delivery.message
    try:
        if request.reply_to is not None:
            body = b"".join([piece async for piece in office.body(request)])
            await office.put(
                request.reply_to, body, kind="response", sender="echo", correlation=str(request.id),
                content_type=request.content_type, key=f"echo {request.id}",
            )  # fmt: skip
        await office.acknowledge(delivery)
    except LeaseLost:
        pass
    except PosthouseError as fault:
        await office.fail(delivery, str(fault))
