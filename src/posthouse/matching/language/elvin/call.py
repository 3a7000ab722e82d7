"""Reads the functions of subscriptions: each with its arguments, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from posthouse.matching.language.elvin.fault import (
    COMPLEX_REGEX,
    FEW_ARGUMENTS,
    MANY_ARGUMENTS,
    MISMATCH,
    REGEX,
    UNKNOWN_FUNCTION,
)
from posthouse.matching.language.elvin.literal import is_measure
from posthouse.matching.language.elvin.sheet import Sheet, group_of, is_term, kind_word
from posthouse.matching.language.elvin.word import FUNCTIONS, Called
from posthouse.matching.language.reader import END, Stumble, Token, nearest_word
from posthouse.matching.predicate.node import (
    Boolean,
    Call,
    Compare,
    Constant,
    Constants,
    Exists,
    InList,
    IsType,
    Number,
    Or,
    Part,
    Predicate,
    Search,
    Term,
    Text,
    Texts,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.regex import RefusedPattern, compile_regex, compile_wildcard

Found = Predicate | Term
MAX_STEPS: Final = 200_000
"""Steps of all patterns of one subscription."""
_MEANT: Final = {
    "startswith": "begins-with", "starts-with": "begins-with", "begins_with": "begins-with", "endswith": "ends-with",
    "ends_with": "ends-with", "includes": "contains", "matches": "regex", "match": "regex", "regexp": "regex",
    "like": "wildcard", "glob": "wildcard", "lower": "fold-case", "upper": "fold-case", "tolower": "fold-case",
    "fold_case": "fold-case", "len": "size", "length": "size", "isnan": "nan", "in": "equals", "has": "exists",
    "defined": "exists", "not": "!",
}  # fmt: skip
"""What such functions are called elsewhere."""


class CallReader:
    """Reads one function at a time; `read_figure` reads an argument."""

    def __init__(self, sheet: Sheet, read_figure: Callable[[], Found]) -> None:
        self._sheet: Final = sheet
        self._reader: Final = sheet.reader
        self._read_figure: Final = read_figure
        self._steps = 0
        """Of all patterns so far; each is small enough by itself, but making very many takes long."""

    def read(self, name: Token) -> Found:
        """Read the arguments behind the name that was taken, and give what it is."""
        called = FUNCTIONS.get(name.text)
        if called is None:
            meant = _MEANT.get(name.text.lower())
            hint = f"did you mean {meant}?" if meant else nearest_word(name.text, FUNCTIONS)
            shown = name.text[:40]
            self._sheet.note("a function", code=UNKNOWN_FUNCTION, at=name.start, found=f'"{shown}"', hint=hint)
        arguments = self._read_arguments(called)
        if called is None:
            raise Stumble
        if not self._has_number(called, arguments, name):
            raise Stumble
        found = self._build(called, arguments, name.text)
        self._sheet.put(found, name.start)
        if not is_term(found):
            self._sheet.check_trivial(cast("Predicate", found))
        return found

    def _read_arguments(self, called: Called | None) -> list[Found]:
        reader = self._reader
        begin = reader.token.start
        self._sheet.open()
        arguments: list[Found] = []
        if reader.token.text != ")" or reader.token.kind == "text":
            arguments.append(self._read_figure())
            while reader.token.text == "," and reader.token.kind == "sign":
                reader.take()
                arguments.append(self._read_figure())
        if reader.token.text != ")" or reader.token.kind == "text":
            if called is None:
                raise Stumble
            hint = f"as in {called.form}"
            if reader.token.kind == END:
                hint = self._sheet.still_open(begin)
            self._sheet.stumble(", or )", hint=hint)
        reader.take()
        self._sheet.opened -= 1
        return arguments

    def _has_number(self, called: Called, arguments: list[Found], name: Token) -> bool:
        """Say whether there are as many arguments as there have to be, and note where not."""
        least = 2 if called.kind in ("search", "equals") else 1
        most = least if least == 1 else len(arguments)
        if least <= len(arguments) <= max(most, least):
            return True
        expected = "one argument" if least == 1 else "two arguments or more"
        code = FEW_ARGUMENTS if len(arguments) < least else MANY_ARGUMENTS
        found = f"{len(arguments)} of them" if len(arguments) > 1 else "one" if arguments else "none"
        self._sheet.note(
            f"{expected} in {name.text}(…)", code=code, at=name.start, found=found, hint=f"as in {called.form}"
        )
        return False

    def _build(self, called: Called, arguments: list[Found], name: str) -> Found:
        first, rest = arguments[0], arguments[1:]
        if called.kind in ("type", "exists"):
            part = self._name(first, f"as in {called.form}")
            return Exists(part, called.otherwise) if called.kind == "exists" else IsType(part, called.type)
        if called.kind == "equals":
            return self._build_equals(first, rest)
        term = self._text(first, name)
        if called.kind == "search":
            return Search(called.search, term, self._literals(called, rest), "exact")
        return Call(called.function, term)

    def _name(self, found: Found, hint: str) -> Part:
        if isinstance(found, Part):
            return found
        hint = "a name stands without quotes" if isinstance(found, Text) else hint
        self._sheet.note_of(found, "a name", code=MISMATCH, hint=hint)
        raise Stumble

    def _text(self, found: Found, name: str) -> Term:
        """Give what may be a string."""
        if not is_term(found):
            self._sheet.note_of(found, f"a name or a string in {name}(…)", code=MISMATCH)
            raise Stumble
        term = cast("Term", found)
        if group_of(term) not in ("text", "any"):
            self._sheet.note_of(term, f"a name or a string in {name}(…)", code=MISMATCH)
            raise Stumble
        return term

    def _literals(self, called: Called, rest: list[Found]) -> Texts:
        """Give the strings that are looked for; they are written out, never named."""
        texts: list[str] = []
        for found in rest:
            if not isinstance(found, Text):
                hint = "only the first argument is a name" if isinstance(found, Part) else f"as in {called.form}"
                self._sheet.note_of(found, "a string in quotes", code=MISMATCH, hint=hint)
                continue
            texts.append(found.value)
            try:
                if called.search == "matches":
                    self._steps += compile_regex(found.value, has_case=True).programsize
                elif called.search == "wildcard":
                    self._steps += compile_wildcard(found.value, "exact").programsize
            except RefusedPattern as refused:
                expected, _, what = refused.what.removeprefix("expected ").partition(", found ")
                meant = refused.hint and refused.hint.replace("\\", "\\\\")
                code = COMPLEX_REGEX if "at most" in expected or "memory" in expected else REGEX
                self._sheet.note_of(found, expected, code=code, found=what or "another", hint=meant)
            if self._steps > MAX_STEPS:
                expected = f"patterns of at most {MAX_STEPS:,} steps in one subscription"
                self._sheet.note_of(found, expected, code=COMPLEX_REGEX, found="more")
                self._reader.give_up()
        if len(texts) < len(rest):
            raise Stumble
        return Texts(tuple(texts))

    def _build_equals(self, first: Found, rest: list[Found]) -> Predicate:
        for found in (first, *rest):
            if not is_term(found):
                self._sheet.note_of(found, "a value in equals(…)", code=MISMATCH, hint="conditions do not compare")
                raise Stumble
        term = cast("Term", first)
        values = [self._like(term, cast("Term", found)) for found in rest]
        if all(isinstance(value, Text) for value in values):
            return InList(term, Texts(tuple(cast("Text", value).value for value in values)), "exact")
        if all(isinstance(value, Number | Text) for value in values):
            return InList(term, Constants(tuple(cast("Constant", value) for value in values)), "exact")
        compared = tuple(Compare("=", term, value, "exact") for value in values)
        for one in compared:
            self._sheet.put_like(one, one.right)
        return Or(compared) if len(compared) > 1 else compared[0]

    def _like(self, term: Term, value: Term) -> Term:
        """Give a value as it compares with the first, or note that it never does."""
        groups = {group_of(term), group_of(value)} - {"any"}
        if len(groups) == 2 or "truth" in groups or isinstance(value, Boolean):
            self._sheet.note_of(value, f"{kind_word(group_of(term))} in equals(…)", code=MISMATCH)
            raise Stumble
        kind = static_type(term)
        if is_measure(kind) and isinstance(value, Number) and value.type != "real64":
            return self._sheet.put_like(Number(value.value, "size" if kind == "size" else "duration"), value)
        return value
