"""What an office says of a mail that another server keeps: a verdict, and the header fields it wants changed."""

from __future__ import annotations

from typing import Literal

import msgspec

from posthouse.message.verdict import Verdict


class HeaderEdit(msgspec.Struct, frozen=True):
    """One change of a header field."""

    act: Literal["add", "insert", "change", "delete"]
    name: str
    value: str = ""
    """Without the name and the colon; lines after the first begin with white space."""
    index: int = 1
    """For `insert` the place in the header, from 0; else the how-manieth field of that name, from 1."""


class Judgement(msgspec.Struct, frozen=True):
    """`pass` lets the mail go with the changes, `wait` has it held back, `drop` makes it vanish."""

    verdict: Verdict
    edits: tuple[HeaderEdit, ...] = ()
