"""Which command may come when, as a table; the dialogue of the server reads it before it does anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from posthouse.transport.smtp.dialogue import answer
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.service import Service, Visitor

# new      nobody has said HELO, EHLO or LHLO
# ready    no mail is under way
# mail     MAIL was accepted
# rcpt     at least one RCPT was accepted
# chunks   at least one BDAT was accepted, and none of them was the last
State = Literal["new", "ready", "mail", "rcpt", "chunks"]

_HELLO: Final = Reply(503, "5.5.1", "Say hello first")
_UNDER_WAY: Final = Reply(503, "5.5.1", "A mail is under way")
_NO_MAIL: Final = Reply(503, "5.5.1", "MAIL comes first")
_NOBODY: Final = Reply(554, "5.5.1", "No valid recipients")
_CHUNKS: Final = Reply(503, "5.5.1", "The mail comes by BDAT")

_ALONE: Final[Mapping[State, Reply]] = {"mail": _UNDER_WAY, "rcpt": _UNDER_WAY, "chunks": _UNDER_WAY}
_GREETED: Final[Mapping[State, Reply]] = {"new": _HELLO, **_ALONE}

# command -> the states in which it is out of order, and what is said then.
OUT_OF_ORDER: Final[Mapping[str, Mapping[State, Reply]]] = {
    "HELO": {},
    "EHLO": {},
    "LHLO": {},
    "MAIL": _GREETED,
    "RCPT": {"new": _HELLO, "ready": _NO_MAIL, "chunks": _CHUNKS},
    "DATA": {"new": _HELLO, "ready": _NO_MAIL, "mail": _NOBODY, "chunks": _CHUNKS},
    "BDAT": {"new": _HELLO, "ready": _NO_MAIL, "mail": _NOBODY},
    "RSET": {},
    "NOOP": {},
    "QUIT": {},
    "HELP": {},
    "VRFY": {},
    "EXPN": {},
    "STARTTLS": _GREETED,
    "AUTH": _GREETED,
    "XCLIENT": _ALONE,
}

_BEFORE_TLS: Final = frozenset({"HELO", "EHLO", "LHLO", "NOOP", "QUIT", "RSET", "HELP", "STARTTLS", "XCLIENT"})
"""What may be said on a plain connection where TLS is required (RFC 3207, section 4)."""

_BEFORE_AUTH: Final = _BEFORE_TLS | {"AUTH", "VRFY", "EXPN"}
"""What may be said before signing in where that is required."""

BRINGS_MAIL: Final = frozenset({"MAIL", "RCPT", "DATA", "BDAT"})
"""The commands a mail needs; all others are idle talk, of which there is an end."""

# Web browsers made to speak to a mail port, and probes: nothing they say later can be meant for it.
NOT_MAIL: Final = frozenset({"GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "DELETE", "PATCH", "TRACE"})


def refusal(verb: str, state: State, *, service: Service, visitor: Visitor) -> Reply | None:
    """Say why a command may not come now; none where it may."""
    refusals = OUT_OF_ORDER.get(verb)
    if refusals is None:
        return answer.UNKNOWN
    if service.tls_required and not visitor.tls and verb not in _BEFORE_TLS:
        return answer.NEED_TLS
    if service.auth == "required" and not visitor.user and verb not in _BEFORE_AUTH:
        return answer.NEED_AUTH
    return refusals.get(state)
