"""Bytes that become what a mail server says to this office: two say who talks how, the others come over the line."""

from __future__ import annotations

import base64
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from posthouse.transport.smtp.dialogue.client import Answered, Client, Content, Event, Manner, Over, Ready, Secure
from posthouse.transport.smtp.dialogue.credential import Credentials
from posthouse.transport.smtp.dialogue.hearing import is_good
from posthouse.transport.smtp.dialogue.mail import Mail, Recipient

_SCRIPTS: Final = Path(__file__).parents[1] / "dialogue" / "out"
_PASSWORD: Final = "rye bread"
_SECRET: Final = base64.b64encode(f"\0ann\0{_PASSWORD}".encode())
_COMMANDS: Final = re.compile(rb"(?:[^\x00-\x1f\x7f]{1,2000}\r\n)*")
_MAILS: Final = (
    Mail(sender="ann@one.example", recipients=(Recipient(address="bob@two.example"),), size=100),
    Mail(
        sender="",
        recipients=(Recipient(address="bob@two.example", notify="NEVER"), Recipient(address="carol@two.example")),
        size=5_000,
        is_ascii=False,
        ret="HDRS",
        envid="a=b",
    ),
    Mail(sender="änn@one.example", recipients=tuple(Recipient(address=f"b{n}@two.example") for n in range(3)), size=1),
)


class _Caller:
    """Does what whoever moves the bytes does, and looks at everything that is said and learnt."""

    def __init__(self, manner: Manner) -> None:
        self.client = Client(manner)
        self._manner = manner
        self._mails = deque(_MAILS)
        self._mail: Mail | None = None
        self._is_sent = False
        self.is_over = False

    def hear(self, data: bytes) -> None:
        pending = deque(self.client.receive(data))
        self._look_at_what_is_said()
        while pending:
            assert not self.is_over, "nothing is learnt after the end"
            pending.extend(self._learn(pending.popleft()))
            self._look_at_what_is_said()

    def _learn(self, event: Event) -> list[Event]:
        match event:
            case Secure():
                return self.client.secured()
            # What came in one piece with it may have ended the talk.
            case Ready() if self._mails and self.client.state == "ready":
                assert self._mail is None
                self._mail, self._is_sent = self._mails.popleft(), False
                return self.client.offer(self._mail)
            case Ready():
                self.client.leave()
            case Content():
                assert self._mail is not None
                assert not self._is_sent, "a content is asked for once"
                self._is_sent = True
                self.client.sent()
            case Answered(replies):
                assert self._mail is not None
                assert len(replies) == len(self._mail.recipients)
                assert self._is_sent or not any(map(is_good, replies)), "nobody has got what was not sent"
                self._mail = None
            case Over():
                self.is_over = True
        return []

    def _look_at_what_is_said(self) -> None:
        said = self.client.to_send()
        # The one dot ends a mail that nobody takes, and that no byte was sent of.
        assert _COMMANDS.fullmatch(said), said
        is_safe = self.client.is_encrypted or self._manner.is_private
        assert is_safe or not (_SECRET in said or b"AUTH " in said), "a password is not said in the open"


def target(data: bytes) -> None:
    """Hold the talk; what is said are whole commands, and what is learnt is true, or it raises."""
    if len(data) < 2:
        return
    bits = int.from_bytes(data[:2], "little")
    caller = _Caller(
        Manner(
            "post.example",
            lmtp=bool(bits & 1),
            encryption="must" if bits & 2 else "never" if bits & 4 else "may",
            credentials=Credentials("ann", _PASSWORD) if bits & 8 else None,
            nonce="nonce",
            is_encrypted=bool(bits & 16),
            is_private=bool(bits & 32),
        )
    )
    # Up to so many bytes come at a time, or all of them at once.
    size = bits >> 11 or len(data)
    for start in range(2, len(data), size):
        if caller.is_over:
            return
        caller.hear(data[start : start + size])


def seeds() -> Iterator[bytes]:
    """Give what the hunt begins with: everything servers say in the scripts, heard in several ways."""
    for script in sorted(_SCRIPTS.glob("*.txt")):
        lines = (line.partition(" ← ") for line in script.read_text().splitlines())
        said = b"".join(f"{text}\r\n".encode() for mark, _, text in lines if mark in {"s", "s+"})[:4_000]
        for bits in (0, 1, 0b1_1000, 0b10_1000, 1 << 11):
            yield bits.to_bytes(2, "little") + said
