"""`posthouse run`: a demo office that is there at once, with what to try."""

from __future__ import annotations

import socket
from pathlib import Path

import click
import msgspec

from posthouse.cli.demo import DOMAIN, MAIL_PORT, STORE, answer_echo, commands, furnish, with_mail
from posthouse.cli.demopost import furnish_gate
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.printer import flush, shown_path
from posthouse.client import Office
from posthouse.server.run import Ready, serve
from posthouse.server.settings import Settings, terms_of


@click.command()
@at_desk
def run(desk: Desk) -> None:
    """Run a demo office, and say what to try.

    The office of a bakery of forty people, with a few messages in its mailboxes, an `echo` that answers requests, and
    rules that hold some of its mail for somebody to look at. It takes mail for bakery.example at port 2525 of this
    machine, where that is free; mail for others it puts into folders beside its store. It lies in ./posthouse-demo
    unless --store says otherwise, and stays there when Ctrl-C ends it.
    """
    at = desk.at(STORE)
    is_free = _is_free(MAIL_PORT)

    def demo(settings: Settings) -> Settings:
        return _quiet(with_mail(settings, at.path, is_free=is_free))

    async def live(ready: Ready) -> None:
        settings = demo(at.settings)
        async with Office.open(at.path, terms=terms_of(settings)) as office:
            await furnish(office)
            await furnish_gate(office, domain=DOMAIN)
            _tell(at, ready, domains=settings.mail.domains, is_free=is_free)
            await answer_echo(office)

    at.serve(serve(demo(at.settings), live, read=lambda: demo(at.read_again())))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the door does: a connection that ended a moment ago is in nobody's way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _quiet(settings: Settings) -> Settings:
    """Leave out of the log what the demo says itself."""
    return msgspec.structs.replace(settings, log=msgspec.structs.replace(settings.log, level="warning"))


def _tell(desk: Desk, ready: Ready, *, domains: str, is_free: bool) -> None:
    tries = commands(Path(ready.store))
    if desk.as_json:
        desk.printer.document({"event": "ready", **msgspec.structs.asdict(ready), "try": tries})
    else:
        desk.printer.line(f"The demo office is open: {shown_path(ready.store)} (process {ready.process}).")
        for address in ready.http:
            desk.printer.line(f"It answers at {address}")
        for addresses in ready.mail.values():
            desk.printer.line(f"It takes mail for {domains or 'nobody'} at {' and '.join(addresses)}")
        if not ready.mail and not is_free:
            desk.printer.line(f"It takes no mail: port {MAIL_PORT} is not free.")
        desk.printer.line("\nTry these in another terminal, in this folder:\n")
        for command in tries:
            desk.printer.line(f"  {command}")
        desk.printer.line("\nCtrl-C ends it; nothing is lost.")
    flush()
