"""`posthouse doctor`: what is present on this machine, what is missing, and how to get it."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.examination import Finding, examine_machine, examine_store

_MARKS = {"ok": "ok", "missing": "missing", "warning": "look at"}


@click.command()
@at_desk
def doctor(desk: Desk) -> int:
    """Say what this machine has, what it lacks, and how to get it.

    The exit code is 0 where everything is there that an office needs; what only a part of Posthouse needs is told, and
    does not count.
    """
    findings = [*examine_machine(), *desk.run(examine_store(desk.path))]
    healthy = all(finding.state != "missing" for finding in findings if finding.needed)
    if desk.as_json:
        desk.printer.document({"healthy": healthy, "findings": [_document(finding) for finding in findings]})
    else:
        desk.printer.table(
            ("", "what", "found", "for", "how to get it"),
            [
                (_MARKS[finding.state], finding.name, finding.found, finding.purpose, finding.remedy)
                for finding in findings
            ],
        )
        desk.printer.line("")
        desk.printer.line("Everything an office needs is here." if healthy else "Something an office needs is missing.")
    return exitcode.OK if healthy else exitcode.FAILURE


# `Any`: the members of a JSON object.
def _document(finding: Finding) -> dict[str, Any]:
    return msgspec.structs.asdict(finding)
