"""What made a rule fire, in words for the rule history; looked for in hits only, and kept short."""

from __future__ import annotations

from typing import Final

from posthouse.gate.rulebook import BookRule, RuleBook
from posthouse.matching.engine.single.explain import parts_of
from posthouse.matching.language.rule.phrase import print_part
from posthouse.matching.match import FALSE, UNKNOWN, Judged
from posthouse.matching.trial.reason import judge_condition
from posthouse.matching.value.record import Record

MAX_VALUES: Final = 8
MAX_LETTERS: Final = 160


def values_of(book: RuleBook, rule: BookRule, *, record: Record) -> tuple[str, ...]:
    """Give the values that decided, as `office.stat.queue_length = 812`, or why they are unknown."""
    _, conditions = judge_condition(rule.rule.condition, record, lists=book.lists)
    told = [_told(each.judged) for each in conditions if each.decides and each.truth is not FALSE]
    return tuple(dict.fromkeys(filter(None, told)))[:MAX_VALUES]


def _told(judged: Judged) -> str:
    parts = ", ".join(print_part(part) for part in parts_of(judged.leaf))
    if not parts:
        return ""
    what = f"is unknown: {judged.why}" if judged.truth is UNKNOWN else f"= {', '.join(judged.found) or 'nothing'}"
    text = f"{parts} {what}"
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"
