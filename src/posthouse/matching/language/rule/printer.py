"""Writes rules in their one canonical form: the same however a rule was typed, and pleasant to compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from posthouse.matching.language.rule.action import print_action
from posthouse.matching.language.rule.layout import Layout, comment
from posthouse.matching.language.rule.literal import print_constant, print_moment, print_text
from posthouse.matching.language.rule.phrase import print_part
from posthouse.matching.language.rule.rule import Example, Note, Rule, RuleFile, WordSource

_INDENT: Final = "    "


def print_rules(file: RuleFile) -> str:
    """Write a whole text of rules."""
    blocks = ["\n".join(_item_lines(item)) for item in file.items]
    if file.notes:
        blocks.append("\n".join(comment("", note.text) for note in file.notes))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def print_rule(rule: Rule) -> str:
    """Write one rule."""
    return "\n".join(_item_lines(rule)) + "\n"


def _item_lines(item: Rule | WordSource) -> list[str]:
    return list(_rule_lines(item) if isinstance(item, Rule) else _words_lines(item))


class _Notes:
    """The comments of one item, by their element."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        self._notes: Final = notes

    def around(self, anchor: str, lines: list[str]) -> Iterator[str]:
        """Give the lines of an element with its comments before it and behind its first line."""
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        trailing = ""
        for note in self._notes:
            if note.anchor == anchor:
                if note.is_trailing:
                    trailing = note.text
                else:
                    yield f"{indent}{comment('', note.text)}"
        has_trailing = any(note.anchor == anchor and note.is_trailing for note in self._notes)
        last = len(lines) - 1
        for place, line in enumerate(lines):
            yield comment(line, trailing) if has_trailing and place == last else line

    def of_leaves(self) -> dict[int, tuple[Note, ...]]:
        """Give the comments of the condition's leaves, by their number."""
        found: dict[int, list[Note]] = {}
        for note in self._notes:
            kind, _, number = note.anchor.partition(" ")
            if kind == "leaf":
                found.setdefault(int(number), []).append(note)
        return {number: tuple(notes) for number, notes in found.items()}


def _rule_lines(rule: Rule) -> Iterator[str]:
    notes = _Notes(rule.notes)
    yield from notes.around("rule", [f"rule {print_text(rule.name)}"])
    for word, line in _clauses(rule):
        yield from notes.around(f"clause {word}", [f"{_INDENT}{line}"])
    condition = Layout(notes.of_leaves()).condition(rule.condition)
    first, *others = condition
    yield from notes.around("if", [f"IF {first}"])
    yield from (f"{_INDENT}{line}" for line in others)
    for number, action in enumerate(rule.actions):
        head = "THEN " if number == 0 else f"{_INDENT}AND "
        lines = list(notes.around(f"action {number}", [f"{head}{print_action(action)}"]))
        yield from notes.around("then", lines) if number == 0 else lines
    for number, example in enumerate(rule.examples):
        yield from _example_lines(example, number, notes)


def _clauses(rule: Rule) -> Iterator[tuple[str, str]]:
    if not rule.is_enabled:
        yield "disabled", "disabled"
    for word, text in (("reason", rule.reason), ("policy", rule.policy), ("owner", rule.owner)):
        if text is not None:
            yield word, f"{word} {print_text(text)}"
    if rule.checkpoints:
        yield "checkpoint", f"checkpoint {', '.join(rule.checkpoints)}"
    if rule.scope != "message":
        yield "scope", f"scope {rule.scope}"
    if rule.priority is not None:
        yield "priority", f"priority {rule.priority}"
    if rule.on_unknown is not None:
        yield "on", f"on unknown {rule.on_unknown}"
    if rule.tell_sender is not None:
        yield "tell", f"tell sender {rule.tell_sender}"
    bounds = [
        f"{word} {print_moment(moment)}"
        for word, moment in (("from", rule.valid_from), ("until", rule.valid_until))
        if moment is not None
    ]
    if bounds:
        yield "valid", f"valid {' '.join(bounds)}"
    if rule.sample is not None:
        yield "sample", f"sample {repr(float(rule.sample)).removesuffix('.0')} %"


def _example_lines(example: Example, number: int, notes: _Notes) -> Iterator[str]:
    head = f"EXAMPLE {example.expected}"
    if example.title is not None:
        head += f" {print_text(example.title)}"
    if example.file is not None:
        head += f" file {print_text(example.file)}"
    yield from notes.around(f"example {number}", [head])
    for place, fact in enumerate(example.facts):
        line = f"{_INDENT}{print_part(fact.part)} = {', '.join(map(print_constant, fact.values))}"
        yield from notes.around(f"fact {number}.{place}", [line])


def _words_lines(source: WordSource) -> Iterator[str]:
    head = f"words {print_text(source.name)}"
    if source.file is not None:
        lines = [f"{head} from {print_text(source.file)}"]
    else:
        items = list(map(print_text, source.words))
        lines = [f"{head} =", *(f"{_INDENT}{item}," for item in items[:-1]), f"{_INDENT}{items[-1]}"]
    yield from _Notes(source.notes).around("rule", lines)
