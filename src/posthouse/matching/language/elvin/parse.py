"""Reads a subscription into a predicate: conditions, comparisons and figures, by how tightly their signs bind."""

from __future__ import annotations

from typing import Final, cast

from posthouse.matching.language.elvin.call import CallReader
from posthouse.matching.language.elvin.fault import LIMIT, MISMATCH, OVERFLOW, TOKEN, UnreadableSubscription
from posthouse.matching.language.elvin.literal import is_measure, read_whole, unescape
from posthouse.matching.language.elvin.name import PartReader
from posthouse.matching.language.elvin.sheet import MAX_NESTING, Sheet, group_of, is_term, kind_word
from posthouse.matching.language.elvin.word import BITS, FUNCTIONS, JOINTS, LEVELS, MAX_LENGTH, MEANT, RELATIONS
from posthouse.matching.language.elvin.word import RELATION_LEVEL as RELATION
from posthouse.matching.language.reader import END, Problem, Stumble, UnreadableText, nearest_word
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    ArithmeticSign,
    Boolean,
    Compare,
    Comparison,
    Fixed,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Term,
    Text,
    Unary,
    Xor,
)
from posthouse.matching.predicate.typing import static_type

Found = Predicate | Term
_JOINTS: Final[dict[str, type[And | Or | Xor]]] = {"||": Or, "^^": Xor, "&&": And}
_VALUE: Final = "a name, a number or a string in quotes"


def parse_subscription(text: str) -> Predicate:
    """Read a subscription, or raise UnreadableSubscription with all its faults."""
    if len(text) > MAX_LENGTH:
        problem = Problem(1, 1, f"a subscription of at most {MAX_LENGTH:,} characters", f"{len(text):,}")
        raise UnreadableSubscription((problem,), {(1, 1): LIMIT})
    codes: dict[tuple[int, int], int] = {}
    try:
        sheet = Sheet(text)
        codes = sheet.codes
        return _SubscriptionReader(sheet).read()
    except UnreadableText as unreadable:
        raise UnreadableSubscription(unreadable.problems, codes) from None


