"""The parameters of MAIL and RCPT: SIZE, BODY, SMTPUTF8, AUTH, RET, ENVID, NOTIFY and ORCPT."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from posthouse.transport.smtp.dialogue import xtext
from posthouse.transport.smtp.dialogue.reply import Reply

_PARAMETER: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~\x80-\U0010ffff]+))?")
_NOTIFY: Final = frozenset({"SUCCESS", "FAILURE", "DELAY"})
# RFC 3461, sections 4.2 and 4.4.
_MAX_ENVID: Final = 100
_MAX_ORCPT: Final = 500


class MailParameters(NamedTuple):
    """What a sender says of a mail before it comes."""

    size: int | None = None
    body: str = "7BIT"
    utf8: bool = False
    ret: str = ""
    """FULL, HDRS or nothing."""
    envid: str = ""
    """Decoded."""


class RecipientParameters(NamedTuple):
    """What a sender wants to be told about one recipient."""

    notify: str = ""
    """NEVER, or SUCCESS, FAILURE and DELAY joined by commas."""
    original: str = ""
    """Type and address, such as `rfc822;ada@bakery.example`, decoded."""


class BadParameter(ValueError):
    """A parameter that cannot be used, with the reply that says so."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        super().__init__(reply.text)


def read_mail_parameters(text: str) -> MailParameters:
    """Read what follows the path of MAIL."""
    return MailParameters(**_read(text, _OF_MAIL, "MAIL")) if text else MailParameters()


def read_recipient_parameters(text: str) -> RecipientParameters:
    """Read what follows the path of RCPT."""
    return RecipientParameters(**_read(text, _OF_RCPT, "RCPT")) if text else RecipientParameters()


# `Any`: each reader gives the fields of one of the two tuples above, in the types these have.
Reader = Callable[[str | None], dict[str, Any]]


# `Any`: see `Reader`.
def _read(text: str, readers: dict[str, Reader], command: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for word in text.split():
        match = _PARAMETER.fullmatch(word)
        if match is None:
            raise BadParameter(Reply(501, "5.5.4", f"Malformed parameter of {command}"))
        name = match[1].upper()
        if name not in readers:
            raise BadParameter(Reply(555, "5.5.4", f"Unknown parameter of {command}"))
        if name in seen:
            raise BadParameter(Reply(501, "5.5.4", f"{name} is given twice"))
        seen.add(name)
        found |= readers[name](match[2])
    return found


def _size(value: str | None) -> dict[str, Any]:
    if value is None or len(value) > 20 or not (value.isascii() and value.isdigit()):
        raise BadParameter(Reply(501, "5.5.4", "Expected SIZE=number"))
    return {"size": int(value)}


def _body(value: str | None) -> dict[str, Any]:
    kind = (value or "").upper()
    if kind not in {"7BIT", "8BITMIME"}:
        raise BadParameter(Reply(501, "5.5.4", "Expected BODY=7BIT or BODY=8BITMIME"))
    return {"body": kind}


def _utf8(value: str | None) -> dict[str, Any]:
    if value is not None:
        raise BadParameter(Reply(501, "5.5.4", "SMTPUTF8 takes no value"))
    return {"utf8": True}


def _auth(value: str | None) -> dict[str, Any]:
    # RFC 4954, section 5: a server that does not trust the client takes it for `<>`, and so does this one.
    if value is None or xtext.decode(value) is None:
        raise BadParameter(Reply(501, "5.5.4", "Expected AUTH=address"))
    return {}


def _ret(value: str | None) -> dict[str, Any]:
    wanted = (value or "").upper()
    if wanted not in {"FULL", "HDRS"}:
        raise BadParameter(Reply(501, "5.5.4", "Expected RET=FULL or RET=HDRS"))
    return {"ret": wanted}


def _envid(value: str | None) -> dict[str, Any]:
    decoded = xtext.decode(value) if value is not None and len(value) <= _MAX_ENVID else None
    if decoded is None or not (decoded.isascii() and decoded.isprintable()):
        raise BadParameter(Reply(501, "5.5.4", f"Expected ENVID=xtext of at most {_MAX_ENVID} characters"))
    return {"envid": decoded}


def _notify(value: str | None) -> dict[str, Any]:
    wanted = (value or "").upper()
    words = wanted.split(",")
    if wanted != "NEVER" and not (set(words) <= _NOTIFY and len(set(words)) == len(words)):
        raise BadParameter(Reply(501, "5.5.4", "Expected NOTIFY=NEVER or any of SUCCESS,FAILURE,DELAY"))
    return {"notify": wanted}


def _orcpt(value: str | None) -> dict[str, Any]:
    kind, mark, address = (value or "").partition(";")
    if mark and re.fullmatch(r"[A-Za-z0-9-]{1,40}", kind) and 0 < len(address) <= _MAX_ORCPT:
        # The type utf-8 has an encoding of its own (RFC 6533, section 3), which is handed on as it is.
        decoded = address if kind.lower() == "utf-8" else xtext.decode(address)
        if decoded and decoded.isprintable():
            return {"original": f"{kind};{decoded}"}
    raise BadParameter(Reply(501, "5.5.4", "Expected ORCPT=type;address"))


_OF_MAIL: Final[dict[str, Reader]] = {
    "SIZE": _size,
    "BODY": _body,
    "SMTPUTF8": _utf8,
    "AUTH": _auth,
    "RET": _ret,
    "ENVID": _envid,
}
_OF_RCPT: Final[dict[str, Reader]] = {"NOTIFY": _notify, "ORCPT": _orcpt}
