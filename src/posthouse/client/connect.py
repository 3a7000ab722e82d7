"""The way in for programs on other machines: an office by its address and a key."""

from __future__ import annotations

from pathlib import Path

from posthouse.client.office import Office
from posthouse.client.remote import Remote
from posthouse.clock import SystemClock
from posthouse.server.assemble import FarOffice


def connect(
    url: str,
    *,
    key: str | None = None,
    office: str | None = None,
    ca: Path | str | None = None,
    plain: bool = False,
    timeout: float = 30.0,
) -> Office:
    """Give the office that listens at an address; `async with` connects to it, and hangs up at the end.

    `url` is where the office listens, such as `https://office.example:8026`. The key travels in a header of the
    handshake and nowhere else. `office` is the name the office must have, where that matters. `ca` is a file of the
    authorities to trust instead of the system's. `plain` lets the key go to another machine over http. `timeout` is
    how many seconds a question waits for an office that went away to come back, before it fails with `Unreachable`;
    who waits for messages waits as long as he said.
    """
    clock = SystemClock()
    far = FarOffice(url, key=key, office=office, ca=None if ca is None else Path(ca), plain=plain)
    return Office(Remote(far, clock=clock, timeout=timeout), clock=clock)
