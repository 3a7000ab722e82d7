"""Every file of the corpora goes in by SMTP and out by SMTP, through one served office, and leaves as it came.

What strict SMTP refuses is counted, sent once more to an office that mends line ends, and compared with what that makes
of it.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.scenario.mail.corpus import files
from tests.scenario.mail_out.recorder import Recorder, recorder
from tests.scenario.mail_out.test_through import office

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BARE: Final = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_LONE_DOT: Final = re.compile(rb"[\r\n]\.[\r\n]")
_RECEIVED: Final = re.compile(
    rb"Received: from client\.one\.example \(\[127\.0\.0\.1\]\)\r\n"
    rb"\tby mx\.post\.example \(Posthouse\) with ESMTP id [0-9a-f-]{36}\r\n"
    rb"\tfor <b[0-9]+@two\.example>; [A-Za-z0-9,: ]+ \+0000\r\n"
)
_SESSIONS: Final = 12
_PATIENT: Final = {
    "mail.mails": "10000", "mail.errors": "1000", "mail.hops": "1000", "mail.header_bytes": "8MiB",
    "outgoing.hops": "1000",
}  # fmt: skip
_ANSWERS: Final = {250: 6_483, 550: 121}
"""How many files a strict office takes and refuses; none of them makes it hang up."""
_MENDED: Final = {250: 73, 550: 48}
"""What becomes of the others where line ends are mended: those with a NUL are refused all the same."""


def as_sent(raw: bytes) -> bytes:
    """Give a file as a mail program would send it: lines end with CR LF; one that has these already stays as it is."""
    mail = raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw
    sent = mail if b"\r\n" in mail else mail.replace(b"\n", b"\r\n")
    return sent if sent.endswith(b"\r\n") else sent + b"\r\n"


def stuffed(mail: bytes) -> bytes:
    """Give a mail as it stands on the line."""
    return (b"\r\n" + mail).replace(b"\r\n.", b"\r\n..")[2:]


def strict_answer(mail: bytes) -> int:
    """Say what a strict office answers to a mail."""
    if _LONE_DOT.search(b"\r\n" + stuffed(mail)):
        return 521
    return 550 if b"\0" in mail or _BARE.search(mail) else 250


class Session:
    """One client after the other, until no mail is left."""

    def __init__(self, port: int, mails: Mapping[int, bytes], waiting: deque[int], codes: dict[int, int]) -> None:
        self._port = port
        self._mails = mails
        self._waiting = waiting
        self._codes = codes

    async def run(self) -> None:
        while self._waiting:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            writer.write(b"EHLO client.one.example\r\n")
            await _reply(reader)
            await _reply(reader)
            try:
                while self._waiting and await self._send(reader, writer, self._waiting.popleft()):
                    pass
            finally:
                writer.close()

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        """Send one mail; say whether the line is still good for another."""
        envelope = f"MAIL FROM:<ann@one.example> BODY=8BITMIME\r\nRCPT TO:<b{number}@two.example>\r\nDATA\r\n"
        writer.write(envelope.encode())
        assert [await _reply(reader) for _ in range(3)] == [250, 250, 354]
        writer.write(stuffed(self._mails[number]) + b".\r\n")
        try:
            self._codes[number] = await _reply(reader)
        except (OSError, asyncio.IncompleteReadError):
            # Whoever hangs up before everything is read may take back what was said last.
            self._codes[number] = 521
        return self._codes[number] != 521


async def _reply(reader: asyncio.StreamReader) -> int:
    line = await reader.readuntil(b"\n")
    while line[3:4] == b"-":
        line = await reader.readuntil(b"\n")
    return int(line[:3])


async def bring(port: int, mails: Mapping[int, bytes]) -> dict[int, int]:
    """Send mails over some lines; give the answer to each."""
    waiting, codes = deque(mails), dict[int, int]()
    async with asyncio.TaskGroup() as group:
        for _ in range(_SESSIONS):
            group.create_task(Session(port, mails, waiting, codes).run())
    return codes


async def check_what_left(server: Recorder, mails: Mapping[int, bytes]) -> None:
    """Wait until all of these arrived, each once, and as it is behind the one line of this office."""
    arrived: set[int] = set()
    for mail in await server.got(len(mails)):
        (recipient,) = mail.recipients
        number = int(recipient[2 : recipient.index("@")])
        assert number not in arrived, f"{number} left twice"
        arrived.add(number)
        assert mail.content.endswith(mails[number]), f"{number} left otherwise than it came"
        line = mail.content[: len(mail.content) - len(mails[number])]
        assert _RECEIVED.fullmatch(line), f"{number} left behind {line!r}"
    assert arrived == mails.keys()


@pytest.mark.timeout(300)
async def test_every_file_of_the_corpora_passes_through_as_it_is(tmp_path: Path) -> None:
    mails = {number: as_sent(path.read_bytes()) for number, path in enumerate(files())}
    async with recorder() as server, office(tmp_path / "office.db", server, settings=_PATIENT) as port:
        codes = await bring(port, mails)
        assert codes == {number: strict_answer(mail) for number, mail in mails.items()}
        taken = {number: mail for number, mail in mails.items() if codes[number] == 250}
        await check_what_left(server, taken)
    assert Counter(codes.values()) == _ANSWERS
    refused = {number: mail for number, mail in mails.items() if codes[number] != 250}
    mending = {**_PATIENT, "mail.bare_line_ends": "mend"}
    async with recorder() as server, office(tmp_path / "mending.db", server, settings=mending) as port:
        codes = await bring(port, refused)
        assert codes == {number: 550 if b"\0" in mail else 250 for number, mail in refused.items()}
        mended = {number: _LINE_END.sub(b"\r\n", mail) for number, mail in refused.items() if codes[number] == 250}
        await check_what_left(server, mended)
    assert Counter(codes.values()) == _MENDED
