"""The exit codes of every command; docs/reference/exit-codes.md tells them to people."""

from __future__ import annotations

from typing import Final

from posthouse.errors import PosthouseError

OK: Final = 0
"""It was done."""
FAILURE: Final = 1
"""It was not done, or only in part."""
USAGE: Final = 2
"""What was asked cannot be understood: options, names, settings, documents."""
NOTHING: Final = 3
"""There is nothing: an empty mailbox, an unknown message."""
REFUSED: Final = 4
"""The office does not accept the message."""
UNAVAILABLE: Final = 5
"""The office is not there, is in use, or cannot read or write its store."""
FAULTY: Final = 6
"""A book has faults and is not kept."""
UNREADABLE: Final = 7
"""A book that is in force cannot be read: nothing is decided until another edition is activated."""
SECOND: Final = 8
"""A second person has to agree."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C."""
PIPE: Final = 141
"""Whoever read the output went away."""
TERMINATED: Final = 143
"""Ended by SIGTERM."""

_BY_CODE: Final = {
    "account.password-unfit": USAGE,
    "address.malformed": USAGE,
    "attribute.malformed": USAGE,
    "audit.unreadable": USAGE,
    "book.faulty": FAULTY,
    "book.unknown": NOTHING,
    "book.unreadable": UNREADABLE,
    "call.malformed": USAGE,
    "case.ambiguous": USAGE,
    "case.not-found": NOTHING,
    "case.unknown": NOTHING,
    "scope.malformed": USAGE,
    "docket.not-found": NOTHING,
    "edition.unknown": NOTHING,
    "file.unreadable": USAGE,
    "form.malformed": USAGE,
    "head.malformed": USAGE,
    "name.malformed": USAGE,
    "organisation.unreadable": USAGE,
    "person.second-needed": SECOND,
    "role.needed": USAGE,
    "rules.faulty": USAGE,
    "settings.fault": USAGE,
    "subscription.unreadable": USAGE,
    "text.unreadable": USAGE,
    "credential.unknown": NOTHING,
    "mailbox.empty": NOTHING,
    "message.unknown": NOTHING,
    "body.too-large": REFUSED,
    "mailbag.refused": REFUSED,
    "mailbox.elsewhere": REFUSED,
    "message.refused": REFUSED,
}
_BY_SUBJECT: Final = {"office": UNAVAILABLE, "peer": UNAVAILABLE, "store": UNAVAILABLE}


def exit_code_of(fault: PosthouseError) -> int:
    """Give the exit code by which a command tells of this error."""
    return _BY_CODE.get(fault.code, _BY_SUBJECT.get(fault.code.partition(".")[0], FAILURE))
