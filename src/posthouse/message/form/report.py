"""The report on a mail that was delivered, was not, or waits (RFC 3462, 3464): for people, and below for programs."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final, Literal
from uuid import UUID

import msgspec

from posthouse.message.answer import Answer

MAX_RETURNED: Final = 65_536
"""Bytes of a mail that a report of failure brings back; of larger ones, the header."""
_SECOND: Final = 1_000_000
_MOST_SAID: Final = 900
_UNSAID: Final = re.compile(r"[^\x20-\x7e]")
_UNFIT: Final = re.compile(rb"\r(?!\n)|(?<!\r)\n")

Action = Literal["failed", "delayed", "delivered", "relayed", "returned"]
_ACTIONS: Final[dict[Action, tuple[str, str]]] = {
    "failed": ("Mail could not be delivered", "Your mail could not be delivered to:"),
    "delayed": ("Mail is delayed", "Your mail could not be delivered yet to:"),
    "delivered": ("Mail was delivered", "Your mail was delivered to:"),
    "returned": ("Mail was returned", "Your mail was not delivered to:"),
    "relayed": ("Mail was sent on", "Your mail was sent on, by way of a server that does not report further, to:"),
}

_TOLD: Final[dict[Action, str]] = {"returned": "failed"}
"""What programs are told where they know no word for it."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The mail a report is about."""

    identity: UUID
    sender: str
    """The address the report goes to."""
    arrived: int
    envid: str = ""
    returns: Literal["", "FULL", "HDRS"] = ""
    originals: dict[str, str] = {}
    """By recipient as it stands in the envelope: the recipient as its sender first wrote it, with its type."""
    content: bytes = b""
    """The mail, or where it is large its beginning."""
    is_whole: bool = True
    until: int | None = None
    """Of a mail that is delayed: when it is given up."""
    saying: str = ""
    """Why somebody returns it, in his own words."""


def written(about: About, answers: Sequence[Answer], *, action: Action, name: str, identity: UUID, now: int) -> bytes:
    """Write the report; `name` is the mail name of the office that reports, `identity` that of the report."""
    subject, opening = _ACTIONS[action]
    boundary = f"=_{identity.hex}"
    header = [
        f"From: Mail delivery <postmaster@{name}>",
        f"To: <{about.sender}>",
        f"Subject: {subject}",
        f"Date: {_date(now)}",
        f"Message-ID: <{identity}@{name}>",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        "Content-Type: multipart/report; report-type=delivery-status;",
        f'\tboundary="{boundary}"',
    ]
    people = [
        f"This is the post office at {name}.", "", opening, "",
        *(line for answer in answers for line in _for_people(answer)),
        *_outlook(about, action),
        *([*about.saying.splitlines(), ""] if about.saying else []),
    ]  # fmt: skip
    programs = ["Content-Type: message/delivery-status", "", *_whole(about, name)]
    for answer in answers:
        programs += ["", *_recipient(about, answer, action, now)]
    content = _returned(about, action)
    parts = [_text(people), _lines(programs), content]
    marked = [f"--{boundary}\r\n".encode() + part for part in parts]
    return _lines(header) + b"\r\n" + b"\r\n".join(marked) + f"\r\n--{boundary}--\r\n".encode()


def _outlook(about: About, action: Action) -> list[str]:
    if action == "failed":
        return ["It is not tried again.", ""]
    if action == "delayed" and about.until is not None:
        return [f"It is tried again until {_date(about.until)}.", "There is nothing you have to do.", ""]
    return []


def _text(lines: Sequence[str]) -> bytes:
    """Give the part for people: somebody's own words may be in any language, and lines of any length."""
    if all(line.isascii() and len(line) <= _MOST_SAID for line in lines):
        return _lines(["Content-Type: text/plain; charset=us-ascii", "", *lines])
    encoded = base64.encodebytes("\r\n".join(lines).encode("utf-8", "replace")).replace(b"\n", b"\r\n")
    return _lines(["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", ""]) + encoded


def _for_people(answer: Answer) -> list[str]:
    said = f"    {_plain(answer.reason)}" if answer.reason else ""
    return [f"  {_plain(_address(answer.recipient))}", *([said] if said else []), ""]


def _whole(about: About, name: str) -> list[str]:
    envid = [f"Original-Envelope-Id: {_plain(about.envid)}"] if about.envid else []
    return [f"Reporting-MTA: dns; {name}", *envid, f"Arrival-Date: {_date(about.arrived)}"]


def _recipient(about: About, answer: Answer, action: Action, now: int) -> list[str]:
    original = about.originals.get(answer.recipient)
    status = answer.code or {"failed": "5.0.0", "delayed": "4.0.0", "returned": "5.7.1"}.get(action, "2.0.0")
    # A reason to try again that became one to give up is told as what it is now.
    status = f"5{status[1:]}" if action == "failed" and status.startswith("4") else status
    fields = [f"Original-Recipient: {_plain(original)}"] if original else []
    fields += [f"Final-Recipient: rfc822; {_plain(_address(answer.recipient))}", f"Action: {_TOLD.get(action, action)}"]
    fields += [f"Status: {status}"]
    if answer.server:
        host = answer.server.partition("[")[0] if "[" in answer.server else answer.server.rpartition(":")[0]
        fields.append(f"Remote-MTA: dns; {_plain(host or answer.server)}")
        if answer.reason:
            fields.append(f"Diagnostic-Code: smtp; {_plain(answer.reason)}")
    fields.append(f"Last-Attempt-Date: {_date(now)}")
    if action == "delayed" and about.until is not None:
        fields.append(f"Will-Retry-Until: {_date(about.until)}")
    return fields


def _returned(about: About, action: Action) -> bytes:
    """Give the part that brings the mail back, or its header: all of one that comes back only (RFC 3461, 5.3)."""
    content = _UNFIT.sub(b"\r\n", about.content)
    header, mark, _ = content.partition(b"\r\n\r\n")
    whole = (
        action in {"failed", "returned"} and about.is_whole and about.returns != "HDRS" and len(content) <= MAX_RETURNED
    )
    kind, returned = ("message/rfc822", content) if whole else ("text/rfc822-headers", header + mark[:2])
    encoding = [] if returned.isascii() else ["Content-Transfer-Encoding: 8bit"]
    return _lines([f"Content-Type: {kind}", *encoding, ""]) + returned


def _address(name: str) -> str:
    return name.removeprefix("smtp:")


def _plain(text: str) -> str:
    """Give a text that strangers wrote as it may stand in a field: one line, ASCII, not too long."""
    return _UNSAID.sub("?", text)[:_MOST_SAID]


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode("ascii", "replace")


def _date(instant: int) -> str:
    return format_datetime(datetime.fromtimestamp(instant // _SECOND, UTC))
