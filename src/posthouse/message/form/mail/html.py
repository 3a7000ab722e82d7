"""The text of HTML without the marks, and apart from it what its reader does not see; time and memory stay linear."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from posthouse.message.form.mail.hiding import INHERITED, LONGEST, Effect, effect_of, may_hide
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
_MAY_HIDE: Final = "[style],[hidden]"
# Where a tree would take too long: comments, what is not text, and the marks themselves.
_MARK: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|head|template|title)\b.*?(?:</\1\s*>|\Z)|</?[a-z!?](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>?",
    re.IGNORECASE | re.DOTALL,
)


class Html(NamedTuple):
    """The text of a document, a line for each of its blocks."""

    text: str
    """What its reader sees."""
    hidden: str = ""
    """What stands there and is not seen: its marks hide it."""


def read_html(source: str) -> Html:
    """Read an HTML document."""
    source = source.replace(_BREAK, " ").replace("\0", "")
    tags = source.count("<")
    if tags > MAX_TAGS or (len(source) > _SHORT and _LONG_MARK.search(source)):
        return Html(_tidy(_text_of_marks(_BREAKING.sub(_BREAK + "<", source))))
    if tags > _FEW:
        source = _FORMATTING.sub(r"<\1x", source)
    document = LexborHTMLParser(_BREAKING.sub(_BREAK + "<", source))
    if _MAY_BE_UNSEEN.search(source):
        document.strip_tags(_UNSEEN)
    hidden = _take_hidden(document.css(_MAY_HIDE)) if may_hide(source) else ""
    root = document.root
    return Html("" if root is None else _tidy(root.text()), hidden)


def _take_hidden(found: Iterable[LexborNode]) -> str:
    """Take out of the document what its reader does not see, and give its text."""
    # One that both parts of the selector find is told twice, and must not be taken out twice.
    nodes = {node.mem_id: node for node in found}
    undone: dict[str, set[int]] = {name: set() for name in INHERITED}
    taken: list[str] = []
    # From the last to the first: what stands within another one is gone before that one is looked at.
    for identity, node in reversed(nodes.items()):
        attributes = node.attributes
        effect = effect_of((attributes.get("style") or "")[:LONGEST])
        if _is_hidden(effect, identity, undone) or ("hidden" in attributes and not effect.has_display):
            taken.append(node.text())
            node.decompose()
        else:
            for name in effect.shows:
                _note_above(node, undone[name])
    return _tidy(_BREAK.join(reversed(taken)))


def _is_hidden(effect: Effect, identity: int, undone: Mapping[str, set[int]]) -> bool:
    return effect.hides or any(identity not in undone[name] for name in effect.hides_until)


def _note_above(node: LexborNode, noted: set[int]) -> None:
    """Note all marks around one; what is noted already has those around it noted too."""
    above = node.parent
    while above is not None and above.mem_id not in noted:
        noted.add(above.mem_id)
        above = above.parent


def _text_of_marks(source: str) -> str:
    return html.unescape(_MARK.sub("", source))


def _tidy(text: str) -> str:
    lines = map(" ".join, map(str.split, text.split(_BREAK)))
    return "\n".join(filter(None, lines))