class _SubscriptionReader:
    """Reads one subscription; where something cannot be read, it goes on at what joins it to the next condition."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet: Final = sheet
        self._reader: Final = sheet.reader
        self._call: Final = CallReader(sheet, self._read_figure)
        self._part: Final = PartReader(sheet)

    def read(self) -> Predicate:
        found: Predicate = Fixed("unknown")
        try:
            found = self._settle(self._read_joined(0))
        except Stumble:
            pass
        if self._sheet.is_faultless():
            self._sheet.check(found)
        self._reader.finish()
        return found

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _read_joined(self, level: int) -> Found:
        """Read what `&&`, `^^` and `||` join; what is not joined comes back as it is."""
        start = self._reader.token.start
        found = self._read_guarded()
        while True:
            sign = self._sign()
            if sign not in _JOINTS or LEVELS[sign] < level:
                return found
            parts = [self._settle(found)]
            while self._sign() == sign:
                self._reader.take()
                parts.append(self._settle(self._read_joined(LEVELS[sign] + 1)))
            found = self._sheet.put(_JOINTS[sign](tuple(parts)), start)

    def _read_guarded(self) -> Found:
        """Read one condition; where it stumbles, go on at what joins it to the next one."""
        start, opened = self._reader.token.start, self._sheet.opened
        try:
            return self._read_relation()
        except Stumble:
            inner = self._sheet.opened - opened
            self._sheet.opened = opened
            self._skip(inner)
            return self._sheet.put(Fixed("unknown"), start)

    def _skip(self, opened: int) -> None:
        reader = self._reader
        while reader.token.kind != END:
            sign = self._sign()
            if opened == 0 and (sign in _JOINTS or (sign == ")" and self._sheet.opened)):
                return
            opened = max(0, opened + (sign == "(") - (sign == ")"))
            reader.take()

    def _read_relation(self) -> Found:
        start = self._reader.token.start
        if self._sign() == "!":
            return self._read_not()
        found = self._read_figure()
        sign = self._sign()
        if sign in RELATIONS:
            self._reader.take()
            right = self._read_figure()
            found = self._sheet.put(self._relate(RELATIONS[sign], found, right, sign), start)
        self._expect_joint(found)
        return found

    def _read_not(self) -> Found:
        reader = self._reader
        start = reader.token.start
        count = 0
        while self._sign() == "!":
            reader.take()
            count += 1
        if count > MAX_NESTING:
            self._sheet.too_deep()
        found = self._settle(self._read_relation())
        for _ in range(count):
            found = self._sheet.put(Not(found), start)
        return found

    def _expect_joint(self, found: Found) -> None:
        """Stumble over what neither joins nor ends a condition."""
        sign = self._sign()
        if sign in _JOINTS or self._reader.token.kind == END or (sign == ")" and self._sheet.opened):
            return
        word = self._reader.token.text
        if self._reader.is_faulty(self._reader.before.end, self._reader.token.start):
            raise Stumble
        if sign in RELATIONS:
            self._stumble_at_chain(found)
        if sign == ")":
            self._sheet.stumble("the end of the subscription", hint="no parenthesis is open")
        hint = self._blank_hint(found)
        if word in ("[", "]", ","):
            hint = f"a name that holds this sign is written with \\{word}"
            if word == "," and self._reader.before.kind != "name":
                hint = "a number has no commas, and && joins conditions"
        if is_term(found):
            pair = self._reader.text[self._reader.token.start :][:2]
            word = pair if pair in MEANT and sign == "=" else word
            close = nearest_word(word, FUNCTIONS) if self._reader.token.kind == "name" else None
            hint = hint or (f"did you mean {MEANT[word]}?" if word in MEANT else close)
            if self._sheet.source(found) in ("not", "NOT"):
                hint = "did you mean !?"
            self._sheet.stumble("a comparison such as == or <", hint=hint)
        meant = MEANT.get(word)
        hint = hint or (f"did you mean {meant}?" if meant in JOINTS else None)
        expected = "&&, ^^, || or )" if self._sheet.opened else "&&, ^^, || or the end"
        self._sheet.stumble(expected, hint=hint)

    def _blank_hint(self, found: Found) -> str | None:
        """Give the hint where a name has swallowed the sign that was to stand beside it."""
        if self._sheet.place_of(found).end != self._reader.before.end:
            return None
        return self._part.swallowed(self._sheet.source(found), self._reader.token.text)

    def _stumble_at_chain(self, found: Found) -> None:
        hint = "a < b < c is written a < b && b < c"
        right = found.right if isinstance(found, Compare) else None
        if isinstance(right, Arithmetic) and right.sign in ("&", "|"):
            hint = f"{right.sign} joins bits: did you mean {right.sign * 2}?"
        self._sheet.stumble("one comparison", code=MISMATCH, hint=hint)

    def _settle(self, found: Found) -> Predicate:
        """Make a condition of what was read: only what is true or false by itself is one."""
        if not is_term(found):
            return cast("Predicate", found)
        term = cast("Term", found)
        if group_of(term) == "truth":
            return self._sheet.put_like(Compare("=", term, Boolean(value=True), "exact"), term)
        hint = self._part.swallowed(self._sheet.source(term))
        if hint is None and isinstance(term, Part):
            written = self._sheet.source(term).strip("() ")[:40]
            hint = f"require({written}) asks whether it is there"
            if written.lower() in ("true", "false"):
                hint = "this is a name like any other"
        elif isinstance(term, Text):
            hint = f"as in name == {self._sheet.source(term)[:40]}"
        self._sheet.note_of(term, "a condition, such as name == 5", code=MISMATCH, hint=hint)
        return Fixed("unknown")

    # --- comparisons --------------------------------------------------------------------------------------------------

    def _relate(self, sign: Comparison, first: Found, second: Found, written: str) -> Predicate:
        for side in (first, second):
            if not is_term(side):
                self._sheet.note_of(side, f"a value beside {written}", code=MISMATCH, hint="conditions do not compare")
                return Fixed("unknown")
        left, right = cast("Term", first), cast("Term", second)
        left, right = self._measure(left, right), self._measure(right, left)
        compared = Compare(sign, left, right, "exact")
        groups = {group_of(left), group_of(right)} - {"any"}
        if "truth" in groups:
            part = left if group_of(left) == "truth" else right
            self._sheet.note_of(part, "a number or a string", code=MISMATCH, hint="true or false stands alone")
        elif len(groups) == 2:
            expected = f"{kind_word(group_of(left))} to compare with {self._sheet.describe(left)}"
            self._sheet.note_of(right, expected, code=MISMATCH)
        elif "text" in groups and sign not in ("=", "!="):
            part = left if group_of(left) == "text" else right
            self._sheet.note_of(part, f"a number beside {written}", code=MISMATCH, hint="strings have no order")
        else:
            self._sheet.put(compared, self._sheet.place_of(left).start)
            self._sheet.check_trivial(compared)
        return compared

    def _measure(self, term: Term, beside: Term) -> Term:
        """Give a plain number the type of the size or the length of time it is compared with."""
        kind = static_type(beside)
        if not is_measure(kind) or not isinstance(term, Number):
            return term
        if term.type == "real64" or term.value < 0:
            unit = "bytes" if kind == "size" else "microseconds"
            self._sheet.note_of(term, f"a whole number of {unit}", code=MISMATCH)
            return Number(0, "size" if kind == "size" else "duration")
        return self._sheet.put_like(Number(term.value, "size" if kind == "size" else "duration"), term)

    # --- figures ------------------------------------------------------------------------------------------------------

    def _read_figure(self, level: int = RELATION + 1) -> Found:
        start = self._reader.token.start
        found = self._read_unary()
        while True:
            sign = self._sign()
            own = LEVELS.get(sign, -1)
            if own < level:
                return found
            self._reader.take()
            right = self._read_figure(own + 1)
            for side, where in ((found, "before"), (right, "behind")):
                self._check_number(side, f"{where} {sign}", is_whole=sign in BITS)
            depth = 1 + max(self._sheet.place_of(found).depth, self._sheet.place_of(right).depth)
            figure = Arithmetic(cast("ArithmeticSign", sign), cast("Term", found), cast("Term", right), "wrap")
            found = self._sheet.put(figure, start, depth=depth)

    def _check_number(self, side: Found, where: str, *, is_whole: bool) -> None:
        if not is_term(side):
            self._sheet.note_of(side, f"a number {where}", code=MISMATCH)
            raise Stumble
        term = cast("Term", side)
        if group_of(term) not in ("number", "any"):
            self._sheet.note_of(term, f"a number {where}", code=MISMATCH)
            raise Stumble
        if is_whole and isinstance(term, Number) and term.type == "real64":
            self._sheet.note_of(term, f"a whole number {where}", code=MISMATCH)

    def _read_unary(self) -> Found:
        start = self._reader.token.start
        signs: list[str] = []
        while self._sign() in ("-", "+", "~"):
            signs.append(self._reader.take().text)
            if len(signs) > MAX_NESTING:
                self._sheet.too_deep()
        is_negative = bool(signs) and signs[-1] == "-" and self._reader.token.kind in ("whole", "real")
        if is_negative:
            signs.pop()
        found = self._read_primary(start if is_negative and not signs else None, is_negative=is_negative)
        for sign in reversed(signs):
            self._check_number(found, f"behind {sign}", is_whole=sign == "~")
            turned = Unary(cast("ArithmeticSign", sign), cast("Term", found), "wrap")  # type: ignore[arg-type]  # as the loop
            found = self._sheet.put(turned, start, depth=1 + self._sheet.place_of(found).depth)
        return found

    def _read_primary(self, begin: int | None, *, is_negative: bool) -> Found:
        reader = self._reader
        token = reader.token
        start = token.start if begin is None else begin
        if token.kind in ("whole", "real"):
            return self._sheet.put(self._read_number(start, is_negative=is_negative), start)
        if token.kind == "text":
            return self._sheet.put(Text(unescape(reader.take().text[1:-1])), start)
        if token.kind == "name":
            self._sheet.count()
            name = reader.take()
            return self._call.read(name) if self._sign() == "(" else self._part.read_name(name)
        if token.kind == "part":
            self._sheet.count()
            return self._part.read_part()
        if token.text == "(":
            return self._read_group()
        if token.kind == "odd":
            hint = "digits stand on both sides of a point" if "." in token.text else None
            hint = "one with an exponent is written 1.0e5" if "e" in token.text.lower() else hint
            self._sheet.stumble("a number, such as 5, 0x1F or 2.5", code=TOKEN, hint=hint)
        return self._stumble_at_value()

    def _stumble_at_value(self) -> Found:
        if self._reader.is_faulty(self._reader.before.end, self._reader.token.start):
            # What was meant to be here has been told already.
            raise Stumble
        word = self._reader.token.text
        hint = "&& has two conditions beside it" if word == "&&" else None
        if word == "!":
            hint = "! turns a whole comparison round: write ! a == b"
        elif word == "=" and self._reader.before.text in ("==", "!=", "<", ">", "="):
            hint = f"did you mean {self._reader.before.text[:1] if self._reader.before.text != '=' else '='}=?"
        elif self._reader.before.text + word in ("<>", "=<", "=>"):
            hint = f"did you mean {MEANT[self._reader.before.text + word]}?"
        elif word in ("[", "]"):
            hint = f"a name that holds this sign is written with \\{word}"
        self._sheet.stumble(_VALUE, hint=hint)

    def _read_number(self, start: int, *, is_negative: bool) -> Number:
        token = self._reader.take()
        shown = f"{'-' if is_negative else ''}{token.text[:40]}"
        if token.kind == "real":
            value = float(token.text) * (-1 if is_negative else 1)
            if abs(value) == float("inf"):
                self._sheet.note("a number that fits into real64", code=OVERFLOW, at=start, found=shown)
                return Number(0.0, "real64")
            return Number(value, "real64")
        found = read_whole(token.text, is_negative=is_negative)
        if isinstance(found, Number):
            return found
        if found == "octal":
            hint = f"a number that begins with 0 has the digits 0 to 7: write {token.text.lstrip('0')[:40]}"
            self._sheet.note("an octal number", code=TOKEN, at=token.start, found=token.text[:40], hint=hint)
        else:
            fits = not isinstance(read_whole(f"{token.text}L", is_negative=is_negative), str)
            wider = f"64 bits are written {shown}L" if found == "int32" and fits else None
            expected = f"a number that fits into {found if fits else 'int64'}"
            self._sheet.note(expected, code=OVERFLOW, at=start, found=shown, hint=wider)
        return Number(0, "int32")

    def _read_group(self) -> Found:
        reader = self._reader
        opened = reader.token
        self._sheet.open()
        found = self._read_joined(0)
        if self._sign() != ")":
            self._sheet.stumble("&&, ^^, || or )", hint=self._sheet.still_open(opened.start))
        reader.take()
        self._sheet.opened -= 1
        place = self._sheet.place_of(found)
        # What stands in parentheses begins with them, for whoever marks it.
        return self._sheet.put(found, opened.start, depth=place.depth)

    def _sign(self) -> str:
        token = self._reader.token
        return token.text if token.kind == "sign" else ""
