"""Refusals in the words of SMTP: what is wrong with a mail's content, and what the office says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from posthouse.message.verdict import Verdict
from posthouse.transport.smtp.dialogue.content import Flaw
from posthouse.transport.smtp.dialogue.reply import Reply

FLAWS: Final[Mapping[Flaw, Reply]] = {
    "bare": Reply(550, "5.6.0", "Lines of a mail end with CR LF; a bare CR or LF was found"),
    "false end": Reply(521, "5.5.2", "A mail ends with CR LF . CR LF; an end with a bare CR or LF was found"),
    "nul": Reply(550, "5.6.0", "A mail must not contain NUL"),
    "header": Reply(552, "5.3.4", "The header is too large"),
    "line": Reply(550, "5.6.0", "A line is too long"),
    "size": Reply(552, "5.3.4", "The mail is too large"),
    "hops": Reply(554, "5.4.6", "Too many hops: the mail goes in circles"),
}

# The stable word of a refusal -> code and enhanced status. A temporary refusal becomes 4xx whatever stands here.
_REASONS: Final[Mapping[str, tuple[int, str]]] = {
    "recipients.none": (554, "5.5.1"),
    "recipients.too-many": (452, "4.5.3"),
    "body.too-large": (552, "5.3.4"),
    "message.loops": (554, "5.4.6"),
    "message.expired": (554, "5.4.7"),
    "mailbox.unknown": (550, "5.1.1"),
    "mailbox.closed": (450, "4.2.1"),
    "mailbox.full": (452, "4.2.2"),
    "name.malformed": (501, "5.1.3"),
    "protocol.unknown": (550, "5.4.4"),
    "relay.denied": (550, "5.7.1"),
    "store.full": (452, "4.3.1"),
}


def refusal_of(verdict: Verdict) -> Reply:
    """Give the reply that says why the office does not take a mail or a recipient."""
    reason = verdict.reasons[0] if verdict.reasons else None
    code, status = _REASONS.get(reason.code if reason else "", (554, "5.7.1"))
    if verdict.temporary and code >= 500:
        code, status = 451, f"4.{status[2:]}" if reason and reason.code in _REASONS else "4.3.0"
    return Reply(code, status, reason.text if reason else "Not accepted")
