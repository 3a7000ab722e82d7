"""One message before a plan: what its facts do not decide is judged by `single`, each leaf once however many ask it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final, cast

from posthouse.matching.engine.indexed.plan import Plan
from posthouse.matching.engine.indexed.question import Form, Question
from posthouse.matching.engine.single.evaluate import holding, truth_at
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.leaf import judge_leaf
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Truth, all_of, any_of, negate, odd_of
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
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32

_ORDERS: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
Readable = tuple[str, ...] | tuple[bytes, ...] | Truth | None
_PLAIN: Final = frozenset({int, Int32, float})


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
        self._texts: dict[int, Readable] = {}
        """By the number of their form."""
        self._known: dict[Question, Truth] = {}

    @property
    def ground(self) -> Ground:
        """Give what `single` judges on."""
        if self._ground is None:
            self._ground = Ground(self.record, self._plan.lists)
        return self._ground

    def truth(self, slot: int) -> Truth:
        """Judge a predicate of which nothing is known yet."""
        return self.judge(self._plan.predicate(slot))

    def rest(self, slot: int) -> Truth:
        """Judge what remains of a predicate whose facts hold."""
        plan = self._plan
        asked = plan.asked[slot] if slot in plan.asked else plan.ask(slot)
        if asked is None:
            return self.judge(plan.rests[slot])
        known, least = self._known, TRUE
        for question in asked:
            truth = known.get(question)
            if truth is None:
                truth = known[question] = self._look(question.leaf, question)  # type: ignore[arg-type]  # a search
            if truth < least:
                if truth is FALSE:
                    return FALSE
                least = truth
        return least

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
        kind = type(node)
        if kind is Search:
            return self._answer(self._question(node))  # type: ignore[arg-type]  # as its type says
        if kind is And:
            return all_of(map(self.judge, node.parts))  # type: ignore[union-attr]  # as its type says
        if kind is Or:
            return any_of(map(self.judge, node.parts))  # type: ignore[union-attr]  # as its type says
        if isinstance(node, Xor):
            return odd_of(map(self.judge, node.parts))
        if isinstance(node, Not):
            return negate(self.judge(node.part))
        if isinstance(node, Compare):
            quick = self._compare(node)
            if quick is not None:
                return quick
        return self._answer(self._question(node))  # type: ignore[arg-type]  # what joins others is dealt with above

    def _question(self, leaf: Leaf | Quantified) -> Question:
        # Where only truth is sought, what a plan keeps of a predicate is unpacked for one message.
        questions = self._plan.questions
        return questions.ask(leaf) if self._plan.only_true else questions.ask_again(leaf)

    def _answer(self, question: Question) -> Truth:
        known = self._known.get(question)
        if known is None:
            leaf = question.leaf
            known = self._quantify(leaf) if isinstance(leaf, Quantified) else self._look(leaf, question)
            self._known[question] = known
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
            known = self._known_by_fact(self._question(node.part)) if is_of_recipients else None
            if known is not None:
                return known
        return truth_at(node, self.ground)

    def _known_by_fact(self, question: Question) -> Truth | None:
        if not question.fact or self.open & question.bit:
            return None
        # Where only truth is sought nobody has looked whether the part is there at all.
        return TRUE if question.fact in self.facts else None if self._plan.only_true else FALSE

    def _look(self, leaf: Leaf, question: Question) -> Truth:
        known = self._known_by_fact(question)
        if known is not None:
            return known
        finder = question.finder
        if finder is None:
            return judge_leaf(leaf, self.ground)
        number = finder.form.number
        texts = self._texts[number] if number in self._texts else self._folded(finder.form)
        if texts is UNKNOWN:
            return UNKNOWN
        if texts is None:
            return judge_leaf(leaf, self.ground)
        finds, wanted = finder.finds, finder.wanted
        # Words or patterns in what is known as a whole, without their places.
        for text in texts:  # type: ignore[union-attr]  # a truth was looked for above
            for each in wanted:
                if finds(text, each):
                    return TRUE
        return FALSE

    def _folded(self, form: Form) -> Readable:
        """Give the texts of a part as they are searched, UNKNOWN where there are none, None where there may be more."""
        reading = self.ground.read(form.part)
        found: Readable = None
        if reading.state != "whole":
            found = None if reading.values else UNKNOWN
        elif all(type(value) is str for value in reading.values):
            texts = cast("tuple[str, ...]", reading.values)
            if form.is_pattern:
                found = tuple(
                    text.encode() if text.isascii() else self.ground.searched(text, form.collation).encode()
                    for text in texts
                )
            else:
                found = tuple([self.ground.folded(text, form.collation) for text in texts])
        self._texts[form.number] = found
        return found
