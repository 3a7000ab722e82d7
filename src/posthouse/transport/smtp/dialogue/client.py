"""The client's side of the talk with a mail server, SMTP or LMTP: bytes go in, events and bytes come out.

`TABLE` says what a reply means when; what is not in it ends the talk. Whoever moves the bytes sends what `to_send`
gives after every call, begins to encrypt on `Secure`, and keeps the time.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from posthouse.message.mailroute import Encryption
from posthouse.transport.smtp.dialogue.credential import Credentials, Mechanism, Plain, Scram, Unconvincing
from posthouse.transport.smtp.dialogue.hearing import MalformedReply, Replies, is_good, told
from posthouse.transport.smtp.dialogue.mail import Mail, mail_command, objection, recipient_command
from posthouse.transport.smtp.dialogue.reply import Reply

State = Literal[
    "greeted", "extended", "plain hello", "securing", "encrypting", "proving", "ready", "envelope", "sending", "ended",
    "forgetting", "leaving", "over",
]  # fmt: skip
Act = Literal["extend", "learn", "hello", "settle", "secure", "prove", "challenge", "enter", "refuse", "note", "over"]

# (state, first digit of the reply) -> what follows. What is not here cannot be said, and ends the talk.
TABLE: Final[dict[tuple[State, int], Act]] = {
    ("greeted", 2): "extend",
    ("greeted", 4): "refuse",
    ("greeted", 5): "refuse",
    ("extended", 2): "learn",
    # An old server does not know EHLO; one that is busy says so.
    ("extended", 4): "refuse",
    ("extended", 5): "hello",
    ("plain hello", 2): "settle",
    ("plain hello", 4): "refuse",
    ("plain hello", 5): "refuse",
    ("securing", 2): "secure",
    ("securing", 4): "settle",
    ("securing", 5): "settle",
    ("proving", 2): "prove",
    ("proving", 3): "challenge",
    ("proving", 4): "refuse",
    ("proving", 5): "refuse",
    ("envelope", 2): "note",
    ("envelope", 3): "note",
    ("envelope", 4): "note",
    ("envelope", 5): "note",
    ("ended", 2): "note",
    ("ended", 4): "note",
    ("ended", 5): "note",
    ("forgetting", 2): "enter",
    ("leaving", 2): "over",
    ("leaving", 4): "over",
    ("leaving", 5): "over",
}


# SCRAM asks twice, PLAIN once where a server overheard what was said at first.
_MOST_CHALLENGES: Final = 3


class Secure(NamedTuple):
    """Begin to encrypt the line, and call `secured`."""


class Ready(NamedTuple):
    """A mail may be offered."""


class Content(NamedTuple):
    """The content is awaited: send it stuffed, and call `sent`."""


class Answered(NamedTuple):
    """What the server said to each recipient of the mail that was offered, in their order."""

    replies: tuple[Reply, ...]
    passes_wishes_on: bool = False
    """The server sees to the notices that were asked for."""


class Over(NamedTuple):
    """The talk is over; where a mail was under way, nothing more becomes known of it."""

    reason: str
    reply: Reply | None = None
    is_tls_fault: bool = False
    """The server does not encrypt, though it must."""


Event = Secure | Ready | Content | Answered | Over


class Manner(NamedTuple):
    """How a client talks."""

    name: str
    """What it calls itself."""
    lmtp: bool = False
    encryption: Encryption = "may"
    credentials: Credentials | None = None
    nonce: str = ""
    """Drawn for this talk alone."""
    is_encrypted: bool = False
    """The line is encrypted from its beginning."""
    is_private: bool = False
    """The line never leaves this machine: a password may be said on it."""


class Client:
    """One talk."""

    def __init__(self, manner: Manner) -> None:
        self.state: State = "greeted"
        self.extensions: dict[str, str] = {}
        self.is_encrypted = manner.is_encrypted
        self._manner = manner
        self._replies = Replies()
        self._has_more = False
        self._out: list[bytes] = []
        self._events: list[Event] = []
        self._mechanism: Mechanism | None = None
        self._challenges = 0
        self._mail: Mail | None = None
        self._commands: deque[bytes] = deque()
        self._awaited: deque[int] = deque()
        self._answers: list[Reply | None] = []
        self._takes: list[int] = []

    @property
    def answers(self) -> tuple[Reply | None, ...]:
        """What is known so far about the mail that is under way, recipient by recipient; empty without one."""
        return tuple(self._answers) if self._mail is not None else ()

    # What whoever moves the bytes calls.

    def to_send(self) -> bytes:
        """Give what is to be sent now, once."""
        out, self._out = b"".join(self._out), []
        return out

    def receive(self, data: bytes) -> list[Event]:
        """Take what came from the server."""
        try:
            replies = deque(self._replies.feed(data))
            while replies:
                reply = replies.popleft()
                self._has_more = bool(replies) or self._replies.has_rest
                self._hear(reply)
        except (MalformedReply, Unconvincing) as fault:
            self._end(fault.what)
        return self._told()

    def secured(self) -> list[Event]:
        """Hear that the line is encrypted now: everything known from before is forgotten (RFC 3207, section 4.2)."""
        assert self.state == "encrypting"
        self.is_encrypted = True
        self._extend()
        return self._told()

    def offer(self, mail: Mail) -> list[Event]:
        """Offer a mail; only while the talk is `ready`."""
        assert self.state == "ready"
        self._mail, self._answers = mail, [None] * len(mail.recipients)
        if (wrong := objection(mail, self.extensions)) is not None:
            self._answers = [wrong] * len(mail.recipients)
            self._answer()
            return self._told()
        self.state = "envelope"
        self._commands = deque([mail_command(mail, self.extensions)])
        self._commands += [recipient_command(one, self.extensions) for one in mail.recipients]
        self._commands.append(b"DATA\r\n")
        self._awaited = deque(range(-1, len(mail.recipients) + 1))
        self._say_next()
        return self._told()

    def sent(self) -> None:
        """Hear that the whole content is on the line, with its end."""
        assert self.state == "sending"
        self.state = "ended"
        self._awaited = deque(self._takes if self._manner.lmtp else [0])

    def leave(self) -> None:
        """Say goodbye."""
        if self.state == "ready":
            self.state = "leaving"
            self._out.append(b"QUIT\r\n")

    # What replies mean.

    def _hear(self, reply: Reply) -> None:
        if reply.code == 421:
            self._end(f"the server closes the line: {told(reply)}", reply)
        if self.state == "over":
            return
        act = TABLE.get((self.state, reply.code // 100))
        if act is None:
            self._end(f"unexpected at this point: {told(reply)}", reply if not is_good(reply) else None)
        elif act == "note":
            self._note(reply)
        else:
            _ACTS[act](self, reply)

    def _extend(self, _reply: Reply | None = None) -> None:
        self.state, self.extensions = "extended", {}
        self._out.append(b"%s %s\r\n" % (b"LHLO" if self._manner.lmtp else b"EHLO", self._manner.name.encode()))

    def _learn(self, reply: Reply) -> None:
        pairs = (line.partition(" ") for line in reply.text.split("\n")[1:])
        self.extensions = {word.upper(): rest.strip() for word, _, rest in pairs}
        if "STARTTLS" in self.extensions and not self.is_encrypted and self._manner.encryption != "never":
            self.state = "securing"
            self._out.append(b"STARTTLS\r\n")
            return
        self._settle(reply)

    def _hello(self, reply: Reply) -> None:
        if self._manner.lmtp:
            self._refuse(reply)
            return
        self.state = "plain hello"
        self._out.append(b"HELO %s\r\n" % self._manner.name.encode())

    def _settle(self, _reply: Reply) -> None:
        """Go on from the greetings: show who we are where that is wanted."""
        if self._manner.encryption == "must" and not self.is_encrypted:
            self._end("the server does not encrypt, and this mail must not travel in the open", is_tls_fault=True)
        elif self._manner.credentials is None:
            self._enter()
        else:
            self._begin_to_prove(self._manner.credentials)

    def _secure(self, _reply: Reply) -> None:
        if self._has_more:
            # Whoever sits on the line may have put it there, to be read as if it had come encrypted.
            self._end("more came in the open after STARTTLS was accepted")
            return
        self.state = "encrypting"
        self._events.append(Secure())

    def _begin_to_prove(self, credentials: Credentials) -> None:
        if not (self.is_encrypted or self._manner.is_private):
            self._end(
                "a password is said on an encrypted line only, and the server does not encrypt", is_tls_fault=True
            )
            return
        offered = self.extensions.get("AUTH", "").upper().split()
        if "SCRAM-SHA-256" in offered:
            self._mechanism = Scram(credentials, self._manner.nonce)
        elif "PLAIN" in offered:
            self._mechanism = Plain(credentials)
        else:
            self._end(f"expected the server to offer AUTH SCRAM-SHA-256 or PLAIN, found {' '.join(offered) or 'none'}")
            return
        self.state = "proving"
        first = base64.b64encode(self._mechanism.begin())
        self._out.append(b"AUTH %s %s\r\n" % (self._mechanism.name.encode(), first))

    def _challenge(self, reply: Reply) -> None:
        assert self._mechanism is not None
        self._challenges += 1
        if self._challenges > _MOST_CHALLENGES:
            raise Unconvincing("expected the server to take the password or to refuse it, found yet another question")
        try:
            challenge = base64.b64decode(reply.text, validate=True)
        except ValueError:
            # It is no base64, or not even ASCII.
            raise Unconvincing("expected a challenge in base64, found something else") from None
        self._out.append(base64.b64encode(self._mechanism.answer(challenge)) + b"\r\n")

    def _prove(self, _reply: Reply) -> None:
        assert self._mechanism is not None
        self._mechanism.conclude()
        self._enter()

    def _enter(self, _reply: Reply | None = None) -> None:
        self.state = "ready"
        self._events.append(Ready())

    def _refuse(self, reply: Reply) -> None:
        self._end(f"the server takes nothing from here: {told(reply)}", reply)

    def _leave(self, _reply: Reply) -> None:
        self._end("")

    # One mail.

    def _say_next(self) -> None:
        """Say all commands of the envelope at once where the server can take them so, else the next one."""
        count = len(self._commands) if "PIPELINING" in self.extensions else 1
        self._out += [self._commands.popleft() for _ in range(count)]

    def _note(self, reply: Reply) -> None:
        """Hear a reply about the envelope or the content: of MAIL (-1), of a recipient, of DATA."""
        assert self._mail is not None
        if not self._awaited:
            self._end(f"unexpected at this point: {told(reply)}")
            return
        which = self._awaited.popleft()
        if self.state == "ended":
            self._note_end(which, reply)
        elif which == len(self._mail.recipients):
            self._note_data(reply)
        elif reply.code >= 300 and reply.code < 400:
            self._end(f"unexpected at this point: {told(reply)}")
        else:
            self._note_address(which, reply)

    def _note_address(self, which: int, reply: Reply) -> None:
        assert self._mail is not None
        if not is_good(reply):
            # What the server thinks of the sender holds for every recipient.
            for number in range(len(self._answers)) if which < 0 else (which,):
                self._answers[number] = self._answers[number] or reply
        if not self._commands:
            return
        is_last = which == len(self._mail.recipients) - 1
        if all(self._answers) and (which < 0 or is_last):
            self._forget()
        else:
            self._say_next()

    def _note_data(self, reply: Reply) -> None:
        self._takes = [number for number, answer in enumerate(self._answers) if answer is None]
        if reply.code >= 400 or is_good(reply):
            if is_good(reply):
                self._end(f"unexpected at this point: {told(reply)}")
                return
            for number in self._takes:
                self._answers[number] = reply
            self._forget()
        elif self._takes:
            self.state = "sending"
            self._events.append(Content())
        else:
            # Nobody is left to get it, and still the server waits (RFC 2920, section 3.1): it is sent nothing.
            self._out.append(b".\r\n")
            self.state, self._awaited = "ended", deque([-1])

    def _note_end(self, which: int, reply: Reply) -> None:
        if which >= 0:
            for number in (which,) if self._manner.lmtp else self._takes:
                self._answers[number] = reply
        if not self._awaited:
            self.state = "ready"
            self._answer()
            self._events.append(Ready())

    def _forget(self) -> None:
        """Answer for a mail nobody takes, and begin anew."""
        self._commands.clear()
        self._answer()
        self.state = "forgetting"
        self._out.append(b"RSET\r\n")

    def _answer(self) -> None:
        replies = tuple(answer for answer in self._answers if answer is not None)
        self._events.append(Answered(replies, passes_wishes_on="DSN" in self.extensions))
        self._mail = None

    def _end(self, reason: str, reply: Reply | None = None, *, is_tls_fault: bool = False) -> None:
        if self.state != "over":
            self.state = "over"
            self._events.append(Over(reason, reply, is_tls_fault))

    def _told(self) -> list[Event]:
        events, self._events = self._events, []
        return events


_ACTS: Final[dict[str, Callable[[Client, Reply], None]]] = {
    "extend": Client._extend,  # noqa: SLF001 - the table's own acts
    "learn": Client._learn,  # noqa: SLF001
    "hello": Client._hello,  # noqa: SLF001
    "settle": Client._settle,  # noqa: SLF001
    "secure": Client._secure,  # noqa: SLF001
    "prove": Client._prove,  # noqa: SLF001
    "challenge": Client._challenge,  # noqa: SLF001
    "enter": Client._enter,  # noqa: SLF001
    "refuse": Client._refuse,  # noqa: SLF001
    "over": Client._leave,  # noqa: SLF001
}
