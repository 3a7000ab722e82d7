"""Reads patterns of scoped switching; every fault of a text is told, with the fields and words there are."""

from __future__ import annotations

from typing import Any, Final, cast

from posthouse.matching.language.pattern.literal import ValueReader
from posthouse.matching.language.pattern.pattern import FILE, Class, Pattern, Role
from posthouse.matching.language.pattern.word import (
    CLASSES,
    CLAUSES,
    LEXICON,
    MAX_LENGTH,
    MAX_PATTERNS,
    MAX_PRIORITY,
    MEANT,
    NAMES,
    ROLES,
    STARTS,
    Clause,
)
from posthouse.matching.language.reader import END, Problem, Reader, Stumble, UnreadableText, nearest_word

_TYPES: Final = frozenset({FILE})
_JOINTS: Final = frozenset({"and", "or", "&&", "||"})


def parse_pattern(text: str, *, types: frozenset[str] = _TYPES) -> Pattern:
    """Read one pattern, or raise UnreadableText with all its faults; `types` are the scope types beside the session."""
    found = _read(text, types, most=1)
    return found[0]


def parse_patterns(text: str, *, types: frozenset[str] = _TYPES) -> tuple[Pattern, ...]:
    """Read any number of patterns, or raise UnreadableText with all their faults."""
    return tuple(_read(text, types, most=MAX_PATTERNS))


def _read(text: str, types: frozenset[str], *, most: int) -> list[Pattern]:
    if len(text) > MAX_LENGTH:
        raise UnreadableText((Problem(1, 1, f"patterns of at most {MAX_LENGTH:,} characters", f"{len(text):,}"),))
    return _PatternReader(text, types).read(most)


class _PatternReader:
    """Reads one text; a field that cannot be read is skipped, and reading goes on at the next one."""

    def __init__(self, text: str, types: frozenset[str]) -> None:
        self._reader: Final = Reader(text, LEXICON)
        self._value: Final = ValueReader(self._reader, types)

    def read(self, most: int) -> list[Pattern]:
        reader = self._reader
        patterns: list[Pattern] = []
        while reader.token.kind != END or (most == 1 and not patterns):
            if len(patterns) >= most:
                reader.note("the end of the pattern" if most == 1 else f"at most {most:,} patterns", hint=None)
                break
            patterns.append(self._read_pattern())
        reader.finish()
        return patterns

    def _read_pattern(self) -> Pattern:
        reader = self._reader
        try:
            role = self._read_role()
        except Stumble:
            role = "observe"
            self._skip()
        # `Any`: the fields of a pattern, as `CLAUSES` name them.
        fields: dict[str, Any] = {"classes": self._read_classes()}
        while reader.token.kind != END and not self._begins_pattern():
            try:
                self._read_clause(fields)
            except Stumble:
                self._skip()
        return Pattern(role=role, **fields)

    def _begins_pattern(self) -> bool:
        return self._reader.token.kind == "word" and self._reader.token.text in ROLES

    def _skip(self) -> None:
        """Go on at the next field or pattern."""
        reader = self._reader
        told = len(reader.problems)
        while reader.token.kind != END and not (reader.token.kind == "word" and reader.token.text in STARTS):
            reader.take()
        # What is wrong within what is skipped follows from what was told already.
        del reader.problems[told:]

    def _read_role(self) -> Role:
        reader = self._reader
        if not self._begins_pattern():
            hint = "a pattern begins with it" if reader.token.text in (*STARTS, *CLASSES) else None
            reader.stumble("handle, handle-push, handle-rotate or observe", hint=hint or self._nearest(ROLES))
        return cast("Role", reader.take().text)

    def _read_classes(self) -> tuple[Class, ...]:
        reader = self._reader
        classes: list[Class] = []
        while (word := reader.token.text) in CLASSES and reader.token.kind == "word":
            if word in classes:
                reader.note(f"{word} once")
            classes.append(word)
            reader.take()
            if not reader.accept(","):
                break
            if reader.token.text not in CLASSES:
                reader.note("request or notice", hint=self._nearest(CLASSES))
                break
        return tuple(dict.fromkeys(classes))

    # --- fields -------------------------------------------------------------------------------------------------------

    def _read_clause(self, fields: dict[str, Any]) -> None:
        reader = self._reader
        clause = self._find_clause()
        start = reader.token.start
        for _ in clause.words:
            reader.take()
        if clause.field in fields:
            reader.note(f"{clause.name} once", found="it a second time", at=start, length=len(clause.name))
        fields[clause.field] = self._read_field(clause)
        if reader.token.kind != END and not (reader.token.kind == "word" and reader.token.text in STARTS):
            self._stumble_behind(clause)

    def _find_clause(self) -> Clause:
        reader = self._reader
        if reader.token.kind == "word":
            fitting = [one for one in CLAUSES if reader.token.text == one.words[0] and reader.stands(*one.words)]
            if fitting:
                return max(fitting, key=lambda clause: len(clause.words))
        return reader.stumble(f"a field of a pattern: {', '.join(NAMES)}", hint=self._hint_at_field())

    def _hint_at_field(self) -> str | None:
        word, before = self._reader.token.text, self._reader.before.text
        if before in CLASSES and (word in CLASSES or word in _JOINTS):
            return "request and notice have a comma between them"
        if f"{before}-{word}" in ROLES:
            return f"did you mean {before}-{word}?"
        if word.lower() in CLASSES and self._reader.token.kind == "word":
            is_late = word in CLASSES and before not in ROLES
            return f"{word} stands behind handle or observe" if is_late else f"did you mean {word.lower()}?"
        if word in _JOINTS:
            return "fields stand side by side, values have commas between them"
        return f"did you mean {MEANT[word.lower()]}?" if word.lower() in MEANT else self._nearest((*NAMES, *ROLES))

    def _read_field(self, clause: Clause) -> object:
        value = self._value
        if clause.kind == "texts":
            return value.listed(value.text, clause.name)
        if clause.kind == "words":
            return value.listed(lambda: value.word(clause.known), clause.name)
        if clause.kind == "scopes":
            return value.scopes()
        if clause.kind == "arguments":
            return value.arguments()
        if clause.kind == "contexts":
            return value.listed(value.context, clause.name)
        return value.whole("a priority", MAX_PRIORITY)

    def _stumble_behind(self, clause: Clause) -> None:
        reader = self._reader
        hint = self._hint_at_field()
        if reader.token.kind == "text" or reader.token.text in clause.known:
            hint = "several values have commas between them"
        joint = "or, " if clause.kind == "scopes" else "" if clause.kind in ("priority", "arguments") else "a comma, "
        reader.stumble(f"{joint}another field or the end of the pattern", hint=hint)

    def _nearest(self, known: tuple[str, ...]) -> str | None:
        return nearest_word(self._reader.token.text, known) if self._reader.token.kind == "word" else None
