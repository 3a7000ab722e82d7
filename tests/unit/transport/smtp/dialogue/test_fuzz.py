"""Whatever a client sends: the dialogue answers, in whole replies, and never breaks."""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posthouse.message.judgement import HeaderEdit, Judgement
from posthouse.message.verdict import PASS, Verdict, refuse
from posthouse.transport.smtp.dialogue import event
from posthouse.transport.smtp.dialogue.milter import Judge, MilterDialogue
from posthouse.transport.smtp.dialogue.relay import Domains
from posthouse.transport.smtp.dialogue.scram import make_keys
from posthouse.transport.smtp.dialogue.server import ServerDialogue
from posthouse.transport.smtp.dialogue.service import Caps, Service, Visitor

KEYS = make_keys("rye bread", b"salt", iterations=1)
DOMAINS = Domains(["bakery.example"])
WORDS = [
    b"EHLO x\r\n", b"HELO x\r\n", b"LHLO x\r\n", b"MAIL FROM:<a@b.example>", b"MAIL FROM:<>\r\n", b" SIZE=5",
    b" SMTPUTF8",
    b"RCPT TO:<ada@bakery.example>\r\n", b"RCPT TO:<x@y.example>\r\n", b"DATA\r\n", b"BDAT 5\r\n", b"BDAT 0 LAST\r\n",
    b"BDAT 3 LAST\r\nabc", b"RSET\r\n", b"NOOP\r\n", b"QUIT\r\n", b"VRFY x\r\n", b"STARTTLS\r\n", b"AUTH LOGIN\r\n",
    b"AUTH PLAIN AGFkYQByeWUgYnJlYWQ=\r\n", b"AUTH SCRAM-SHA-256 biwsbj1hZGEscj1hYmM=\r\n", b"YWRh\r\n", b"*\r\n",
    b"XCLIENT ADDR=192.0.2.1\r\n", b"XCLIENT LOGIN=ada\r\n", b"\r\n.\r\n", b".\r\n", b"\n.\n", b"\r\n", b"\r", b"\n",
    b"\0", b"x", b"<", b"\xff", b" ",
]  # fmt: skip
TALK = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=6)), max_size=30)
REPLY = re.compile(rb"(?:[2-5][0-9]{2}-[ -~]*\r\n)*[2-5][0-9]{2} [ -~]*\r\n")


def hold(dialogue: ServerDialogue, pieces: Sequence[bytes]) -> bytes:
    """Carry out what the dialogue says, as a door would."""
    said = bytearray()
    content = 0
    pending = deque(dialogue.begin())
    for piece in [*pieces, b""]:
        while pending:
            match pending.popleft():
                case event.Say(data):
                    said += data
                case event.Piece(data):
                    content += len(data)
                case event.Discard():
                    content = 0
                case event.Consider(recipient, visitor):
                    placed = DOMAINS.place(recipient, visitor)
                    pending.extend(dialogue.considered(placed.verdict, placed.name))
                case event.Deliver(mail):
                    assert mail.size == content
                    content = 0
                    pending.extend(dialogue.delivered([PASS] * len(mail.recipients), "1"))
                case event.Check(_, password):
                    pending.extend(dialogue.checked(right=password == "rye bread"))
                case event.FindKeys():
                    pending.extend(dialogue.found(KEYS, "nonce"))
                case event.StartTls():
                    assert not pending
                    dialogue.secured("TLSv1.3 X")
                case event.Reconsider(visitor):
                    pending.extend(dialogue.reintroduced(visitor))
                case event.HangUp():
                    assert not pending
                    return bytes(said)
        pending.extend(dialogue.receive(piece))
    return bytes(said)


def talk(pieces: Sequence[bytes], service: Service, visitor: Visitor) -> None:
    said = hold(ServerDialogue(service, visitor), pieces)
    while said:
        reply = REPLY.match(said)
        assert reply is not None, said
        said = said[reply.end() :]


SERVICES = st.builds(
    Service,
    lmtp=st.booleans(),
    tls=st.sampled_from(["none", "starttls"]),
    tls_required=st.booleans(),
    auth=st.sampled_from(["none", "offered", "required"]),
    bare_line_ends=st.sampled_from(["refuse", "mend"]),
    caps=st.just(Caps(command_bytes=60, auth_bytes=60, mail_bytes=50, recipients=2, errors=8, idle_commands=10)),
)
VISITORS = st.builds(
    Visitor,
    address=st.just("127.0.0.1"),
    tls=st.sampled_from(["", "TLSv1.3 X"]),
    is_front_end=st.booleans(),
    may_relay=st.booleans(),
)


@given(TALK, SERVICES, VISITORS)
@settings(max_examples=150)
def test_a_dialogue_never_breaks(pieces: list[bytes], service: Service, visitor: Visitor) -> None:
    talk(pieces, service, visitor)


@pytest.mark.fuzz
@given(TALK, SERVICES, VISITORS)
def test_a_dialogue_never_breaks_for_long(pieces: list[bytes], service: Service, visitor: Visitor) -> None:
    talk(pieces, service, visitor)


def packet(letter: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 1) + letter + data


NEGOTIATION = packet(b"O", struct.pack(">III", 6, 0x1FF, 0x1FFFFF))
PACKETS = st.lists(
    st.one_of(
        st.builds(packet, st.sampled_from([bytes([letter]) for letter in b"DCHMRTLNBEAKQU"]), st.binary(max_size=20)),
        st.sampled_from([
            packet(b"C", b"mill.example\x004\x00\x19127.0.0.1\x00"), packet(b"H", b"mill.example\x00"),
            packet(b"M", b"<a@b.example>\x00"), packet(b"R", b"<ada@bakery.example>\x00"), packet(b"N", b""),
            packet(b"L", b"Subject\x00 flour\x00"), packet(b"B", b"x\r\n"), packet(b"E", b""), NEGOTIATION,
        ]),
        st.binary(max_size=8),
    ),
    max_size=20,
)  # fmt: skip
JUDGEMENTS = st.sampled_from([
    Judgement(PASS), Judgement(refuse("x", "no %s")), Judgement(Verdict("drop")), Judgement(Verdict("wait")),
    Judgement(PASS, (HeaderEdit("add", "X", "y"), HeaderEdit("delete", "Z"))),
])  # fmt: skip


def ask(pieces: Sequence[bytes], judgement: Judgement) -> None:
    dialogue = MilterDialogue(keep_bytes=30)
    for piece in [NEGOTIATION, *pieces]:
        pending = deque(dialogue.receive(piece))
        while pending:
            what = pending.popleft()
            if isinstance(what, Judge):
                assert len(what.content) <= 30
                pending.extend(dialogue.judged(judgement))
            elif isinstance(what, event.HangUp):
                return
            else:
                data = what.data
                while data:
                    (size,) = struct.unpack_from(">I", data)
                    assert 0 < size <= len(data) - 4
                    data = data[4 + size :]


@given(PACKETS, JUDGEMENTS)
def test_a_milter_never_breaks(pieces: list[bytes], judgement: Judgement) -> None:
    ask(pieces, judgement)


@pytest.mark.fuzz
@given(PACKETS, JUDGEMENTS)
def test_a_milter_never_breaks_for_long(pieces: list[bytes], judgement: Judgement) -> None:
    ask(pieces, judgement)
