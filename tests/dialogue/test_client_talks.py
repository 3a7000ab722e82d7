"""Talks written down as text: what a client says and learns, told against the table without a socket.

`s ←` is a line of the server (`s+ ←` one that comes together with the next), `c →` one of the client, `!` what the
client is told to do, `=` what it learns.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from posthouse.transport.smtp.dialogue.client import Answered, Client, Content, Event, Manner, Over, Ready, Secure
from posthouse.transport.smtp.dialogue.credential import Credentials
from posthouse.transport.smtp.dialogue.mail import Mail, Recipient

SCRIPTS = sorted((Path(__file__).parent / "out").glob("*.txt"))


def lines_of(script: Path) -> list[str]:
    return [line for line in script.read_text().splitlines() if line and not line.startswith("#")]


def manner_of(words: list[str]) -> Manner:
    given = dict(word.partition("=")[::2] for word in words)
    credentials = Credentials(given["user"], given["password"]) if "user" in given else None
    return Manner(
        "post.example",
        lmtp="lmtp" in given,
        encryption="must" if given.get("encryption") == "must" else "may",
        credentials=credentials,
        nonce=given.get("nonce", ""),
        is_encrypted="encrypted" in given,
    )


def recipient_of(word: str) -> Recipient:
    address, notify, original = [*word.split("/"), "", ""][:3]
    return Recipient(address=address, notify=notify, original=original)


def mail_of(words: list[str]) -> Mail:
    mark = words.index(">")
    given = dict(word.partition("=")[::2] for word in words[mark + 1 :] if "@" not in word)
    return Mail(
        sender=words[0] if mark else "",
        recipients=tuple(recipient_of(word) for word in words[mark + 1 :] if "@" in word),
        size=int(given.get("size", "100")),
        is_ascii="8bit" not in given,
        ret=given.get("ret", ""),
        envid=given.get("envid", ""),
    )


def told(event: Event) -> str:
    match event:
        case Ready():
            return "ready"
        case Secure():
            return "secure"
        case Content():
            return "content"
        case Answered(replies, wishes):
            return " ".join(["answered", *(str(reply.code) for reply in replies), *(["wishes"] if wishes else [])])
        case Over(_, reply, is_tls_fault):
            return " ".join(["over", *([str(reply.code)] if reply else []), *(["tls"] if is_tls_fault else [])])


class Play:
    """One script, played."""

    def __init__(self, lines: list[str]) -> None:
        manner = [line.split()[1:] for line in lines if line.startswith("manner")]
        self.client = Client(manner_of(manner[0] if manner else []))
        self.said: list[str] = []
        self.learnt: list[str] = []
        self._held = b""

    def perform(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        if mark == "s":
            self._learn(self.client.receive(self._held + f"{rest.removeprefix('← ')}\r\n".encode()))
            self._held = b""
        elif mark == "s+":
            self._held += f"{rest.removeprefix('← ')}\r\n".encode()
        elif mark == "c":
            assert self.said, f"the client says nothing where it should say: {line}"
            assert f"c → {self.said.pop(0)}".strip() == line
        elif mark == "=":
            assert self.learnt, f"the client learns nothing where it should: {line}"
            learnt = self.learnt.pop(0)
            assert f"= {learnt}" == line
            if learnt == "content":
                self.client.sent()
        elif mark == "!":
            self._act(rest.split())

    def _act(self, words: list[str]) -> None:
        if words == ["leave"]:
            self.client.leave()
            self._learn([])
        elif words == ["secured"]:
            self._learn(self.client.secured())
        else:
            self._learn(self.client.offer(mail_of(words)))

    def _learn(self, events: list[Event]) -> None:
        self.learnt += [told(event) for event in events]
        self.said += self.client.to_send().decode().split("\r\n")[:-1]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_talk_goes_as_written(script: Path) -> None:
    lines = lines_of(script)
    play = Play(lines)
    for line in lines:
        play.perform(line)
    assert (play.said, play.learnt) == ([], []), "the client says and learns no more than is written"


def test_there_are_talks() -> None:
    assert len(SCRIPTS) >= 20


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_talk_is_the_same_byte_by_byte(script: Path) -> None:
    """However the bytes of the server are cut, the client says the same."""
    lines = lines_of(script)
    play = Play(lines)
    receive = play.client.receive

    def slowly(data: bytes) -> list[Event]:
        return [event for byte in data for event in receive(bytes((byte,)))]

    if script.stem != "starttls_injection":
        play.client.receive = slowly  # type: ignore[method-assign]  # the same client, fed otherwise
    for line in lines:
        play.perform(line)
    assert (play.said, play.learnt) == ([], [])
