"""A client that sends small mails until its input ends, in a process of its own, and prints the seconds each one took.

A client beside large ones in one process would measure how long these keep it waiting, and not the office.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from typing import Final

_PAUSE: Final = 0.02
_MAIL: Final = (b"x" * 76 + b"\r\n") * 64 + b".\r\n"


def send(port: int) -> list[float]:
    """Send mails until nobody wants more."""
    times: list[float] = []
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as heard:

        def say(data: bytes) -> None:
            connection.sendall(data)
            line = heard.readline()
            assert line[:1] in b"23", line

        heard.readline()
        say(b"HELO mill.example\r\n")
        while not select.select([sys.stdin], [], [], _PAUSE)[0]:
            begun = time.perf_counter()
            say(b"MAIL FROM:<cleo@mill.example>\r\n")
            say(b"RCPT TO:<ada@bakery.example>\r\n")
            say(b"DATA\r\n")
            say(_MAIL)
            times.append(time.perf_counter() - begun)
    return times


if __name__ == "__main__":
    print("\n".join(map(str, send(int(sys.argv[1])))))
