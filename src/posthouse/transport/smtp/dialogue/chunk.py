"""The command BDAT (RFC 3030): how many bytes follow, and whether they are the last of the mail."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from posthouse.transport.smtp.dialogue.reply import Reply

_ARGUMENT: Final = re.compile(rb" *([0-9]{1,18})(?: +(LAST))? *", re.IGNORECASE)


@dataclass(slots=True)
class Chunk:
    """One chunk while its bytes come in."""

    size: int
    left: int
    is_last: bool
    refusal: Reply | None
    """Why its bytes are thrown away; said when the last of them has come."""


def read_chunk(argument: bytes, refusal: Reply | None) -> Chunk | None:
    """Read what follows BDAT; none where nobody can say how many bytes to take."""
    found = _ARGUMENT.fullmatch(argument)
    if found is None:
        return None
    size = int(found[1])
    return Chunk(size, size, found[2] is not None, refusal)
