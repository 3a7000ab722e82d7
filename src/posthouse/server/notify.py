"""Telling systemd how the office is, where it has started it and asks: the protocol of sd_notify, by hand."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping


def tell_systemd(environment: Mapping[str, str], *lines: str) -> None:
    """Send lines such as `READY=1`; nothing where nobody asks, or nobody hears."""
    path = environment.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        # A leading @ stands for the null byte of an abstract address.
        sender.connect("\0" + path[1:] if path.startswith("@") else path)
        sender.send("\n".join(lines).encode())


def reloading(monotonic: float) -> str:
    """Give the lines that say that a reload begins; systemd wants the seconds of the machine's own clock with them."""
    return f"RELOADING=1\nMONOTONIC_USEC={round(monotonic * 1_000_000)}"
