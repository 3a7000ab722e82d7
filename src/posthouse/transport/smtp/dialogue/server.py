"""The server's side of SMTP and LMTP: bytes in, events out. What may come when stands in `table`.

Whoever holds the dialogue carries out its events in their order and answers what is asked by `considered`, `delivered`,
`checked`, `found` or `reintroduced`; until then the dialogue takes in bytes but goes no further.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from posthouse.message.verdict import Verdict
from posthouse.transport.smtp.dialogue import answer, auth, event, hello, table, transaction
from posthouse.transport.smtp.dialogue.chunk import Chunk, read_chunk
from posthouse.transport.smtp.dialogue.event import Event
from posthouse.transport.smtp.dialogue.inbox import Inbox
from posthouse.transport.smtp.dialogue.outbox import Outbox
from posthouse.transport.smtp.dialogue.patience import Patience
from posthouse.transport.smtp.dialogue.refusal import FLAWS, refusal_of
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.scram import Keys
from posthouse.transport.smtp.dialogue.service import Service, Visitor
from posthouse.transport.smtp.dialogue.table import State
from posthouse.transport.smtp.dialogue.transaction import Transaction
from posthouse.transport.smtp.dialogue.xclient import MalformedIntroduction, introduce

# command   lines that are commands
# response  lines that answer a challenge of AUTH
# data      the content of a mail, up to CRLF.CRLF
# chunk     the content of a mail, as many bytes as BDAT said
# tls       nothing, until the connection is encrypted
# ended     nothing any more
Mode = Literal["command", "response", "data", "chunk", "tls", "ended"]


class ServerDialogue:
    """One connection."""

    def __init__(self, service: Service, visitor: Visitor) -> None:
        self._service = service
        self._visitor = visitor
        self._mode: Mode = "command"
        self._state: State = "new"
        self._inbox = Inbox()
        self._asked = False
        self._outbox = Outbox()
        self._patience = Patience(service.caps)
        self._greeted_by = ""
        self._helo = ""
        self._signing: auth.SignIn | None = None
        self._mail: Transaction | None = None
        self._chunk: Chunk | None = None

    @property
    def waiting(self) -> int:
        """Bytes that came and were not looked at yet."""
        return len(self._inbox)

    @property
    def is_idle(self) -> bool:
        """No mail is under way and nothing is asked: the connection may end without loss."""
        return self._mail is None and not self._asked

    def begin(self) -> list[Event]:
        """Greet the client."""
        self._outbox.say(hello.greeting(self._service))
        return self._outbox.take()

    def receive(self, data: bytes) -> list[Event]:
        """Take in what the client sent."""
        # Plain bytes on their way when the encrypted connection begins are nobody's.
        if self._mode not in ("tls", "ended"):
            self._inbox.add(data)
        return self._run()

    def considered(self, verdict: Verdict, name: str) -> list[Event]:
        """Hear whether a recipient can be taken, and under which name."""
        assert self._mail is not None
        self._asked = False
        if verdict.action == "pass":
            self._mail.add_recipient(name)
            self._state = "rcpt"
            self._outbox.say(answer.RECIPIENT_OK)
        else:
            self._refuse(refusal_of(verdict))
        return self._run()

    def delivered(self, verdicts: Sequence[Verdict], name: str) -> list[Event]:
        """Hear what became of the mail: one verdict, or with LMTP one for each recipient."""
        self._asked = False
        if self._mode == "ended":
            return []
        for verdict in verdicts:
            taken = verdict.action == "pass"
            self._outbox.say(Reply(250, "2.0.0", f"Accepted as {name}") if taken else refusal_of(verdict))
        self._patience.be_pleased()
        self._forget_mail()
        return self._run()

    def checked(self, *, right: bool | None) -> list[Event]:
        """Hear whether a password was right; none where nobody could say."""
        self._asked = False
        assert self._signing is not None
        self._go_on(self._signing.checked(right=right))
        return self._run()

    def found(self, keys: Keys | None, nonce: str) -> list[Event]:
        """Hear the keys of a user; none where nobody could look."""
        self._asked = False
        assert self._signing is not None
        self._go_on(self._signing.found(keys, nonce))
        return self._run()

    def secured(self, tls: str) -> None:
        """Hear that the connection is encrypted: everything begins anew (RFC 3207, section 4.2)."""
        self._visitor = msgspec.structs.replace(self._visitor, tls=tls)
        self._inbox.clear()
        self._mode = "command"
        self._begin_anew()

    def reintroduced(self, visitor: Visitor) -> list[Event]:
        """Hear what the client may do that a front end spoke of; everything begins anew."""
        self._asked = False
        self._visitor = visitor
        self._begin_anew()
        self._outbox.say(hello.greeting(self._service))
        return self._run()

    def end(self, reply: Reply, why: Literal["refused", "expired", "closing"]) -> list[Event]:
        """Send the client away: it is one too many, its time is over, or the office closes."""
        self._hang_up(reply, why)
        return self._outbox.take()

    def _run(self) -> list[Event]:
        while self._inbox and not self._asked and self._mode not in ("tls", "ended"):
            match self._mode:
                case "data":
                    going = self._read_data()
                case "chunk":
                    going = self._read_chunk()
                case _:
                    going = self._read_line()
            if not going:
                break
        return self._outbox.take()

    def _read_line(self) -> bool:
        """Read a line, where it is whole."""
        responding = self._mode == "response"
        caps = self._service.caps
        line = self._inbox.take_line(caps.auth_bytes if responding else caps.command_bytes)
        if line is None:
            return False
        if isinstance(line, str):
            self._mode = "command"
            self._refuse(answer.BAD_LINES[responding, line])
        elif responding:
            assert self._signing is not None
            self._go_on(self._signing.respond(line))
        else:
            self._command(line)
        return True

    def _read_data(self) -> bool:
        """Read the content of a mail; false before its end."""
        assert self._mail is not None
        content = self._mail.content
        kept, rest = content.read_dotted(self._inbox.take())
        self._inbox.add(rest or b"")
        if kept:
            self._outbox.tell(event.Piece(kept))
        if content.flaw == "false end":
            # Whoever meant it as the end waits for an answer, and what follows was perhaps meant as commands.
            self._outbox.tell(event.Discard())
            self._hang_up(FLAWS["false end"], "refused")
        elif rest is not None:
            self._mode = "command"
            self._complete(is_last=True)
        return rest is not None

    def _read_chunk(self) -> bool:
        """Read the bytes of a chunk; those of one that is out of order are thrown away, never read as commands."""
        chunk, mail = self._chunk, self._mail
        assert chunk is not None
        piece = self._inbox.take(chunk.left)
        chunk.left -= len(piece)
        if chunk.refusal is None and mail is not None:
            kept = mail.content.read_counted(piece, last=chunk.is_last and not chunk.left)
            if kept:
                self._outbox.tell(event.Piece(kept))
        if chunk.left:
            return False
        self._mode = "command"
        if chunk.refusal is not None or mail is None:
            self._refuse(chunk.refusal or answer.UNKNOWN)
        elif chunk.is_last or mail.content.flaw:
            self._complete(is_last=chunk.is_last)
        else:
            self._outbox.say(Reply(250, "2.0.0", f"{chunk.size} bytes taken"))
        return True

    def _complete(self, *, is_last: bool) -> None:
        """Hand the mail over, or refuse it."""
        mail = self._mail
        assert mail is not None
        flaw = mail.content.flaw
        if not flaw:
            protocol = hello.protocol_of(self._service, self._visitor, command=self._greeted_by, utf8=mail.utf8)
            self._ask(event.Deliver(mail.finished(self._visitor, protocol=protocol, helo=self._helo)))
            return
        self._outbox.tell(event.Discard())
        answers = len(mail.recipients) if self._service.lmtp and is_last else 1
        self._forget_mail()
        for _ in range(answers):
            self._refuse(FLAWS[flaw])

    def _command(self, line: bytes) -> None:
        word, _, rest = line.partition(b" ")
        verb = word.upper().decode("ascii", "replace")
        refusal = table.refusal(verb, self._state, service=self._service, visitor=self._visitor)
        argument = rest.decode(errors="replace").strip(" ")
        if verb == "BDAT":
            self._begin_chunk(rest, refusal)
        elif verb in table.NOT_MAIL:
            self._hang_up(answer.NO_BROWSERS, "refused")
        elif refusal is not None:
            self._refuse(refusal)
        elif "\ufffd" in argument:
            self._refuse(answer.NOT_UTF8)
        elif verb not in table.BRINGS_MAIL and verb != "QUIT" and (reply := self._patience.count_talk()):
            self._hang_up(reply, "refused")
        else:
            self._obey(verb, argument)

    def _obey(self, verb: str, argument: str) -> None:
        match verb:
            case "MAIL":
                self._begin_mail(argument)
            case "RCPT":
                self._begin_recipient(argument)
            case "HELO" | "EHLO" | "LHLO":
                self._hello(verb, argument)
            case "AUTH":
                self._authenticate(argument)
            case "XCLIENT":
                self._introduce(argument)
            case "NOOP":
                self._outbox.say(answer.OK)
            case "HELP":
                self._outbox.say(answer.HELP)
            case "VRFY":
                self._outbox.say(answer.NOT_TOLD)
            case "EXPN":
                self._refuse(answer.NO_LISTS)
            case _ if argument:
                self._refuse(answer.NO_ARGUMENT)
            case "DATA":
                self._begin_data()
            case "RSET":
                self._give_up_mail()
                self._outbox.say(answer.OK)
            case "STARTTLS":
                self._start_tls()
            case _:
                self._hang_up(answer.BYE, "quit")

    def _hello(self, verb: str, argument: str) -> None:
        reply = hello.answer_hello(self._service, self._visitor, command=verb, argument=argument)
        if not reply.is_positive:
            self._refuse(reply)
            return
        self._give_up_mail()
        self._state = "ready"
        self._greeted_by, self._helo = verb, argument
        self._outbox.say(reply)

    def _begin_mail(self, argument: str) -> None:
        begun = transaction.begin(self._service, argument)
        if isinstance(begun, Reply):
            self._refuse(begun)
        elif reply := self._patience.count_mail():
            self._hang_up(reply, "refused")
        else:
            self._mail, self._state = begun, "mail"
            self._outbox.say(answer.SENDER_OK)

    def _begin_recipient(self, argument: str) -> None:
        assert self._mail is not None
        recipient = self._mail.read_recipient(argument)
        if isinstance(recipient, Reply):
            self._refuse(recipient)
        else:
            self._ask(event.Consider(recipient, self._visitor))

    def _begin_data(self) -> None:
        if self._inbox:
            # What is sent before it is asked for would be read as commands, were DATA refused.
            self._hang_up(answer.IMPATIENT, "refused")
            return
        self._mode = "data"
        self._outbox.say(answer.GO_AHEAD)

    def _begin_chunk(self, argument: bytes, refusal: Reply | None) -> None:
        chunk = read_chunk(argument, refusal)
        if chunk is None:
            # Nobody can say where the next command begins.
            self._hang_up(answer.BAD_CHUNK, "refused")
            return
        self._chunk, self._mode = chunk, "chunk"
        if refusal is None:
            self._state = "chunks"
        if not chunk.left:
            self._read_chunk()

    def _start_tls(self) -> None:
        if not hello.can_start_tls(self._service, self._visitor):
            self._refuse(answer.HAS_TLS if self._visitor.tls else answer.NO_TLS)
        elif self._inbox:
            self._hang_up(answer.INJECTED, "refused")
        else:
            self._mode = "tls"
            self._outbox.say(answer.READY_FOR_TLS)
            self._outbox.tell(event.StartTls())

    def _authenticate(self, argument: str) -> None:
        if self._service.auth == "none":
            self._refuse(answer.NO_AUTH)
        elif not self._visitor.tls:
            self._refuse(answer.AUTH_IN_CLEAR)
        elif self._visitor.user:
            self._refuse(answer.HAS_AUTH)
        else:
            self._signing, step = auth.begin(argument, offered=self._service.mechanisms)
            self._go_on(step)

    def _go_on(self, step: auth.Step) -> None:
        """Go one step on with signing in."""
        self._mode = "command"
        match step:
            case auth.Challenge():
                self._mode = "response"
                self._outbox.say_bytes(step.encode())
            case auth.SignedIn(user):
                self._visitor = msgspec.structs.replace(self._visitor, user=user)
                self._outbox.say(auth.SIGNED_IN)
            case Reply():
                self._refuse(step)
                if step is auth.WRONG and (reply := self._patience.count_sign_in()):
                    self._hang_up(reply, "refused")
            case _:
                self._ask(step)

    def _introduce(self, argument: str) -> None:
        if not self._visitor.is_front_end:
            self._refuse(answer.NO_XCLIENT)
            return
        try:
            self._ask(event.Reconsider(introduce(self._visitor, argument)))
        except MalformedIntroduction:
            self._refuse(answer.BAD_XCLIENT)

    def _begin_anew(self) -> None:
        self._forget_mail()
        self._state = "new"
        self._greeted_by, self._helo = "", self._visitor.helo

    def _give_up_mail(self) -> None:
        if self._state == "chunks":
            self._outbox.tell(event.Discard())
        self._forget_mail()

    def _forget_mail(self) -> None:
        if self._state != "new":
            self._state = "ready"
        self._mail = self._chunk = None

    def _refuse(self, reply: Reply) -> None:
        self._outbox.say(reply)
        if last := self._patience.count_error():
            self._hang_up(last, "refused")

    def _ask(self, question: Event) -> None:
        self._asked = True
        self._outbox.tell(question)

    def _hang_up(self, reply: Reply, why: Literal["quit", "refused", "expired", "closing"]) -> None:
        if self._mode == "ended":
            return
        self._mode = "ended"
        self._inbox.clear()
        self._outbox.say(reply)
        self._outbox.tell(event.HangUp(why))
