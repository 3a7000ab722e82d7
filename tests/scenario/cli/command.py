"""The real command, in real processes, in a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

POSTHOUSE = Path(sys.executable).with_name("posthouse")
DEADLINE_S = 30.0


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    # The documents of the command line are JSON objects of many shapes.
    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        (document,) = self.documents
        return document

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.err)["error"]
        return error


class Terminal:
    """Runs commands in one folder, and ends what it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[bytes]] = []

    def run(self, *arguments: str, text: bytes | str = b"", **variables: str) -> Ran:
        """Run a command to its end."""
        given = text.encode() if isinstance(text, str) else text
        process = self.start(*arguments, stdin=subprocess.PIPE, variables=variables)
        out, err = process.communicate(given, timeout=DEADLINE_S)
        return Ran(process.returncode, out, err.decode())

    def start(
        self,
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.Popen[bytes]:
        """Start a command and leave it running."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("POSTHOUSE")}
        process = subprocess.Popen(
            [POSTHOUSE, *arguments],
            cwd=self.folder,
            env=kept | {"NO_COLOR": "1", "COLUMNS": "120", "POSTHOUSE_HTTP_LISTEN": "127.0.0.1:0"} | dict(variables),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        self._started.append(process)
        return process

    def serve(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start an office and wait until it is open."""
        process = self.start("serve", *arguments)
        assert line_of(process).startswith(b"The office is open: office.db")
        return process

    def end(self) -> None:
        """End everything that still runs."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def line_of(process: subprocess.Popen[bytes]) -> bytes:
    """Give the next line of a process; the alarm of the test ends a wait that is too long."""
    assert process.stdout is not None
    return process.stdout.readline()


def ended(process: subprocess.Popen[bytes], number: signal.Signals) -> Ran:
    """Send a signal, and give how the process ended by it."""
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE_S)
    return Ran(process.returncode, out or b"", err.decode())
