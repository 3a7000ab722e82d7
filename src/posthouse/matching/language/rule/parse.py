"""Reads a whole text of rules: names, clauses, IF, THEN, examples, named lists; all its faults are told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from posthouse.matching.language.reader import END, Reader, Stumble, nearest_word
from posthouse.matching.language.rule.action import FORMS, ActionReader
from posthouse.matching.language.rule.clause import ORDER, Fields, read_clause
from posthouse.matching.language.rule.condition import ConditionReader
from posthouse.matching.language.rule.example import SETTABLE
from posthouse.matching.language.rule.leaf import LeafReader
from posthouse.matching.language.rule.literal import LEXICON, quote_hint, read_constant, read_number, read_text
from posthouse.matching.language.rule.rule import Action, Example, Expected, Fact, Rule, RuleFile, WordSource
from posthouse.matching.language.rule.span import Span, Spans
from posthouse.matching.language.rule.word import KEYWORDS
from posthouse.matching.predicate.node import Constant, Fixed, Part, Predicate
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.catalogue import ALIASES, CATALOGUE
from posthouse.matching.value.type import are_comparable

MAX_RULES: Final = 100_000
MAX_NAME: Final = 255
_STARTS: Final = frozenset({"rule", "words"})
_WITHIN_RULE: Final = frozenset({*ORDER, "if", "then", "example"})
_TWO_WORDS: Final = {"on": "on unknown", "tell": "tell sender"}

Places = Mapping[tuple[int, str], tuple[int, int]]
"""Line and column by item and element: `rule`, `clause priority`, `if`, `action 0`."""


def parse_rules(text: str) -> RuleFile:
    """Read a text of rules, or raise UnreadableText with all its faults."""
    return _FileReader(text).read()


def parse_placed(text: str) -> tuple[RuleFile, Places]:
    """Read a text of rules as `parse_rules` does, and say where its elements stand."""
    reader = _FileReader(text)
    return reader.read(), reader.places()


def parse_condition(text: str) -> Predicate:
    """Read a condition alone, as it stands between IF and THEN, or raise UnreadableText with all its faults."""
    reader = Reader(text, LEXICON)
    condition: Predicate = Fixed("unknown")
    try:
        condition = ConditionReader(reader, LeafReader(reader)).read()
        if reader.token.kind != END:
            reader.note(
                "AND, OR or the end of the condition", hint=nearest_word(reader.token.text, ("and", "or", "xor"))
            )
    except Stumble:
        pass
    reader.finish()
    return condition


class _FileReader:
    """Reads one text; an element that cannot be read is skipped, and reading goes on at the next one."""

    def __init__(self, text: str) -> None:
        self._reader: Final = Reader(text, LEXICON)
        self._actions: Final = ActionReader(self._reader)
        self._leaf: Final = LeafReader(self._reader)
        self._spans: Final = Spans()
        self._has_stumbled = False
        """In this rule: what is missing behind a fault is perhaps there, and not told as another one."""
        self._names: Final[dict[tuple[str, str], int]] = {}

    def read(self) -> RuleFile:
        reader = self._reader
        items: list[Rule | WordSource] = []
        while reader.token.kind != END:
            self._spans.item = len(items)
            item = self._guard(self._read_item, _STARTS)
            if item is not None:
                items.append(item)
            if len(items) > MAX_RULES:
                reader.note(f"at most {MAX_RULES:,} rules and lists in one text", found="more")
                break
        reader.finish()
        notes = self._spans.share(reader.all_comments(), len(items))
        noted = tuple(item.with_notes(notes.get(number, ())) for number, item in enumerate(items))
        return RuleFile(noted, notes.get(len(items), ()))

    def places(self) -> Places:
        """Say where the elements stand that were read."""
        return {key: self._reader.place(start) for key, start in self._spans.starts().items()}

    # --- going on -----------------------------------------------------------------------------------------------------

    # `Any`: what is read is handed through.
    def _guard(self, read: Callable[[], Any], stops: frozenset[str]) -> Any:
        """Read something; where it stumbles, go on at the next of these words that begins a line."""
        try:
            return read()
        except Stumble:
            self._has_stumbled = True
            self._skip(stops | _STARTS)
            return None

    def _skip(self, stops: frozenset[str]) -> None:
        reader = self._reader
        while reader.token.kind != END:
            word = reader.token.text.lower()
            if word in stops and reader.token.kind == "word" and (word in ("if", "then") or reader.begins_line()):
                return
            reader.take()

    def _read_item(self) -> Rule | WordSource:
        reader = self._reader
        if reader.stands("rule"):
            return self._read_rule()
        if reader.stands("words"):
            return self._read_words()
        hint = nearest_word(reader.token.text, ("rule", "words"))
        if reader.stands("if") or reader.stands("then"):
            hint = 'a rule begins with its name, such as rule "big mail"'
        return reader.stumble('rule "name" or words "name"', hint=hint)

    # --- rules --------------------------------------------------------------------------------------------------------

    def _read_rule(self) -> Rule:
        reader = self._reader
        self._has_stumbled = False
        begin = reader.take()
        name = self._read_name("rule")
        self._spans.add("rule", Span(begin.start, reader.before.end))
        fields: Fields = {}
        self._guard(lambda: self._read_clauses(fields), _WITHIN_RULE)
        while reader.token.text.lower() in ORDER:
            self._guard(lambda: self._read_clauses(fields), _WITHIN_RULE)
        condition = self._guard(self._read_condition, _WITHIN_RULE) or Fixed("unknown")
        actions = self._guard(self._read_actions, _WITHIN_RULE) or ()
        examples: list[Example] = []
        while reader.stands("example"):
            example = self._guard(lambda: self._read_example(len(examples)), frozenset({"example"}))
            if example is not None:
                examples.append(example)
        if reader.token.kind != END and not self._starts_item():
            self._stumble_behind()
        return Rule(name=name, condition=condition, actions=actions, examples=tuple(examples), **fields)

    def _starts_item(self) -> bool:
        return self._reader.token.kind == "word" and self._reader.token.text.lower() in _STARTS

    def _stumble_behind(self) -> None:
        reader = self._reader
        word = reader.token.text.lower()
        if word in ORDER:
            reader.stumble("EXAMPLE, rule or the end of the text", hint=f"{word} stands before IF")
        hint = nearest_word(word, ("rule", "words", "example"))
        if word in FORMS:
            hint = "actions are joined by AND"
        elif reader.token.text == ",":
            hint = "this action takes one name" if reader.before.kind == "text" else "actions are joined by AND"
        reader.stumble("AND and another action, EXAMPLE, rule or the end of the text", hint=hint)

    def _read_name(self, kind: str) -> str:
        reader = self._reader
        if reader.token.kind != "text":
            word = reader.token.text[:40]
            reader.stumble(f"the name of the {'list' if kind == 'words' else 'rule'} in quotes",
                           hint=f'write {kind} "{word}"' if reader.token.kind == "word" else None)  # fmt: skip
        token = reader.token
        name = read_text(token.text)
        line, _ = reader.place(token.start)
        if not name.strip() or len(name) > MAX_NAME:
            found = f"{len(name)}" if name.strip() else "an empty one"
            reader.note(f"a name of 1 to {MAX_NAME} characters", found=found)
        earlier = self._names.setdefault((kind, name), line)
        if earlier != line:
            reader.note("a name that no other one has", hint=f"it stands in line {earlier} already")
        reader.take()
        return name

    def _read_clauses(self, fields: Fields) -> None:
        reader = self._reader
        while not reader.stands("if"):
            start = reader.token
            word = start.text.lower()
            if word not in ORDER or start.kind != "word":
                known = ", ".join(_TWO_WORDS.get(name, name) for name in ORDER)
                hint = "did you mean IF?" if word in ("when", "where", "condition") else None
                reader.stumble(f"IF and a condition, or {known}", hint=hint or nearest_word(start.text, (*ORDER, "IF")))
            read = read_clause(reader)
            if set(read) & set(fields):
                reader.note(f"{word} once", found="it a second time", at=start.start, length=len(word))
            fields |= read
            self._spans.add(f"clause {word}", Span(start.start, reader.before.end))

    def _read_condition(self) -> Predicate:
        reader = self._reader
        self._spans.add("if", Span(reader.token.start, reader.token.end))
        self._expect("if", "IF and a condition")
        self._leaf.within.clear()
        condition_reader = ConditionReader(reader, self._leaf)
        condition = condition_reader.read()
        for number, (start, end) in enumerate(condition_reader.leaf_spans(condition)):
            self._spans.add(f"leaf {number}", Span(start, end))
        if not reader.stands("then"):
            word = reader.token.text
            hint = nearest_word(word, ("and", "or", "xor", "then")) if reader.token.kind == "word" else None
            hint = "did you mean THEN?" if word.lower() in ("do", "do:", "action") else hint
            hint = "conditions are joined by AND and OR" if word in (",", "&", "|", ";") else hint
            hint = "no parenthesis is open" if word == ")" else hint
            hint = "a number has no commas" if word == "," and reader.before.kind == "number" else hint
            reader.note("AND, OR or THEN", hint=hint)
            raise Stumble
        return condition

    def _expect(self, word: str, expected: str) -> None:
        if self._has_stumbled and not self._reader.stands(word):
            raise Stumble
        self._reader.expect(word, expected)

    def _read_actions(self) -> tuple[Action, ...]:
        reader = self._reader
        self._spans.add("then", Span(reader.token.start, reader.token.end))
        self._expect("then", "THEN and an action")
        actions: list[Action] = []
        while True:
            start = reader.token.start
            actions.append(self._actions.read())
            self._spans.add(f"action {len(actions) - 1}", Span(start, reader.before.end))
            if not reader.accept("and"):
                return tuple(actions)

    # --- examples -----------------------------------------------------------------------------------------------------

    def _read_example(self, number: int) -> Example:
        reader = self._reader
        start = reader.take()
        expected = self._read_expected()
        title = read_text(reader.take().text) if reader.token.kind == "text" else None
        file = None
        if reader.accept("file"):
            if reader.token.kind != "text":
                reader.stumble("the name of a file in quotes")
            file = read_text(reader.take().text)
        self._spans.add(f"example {number}", Span(start.start, reader.before.end))
        facts: list[Fact] = []
        while self._begins_fact():
            begin = reader.token.start
            facts.append(self._read_fact())
            self._spans.add(f"fact {number}.{len(facts) - 1}", Span(begin, reader.before.end))
        if not facts and file is None:
            reader.note('something about the message, such as message.size = 2 MB, or file "…"')
        return Example(expected, title, file, tuple(facts))

    def _begins_fact(self) -> bool:
        token = self._reader.token
        word = token.text.lower()
        if token.kind != "word" or word in KEYWORDS:
            return False
        is_misspelt = "." not in word and nearest_word(word, ("rule", "example")) is not None
        return word in CATALOGUE or word in ALIASES or not is_misspelt

    def _read_expected(self) -> Expected:
        reader = self._reader
        if reader.accept("match"):
            return "match"
        if reader.accept("no", "match"):
            return "no match"
        if reader.accept("unknown"):
            return "unknown"
        hint = nearest_word(reader.token.text, ("match", "unknown"))
        return reader.stumble("match, no match or unknown", hint=hint)

    def _read_fact(self) -> Fact:
        reader = self._reader
        start = reader.token.start
        part = self._leaf.read_part()
        if part.name not in SETTABLE:
            hint = nearest_word(part.name, SETTABLE)
            reader.note(
                "a part that an example can say", found=f"{part.name}, which follows from others", at=start, hint=hint
            )
        if not reader.accept("=") and not reader.accept("is"):
            reader.stumble("= and a value")
        values: list[Constant] = []
        while True:
            values.append(self._read_value(part))
            if not reader.accept(","):
                break
        entry = CATALOGUE.get(part.name)
        if entry is not None and not entry.is_many and len(values) > 1:
            reader.note(f"one value, as {part.name} has no more", found=f"{len(values)}", at=reader.before.start)
        return Fact(part, tuple(values))

    def _read_value(self, part: Part) -> Constant:
        reader = self._reader
        start = reader.token
        if reader.accept("-") and reader.token.kind == "number":
            constant: Constant | None = read_number(reader, is_negative=True)
        else:
            constant = read_constant(reader)
        if constant is None:
            reader.stumble("a value", hint=quote_hint(start))
        kind = static_type(constant)
        if kind != "bytes" and not are_comparable(static_type(part), kind):
            reader.note(f"a value that {part.name} can have", found=f"a {kind}", at=start.start)
        return constant

    # --- named lists --------------------------------------------------------------------------------------------------

    def _read_words(self) -> WordSource:
        reader = self._reader
        begin = reader.take()
        name = self._read_name("words")
        if reader.accept("from"):
            if reader.token.kind != "text":
                reader.stumble("the name of a file in quotes")
            source = WordSource(name, file=read_text(reader.take().text))
        elif reader.accept("=") or reader.accept("are"):
            source = WordSource(name, words=self._read_list())
        else:
            reader.stumble('from "file", or = and a list', hint='as in words "partners" from "partners.txt"')
        self._spans.add("rule", Span(begin.start, reader.before.end))
        if reader.token.kind != END and not self._starts_item():
            reader.stumble("rule, words or the end of the text")
        return source

    def _read_list(self) -> tuple[str, ...]:
        reader = self._reader
        words: list[str] = []
        while True:
            if reader.token.kind != "text":
                reader.stumble("a word in quotes", hint=quote_hint(reader.token))
            words.append(read_text(reader.take().text))
            if not reader.accept(","):
                return tuple(words)
