"""Where the elements of a text stand, so that each comment finds the element it belongs to."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import msgspec

from posthouse.matching.language.reader import Comment
from posthouse.matching.language.rule.rule import Note

# Comments of these stand before them: behind them on the same line goes on what they begin.
_OPENING: Final = frozenset({"if", "then"})
_FIRST: Final = {"leaf 0": "if", "action 0": "then"}


class Span(msgspec.Struct, frozen=True):
    """A stretch of a text."""

    start: int
    end: int


class Spans:
    """The elements of all items of a text, in the order they stand."""

    def __init__(self) -> None:
        self.item = 0
        """The number of the item that is being read."""
        self._elements: Final[list[tuple[int, int, int, str]]] = []

    def add(self, anchor: str, span: Span) -> None:
        """Note where an element of the present item stands."""
        self._elements.append((span.start, span.end, self.item, anchor))

    def starts(self) -> dict[tuple[int, str], int]:
        """Say where each element of each item begins."""
        return {(item, anchor): start for start, _, item, anchor in self._elements}

    def share(self, comments: list[tuple[int, int, Comment]], items: int) -> dict[int, tuple[Note, ...]]:
        """Give each item its comments; those behind the last element belong to the text itself."""
        elements = sorted(self._elements)
        starts = [element[0] for element in elements]
        shared: dict[int, list[Note]] = {}
        for before, behind, comment in comments:
            if comment.is_trailing and elements:
                item, note = _behind(elements[max(bisect_right(starts, max(before - 1, 0)) - 1, 0)], comment)
            else:
                place = bisect_right(starts, behind) - 1
                # Inside of an element, or before the next one.
                if place < 0 or elements[place][1] <= behind:
                    place += 1
                item, note = _before(elements[place] if place < len(elements) else None, comment, items)
            shared.setdefault(item, []).append(note)
        places = {(item, anchor): place for place, (_, _, item, anchor) in reversed(list(enumerate(elements)))}
        return {
            item: tuple(sorted(_only_last_trails(notes), key=_Order(places, item))) for item, notes in shared.items()
        }


class _Order:
    """Sorts the comments of one item as their elements stand, those before an element before the one behind it."""

    def __init__(self, places: dict[tuple[int, str], int], item: int) -> None:
        self._places: Final = places
        self._item: Final = item

    def __call__(self, note: Note) -> tuple[int, bool]:
        return self._places.get((self._item, note.anchor), 0), note.is_trailing


_Element = tuple[int, int, int, str]


def _behind(element: _Element, comment: Comment) -> tuple[int, Note]:
    _, _, item, anchor = element
    return item, Note(anchor, comment.text, is_trailing=anchor not in _OPENING)


def _before(element: _Element | None, comment: Comment, items: int) -> tuple[int, Note]:
    if element is None:
        return items, Note("end", comment.text)
    _, _, item, anchor = element
    return item, Note(_FIRST.get(anchor, anchor), comment.text)


def _only_last_trails(notes: list[Note]) -> tuple[Note, ...]:
    """Let one comment stand behind each element; what else stood there stands before it."""
    last = {note.anchor: place for place, note in enumerate(notes) if note.is_trailing}
    return tuple(
        note
        if not note.is_trailing or last[note.anchor] == place
        else Note(_FIRST.get(note.anchor, note.anchor), note.text)
        for place, note in enumerate(notes)
    )
