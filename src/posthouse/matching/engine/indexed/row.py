"""One message before a plan: what its facts do not decide is judged by `single`, each leaf once however many ask it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final, cast

from posthouse.matching.engine.indexed.plan import Plan, Prepared
from posthouse.matching.engine.single.evaluate import holding, truth_at
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.leaf import judge_leaf
from posthouse.matching.match import FALSE, TRUE, Truth, all_of, any_of, negate, odd_of
from posthouse.matching.predicate.node import (
    And,
    Between,
    Compare,
    InList,
    Leaf,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Quantified,
    Search,
    Texts,
    Xor,
    terms,
)
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.fold import Collation, fold
from posthouse.matching.value.record import Record
from posthouse.matching.value.regex import Regex, compile_regex
from posthouse.message.attribute import Int32

_ORDERS: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_PLAIN: Final = frozenset({int, Int32, float})


def stands_alone(text: str, word: str) -> bool:
    """Say whether a word stands in a text with no letter, digit or underscore beside it."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, behind = text[start - 1 : start] if start else "", text[end : end + 1]
        if not (before.isalnum() or before == "_" or behind.isalnum() or behind == "_"):
            return True
        start = text.find(word, start + 1)
    return False


def _matches(text: bytes, pattern: Regex) -> bool:
    # Bytes for text: the place is of no interest here, and need not be counted in characters.
    return pattern.search(text) is not None  # type: ignore[arg-type]


def prepare(leaf: Search) -> Prepared | None:
    """Make a search ready to be asked of many messages; None for one that is left to `single`."""
    part, texts = leaf.term, leaf.texts
    if not isinstance(part, Part) or not isinstance(texts, Texts):
        return None
    if leaf.sign == "matches":
        has_case = leaf.collation in ("cased", "exact")
        return part, leaf.collation, _matches, tuple(compile_regex(text, has_case=has_case) for text in texts.values)
    finds = _FINDS.get(leaf.sign)
    return finds and (part, leaf.collation, finds, tuple(fold(text, leaf.collation) for text in texts.values))


_FINDS: Final[dict[str, Callable[..., bool]]] = {
    "contains": operator.contains, "word": stands_alone, "starts": str.startswith, "ends": str.endswith,
}  # fmt: skip


