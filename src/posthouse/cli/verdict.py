"""What a rule says of a message, in plain words with the words that decided it marked, or as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from posthouse.cli.printer import clean, plural
from posthouse.matching.language.rule.action import print_action
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Judged, Place
from posthouse.matching.predicate.node import Moment
from posthouse.matching.trial.example import SAID
from posthouse.matching.trial.reason import Condition, Verdict, takes_unknown_for
from posthouse.matching.value.catalogue import read_part
from posthouse.matching.value.record import Record

_SIGNS: Final = {TRUE: "yes", FALSE: "no", UNKNOWN: "unknown"}
_AROUND: Final = 30
"""Characters shown before and behind what is marked."""
_MOST_SHOWN: Final = 3
_DAY: Final = 86_400_000_000


class Marks:
    """How what decided is marked: in colour on a terminal, in brackets elsewhere."""

    def __init__(self, *, in_colour: bool) -> None:
        self.begin: Final = "\x1b[7m" if in_colour else "["
        self.end: Final = "\x1b[0m" if in_colour else "]"


def tell(verdict: Verdict, record: Record, *, marks: Marks) -> Iterator[str]:
    """Give the lines for one rule."""
    yield f"{clean(verdict.rule.name)}: {_outcome(verdict)}"
    if verdict.fires:
        yield f"  then     {clean(' AND '.join(map(print_action, verdict.rule.actions)))}"
    for limit in _limits(verdict, record):
        yield f"  but      {limit}"
    yield from tell_conditions(verdict.conditions, record, marks=marks)


def tell_conditions(conditions: Sequence[Condition], record: Record, *, marks: Marks) -> Iterator[str]:
    """Give the lines for the conditions that decided."""
    for condition in conditions:
        if condition.decides:
            yield f"  {_SIGNS[condition.truth]:8} {_written(condition)}"
            for line in _shown(condition.judged, record, marks):
                yield f"             {line}"
    others = sum(not condition.decides for condition in conditions)
    if others:
        yield f"  ({plural(others, 'condition')} more changed nothing)"


def _outcome(verdict: Verdict) -> str:
    if verdict.truth is TRUE:
        return "matches"
    if verdict.truth is FALSE:
        return "does not match"
    takes = takes_unknown_for(verdict.rule)
    meant = {"match": "a match", "no match": "no match", "gate": "a reason to gate it"}[takes]
    return f"unknown, which it takes for {meant}"


def _limits(verdict: Verdict, record: Record) -> Iterator[str]:
    """Say what keeps a rule from being applied though it fires."""
    rule = verdict.rule
    if not verdict.fires:
        return
    if not rule.is_enabled:
        yield "it is disabled"
    if rule.sample is not None and rule.sample < 100:
        yield f"it is applied to {rule.sample:g} % of the messages only"
    now = record.context.now
    if now is not None:
        if rule.valid_from is not None and now < _instant(rule.valid_from):
            yield "it is not valid yet"
        if rule.valid_until is not None and now >= _instant(rule.valid_until, is_end=True):
            yield "it is not valid any more"
    if rule.checkpoints:
        yield f"only at {', '.join(rule.checkpoints)}"


def _instant(moment: Moment, *, is_end: bool = False) -> int:
    return moment.value if moment.type == "instant" else (moment.value + is_end) * _DAY


def _written(condition: Condition) -> str:
    text = clean(condition.text)
    return f"{text}, in {condition.beneath}" if condition.beneath else text


def _shown(judged: Judged, record: Record, marks: Marks) -> Iterator[str]:
    """Show what was looked at: the reason, the places, the values, the recipients."""
    if judged.why:
        yield clean(judged.why)
    elif judged.places:
        shown = judged.places[:_MOST_SHOWN]
        yield from (line for place in shown if (line := _excerpt(place, record, marks)))
        if len(judged.places) > len(shown):
            yield f"and {len(judged.places) - len(shown)} more"
    elif judged.found:
        yield f"found {clean(', '.join(judged.found))}"
    if judged.recipients and judged.truth is TRUE:
        yield f"for {clean(', '.join(addresses(judged.recipients, record)))}"


def addresses(places: Sequence[int], record: Record) -> list[str]:
    """Give the addresses of recipients by their places."""
    return [record.recipients[place].address for place in places]


def _excerpt(place: Place, record: Record, marks: Marks) -> str | None:
    """Give the text around a place, with the place marked."""
    name, _, argument = place.part.partition("(")
    values = read_part(record, name, argument=argument.removesuffix(")") or None).values
    text = values[place.value] if place.value < len(values) else None
    if not isinstance(text, str):
        return None
    begin, end = max(0, place.start - _AROUND), min(len(text), place.end + _AROUND)
    marked = text[place.start : place.end]
    if len(marked) > 2 * _AROUND:
        marked = f"{marked[:_AROUND]}…{marked[-_AROUND:]}"
    before = ("…" if begin else "") + text[begin : place.start]
    behind = text[place.end : end] + ("…" if end < len(text) else "")
    return f"{_one_line(before)}{marks.begin}{_one_line(marked)}{marks.end}{_one_line(behind).rstrip()}"


def _one_line(text: str) -> str:
    return clean(text.replace("\r", " ").replace("\n", " ").replace("\t", " "))


# `Any`: the members of a JSON object, here and below.
def document(verdict: Verdict, record: Record) -> dict[str, Any]:
    """Give what a rule says as a document."""
    recipients = verdict.match.recipients
    return {
        "rule": verdict.rule.name,
        "verdict": SAID[verdict.truth],
        "fires": verdict.fires,
        "but": list(_limits(verdict, record)),
        "actions": [print_action(action) for action in verdict.rule.actions],
        "recipients": None if recipients is None else addresses(recipients, record),
        "conditions": [condition_document(condition, record) for condition in verdict.conditions],
    }


def condition_document(condition: Condition, record: Record) -> dict[str, Any]:
    """Give what became of one condition as a document."""
    judged = condition.judged
    return {
        "condition": condition.text,
        "verdict": {TRUE: "true", FALSE: "false", UNKNOWN: "unknown"}[condition.truth],
        "decides": condition.decides,
        "within": condition.beneath or None,
        "found": list(judged.found),
        "why": judged.why or None,
        "recipients": None if judged.recipients is None else addresses(judged.recipients, record),
        "places": [
            {"part": place.part, "value": place.value, "start": place.start, "end": place.end}
            for place in judged.places
        ],
    }
