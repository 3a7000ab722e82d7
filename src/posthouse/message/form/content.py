"""What the media type of a body says about writing it as text."""

from __future__ import annotations

import re
from typing import Final

_CHARSET: Final = re.compile(r';[ \t]*charset="?([^";\s]+)"?', re.IGNORECASE)
# Few on purpose: Python knows many more names, and some of them are no character sets.
_CODECS: Final = {"utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "ascii", "iso-8859-1": "latin-1"}


def is_json(content_type: str) -> bool:
    """Say whether a body of this type is JSON."""
    return _is_of(content_type, "json")


def is_textual(content_type: str) -> bool:
    """Say whether a body of this type is meant to be read as text, JSON and XML included."""
    return content_type[:5].lower() == "text/" or _is_of(content_type, "json") or _is_of(content_type, "xml")


def charset_of(content_type: str | None) -> str | None:
    """Give the codec of a text of this type: UTF-8 unless it says otherwise, None where it names one unknown here."""
    named = _CHARSET.search(content_type or "")
    return "utf-8" if named is None else _CODECS.get(named[1].lower())


def _is_of(content_type: str, syntax: str) -> bool:
    subtype = content_type.partition(";")[0].strip().lower().partition("/")[2]
    return subtype == syntax or subtype.endswith(f"+{syntax}")
