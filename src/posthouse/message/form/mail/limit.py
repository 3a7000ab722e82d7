"""How much of a mail is read; what lies beyond is not an error but unknown."""

from __future__ import annotations

from typing import Final

MAX_HEADER: Final = 262_144
"""Bytes of one header, all its fields together."""
MAX_FIELD: Final = 131_072
"""Bytes of one field; Postfix takes 102,400."""
MAX_FIELDS: Final = 1_000
MAX_HEADERS: Final = 1_048_576
"""Bytes of all headers of a mail, those of its parts included."""
MAX_PARTS: Final = 1_000
MAX_LINES: Final = 100_000
"""Lines that could be the end of a part: those that begin as the boundaries do."""
MAX_DEPTH: Final = 64
"""Parts within parts."""
MAX_WRAPS: Final = 4
"""Mails within mails that stand there encoded, which the standard forbids: each has to be decoded to be read."""
MAX_TEXT: Final = 1_048_576
"""Characters of the text of all parts."""
MAX_HIDDEN: Final = 262_144
"""Characters of text that HTML hides from its reader."""
MAX_TAGS: Final = 10_000
"""Marks of an HTML text that is read as a tree; one with more is read as a sequence of marks."""
