"""Reads the clauses that stand between the name of a rule and its IF: what each is and what it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

from posthouse.matching.language.reader import Reader, nearest_word
from posthouse.matching.language.rule.literal import read_moment, read_text
from posthouse.matching.language.rule.rule import Checkpoint, Reach
from posthouse.matching.predicate.node import Moment

MAX_PRIORITY: Final = 1_000
ORDER: Final = (
    "disabled", "reason", "policy", "owner", "checkpoint", "scope", "priority", "on", "tell", "valid", "sample",
)  # fmt: skip
"""The words clauses begin with, in the order they are written."""

# The fields of a rule and their values, which are as many types as there are fields.
Fields = dict[str, Any]


def read_clause(reader: Reader) -> Fields:
    """Read one clause; the reader's token stands at its word."""
    return _READERS[reader.take().text.lower()](reader)


def _read_disabled(_: Reader) -> Fields:
    return {"is_enabled": False}


def _text(field: str, what: str) -> Callable[[Reader], Fields]:
    def read(reader: Reader) -> Fields:
        if reader.token.kind != "text":
            reader.stumble(f"{what} in quotes")
        return {field: read_text(reader.take().text)}

    return read


def _read_checkpoint(reader: Reader) -> Fields:
    known: tuple[Checkpoint, ...] = get_args(Checkpoint)
    found: list[Checkpoint] = []
    while True:
        word = reader.token.text.lower()
        checkpoint = next((name for name in known if name == word), None)
        if checkpoint is None:
            reader.stumble(", ".join(known[:-1]) + f" or {known[-1]}", hint=nearest_word(word, known))
        if checkpoint in found:
            reader.note(f"{word} once")
        found.append(checkpoint)
        reader.take()
        if not reader.accept(","):
            return {"checkpoints": tuple(found)}


def _read_priority(reader: Reader) -> Fields:
    token = reader.token
    if token.kind != "number" or not token.text.isdigit() or len(token.text) > 4 or int(token.text) > MAX_PRIORITY:
        reader.stumble(f"a whole number from 0 to {MAX_PRIORITY}")
    return {"priority": int(reader.take().text)}


def _read_on_unknown(reader: Reader) -> Fields:
    reader.expect("unknown", "unknown behind on")
    for words, meaning in ((("match",), "match"), (("no", "match"), "no match"), (("gate",), "gate")):
        if reader.accept(*words):
            return {"on_unknown": meaning}
    return reader.stumble("match, no match or gate", hint=nearest_word(reader.token.text, ("match", "gate")))


def _read_scope(reader: Reader) -> Fields:
    for scope in get_args(Reach):
        if reader.accept(scope):
            return {"scope": scope}
    return reader.stumble("message or recipient", hint=nearest_word(reader.token.text, get_args(Reach)))


def _read_tell(reader: Reader) -> Fields:
    reader.expect("sender", "sender behind tell")
    if reader.accept("with", "reason"):
        return {"tell_sender": "with reason"}
    for told in ("yes", "no"):
        if reader.accept(told):
            return {"tell_sender": told}
    return reader.stumble("yes, no or with reason", hint=nearest_word(reader.token.text, ("yes", "no", "with")))


def _read_valid(reader: Reader) -> Fields:
    start = reader.before
    fields: Fields = {}
    if reader.accept("from"):
        fields["valid_from"] = _read_day(reader)
    if reader.accept("until"):
        fields["valid_until"] = _read_day(reader)
    if not fields:
        reader.stumble("from or until and a day", hint="as in valid from 2026-01-01 until 2026-12-31")
    first, last = fields.get("valid_from"), fields.get("valid_until")
    if first is not None and last is not None and first.type == last.type and first.value > last.value:
        reader.note("an end behind its beginning", found="one before it", at=start.start, length=len("valid"))
    return fields


def _read_day(reader: Reader) -> Moment:
    if reader.token.kind not in ("date", "instant"):
        reader.stumble("a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
    return read_moment(reader)


def _read_sample(reader: Reader) -> Fields:
    token = reader.token
    if token.kind != "number" or len(token.text) > 20 or not 0 < float(token.text) <= 100:
        reader.stumble("a percentage above 0 and up to 100, such as 10 %")
    reader.take()
    reader.expect("%", "% behind the number")
    return {"sample": float(token.text)}


_READERS: Final[dict[str, Callable[[Reader], Fields]]] = {
    "disabled": _read_disabled,
    "reason": _text("reason", "a reason"),
    "policy": _text("policy", "the name of a policy"),
    "owner": _text("owner", "the name of an owner"),
    "checkpoint": _read_checkpoint,
    "scope": _read_scope,
    "priority": _read_priority,
    "on": _read_on_unknown,
    "tell": _read_tell,
    "valid": _read_valid,
    "sample": _read_sample,
}
