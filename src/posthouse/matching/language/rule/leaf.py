"""Reads the leaves of a condition: a term, an operator and its value; G-32 of the language in one place."""

from __future__ import annotations

from typing import Final, NoReturn

from posthouse.matching.language.reader import Reader, Stumble, nearest_word
from posthouse.matching.language.rule.literal import WEEKDAYS, quote_hint, read_constant, read_number, read_text
from posthouse.matching.language.rule.term import TermReader, is_name
from posthouse.matching.language.rule.word import (
    COLLATIONS,
    KEYWORDS,
    OFFERED,
    OPERATORS,
    SIGNS,
    SYNONYMS,
    TYPES,
    Operator,
)
from posthouse.matching.predicate.node import (
    Between,
    Compare,
    Comparison,
    Constant,
    Constants,
    Exists,
    InList,
    IsEmpty,
    IsType,
    Leaf,
    Not,
    Part,
    Predicate,
    Quantified,
    Search,
    SearchSign,
    Term,
    Text,
    Texts,
    Under,
    Words,
)
from posthouse.matching.predicate.typing import static_type
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.fold import Collation
from posthouse.matching.value.regex import RefusedPattern, compile_regex, compile_wildcard
from posthouse.matching.value.type import GROUPS

_OPERATOR_WORDS: Final = tuple(dict.fromkeys(word for operator in OPERATORS for word in operator.words[:1]))
_BY_FIRST: Final[dict[str, tuple[Operator, ...]]] = {
    first: tuple(operator for operator in OPERATORS if operator.words[0] == first) for first in _OPERATOR_WORDS
}


