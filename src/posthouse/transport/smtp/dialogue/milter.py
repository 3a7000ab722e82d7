"""The filter's side of the milter protocol, version 6: packets in, packets and one question per mail out.

A packet is a length of four bytes, a letter and its data. The mail server says what it is told step by step; only the
end of a mail is decided on. Steps that need no answer are left unanswered where the server agrees to that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from posthouse.message.judgement import HeaderEdit, Judgement
from posthouse.transport.smtp.dialogue.event import HangUp, Mail, Say
from posthouse.transport.smtp.dialogue.parameter import MailParameters
from posthouse.transport.smtp.dialogue.path import MalformedPath, read_address
from posthouse.transport.smtp.dialogue.refusal import refusal_of
from posthouse.transport.smtp.dialogue.service import Visitor

_LENGTH: Final = struct.Struct(">I")
_OPTIONS: Final = struct.Struct(">III")
_INDEX: Final = struct.Struct(">I")
_PORT: Final = struct.Struct(">H")

VERSION: Final = 6
MAX_PACKET: Final = 1_048_576 + 64
_OLDEST: Final = 2
_MAX_RECIPIENTS: Final = 50_000
_MAX_MACROS: Final = 1_000

ADD_HEADERS, CHANGE_HEADERS, QUARANTINE = 0x01, 0x10, 0x20
_ACTIONS: Final = ADD_HEADERS | CHANGE_HEADERS | QUARANTINE
_NO_DATA, _NO_UNKNOWN, _LEADING_SPACE, _SKIP = 0x200, 0x100, 0x100000, 0x400

# What a server may be told to expect no answer to: letter of the command -> flag of the protocol.
_SILENT: Final[Mapping[bytes, int]] = {
    b"C": 0x1000, b"H": 0x2000, b"M": 0x4000, b"R": 0x8000, b"L": 0x80, b"N": 0x40000, b"B": 0x80000,
}  # fmt: skip
_WANTED: Final = _NO_DATA | _NO_UNKNOWN | _LEADING_SPACE | sum(_SILENT.values())

_CONTINUE: Final = b"c"


class Judge(NamedTuple):
    """A mail is complete; answered with `judged`."""

    mail: Mail
    content: bytes
    is_whole: bool
    """False where the content was longer than what is kept of it."""


MilterEvent = Say | Judge | HangUp


class Malformed(ValueError):
    """Not the milter protocol."""


class MilterDialogue:
    """One connection of a mail server."""

    def __init__(self, *, keep_bytes: int) -> None:
        self._keep_bytes = keep_bytes
        self._buffer = b""
        self._asked = False
        self._ended = False
        self._agreed = False
        self._silent: frozenset[bytes] = frozenset()
        self._actions = 0
        self._leading_space = False
        self._out: list[bytes] = []
        self._events: list[MilterEvent] = []
        self._macros: dict[str, str] = {}
        self._visitor = Visitor(address="unknown")
        self._helo = ""
        self._forget_mail()
        # letter -> what is done, and whether an answer is owed where the server did not agree to none.
        self._steps: Mapping[bytes, tuple[Callable[[bytes], None], bool]] = {
            b"O": (self._negotiate, False),
            b"D": (self._learn_macros, False),
            b"C": (self._connect, True),
            b"H": (self._hello, True),
            b"M": (self._begin_mail, True),
            b"R": (self._add_recipient, True),
            b"T": (_ignore, True),
            b"L": (self._add_header, True),
            b"N": (self._end_header, True),
            b"B": (self._add_body, True),
            b"E": (self._complete, False),
            b"A": (self._abort, False),
            b"K": (self._begin_anew, False),
            b"Q": (self._quit, False),
            b"U": (_ignore, True),
        }

    @property
    def waiting(self) -> int:
        """Bytes that came and were not looked at yet."""
        return len(self._buffer)

    def receive(self, data: bytes) -> list[MilterEvent]:
        """Take in what the server sent."""
        self._buffer += data
        return self._run()

    def judged(self, judgement: Judgement) -> list[MilterEvent]:
        """Hear what the office says of the mail."""
        self._asked = False
        verdict = judgement.verdict
        match verdict.action:
            case "refuse":
                reply = refusal_of(verdict)
                # Sendmail reads it as a format, in which a percent sign stands for something.
                text = reply.encode().decode().strip().split("\r\n")[0].replace("%", "?")
                self._answer(b"y" + text.encode() + b"\0")
            case "drop":
                self._answer(b"d")
            case _:
                for edit in judgement.edits:
                    self._edit(edit)
                if verdict.action == "wait" and self._actions & QUARANTINE:
                    self._answer(b"q" + _text(verdict.text or "held for review") + b"\0")
                    self._answer(_CONTINUE)
                elif verdict.action == "wait":
                    # A server that cannot hold it must not let it go either.
                    self._answer(b"t")
                else:
                    self._answer(_CONTINUE)
        self._forget_mail()
        return self._run()

    def _run(self) -> list[MilterEvent]:
        try:
            while not self._asked and not self._ended and (packet := self._next_packet()) is not None:
                self._obey(packet[:1], packet[1:])
        except (Malformed, struct.error):
            self._hang_up()
        if self._out:
            self._events.append(Say(b"".join(self._out)))
            self._out = []
        taken, self._events = self._events, []
        return taken

    def _next_packet(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self._buffer)
        if not 0 < size <= MAX_PACKET:
            raise Malformed
        end = _LENGTH.size + size
        if len(self._buffer) < end:
            return None
        packet, self._buffer = self._buffer[_LENGTH.size : end], self._buffer[end:]
        return packet

    def _obey(self, letter: bytes, data: bytes) -> None:
        step, owes = self._steps.get(letter, (None, False))
        if step is None or not (self._agreed or letter in b"OQ"):
            raise Malformed
        step(data)
        if owes and letter not in self._silent:
            self._answer(_CONTINUE)

    def _negotiate(self, data: bytes) -> None:
        version, actions, offered = _OPTIONS.unpack(data[: _OPTIONS.size])
        if version < _OLDEST:
            raise Malformed
        agreed = offered & _WANTED if version >= VERSION else 0
        self._actions = actions & _ACTIONS
        self._silent = frozenset(letter for letter, flag in _SILENT.items() if agreed & flag)
        self._leading_space = bool(agreed & _LEADING_SPACE)
        self._agreed = True
        self._answer(b"O" + _OPTIONS.pack(min(version, VERSION), self._actions, agreed))

    def _learn_macros(self, data: bytes) -> None:
        words = _words(data[1:])
        if len(self._macros) > _MAX_MACROS:
            self._macros.clear()
        for name, value in zip(words[::2], words[1::2], strict=False):
            self._macros[name.strip("{}")] = value

    def _connect(self, data: bytes) -> None:
        name, _, rest = data.partition(b"\0")
        family = rest[:1]
        address, port = "unknown", 0
        if family in (b"4", b"6"):
            (port,) = _PORT.unpack_from(rest, 1)
            address = _decode(rest[3:].rstrip(b"\0")).removeprefix("IPv6:")
        elif family == b"L":
            address = "unix"
        self._visitor = Visitor(address=address[:100] or "unknown", port=port, name=_decode(name)[:255])

    def _hello(self, data: bytes) -> None:
        self._helo = _decode(data.rstrip(b"\0"))[:255]

    def _begin_mail(self, data: bytes) -> None:
        self._forget_mail()
        self._sender = _address(data)

    def _add_recipient(self, data: bytes) -> None:
        if len(self._recipients) >= _MAX_RECIPIENTS:
            raise Malformed
        self._recipients[f"smtp:{_address(data) or ''}"] = None

    def _add_header(self, data: bytes) -> None:
        name, mark, value = data.removesuffix(b"\0").partition(b"\0")
        if not mark:
            raise Malformed
        line = value.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        self._keep(name + (b":" if self._leading_space else b": ") + line + b"\r\n")

    def _end_header(self, _data: bytes) -> None:
        self._keep(b"\r\n")

    def _add_body(self, data: bytes) -> None:
        self._keep(data)

    def _keep(self, data: bytes) -> None:
        room = self._keep_bytes - len(self._content)
        self._content += data[:room]
        self._size += len(data)

    def _complete(self, data: bytes) -> None:
        if data:
            self._keep(data)
        user = self._macros.get("auth_authen", "")
        tls = " ".join(filter(None, (self._macros.get("tls_version"), self._macros.get("cipher"))))
        visitor = Visitor(
            address=self._visitor.address,
            port=self._visitor.port,
            name=self._visitor.name,
            user=user[:255],
            tls=tls[:255],
        )
        mail = Mail(
            sender=self._sender or None, recipients=tuple(self._recipients), reports={}, parameters=MailParameters(),
            protocol="MILTER", helo=self._helo, visitor=visitor, size=self._size, is_mended=False,
        )  # fmt: skip
        self._asked = True
        self._events.append(Judge(mail, bytes(self._content), self._size == len(self._content)))

    def _abort(self, _data: bytes) -> None:
        self._forget_mail()

    def _begin_anew(self, _data: bytes) -> None:
        self._forget_mail()
        self._macros.clear()
        self._helo = ""

    def _quit(self, _data: bytes) -> None:
        self._ended = True
        self._events.append(HangUp("quit"))

    def _hang_up(self) -> None:
        self._ended = True
        self._buffer = b""
        self._events.append(HangUp("refused"))

    def _edit(self, edit: HeaderEdit) -> None:
        # Who is shown what stands behind the colon writes it, too.
        space = b" " if self._leading_space and not edit.value.startswith((" ", "\t")) else b""
        field = _text(edit.name) + b"\0" + space + _text(edit.value) + b"\0"
        match edit.act:
            case "add" if self._actions & ADD_HEADERS:
                self._answer(b"h" + field)
            case "insert" if self._actions & ADD_HEADERS:
                self._answer(b"i" + _INDEX.pack(edit.index) + field)
            case "change" | "delete" if self._actions & CHANGE_HEADERS:
                removed = _text(edit.name) + b"\0\0"
                self._answer(b"m" + _INDEX.pack(edit.index) + (field if edit.act == "change" else removed))
            case _:
                pass

    def _answer(self, packet: bytes) -> None:
        self._out.append(_LENGTH.pack(len(packet)) + packet)

    def _forget_mail(self) -> None:
        self._sender = ""
        self._recipients: dict[str, None] = {}
        self._content = bytearray()
        self._size = 0


def _ignore(_data: bytes) -> None:
    """Do nothing: the step says nothing that matters to a verdict."""


def _address(data: bytes) -> str:
    """Give the address of MAIL or RCPT; what is none is handed on as it is, for the server has taken it already."""
    text = _decode(data.partition(b"\0")[0])
    text = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    try:
        return read_address(text).mailbox
    except MalformedPath:
        return text[:500]


def _words(data: bytes) -> list[str]:
    return [_decode(word) for word in data.split(b"\0")]


def _decode(data: bytes) -> str:
    return "".join(char if char.isprintable() else "?" for char in data.decode(errors="replace"))


def _text(text: str) -> bytes:
    """Give a text as a packet has it: no NUL, and only line feeds between lines."""
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").encode()
