"""What one client may try before it is sent away: mistakes, sign-ins that fail, talk without a mail, mails."""

from __future__ import annotations

from typing import Final

from posthouse.transport.smtp.dialogue import answer
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.service import Caps

_MAX_SIGN_INS: Final = 3


class Patience:
    """Counts; each count gives the reply that ends the connection once there is no patience left."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._errors = 0
        self._sign_ins = 0
        self._idle_commands = 0
        self._mails = 0

    def count_error(self) -> Reply | None:
        """Count a refused command."""
        self._errors += 1
        return answer.TOO_MANY_ERRORS if self._errors >= self._caps.errors else None

    def count_sign_in(self) -> Reply | None:
        """Count a sign-in that failed."""
        self._sign_ins += 1
        return answer.TOO_MANY_SIGN_INS if self._sign_ins >= _MAX_SIGN_INS else None

    def count_talk(self) -> Reply | None:
        """Count a command that brings no mail."""
        self._idle_commands += 1
        return answer.TOO_MUCH_TALK if self._idle_commands > self._caps.idle_commands else None

    def count_mail(self) -> Reply | None:
        """Count a mail that begins."""
        self._mails += 1
        return answer.TOO_MANY_MAILS if self._mails > self._caps.mails else None

    def be_pleased(self) -> None:
        """Hear that a mail came: talk is counted anew."""
        self._idle_commands = 0
