"""`posthouse settings`: every setting, and where its value comes from."""

from __future__ import annotations

import click

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import warn
from posthouse.server.settings import is_secret, values
from posthouse.server.sources import Origin, shown


@click.command()
@at_desk
def settings(desk: Desk) -> None:
    """Show every setting, and where its value comes from.

    A flag wins over the environment, the environment over the file, the file over the default. A wrong value is told
    with its place, all of them at once.
    """
    reading = desk.reading
    found = [(name, value, reading.origins[name]) for name, value in values(reading.settings)]
    if desk.as_json:
        desk.printer.document(
            {
                "file": reading.file,
                "settings": {
                    name: {
                        "value": "***" if is_secret(name) else value,
                        "source": origin.source,
                        "place": origin.place or None,
                    }
                    for name, value, origin in found
                },
            }
        )
        return
    desk.printer.table(
        ("setting", "value", "from"), [(name, shown(name, value), _told(origin)) for name, value, origin in found]
    )
    for variable in reading.ignored:
        warn(f"{variable} is no setting and was not looked at")


def _told(origin: Origin) -> str:
    return origin.place or origin.source
