"""`posthouse serve`: the office, until it is told to stop."""

from __future__ import annotations

import click
import msgspec

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.printer import flush, shown_path
from posthouse.server.run import Ready
from posthouse.server.run import serve as serve_office


@click.command()
@at_desk
def serve(desk: Desk) -> None:
    """Run the office until it is told to stop.

    One line on standard output says that the office is open; the log goes to standard error. SIGTERM and Ctrl-C end it
    cleanly; SIGHUP has it read its settings and certificates again, as `posthouse reload` does. While it runs, all
    other commands and all programs on this machine use it through its control socket.
    """

    async def live(ready: Ready) -> None:
        if desk.as_json:
            desk.printer.document({"event": "ready", **msgspec.structs.asdict(ready)})
        else:
            desk.printer.line(f"The office is open: {shown_path(ready.store)} (process {ready.process}).")
            for address in ready.http:
                desk.printer.line(f"It answers at {address}")
            for door, addresses in ready.mail.items():
                desk.printer.line(f"It takes mail at {' and '.join(addresses)} ({door})")
        flush()

    desk.serve(serve_office(desk.settings, live, read=desk.read_again))
