"""Encoded words (RFC 2047), as they are written by programs that read half of it: in quotes, unpadded, cut in two."""

from __future__ import annotations

import binascii
import re
from typing import Final

from posthouse.message.form.mail.charset import decode
from posthouse.message.form.mail.transfer import decode_base64

# The charset may name a language (RFC 2231, section 5). What is encoded may hold blanks and even question marks,
# which the standard forbids and people do.
_WORD: Final = re.compile(r"=\?([^?*\s]{1,60})(?:\*[^?\s]{0,60})?\?([bBqQ])\?([^?]*+(?:\?(?!=)[^?]*+)*+)\?=")


def decode_words(text: str) -> str:
    """Give a text with its encoded words decoded."""
    if "=?" not in text:
        return text
    # Nothing begins a word behind the last end of one: without this limit each beginning would look for it.
    last = text.rfind("?=") + 2
    pieces: list[str] = []
    at = 0
    label = ""
    run: list[bytes] = []
    for match in _WORD.finditer(text, 0, last):
        between = text[at : match.start()]
        at = match.end()
        # Blanks between words are only there to separate them, and one character may stand in two words.
        adjacent = bool(run) and (not between or between.isspace())
        if run and not (adjacent and match[1].lower() == label):
            pieces.append(decode(b"".join(run), label))
            run = []
        if not adjacent:
            pieces.append(between)
        label = match[1].lower()
        run.append(_payload(match[2], match[3]))
    if run:
        pieces.append(decode(b"".join(run), label))
    pieces.append(text[at:])
    return "".join(pieces)


def _payload(encoding: str, encoded: str) -> bytes:
    raw = encoded.encode("utf-8", "surrogateescape")
    if encoding in "bB":
        return decode_base64(raw)
    return binascii.a2b_qp(raw, header=True)
