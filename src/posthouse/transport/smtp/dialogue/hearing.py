"""The replies of a mail server, put together from the bytes that come."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.transport.smtp.dialogue.reply import Reply

# RFC 5321, section 4.5.3.1.5, asks for 512; servers that say more in a line are many.
MAX_LINE: Final = 4_096
MAX_LINES: Final = 200

_LINE: Final = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)
_STATUS: Final = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})(?: |$)")


class MalformedReply(PosthouseError):
    """What came is no reply of a mail server."""

    code: ClassVar[str] = "reply.malformed"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The mail server does not speak SMTP."


def is_good(reply: Reply) -> bool:
    """Say whether what was asked is done."""
    return reply.code < 300


def status_of(reply: Reply) -> str:
    """Give the status of RFC 3463: as the server said it, or the least that its code means."""
    return reply.status or f"{reply.code // 100}.0.0"


def told(reply: Reply) -> str:
    """Give a reply in one line, as the server said it."""
    return " ".join(word for word in (str(reply.code), reply.status, *reply.text.split("\n")) if word)


class Replies:
    """Bytes go in, whole replies come out."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []
        self._code = 0

    @property
    def has_rest(self) -> bool:
        """Say whether something came that is no whole reply yet."""
        return bool(self._rest or self._lines)

    def feed(self, data: bytes) -> list[Reply]:
        """Take what came; `MalformedReply` where it cannot be the beginning of a reply."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_LINE:
            raise MalformedReply(f"expected a line of at most {MAX_LINE} bytes, found a longer one")
        found = (self._read(line.removesuffix(b"\r")) for line in lines)
        return [reply for reply in found if reply is not None]

    def _read(self, line: bytes) -> Reply | None:
        match = _LINE.fullmatch(line)
        if match is None or len(line) > MAX_LINE:
            raise MalformedReply(f"expected three digits and a text, found {_quoted(line)}")
        code = int(match[1])
        if self._lines and code != self._code:
            raise MalformedReply(f"expected more of the reply {self._code}, found {_quoted(line)}")
        if len(self._lines) >= MAX_LINES:
            raise MalformedReply(f"expected a reply of at most {MAX_LINES} lines, found a longer one")
        self._code = code
        self._lines.append(_printable(match[3] or b""))
        if match[2] == b"-":
            return None
        lines, self._lines = self._lines, []
        return _reply(code, lines)


def _reply(code: int, lines: list[str]) -> Reply:
    found = _STATUS.match(lines[0])
    if found is None or found[1] != str(code)[0]:
        return Reply(code, "", "\n".join(lines))
    status = ".".join(found.groups())
    return Reply(code, status, "\n".join(line.removeprefix(status).lstrip() for line in lines))


def _printable(text: bytes) -> str:
    """Give the text as it may stand in a trace: strangers wrote it."""
    decoded = text.decode("utf-8", "backslashreplace").strip()
    return "".join(sign if sign.isprintable() else "?" for sign in decoded)


def _quoted(line: bytes) -> str:
    return repr(_printable(line[:80]))