class LeafReader:
    """Reads one leaf at a time; `within` says whether one recipient or attachment is being looked at."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader
        self._term: Final = TermReader(reader)
        self.within: Final[set[str]] = set()

    def read(self) -> Predicate | Term:
        """Read a leaf, or the term alone where no operator follows."""
        return self._read_operator(self._term.read())

    def read_from(self, first: Term) -> Predicate | Term:
        """Go on from a term that was read already."""
        return self._read_operator(self._term.read_from(first))

    def read_part(self) -> Part:
        """Read the name of a part."""
        return self._term.read_part()

    def stumble_at_operator(self, term: Term) -> NoReturn:
        """Note that an operator is missing, and offer those that suit the term."""
        kind = static_type(term)
        group = GROUPS.get(kind, "any")
        expected = OFFERED.get("role" if kind == "role" else group, OFFERED["text" if group == "any" else "number"])
        token = self._reader.token
        meant = SYNONYMS.get(token.text.lower())
        if meant is not None:
            hint: str | None = f"did you mean {meant}?"
        elif token.text.lower() == "does":
            hint = "as in does not contain, does not start with, does not match or does not exist"
        else:
            words = ("is", "contains", "starts with", "ends with", "matches", "like", "between")
            hint = nearest_word(token.text, words) if token.text.lower() not in KEYWORDS else None
        self._reader.stumble(expected, hint=hint)

    # --- operators ----------------------------------------------------------------------------------------------------

    def _read_operator(self, term: Term) -> Predicate | Term:
        reader = self._reader
        if reader.token.kind == "sign" and reader.token.text in SIGNS:
            sign = SIGNS[reader.take().text]
            compared = Compare(sign, term, self._term.read(), self._read_collation())  # type: ignore[arg-type]  # as the table
            return self._of_one(compared, term) if sign == "!=" else compared
        operator = self._find_operator()
        if operator is None:
            return term
        for _ in operator.words:
            reader.take()
        leaf = _READERS[operator.kind](self, term, operator)
        return self._negate(leaf, term) if operator.is_negated else leaf

    def _find_operator(self) -> Operator | None:
        token = self._reader.token
        if token.kind != "word":
            return None
        choices = _BY_FIRST.get(token.text.lower(), ())
        return next((operator for operator in choices if self._reader.stands(*operator.words)), None)

    def _negate(self, leaf: Leaf, term: Term) -> Predicate:
        """Give the contrary; of recipients it is meant one at a time, as every condition on them is."""
        if isinstance(leaf, Compare):
            return self._of_one(Compare("!=", leaf.left, leaf.right, leaf.collation), term)
        over = self._single(term)
        return Not(leaf) if over is None else Quantified(over, "any", Not(leaf))  # type: ignore[arg-type]  # one of both

    def _of_one(self, leaf: Compare, term: Term) -> Predicate:
        over = self._single(term)
        return leaf if over is None else Quantified(over, "any", leaf)  # type: ignore[arg-type]  # one of both

    def _single(self, term: Term) -> str | None:
        """Say whose part it is, if that is one of several at which nothing looks one at a time yet."""
        return single_of(term, self.within)

    # --- values -------------------------------------------------------------------------------------------------------

    def _read_compare(self, term: Term, operator: Operator) -> Leaf:
        sign: Comparison = "!=" if operator.sign == "excludes" else "="
        return Compare(sign, term, self._read_value(term), self._read_collation())

    def _read_value(self, term: Term) -> Term:
        token = self._reader.token
        is_text = GROUPS.get(static_type(term)) == "text"
        if token.kind == "word" and is_text and not is_name(token.text):
            constant = read_constant(self._reader)
            if constant is not None:
                return constant
            if token.text.lower() == "or":
                self._stumble_over("a text in quotes", "did you mean is or under?")
            self._reader.stumble("a text in quotes", hint=quote_hint(token))
        if token.kind == "word" and not is_name(token.text) and static_type(term) in ("truth", "weekday"):
            constant = read_constant(self._reader)
            if constant is not None:
                return constant
            if static_type(term) == "truth":
                self._reader.stumble("true or false")
            self._reader.stumble("a day of the week, such as Monday", hint=nearest_word(token.text, WEEKDAYS))
        return self._term.read()

    def _read_search(self, term: Term, operator: Operator) -> Leaf:
        sign: SearchSign = operator.sign  # type: ignore[assignment]  # the table holds nothing else
        begin = self._reader.token.start
        texts = self._read_texts()
        collation = self._read_collation()
        if sign in ("matches", "wildcard") and isinstance(texts, Texts):
            self._check_patterns(sign, texts, collation, begin)
        return Search(sign, term, texts, collation)

    def _check_patterns(self, sign: SearchSign, texts: Texts, collation: Collation, begin: int) -> None:
        for text in texts.values:
            try:
                if sign == "matches":
                    compile_regex(text, has_case=collation in ("cased", "exact"))
                else:
                    compile_wildcard(text, collation)
            except RefusedPattern as refused:
                expected, _, found = refused.what.removeprefix("expected ").partition(", found ")
                length = self._reader.before.end - begin
                self._reader.note(expected, found=found or "another", at=begin, hint=refused.hint, length=length)

    def _read_in(self, term: Term, _: Operator) -> Leaf:
        if self._reader.stands("words"):
            return InList(term, self._read_words(), self._read_collation())
        constants = self._read_list()
        values: Texts | Constants = Constants(constants)
        if all(isinstance(constant, Text) for constant in constants):
            values = Texts(tuple(constant.value for constant in constants if isinstance(constant, Text)))
        return InList(term, values, self._read_collation())

    def _read_under(self, term: Term, _: Operator) -> Leaf:
        return Under(term, self._read_texts(), self._read_collation())

    def _read_between(self, term: Term, _: Operator) -> Leaf:
        low = self._term.read()
        if not self._reader.accept("and"):
            self._stumble_over("and with the upper bound", "as in between 1 MB and 5 MB")
        return Between(term, low, self._term.read())

    def _read_exists(self, term: Term, operator: Operator) -> Leaf:
        return Exists(term, "unknown" if operator.sign == "must" else "false")

    def _read_empty(self, term: Term, _: Operator) -> Leaf:
        return IsEmpty(term)

    def _read_type(self, term: Term, _: Operator) -> Leaf:
        token = self._reader.token
        found = next((kind for kind in TYPES if kind == token.text.lower()), None)
        if found is None:
            self._reader.stumble(f"{', '.join(TYPES[:-1])} or {TYPES[-1]}")
        self._reader.take()
        return IsType(term, found)

    def _stumble_over(self, expected: str, hint: str) -> NoReturn:
        """Note a fault at a word that would be taken for the beginning of the next condition."""
        self._reader.note(expected, hint=hint)
        if self._reader.token.text.lower() in ("or", "xor"):
            self._reader.take()
        raise Stumble

    # --- lists --------------------------------------------------------------------------------------------------------

    def _read_texts(self) -> Texts | Words:
        """Read one text, a list of them or a named list."""
        reader = self._reader
        if reader.accept("any", "of") and reader.token.text != "(" and not reader.stands("words"):
            reader.stumble('a list of texts in parentheses, such as ("a", "b"), or words "name"')
        if reader.stands("words"):
            return self._read_words()
        if reader.token.text == "(":
            texts = []
            for constant, start in zip(*self._read_placed_list(), strict=True):
                if isinstance(constant, Text):
                    texts.append(constant.value)
                else:
                    reader.note("a text in quotes", found="another value", at=start)
            return Texts(tuple(texts))
        if reader.token.kind != "text":
            hint = 'as in any of ("a", "b")' if reader.stands("any") else quote_hint(reader.token)
            reader.stumble("a text in quotes", hint=hint)
        return Texts((read_text(reader.take().text),))

    def _read_words(self) -> Words:
        reader = self._reader
        reader.take()
        if reader.token.kind != "text":
            reader.stumble('the name of a list in quotes, as in words "partners"')
        return Words(read_text(reader.take().text))

    def _read_list(self) -> tuple[Constant, ...]:
        return tuple(self._read_placed_list()[0])

    def _read_placed_list(self) -> tuple[list[Constant], list[int]]:
        reader = self._reader
        if reader.token.text != "(":
            hint = f'a named list is in words "{reader.token.text[:40]}"' if reader.token.kind == "word" else None
            hint = "one value is compared with is" if reader.token.kind == "text" else hint
            reader.stumble('( and a list, as in ("a", "b")', hint=hint)
        opened = reader.take()
        constants: list[Constant] = []
        starts: list[int] = []
        while True:
            starts.append(reader.token.start)
            constants.append(self._read_constant())
            if reader.token.text != ",":
                break
            reader.take()
            # A comma behind the last value makes lists pleasant to change.
            if reader.token.text == ")":
                break
        if reader.token.text != ")":
            line, column = reader.place(opened.start)
            reader.stumble(", or )", hint=f"the list that begins at line {line}, column {column} is still open")
        reader.take()
        return constants, starts

    def _read_constant(self) -> Constant:
        reader = self._reader
        if reader.token.text == "-":
            reader.take()
            if reader.token.kind == "number":
                return read_number(reader, is_negative=True)
        constant = read_constant(reader)
        if constant is None:
            reader.stumble("a value", hint=quote_hint(reader.token))
        return constant

    def _read_collation(self) -> Collation:
        for collation, words in COLLATIONS.items():
            if self._reader.accept(*words):
                return collation
        if self._reader.token.kind == "word" and self._reader.token.text.lower() in ("with", "as", "ignoring"):
            self._reader.stumble("with case, as written or ignoring ascii case")
        return "folded"


_READERS: Final = {
    "compare": LeafReader._read_compare,  # noqa: SLF001  a table of the class's own readers
    "search": LeafReader._read_search,  # noqa: SLF001
    "in": LeafReader._read_in,  # noqa: SLF001
    "under": LeafReader._read_under,  # noqa: SLF001
    "between": LeafReader._read_between,  # noqa: SLF001
    "exists": LeafReader._read_exists,  # noqa: SLF001
    "empty": LeafReader._read_empty,  # noqa: SLF001
    "type": LeafReader._read_type,  # noqa: SLF001
}


def single_of(term: Term, within: set[str] | frozenset[str]) -> str | None:
    """Say whether a part belongs to a recipient or an attachment that nothing looks at one at a time."""
    if not isinstance(term, Part) or term.name not in CATALOGUE:
        return None
    scope = CATALOGUE[term.name].scope
    return scope if scope in ("recipient", "attachment") and scope not in within else None
