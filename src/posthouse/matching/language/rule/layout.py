"""Lays a condition out over lines: short groups in one, long ones a part to each, comments beside their leaf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from posthouse.matching.language.rule.phrase import Phrase, Within, print_contrary, print_leaf
from posthouse.matching.language.rule.rule import Note
from posthouse.matching.predicate.node import LEAVES, And, Leaf, Not, Or, Predicate, Quantified, Xor, leaves

WIDTH: Final = 100
_QUANTIFIERS: Final = {"any": "any", "all": "all", "none": "no"}
_PLURALS: Final = {"recipient": "recipients", "attachment": "attachments"}
Notes = Mapping[int, tuple[Note, ...]]
"""The comments of each leaf, by its number."""


class Block(msgspec.Struct):
    """Some lines, and the comments that stand before them."""

    lines: list[str]
    notes: list[str]


class Layout:
    """Lays out one condition; leaves are numbered in the order they stand."""

    def __init__(self, notes: Notes | None = None) -> None:
        self._notes: Final[Notes] = notes or {}
        self._number = 0

    def condition(self, predicate: Predicate) -> list[str]:
        """Give the lines of a whole condition."""
        block = self._branch(predicate, frozenset(), 0, is_open=True)
        return [*block.notes, *block.lines]

    def _operand(self, node: Predicate, within: Within, indent: int) -> Block:
        """Lay out what AND, OR or NOT stands before: what is joined needs parentheses there."""
        if isinstance(node, And | Or | Xor):
            return self._enclosed("", node, within, indent)
        return self._branch(node, within, indent)

    def _branch(self, node: Predicate, within: Within, indent: int, *, is_open: bool = False) -> Block:
        if isinstance(node, LEAVES):
            return self._leaf(print_leaf(node, within), indent)
        if isinstance(node, Not):
            return self._contrary(node, within, indent)
        if isinstance(node, Quantified):
            word = _PLURALS[node.over] if node.quantifier == "all" else node.over
            return self._enclosed(f"{_QUANTIFIERS[node.quantifier]} {word} ", node.part, within | {node.over}, indent)
        return self._joined(node, within, indent, is_open=is_open)

    def _contrary(self, node: Not, within: Within, indent: int) -> Block:
        contrary = print_contrary(node.part, within) if isinstance(node.part, LEAVES) else None
        if contrary is not None:
            return self._leaf(contrary, indent)
        block = self._operand(node.part, within, indent)
        return Block([f"NOT {block.lines[0]}", *block.lines[1:]], block.notes)

    def _joined(self, node: And | Or | Xor, within: Within, indent: int, *, is_open: bool) -> Block:
        word = {And: "AND", Or: "OR", Xor: "XOR"}[type(node)]
        if not is_open and self._fits(node, indent):
            return Block([self._inline(node, within)], [])
        whole = Block([], [])
        for number, part in enumerate(node.parts):
            block = self._operand(part, within, indent)
            if number == 0:
                whole.notes = block.notes
                whole.lines = block.lines
            else:
                # A long condition begins at the margin, and what is joined to it stands further in.
                whole.lines += [*block.notes, f"{word} {block.lines[0]}", *block.lines[1:]]
        return whole

    def _enclosed(self, head: str, node: Predicate, within: Within, indent: int) -> Block:
        """Lay out a group in parentheses."""
        if self._fits(node, indent + len(head) + 2):
            return Block([f"{head}({self._inline(node, within)})"], [])
        inner = self._branch(node, within, indent + 4, is_open=True)
        lines = [*inner.notes, *inner.lines]
        return Block([f"{head}(", *(f"    {line}" for line in lines), ")"], [])

    def _leaf(self, phrase: Phrase, indent: int) -> Block:
        notes = self._notes.get(self._number, ())
        self._number += 1
        lines = phrase.lines(WIDTH - indent)
        trailing = [note.text for note in notes if note.is_trailing]
        if trailing:
            lines = [*lines[:-1], comment(lines[-1], trailing[0])]
        return Block(lines, [comment("", note.text) for note in notes if not note.is_trailing])

    # --- in one line --------------------------------------------------------------------------------------------------

    def _fits(self, node: Predicate, indent: int) -> bool:
        """Say whether a group goes into one line: it is short, not too deep, and without comments."""
        inner: list[tuple[tuple[int, ...], Leaf]] = []
        for path_and_leaf in leaves(node):
            inner.append(path_and_leaf)
            if len(inner) > 8:
                return False
        if any(self._number + place in self._notes for place in range(len(inner))):
            return False
        if any(len(path) > 6 for path, _ in inner):
            return False
        return indent + len(Layout()._inline(node, frozenset(_PLURALS))) <= WIDTH  # noqa: SLF001  a copy without numbers

    def _inline(self, node: Predicate, within: Within) -> str:
        if isinstance(node, LEAVES):
            self._number += 1
            return print_leaf(node, within).inline()
        if isinstance(node, Not):
            contrary = print_contrary(node.part, within) if isinstance(node.part, LEAVES) else None
            if contrary is not None:
                self._number += 1
                return contrary.inline()
            return f"NOT {self._inline_operand(node.part, within)}"
        if isinstance(node, Quantified):
            word = _PLURALS[node.over] if node.quantifier == "all" else node.over
            return f"{_QUANTIFIERS[node.quantifier]} {word} ({self._inline(node.part, within | {node.over})})"
        word = {And: "AND", Or: "OR", Xor: "XOR"}[type(node)]
        return f" {word} ".join(self._inline_operand(part, within) for part in node.parts)

    def _inline_operand(self, node: Predicate, within: Within) -> str:
        text = self._inline(node, within)
        return f"({text})" if isinstance(node, And | Or | Xor) else text


def comment(line: str, text: str) -> str:
    """Give a line with a comment behind it, or the comment alone."""
    written = f"# {text}" if text else "#"
    return f"{line}  {written}" if line else written


def print_condition(predicate: Predicate) -> str:
    """Write a condition in lines."""
    return "\n".join(Layout().condition(predicate))