class Row:
    """One message, and what has been judged of it."""

    __slots__ = ("_ground", "_known", "_plan", "_texts", "facts", "open", "record")

    def __init__(self, plan: Plan, record: Record) -> None:
        self._plan: Final = plan
        self.record: Final = record
        self._ground: Ground | None = None
        self.facts: set[int] = {0}
        self.open = 0
        """The bits of the columns whose facts do not decide."""
        self._texts: dict[tuple[Part, str, bool], tuple[str, ...] | tuple[bytes, ...] | None] = {}
        self._known: dict[Predicate, Truth] = {}

    @property
    def ground(self) -> Ground:
        """Give what `single` judges on."""
        if self._ground is None:
            self._ground = Ground(self.record, self._plan.lists)
        return self._ground

    def truth(self, slot: int) -> Truth:
        """Judge a predicate of which nothing is known yet."""
        return self.judge(self._plan.predicate(slot))

    def recipients(self, slot: int) -> tuple[int, ...] | None:
        """Give the recipients for whom a predicate that is true holds alone."""
        if slot not in self._plan.asking:
            return None
        if len(self.record.recipients) == 1:
            # What is true of the message is true of its only recipient: nothing is asked of another.
            return (0,)
        return holding(self._plan.predicate(slot), self.ground)

    def is_true(self, slot: int) -> bool:
        """Say whether a predicate is true whose facts hold, if only truth is sought."""
        checks = self._plan.checks
        for at in checks.ranges(slot):
            value = self.record.attributes.get(checks.names[checks.range_places[at]])
            if value is None:
                return False
            if type(value) not in _PLAIN:
                return self.truth(slot) is TRUE
            if not checks.lows[at] <= value <= checks.highs[at]:  # type: ignore[operator]  # plain, as just asked
                return False
        for at in checks.wanted(slot):
            value = self.record.attributes.get(checks.names[checks.text_places[at]])
            if value is None:
                return False
            if type(value) is not str:
                return self.truth(slot) is TRUE
            if checks.texts[checks.text_numbers[at]] not in value:
                return False
        return self.is_rest_true(slot)

    def is_rest_true(self, slot: int) -> bool:
        """Say whether what remains of a predicate is true, if only truth is sought."""
        rest = self._plan.rests.get(slot)
        return rest is None or self.holds(rest)

    def holds(self, node: Predicate) -> bool:
        """Say whether what remains of a predicate is true, most quickly of ranges and texts of plain attributes."""
        kind = type(node)
        if kind is And:
            return all(map(self.holds, node.parts))  # type: ignore[union-attr]  # as its type says
        if kind is Between:
            known = self._between(node)  # type: ignore[arg-type]  # as its type says
            if known is not None:
                return known
        if kind is Search:
            known = self._stands(node)  # type: ignore[arg-type]  # as its type says
            if known is not None:
                return known
        return self.judge(node) is TRUE

    def _between(self, leaf: Between) -> bool | None:
        part, low, high = leaf.term, leaf.low, leaf.high
        if type(part) is not Part or part.name != "attribute" or type(low) is not Number or type(high) is not Number:
            return None
        value = self.record.attributes.get(part.argument or "")
        if value is None:
            return False
        least, most = low.value, high.value
        # A whole number written as a real one is rounded first: that is left to `single`.
        if type(value) not in _PLAIN or not type(least) is type(most) is (float if low.type == "real64" else int):
            return None
        return least <= value <= most  # type: ignore[operator]  # plain, as just asked

    def _stands(self, leaf: Search) -> bool | None:
        part, texts = leaf.term, leaf.texts
        if leaf.sign != "contains" or leaf.collation != "exact" or type(texts) is not Texts:
            return None
        if type(part) is not Part or part.name != "attribute":
            return None
        value = self.record.attributes.get(part.argument or "")
        if value is None:
            return False
        return any(text in value for text in texts.values) if type(value) is str else None

    def judge(self, node: Predicate) -> Truth:
        """Judge a predicate or what remains of one."""
        if isinstance(node, And):
            return all_of(map(self.judge, node.parts))
        if isinstance(node, Or):
            return any_of(map(self.judge, node.parts))
        if isinstance(node, Xor):
            return odd_of(map(self.judge, node.parts))
        if isinstance(node, Not):
            return negate(self.judge(node.part))
        if isinstance(node, Compare):
            quick = self._compare(node)
            if quick is not None:
                return quick
        known = self._known.get(node)
        if known is None:
            known = self._quantify(node) if isinstance(node, Quantified) else self._look(node)
            self._known[node] = known
        return known

    def _compare(self, leaf: Compare) -> Truth | None:
        """Compare a plain attribute with a plain number, as nearly all subscriptions do."""
        part, constant = leaf.left, leaf.right
        if type(part) is not Part or part.name != "attribute" or type(constant) is not Number:
            return None
        value = self.record.attributes.get(part.argument or "")
        wanted = constant.value
        if type(value) not in _PLAIN or (constant.type == "real64" and type(wanted) is not float):
            return None
        return TRUE if _ORDERS[leaf.sign](value, wanted) else FALSE  # type: ignore[arg-type]  # plain, as just asked

    def _quantify(self, node: Quantified) -> Truth:
        """Judge any, all or none; that any recipient is one of these is the same as that a recipient is."""
        if node.quantifier == "any" and node.over == "recipient" and isinstance(node.part, InList | Compare):
            term = terms(node.part)[0]
            is_of_recipients = isinstance(term, Part) and CATALOGUE[term.name].scope == "recipient"
            known = self._known_by_fact(node.part) if is_of_recipients else None
            if known is not None:
                return known
        return truth_at(node, self.ground)

    def _known_by_fact(self, leaf: Leaf) -> Truth | None:
        fact, bit = self._plan.exact.get(leaf, (0, 0))
        if not fact or self.open & bit:
            return None
        # Where only truth is sought nobody has looked whether the part is there at all.
        return TRUE if fact in self.facts else None if self._plan.only_true else FALSE

    def _look(self, leaf: Leaf) -> Truth:
        known = self._known_by_fact(leaf)
        if known is not None:
            return known
        if isinstance(leaf, Search):
            quick = self._search(leaf)
            if quick is not None:
                return quick
        return judge_leaf(leaf, self.ground)

    def _search(self, leaf: Search) -> Truth | None:
        """Search for words or patterns in what is known as a whole, without their places."""
        quick = self._plan.quick
        if leaf not in quick:
            quick[leaf] = prepare(leaf)
        prepared = quick[leaf]
        if prepared is None:
            return None
        part, collation, finds, wanted = prepared
        folded = self._folded(part, collation, is_pattern=finds is _matches)
        if folded is None:
            return None
        for text in folded:
            for each in wanted:
                if finds(text, each):
                    return TRUE
        return FALSE

    def _folded(
        self, part: Part, collation: Collation, *, is_pattern: bool
    ) -> tuple[str, ...] | tuple[bytes, ...] | None:
        """Give the texts of a part as they are searched, or None where they are not all there is."""
        key = (part, collation, is_pattern)
        if key not in self._texts:
            reading = self.ground.read(part)
            found: tuple[str, ...] | tuple[bytes, ...] | None = None
            if reading.state == "whole" and all(type(value) is str for value in reading.values):
                texts = cast("tuple[str, ...]", reading.values)
                if is_pattern:
                    found = tuple(self.ground.searched(text, collation).encode() for text in texts)
                else:
                    found = tuple(self.ground.folded(text, collation) for text in texts)
            self._texts[key] = found
        return self._texts[key]
