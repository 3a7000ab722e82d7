"""The text of HTML that its reader sees, without the marks; time and memory stay linear whatever the marks do."""

from __future__ import annotations

import html
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from posthouse.message.form.mail.limit import MAX_TAGS

# A break stands where a browser would begin a new line or cell, and nowhere else: what is bold in the middle of a
# word does not cut it. It is put before the mark as a character that means nothing else, and is a blank to the parser:
# anything but blanks between the rows of a table is taken out of it (HTML, section 13.2.6.4.9).
_BREAK: Final = "\f"
# Spelled in both cases and by first letters, since this looks at every mark there is; most of those that break nothing
# are told first. So is the end of a cell or row that another mark of its table follows.
_BREAKING: Final = re.compile(
    r"<(?![aAbBiIsSuU]\b|/(?:[aAbBiIsSuU]\b|[tT][rRdDhH]>\s*+</?+[tT][aAbBdDfFhHrR]))"
    r"(?=/?(?:[tT](?:[rRdDhH]\b|[aA][bB][lL][eE]\b|[iI][tT])|[pP]\b|[bB](?:[rR]\b|[lL][oO][cC])"
    r"|[dD](?:[iI][vV]\b|[lLtTdD]\b)|[lL](?:[iI]\b|[eE][gG])|[uUoO][lL]\b|[hH](?:[1-6rR]\b|[eE][aA][dD])"
    r"|[cC](?:[eE][nN]|[aA][pP])|[oO][pP][tT]|[aA](?:[dD][dD]|[rR][tT]|[sS][iI])|[sS][eE][cC]|[nN][aA][vV]\b"
    r"|[fF](?:[oO](?:[rR]|[oO])|[iI][eE]|[iI][gG])|[mM][aA][iI][nN]\b|[pP][rR][eE]))"
)
# Open ones of these are repeated in every block that follows (HTML, section 13.2.4.3): a few thousand of them would
# become millions. Under another name they are marks like any other.
_FORMATTING: Final = re.compile(
    r"<(/?)(?=(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>])", re.IGNORECASE
)
# The parser compares each attribute of a mark with all others of it. In a short text they are few; in a longer one no
# mark may be long, nor may one look as if it ended within quotes.
_SHORT: Final = 32_768
_LONG_MARK: Final = re.compile(r"<[^>]{2048}|=\s*+[\"'][^\"'>]*+>")
_FEW: Final = 1_000
_UNSEEN: Final = ["script", "style", "head", "template", "title"]
_MAY_BE_UNSEEN: Final = re.compile(r"<(?:[sS][cCtT]|[hH][eE]|[tT][eEiI])")
_HIDDEN: Final = '[hidden],[style*="display:none" i],[style*="display: none" i]'
# Where a tree would take too long: comments, what is not text, and the marks themselves.
_MARK: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|head|template|title)\b.*?(?:</\1\s*>|\Z)|</?[a-z!?](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>?",
    re.IGNORECASE | re.DOTALL,
)


def visible_text(source: str) -> str:
    """Give the text of an HTML document, a line for each of its blocks."""
    source = source.replace(_BREAK, " ").replace("\0", "")
    tags = source.count("<")
    if tags > MAX_TAGS or (len(source) > _SHORT and _LONG_MARK.search(source)):
        return _tidy(_text_of_marks(_BREAKING.sub(_BREAK + "<", source)))
    if tags > _FEW:
        source = _FORMATTING.sub(r"<\1x", source)
    document = LexborHTMLParser(_BREAKING.sub(_BREAK + "<", source))
    if _MAY_BE_UNSEEN.search(source):
        document.strip_tags(_UNSEEN)
    if "display" in source or "hidden" in source:
        for node in document.css(_HIDDEN):
            node.decompose()
    root = document.root
    return "" if root is None else _tidy(root.text())


def _text_of_marks(source: str) -> str:
    return html.unescape(_MARK.sub("", source))


def _tidy(text: str) -> str:
    lines = map(" ".join, map(str.split, text.split(_BREAK)))
    return "\n".join(filter(None, lines))
