"""Ports for what has to come back at the same one: none of those the system gives to whoever calls somebody."""

from __future__ import annotations

import random
import socket
from typing import Final

# Linux takes the near ends of connections from 32768 upwards.
_FROM, _UNTIL = 20_000, 32_000
_TRIES: Final = 100


def free_port() -> int:
    """Give a port of this machine that nobody has, and that nobody is given who does not ask for it."""
    chance = random.Random()
    for _ in range(_TRIES):
        port = chance.randrange(_FROM, _UNTIL)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no port from {_FROM} to {_UNTIL} is free")
