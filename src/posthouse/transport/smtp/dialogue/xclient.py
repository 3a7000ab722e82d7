"""XCLIENT: a trusted front end says in whose name it comes (Postfix, XCLIENT_README)."""

from __future__ import annotations

import ipaddress
from typing import Final

import msgspec

from posthouse.transport.smtp.dialogue import xtext
from posthouse.transport.smtp.dialogue.service import Visitor

ATTRIBUTES: Final = ("NAME", "ADDR", "PORT", "PROTO", "HELO", "LOGIN")
# What the front end does not know, or could not find out now.
_UNKNOWN: Final = frozenset({"[UNAVAILABLE]", "[TEMPUNAVAIL]"})
_MAX_VALUE: Final = 255


class MalformedIntroduction(ValueError):
    """Not what XCLIENT may say."""


def introduce(visitor: Visitor, argument: str) -> Visitor:
    """Give the client the front end speaks of."""
    given: dict[str, str] = {}
    for word in argument.split():
        name, mark, value = word.partition("=")
        decoded = xtext.decode(value)
        name = name.upper()
        if name not in ATTRIBUTES or not mark or decoded is None or name in given:
            raise MalformedIntroduction
        if len(decoded) > _MAX_VALUE or not decoded.isprintable():
            raise MalformedIntroduction
        given[name] = "" if decoded.upper() in _UNKNOWN else decoded
    if not given or given.get("PROTO", "").upper() not in {"", "SMTP", "ESMTP", "LMTP"}:
        raise MalformedIntroduction
    port = given.get("PORT", "")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        raise MalformedIntroduction
    return msgspec.structs.replace(
        visitor,
        address=_address(given["ADDR"]) if "ADDR" in given else visitor.address,
        port=int(port) if port else visitor.port,
        name=given.get("NAME", visitor.name),
        helo=given.get("HELO", visitor.helo),
        user=given.get("LOGIN", visitor.user),
        # Who the client is decides anew what it may.
        may_relay=False,
        is_front_end=False,
    )


def _address(text: str) -> str:
    if not text:
        return "unknown"
    bare = text[5:] if text[:5].upper() == "IPV6:" else text
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        raise MalformedIntroduction from None
