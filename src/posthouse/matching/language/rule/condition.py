"""Reads a condition of a rule into a predicate, and notes what is wrong with it at its place."""

from __future__ import annotations

from typing import Final, cast

from posthouse.matching.language.reader import END, Reader, Stumble, nearest_word
from posthouse.matching.language.rule.leaf import LeafReader
from posthouse.matching.language.rule.term import is_term
from posthouse.matching.language.rule.word import KEYWORDS, OVERS
from posthouse.matching.predicate.check import MAX_DEPTH, check_predicate
from posthouse.matching.predicate.node import (
    And,
    Boolean,
    Compare,
    Fixed,
    Not,
    Or,
    Over,
    Predicate,
    Quantified,
    Quantifier,
    Term,
    Xor,
    children,
    leaves,
)
from posthouse.matching.predicate.typing import static_type

_LEVELS: Final = {"or": 0, "xor": 1, "and": 2}
_JOINTS: Final[dict[str, type[And | Or | Xor]]] = {"or": Or, "xor": Xor, "and": And}
_STOPS: Final = frozenset({"then", "if"})
_FIXED: Final = {"always": "true", "never": "false", "unknown": "unknown"}
_QUANTIFIERS: Final = {"any": "any", "all": "all", "no": "none"}


class ConditionReader:
    """Reads one condition; the reader's token stands at its first word, and behind its last when it is done."""

    def __init__(self, reader: Reader, leaf: LeafReader) -> None:
        self._reader: Final = reader
        self._leaf: Final = leaf
        self._depth = 0
        self._spans: Final[dict[int, tuple[int, int]]] = {}

    def read(self) -> Predicate:
        """Read a condition and check it."""
        condition = self._settle(self._read_level(0))
        self._check(condition)
        return condition

    def leaf_spans(self, condition: Predicate) -> list[tuple[int, int]]:
        """Give where each leaf of what was read stands in the text."""
        unknown = (self._reader.before.start, self._reader.before.end)
        return [self._spans.get(id(leaf), unknown) for _, leaf in leaves(condition)]

    # --- structure ----------------------------------------------------------------------------------------------------

    def _read_level(self, level: int) -> Predicate | Term:
        """Read what AND, XOR and OR join, the tightest first; what is not joined comes back as it is."""
        found = self._read_operand()
        while True:
            word = self._reader.token.text.lower()
            if _LEVELS.get(word, -1) < level:
                return found
            parts = [self._settle(found)]
            while self._reader.accept(word):
                parts.append(self._settle(self._read_level(_LEVELS[word] + 1)))
            found = _JOINTS[word](tuple(parts))

    def _read_operand(self) -> Predicate | Term:
        """Read one condition; where it stumbles, go on at what joins it to the next."""
        start = self._reader.token.start
        try:
            return self._read_one()
        except Stumble:
            self._skip()
            return self._span(Fixed("unknown"), start)

    def _skip(self) -> None:
        reader = self._reader
        opened = 0
        while reader.token.kind != END:
            word = reader.token.text.lower()
            if word in _STOPS or (word in KEYWORDS - set(_LEVELS) and reader.begins_line()):
                return
            if word in _LEVELS and opened == 0:
                return
            opened += (word == "(") - (word == ")")
            if opened < 0:
                if self._depth:
                    return
                opened = 0
            reader.take()

    def _read_one(self) -> Predicate | Term:
        reader = self._reader
        if reader.stands("not"):
            return self._read_not()
        if reader.token.text == "(":
            return self._read_parentheses()
        if reader.token.text.lower() in _QUANTIFIERS:
            return self._read_quantified()
        if reader.token.text.lower() in _FIXED and reader.token.kind == "word":
            start = reader.token.start
            fixed = Fixed(_FIXED[reader.take().text.lower()])  # type: ignore[arg-type]  # the table holds nothing else
            return self._span(fixed, start)
        start = reader.token.start
        return self._span(self._leaf.read(), start)

    def _read_not(self) -> Predicate:
        count = 0
        while self._reader.accept("not"):
            count += 1
        if count > MAX_DEPTH:
            self._reader.note(f"at most {MAX_DEPTH} NOT before each other")
            self._reader.give_up()
        found = self._settle(self._read_operand())
        for _ in range(count):
            found = Not(found)
        return found

    def _read_parentheses(self) -> Predicate | Term:
        start = self._reader.token.start
        inner = self._read_group()
        if not is_term(inner):
            return inner
        # They held a figure, such as `(a + b) * 2 > 5`, which goes on behind them.
        return self._span(self._leaf.read_from(cast("Term", inner)), start)

    def _read_group(self) -> Predicate | Term:
        reader = self._reader
        opened = reader.take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            reader.note(f"at most {MAX_DEPTH} parentheses inside each other", found="one more", at=opened.start)
            reader.give_up()
        try:
            inner = self._read_level(0)
        finally:
            self._depth -= 1
        if reader.token.text != ")":
            if is_term(inner):
                self._leaf.stumble_at_operator(cast("Term", inner))
            line, column = reader.place(opened.start)
            hint = f"the parenthesis of line {line}, column {column} is still open"
            word = nearest_word(reader.token.text, _LEVELS) if reader.token.kind == "word" else None
            reader.stumble("AND, OR or )", hint=word or hint)
        reader.take()
        return inner

    def _read_quantified(self) -> Predicate:
        reader = self._reader
        quantifier = cast("Quantifier", _QUANTIFIERS[reader.take().text.lower()])
        word = reader.token.text.lower()
        over = cast("Over | None", OVERS.get(word.partition(".")[0]))
        if over is None or reader.token.kind != "word":
            reader.stumble("recipient or attachment", hint='as in any recipient (recipient.role is "CEO")')
        within = over in self._leaf.within
        if within:
            reader.note(f"no {over}s inside of {over}s, as one is looked at already")
        self._leaf.within.add(over)
        try:
            if "." in word:
                start = reader.token.start
                inner = self._settle(self._span(self._leaf.read(), start))
            else:
                reader.take()
                if reader.token.text != "(":
                    reader.stumble("( and a condition", hint=f'as in any {over} ({over}.… is "…")')
                inner = self._settle(self._read_group())
        finally:
            if not within:
                self._leaf.within.discard(over)
        return Quantified(over, quantifier, inner)

    # --- settling -----------------------------------------------------------------------------------------------------

    def _settle(self, found: Predicate | Term) -> Predicate:
        """Make a condition of what was read: a part that is true or false is one by itself."""
        if not is_term(found):
            return cast("Predicate", found)
        term = cast("Term", found)
        if static_type(term) == "truth" and not isinstance(term, Boolean):
            settled = Compare("=", term, Boolean(value=True))
            self._spans[id(settled)] = self._spans.get(id(term), (self._reader.before.start, self._reader.before.end))
            return settled
        return self._leaf.stumble_at_operator(term)

    def _span(self, found: Predicate | Term, start: int) -> Predicate | Term:
        end = self._reader.before.end
        node: Predicate | Term = found
        while True:
            self._spans[id(node)] = (start, end)
            if isinstance(node, Not | Quantified):
                node = node.part
            else:
                return found

    def _check(self, condition: Predicate) -> None:
        for fault in check_predicate(condition):
            node = condition
            place: tuple[int, int] | None = self._spans.get(id(node))
            for step in fault.path:
                inner = children(node)
                if step >= len(inner):
                    break
                node = inner[step]
                place = self._spans.get(id(node), place)
            start, end = place or (self._reader.before.start, self._reader.before.end)
            if self._reader.is_faulty(start, end):
                continue
            expected, _, found = fault.what.removeprefix("expected ").partition(", found ")
            self._reader.note(expected, found=found or "more", at=start, hint=fault.hint, length=max(1, end - start))
