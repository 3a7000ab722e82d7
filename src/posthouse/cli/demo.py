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


def with_mail(settings: Settings, *, is_free: bool) -> Settings:
    """Give the settings with a door for mail on this machine, where they say nothing of mail and its port is free."""
    if settings.doors or settings.mail.domains or not is_free:
        return settings
    # Without a name of its own for the world the demo sends no mail out.
    mail = msgspec.structs.replace(settings.mail, domains=DOMAIN)
    return msgspec.structs.replace(settings, mail=mail, doors={"demo": f"smtp 127.0.0.1:{MAIL_PORT}"})


def commands(store: Path) -> list[str]:
    """Give what to try, exactly as it is to be typed where the demo was started."""
    name = shlex.quote(shown_path(sys.argv[0]) if "/" in sys.argv[0] and not _on_path(sys.argv[0]) else "posthouse")
    office = f"--store {shlex.quote(shown_path(store))}"
    return [
        f"{name} read orders {office}",
        f'{name} send echo "is anybody there?" --type request --reply-to me {office}',
        f"{name} read me --wait 5s {office}",
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
