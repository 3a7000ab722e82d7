"""The fixed answers of the server's side, beside `table`, which says when a command is out of order."""

from __future__ import annotations

from typing import Final, Literal

from posthouse.transport.smtp.dialogue.reply import Reply

OK: Final = Reply(250, "2.0.0", "Ok")
SENDER_OK: Final = Reply(250, "2.1.0", "Sender ok")
RECIPIENT_OK: Final = Reply(250, "2.1.5", "Recipient ok")
GO_AHEAD: Final = Reply(354, "", "End the mail with CR LF . CR LF")
BYE: Final = Reply(221, "2.0.0", "Bye")
READY_FOR_TLS: Final = Reply(220, "2.0.0", "Ready for TLS")
HELP: Final = Reply(214, "2.0.0", "Posthouse takes mail by SMTP as in RFC 5321")
NOT_TOLD: Final = Reply(252, "2.5.2", "Send the mail, and the answer to RCPT tells")
NO_LISTS: Final = Reply(502, "5.7.0", "Nobody's lists are told")

UNKNOWN: Final = Reply(500, "5.5.1", "Unknown command")
NOT_UTF8: Final = Reply(500, "5.5.2", "The command is not UTF-8")
NO_ARGUMENT: Final = Reply(501, "5.5.4", "The command takes no argument")
NEED_TLS: Final = Reply(530, "5.7.0", "STARTTLS comes first")
NO_TLS: Final = Reply(502, "5.5.1", "TLS is not offered")
HAS_TLS: Final = Reply(503, "5.5.1", "The connection is encrypted already")
NEED_AUTH: Final = Reply(530, "5.7.0", "Sign in first")
NO_AUTH: Final = Reply(502, "5.5.1", "Signing in is not offered")
AUTH_IN_CLEAR: Final = Reply(538, "5.7.11", "Signing in needs an encrypted connection")
HAS_AUTH: Final = Reply(503, "5.5.1", "Signed in already")
NO_XCLIENT: Final = Reply(550, "5.7.0", "XCLIENT is for trusted front ends")
BAD_XCLIENT: Final = Reply(501, "5.5.4", "Malformed XCLIENT")
BAD_CHUNK: Final = Reply(501, "5.5.4", "Expected BDAT, a number of bytes, and perhaps LAST")
IMPATIENT: Final = Reply(503, "5.5.0", "A mail is sent after the answer to DATA, not before it")
INJECTED: Final = Reply(501, "5.5.1", "Nothing may follow STARTTLS before its answer")
TOO_MANY_ERRORS: Final = Reply(421, "4.7.0", "Too many errors")
TOO_MANY_SIGN_INS: Final = Reply(421, "4.7.0", "Too many sign-ins that failed")
TOO_MUCH_TALK: Final = Reply(421, "4.7.0", "Too many commands without a mail")
TOO_MANY_MAILS: Final = Reply(421, "4.7.0", "Too many mails of one connection")
NO_BROWSERS: Final = Reply(421, "4.7.0", "This is no web server")
EXPIRED: Final = Reply(421, "4.4.2", "Time is over")
CLOSING: Final = Reply(421, "4.3.2", "The office is closing; come again")
TOO_MANY_CONNECTIONS: Final = Reply(421, "4.3.2", "Too many connections; come again later")
TOO_MANY_OF_YOURS: Final = Reply(421, "4.7.0", "Too many connections of yours; come again later")

# In the command mode, and in the middle of signing in.
BAD_LINES: Final[dict[tuple[bool, Literal["long", "bad"]], Reply]] = {
    (False, "bad"): Reply(500, "5.5.2", "Commands end with CR LF, and contain neither CR, LF nor NUL"),
    (False, "long"): Reply(500, "5.5.2", "The line is too long"),
    (True, "bad"): Reply(501, "5.5.2", "Malformed response"),
    (True, "long"): Reply(500, "5.5.6", "The line is too long"),
}
