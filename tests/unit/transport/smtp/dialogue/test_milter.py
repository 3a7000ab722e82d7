"""The milter protocol, packet by packet: with servers that agree to silence, and with those that know nothing of it."""

from __future__ import annotations

import struct

import pytest

from posthouse.message.judgement import HeaderEdit, Judgement
from posthouse.message.verdict import PASS, Reason, Verdict, refuse
from posthouse.transport.smtp.dialogue.event import HangUp, Say
from posthouse.transport.smtp.dialogue.milter import Judge, MilterDialogue

STEPS = (
    (b"D", b"C{daemon_name}\0mx\0j\0front.example\0"),
    (b"C", b"mill.example\x004\x0b\xb8192.0.2.1\0"),
    (b"H", b"mill.example\0"),
    (b"D", b"M{auth_authen}\0ada\0{tls_version}\0TLSv1.3\0{cipher}\0X\0"),
    (b"M", b"<cleo@mill.example>\0SIZE=10\0"),
    (b"R", b"<ada@bakery.example>\0"),
    (b"R", b"<ben>\0NOTIFY=NEVER\0"),
    (b"L", b"Subject\0 a\n b\0"),
    (b"L", b"X\0y\0"),
    (b"N", b""),
    (b"B", b"one\r\n"),
    (b"B", b"two\r\n"),
)


def packet(letter: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data) + 1) + letter + data


def options(version: int, actions: int, protocol: int) -> bytes:
    return struct.pack(">III", version, actions, protocol)


def said(events: list[object]) -> list[bytes]:
    data = b"".join(event.data for event in events if isinstance(event, Say))
    packets = []
    while data:
        (size,) = struct.unpack_from(">I", data)
        packets.append(data[4 : 4 + size])
        data = data[4 + size :]
    return packets


def agreed(version: int = 6, actions: int = 0x1FF, protocol: int = 0x1FFFFF) -> MilterDialogue:
    dialogue = MilterDialogue(keep_bytes=1_000)
    (answer,) = said([*dialogue.receive(packet(b"O", options(version, actions, protocol)))])
    assert answer[:1] == b"O"
    return dialogue


def told(dialogue: MilterDialogue) -> Judge:
    *_, last = dialogue.receive(b"".join(packet(*step) for step in STEPS) + packet(b"E"))
    assert isinstance(last, Judge)
    return last


def test_a_mail_is_put_together_from_its_steps() -> None:
    question = told(agreed())
    assert question.content == b"Subject: a\r\n b\r\nX:y\r\n\r\none\r\ntwo\r\n"
    assert question.is_whole
    mail = question.mail
    assert (mail.sender, mail.recipients) == ("cleo@mill.example", ("smtp:ada@bakery.example", "smtp:ben"))
    assert (mail.visitor.address, mail.visitor.port, mail.visitor.name) == ("192.0.2.1", 3000, "mill.example")
    assert (mail.visitor.user, mail.visitor.tls, mail.helo) == ("ada", "TLSv1.3 X", "mill.example")


def test_a_server_that_agrees_is_answered_at_the_end_only() -> None:
    dialogue = agreed()
    for step in STEPS:
        assert dialogue.receive(packet(*step)) == []


def test_an_old_server_is_answered_at_each_step() -> None:
    dialogue = agreed(version=2, actions=0x1F, protocol=0x7F)
    for letter, data in STEPS:
        assert said([*dialogue.receive(packet(letter, data))]) == ([] if letter == b"D" else [b"c"])
    (question,) = dialogue.receive(packet(b"E", b"end"))
    assert isinstance(question, Judge)
    # The blank behind the colon is not shown to it, and so it is put there.
    assert question.content == b"Subject:  a\r\n b\r\nX: y\r\n\r\none\r\ntwo\r\nend"


@pytest.mark.parametrize(
    ("judgement", "packets"),
    [
        (Judgement(PASS), [b"c"]),
        (Judgement(refuse("gate.policy", "100% no")), [b"y554 5.7.1 100? no\0"]),
        (Judgement(refuse("gate.policy", "later", temporary=True)), [b"y451 4.3.0 later\0"]),
        (Judgement(Verdict("drop")), [b"d"]),
        (Judgement(Verdict("wait", (Reason("gate.review", "held"),))), [b"qheld\0", b"c"]),
        (
            Judgement(
                PASS,
                (
                    HeaderEdit("add", "X-A", "b\r\n c"),
                    HeaderEdit("insert", "X-B", " c", index=3),
                    HeaderEdit("change", "X", "z"),
                    HeaderEdit("delete", "X", index=2),
                ),
            ),
            [b"hX-A\0 b\n c\0", b"i\0\0\0\x03X-B\0 c\0", b"m\0\0\0\x01X\0 z\0", b"m\0\0\0\x02X\0\0", b"c"],
        ),
    ],
)
def test_what_the_office_says_is_handed_on(judgement: Judgement, packets: list[bytes]) -> None:
    dialogue = agreed()
    told(dialogue)
    assert said([*dialogue.judged(judgement)]) == packets
    # The next mail of the connection begins with nothing of this one.
    assert told(dialogue).mail.recipients == ("smtp:ada@bakery.example", "smtp:ben")


def test_what_a_server_cannot_do_is_not_asked_of_it() -> None:
    dialogue = agreed(actions=0)
    told(dialogue)
    edits = (HeaderEdit("add", "X", "y"), HeaderEdit("delete", "X"))
    assert said([*dialogue.judged(Judgement(Verdict("wait"), edits))]) == [b"t"]


def test_a_long_mail_is_looked_at_from_its_beginning() -> None:
    dialogue = agreed()
    dialogue.receive(b"".join(packet(*step) for step in STEPS))
    for _ in range(10):
        dialogue.receive(packet(b"B", b"x" * 500))
    (question,) = dialogue.receive(packet(b"E"))
    assert isinstance(question, Judge)
    assert (len(question.content), question.is_whole) == (1_000, False)
    assert question.mail.size > 5_000


@pytest.mark.parametrize(
    "data",
    [
        packet(b"C", b"x"),
        packet(b"O", options(1, 0, 0)),
        packet(b"O", b"short"),
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        packet(b"O", options(6, 0, 0)) + packet(b"Z"),
        packet(b"O", options(6, 0, 0)) + packet(b"L", b"no end"),
    ],
    ids=["before agreeing", "too old", "cut off", "too large", "empty", "unknown", "half a header"],
)
def test_what_is_no_milter_protocol_ends_the_connection(data: bytes) -> None:
    assert HangUp("refused") in MilterDialogue(keep_bytes=10).receive(data)


def test_a_connection_is_used_again_and_ended() -> None:
    dialogue = agreed()
    told(dialogue)
    dialogue.judged(Judgement(PASS))
    dialogue.receive(packet(b"M", b"<x@y.example>\0") + packet(b"A") + packet(b"K"))
    assert told(dialogue).mail.sender == "cleo@mill.example"
    dialogue.judged(Judgement(PASS))
    assert dialogue.receive(packet(b"Q")) == [HangUp("quit")]
