"""A Postfix of one's own, in a folder of its own, on loopback: the neighbour mail is tried against.

It is ended by the number of its process; where Postfix is not there or one may not start it, `find` says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from posthouse.testing.port import free_port

_PATH: Final = "/usr/sbin:/usr/local/sbin:/sbin"
_READY_S: Final = 15.0

# name, type, private, unprivileged, chroot, wake-up, most processes, command
_SERVICES: Final = """\
{listen} inet n - n - {processes} smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
showq unix n - n - - showq
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix(NamedTuple):
    """A Postfix that runs."""

    folder: Path
    host: str
    port: int

    @property
    def log(self) -> str:
        """What it wrote to its log."""
        path = self.folder / "postfix.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def queued(self, *queues: str) -> int:
        """Count the mails in its queues."""
        return sum(path.is_file() for queue in queues for path in (self.folder / "queue" / queue).rglob("*"))


def program(name: str) -> str | None:
    """Give where a program of Postfix is."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}{os.pathsep}{_PATH}")


def find() -> str | None:
    """Say why no Postfix can be started here, or nothing where one can."""
    if program("postfix") is None:
        return "Postfix is not installed"
    if os.geteuid() != 0:
        return "only root can start Postfix"
    return None


@asynccontextmanager
async def running(settings: Mapping[str, str], *, processes: str = "-") -> AsyncIterator[Postfix]:
    """Start a Postfix with some settings of its own; it is stopped at the end, and its folder removed."""
    # Not below a folder of the tests: Postfix gives up its rights, and must still be able to go there.
    folder = await asyncio.to_thread(_furnish)
    try:
        postfix = Postfix(folder, "127.0.0.1", free_port())
        await asyncio.to_thread(_write, postfix, settings, processes)
        command = program("postfix") or "postfix"
        process = await asyncio.create_subprocess_exec(
            command, "-c", str(folder), "start-fg", stdout=DEVNULL, stderr=DEVNULL
        )
        try:
            await _answering(postfix, process)
            yield postfix
        finally:
            await _stop(postfix, process)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _furnish() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="posthouse-postfix-"))
    folder.chmod(0o755)
    for name in ("queue", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    return folder


def _write(postfix: Postfix, settings: Mapping[str, str], processes: str) -> None:
    folder = postfix.folder
    values = {
        "compatibility_level": "3.6",
        "queue_directory": str(folder / "queue"),
        "data_directory": str(folder / "data"),
        "maillog_file": str(folder / "postfix.log"),
        "maillog_file_prefixes": str(folder),
        "myhostname": "front.example",
        "mydestination": "",
        "inet_interfaces": "127.0.0.1",
        "inet_protocols": "ipv4",
        "mynetworks": "127.0.0.0/8",
        "alias_maps": "",
        "local_recipient_maps": "",
        "smtp_tls_security_level": "none",
        "smtp_host_lookup": "native",
        "smtpd_relay_restrictions": "permit_mynetworks, reject",
        "disable_dns_lookups": "yes",
        **settings,
    }
    (folder / "main.cf").write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
    services = _SERVICES.format(listen=f"127.0.0.1:{postfix.port}", processes=processes)
    (folder / "master.cf").write_text(services)


async def _answering(postfix: Postfix, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(_READY_S):
        while process.returncode is None:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(postfix.host, postfix.port)
                writer.close()
                return
            # A program that starts tells nobody.
            await asyncio.sleep(0.05)
    raise RuntimeError(f"Postfix did not start: {postfix.log}")


async def _stop(postfix: Postfix, process: asyncio.subprocess.Process) -> None:
    """End the master, which is another process than the one that started it."""
    number = postfix.folder / "queue" / "pid" / "master.pid"
    with contextlib.suppress(OSError, ValueError):
        os.kill(int(await asyncio.to_thread(number.read_text)), signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_S):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
