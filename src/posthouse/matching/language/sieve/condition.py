"""A test of Sieve as a condition that is true of the same mails.

Sieve knows true and false only: a header that is not there fails every test. Where a condition stands as it is, unknown
is as good as false; where its contrary is asked for, it has to be false indeed, and says first that the header exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from posthouse.matching.language.sieve.form import FOREIGN_TESTS
from posthouse.matching.language.sieve.left import Untaken
from posthouse.matching.language.sieve.moment import on_date
from posthouse.matching.language.sieve.regular import NoCounterpart, from_posix
from posthouse.matching.language.sieve.relation import (
    MAX_UNEQUAL,
    NUMERIC,
    RELATIONS,
    Comparing,
    number_of,
    numeric_pattern,
    unequal_pattern,
)
from posthouse.matching.language.sieve.script import Quantity, Test
from posthouse.matching.language.sieve.variable import Variables, decode_characters, expand
from posthouse.matching.predicate.node import (
    And,
    Arithmetic,
    Call,
    Compare,
    Comparison,
    Exists,
    Fixed,
    InList,
    Not,
    Number,
    Or,
    Part,
    Predicate,
    Search,
    Term,
    Text,
    Texts,
)
from posthouse.matching.value.catalogue import CATALOGUE
from posthouse.matching.value.fold import Collation

_COLLATIONS: Final[dict[str, Collation]] = {"i;ascii-casemap": "ascii", "i;octet": "exact", NUMERIC: "exact"}
_FAMILIES: Final = {"from": "from", "to": "to", "cc": "cc", "reply-to": "reply_to"}
_PIECES: Final = {":all": "address", ":localpart": "local", ":domain": "domain"}
_ENVELOPE: Final = {"from": "sender", "to": "recipient"}
_SIGNS: Final[dict[str, Comparison]] = {"eq": "=", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


class Scope(msgspec.Struct, frozen=True):
    """Where a test stands: what its texts may name, and whether its contrary is asked for."""

    variables: Variables
    extensions: frozenset[str]
    is_exact: bool = False
    """It has to be false where Sieve says false; else unknown does."""

    def texts(self, values: tuple[str, ...], at: int) -> tuple[str, ...]:
        """Give texts as they are meant, variables put in."""
        if "encoded-character" in self.extensions:
            values = tuple(map(decode_characters, values))
        if "variables" in self.extensions:
            values = tuple(expand(value, self.variables, at=at) for value in values)
        return tuple(dict.fromkeys(values))


def predicate_of(test: Test, scope: Scope) -> Predicate:
    """Give the condition of a test, or raise Untaken naming what has no counterpart."""
    foreign = FOREIGN_TESTS.get(test.name)
    if foreign is not None:
        raise Untaken(test.at, test.name, why=foreign[0], what_to_do=foreign[1])
    return _MAKERS[test.name](test, scope)


# --- joined tests -----------------------------------------------------------------------------------------------------


def conjunction(parts: list[Predicate]) -> Predicate:
    """Join conditions with AND, leaving out what is always so."""
    return _joined(parts, And, idle="true", final="false")


def disjunction(parts: list[Predicate]) -> Predicate:
    """Join conditions with OR, leaving out what is never so."""
    return _joined(parts, Or, idle="false", final="true")


def contrary(part: Predicate) -> Predicate:
    """Give the contrary of a condition that is exact."""
    if isinstance(part, Fixed):
        return Fixed("false" if part.truth == "true" else "true")
    return part.part if isinstance(part, Not) else Not(part)


def _joined(parts: list[Predicate], kind: type[And | Or], *, idle: str, final: str) -> Predicate:
    flat: list[Predicate] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else [part]
    left = [part for part in dict.fromkeys(flat) if not (isinstance(part, Fixed) and part.truth == idle)]
    if any(isinstance(part, Fixed) and part.truth == final for part in left):
        return Fixed("true" if final == "true" else "false")
    if not left:
        return Fixed("true" if idle == "true" else "false")
    return left[0] if len(left) == 1 else kind(tuple(left))


def _all_of(test: Test, scope: Scope) -> Predicate:
    return conjunction([predicate_of(part, scope) for part in test.tests])


def _any_of(test: Test, scope: Scope) -> Predicate:
    return disjunction([predicate_of(part, scope) for part in test.tests])


def _not(test: Test, scope: Scope) -> Predicate:
    return contrary(predicate_of(test.tests[0], msgspec.structs.replace(scope, is_exact=True)))


# --- comparing --------------------------------------------------------------------------------------------------------


def _comparing(test: Test) -> Comparing:
    """Give how a test compares, or raise Untaken where nothing compares so here."""
    given = test.given
    match = given.one_of(":is", ":contains", ":matches", ":regex", ":count", ":value") or ":is"
    comparator = (given.tag_texts(":comparator") or ("i;ascii-casemap",))[0]
    if comparator == "i;unicode-casemap":
        raise Untaken(test.at, comparator, why="it folds letters in a way of its own", what_to_do="leave it out")
    if comparator == NUMERIC and match in (":contains", ":matches", ":regex"):
        raise Untaken(test.at, f"{match} with {comparator}", why="a number has no pieces")
    if given.one_of(":index", ":last", ":user", ":detail") is not None:
        tag = given.one_of(":index", ":last", ":user", ":detail") or ""
        why = "rules ask all headers of a name" if tag in (":index", ":last") else "rules do not take local parts apart"
        what = None if tag in (":index", ":last") else 'to.local starts with "name+"'
        raise Untaken(test.at, tag, why=why, what_to_do=what)
    relation = (given.tag_texts(match) or ("",))[0].lower()
    return Comparing(match, comparator, relation)


def _compared(term: Term, comparing: Comparing, keys: tuple[str, ...], at: int) -> Predicate:
    """Give the condition that a term matches one of the keys."""
    collation = _COLLATIONS[comparing.comparator]
    if comparing.match == ":count":
        raise Untaken(at, ":count", why="this has one value")
    if comparing.comparator == NUMERIC:
        patterns = [numeric_pattern(comparing.relation or "eq", key) for key in keys]
        found = tuple(pattern for pattern in patterns if pattern is not None)
        return Search("matches", term, Texts(found), "exact") if found else Fixed("false")
    if comparing.match == ":contains":
        return Exists(term) if "" in keys else Search("contains", term, Texts(keys), collation)
    if comparing.match == ":matches":
        return Exists(term) if set(keys) & {"*", "**"} else Search("wildcard", term, Texts(keys), collation)
    if comparing.match == ":regex":
        return Search("matches", term, Texts(tuple(_regular(key, at) for key in keys)), collation)
    if comparing.match == ":value" and comparing.relation not in ("eq", "ne"):
        raise Untaken(
            at, f':value "{comparing.relation}"', why="text has no order here",
            what_to_do='numbers have one: add :comparator "i;ascii-numeric"',
        )  # fmt: skip
    if comparing.relation == "ne":
        return _unequal(term, comparing, keys, at)
    if len(keys) == 1:
        return Compare("=", term, Text(keys[0]), collation)
    return InList(term, Texts(keys), collation)


def _unequal(term: Term, comparing: Comparing, keys: tuple[str, ...], at: int) -> Predicate:
    """Give the condition that one value differs from one key; here `is not` says that none of the values is equal."""
    if len({comparing.fold(key) for key in keys}) > 1:
        return Exists(term)
    if isinstance(term, Part) and not CATALOGUE[term.name].is_many:
        return Compare("!=", term, Text(keys[0]), _COLLATIONS[comparing.comparator])
    if len(keys[0]) > MAX_UNEQUAL:
        raise Untaken(at, ':value "ne"', why=f"its text has more than {MAX_UNEQUAL} signs")
    pattern = unequal_pattern(keys[0], has_case=comparing.comparator != "i;ascii-casemap")
    return Search("matches", term, Texts((pattern,)), "exact")


def _regular(pattern: str, at: int) -> str:
    try:
        return from_posix(pattern)
    except NoCounterpart as fault:
        raise Untaken(at, ":regex", why=f"its pattern has {fault}") from None


def _if_there(term: Term, condition: Predicate, scope: Scope) -> Predicate:
    """Make a condition false where its part is missing, if that has to be said."""
    if not scope.is_exact or isinstance(condition, Exists | Fixed):
        return condition
    return conjunction([Exists(term), condition])


def _counted(terms: list[Term], comparing: Comparing, keys: tuple[str, ...], at: int) -> Predicate:
    """Give the condition on how many values there are."""
    if comparing.comparator != NUMERIC and comparing.relation not in ("eq", "ne"):
        raise Untaken(
            at, ":count", why=f"{comparing.comparator} compares figures as text, by which 10 is less than 9",
            what_to_do='add :comparator "i;ascii-numeric"',
        )  # fmt: skip
    total: Term = Call("count", terms[0])
    for term in terms[1:]:
        total = Arithmetic("+", total, Call("count", term))
    found: list[Predicate] = []
    for key in keys:
        number = number_of(key)
        if number == float("inf") or (comparing.comparator != NUMERIC and key != str(int(number))):
            found.append(Fixed("true" if RELATIONS[comparing.relation](0, float("inf")) else "false"))
        else:
            bound = min(int(number), 2**63 - 1)
            found.append(Compare(_SIGNS[comparing.relation], total, Number(bound)))
    return disjunction(found)


# --- what is asked for ------------------------------------------------------------------------------------------------


def _over(terms: list[Term], test: Test, scope: Scope) -> Predicate:
    """Compare each of some parts with the keys, or count them all together."""
    comparing, at = _comparing(test), test.at
    keys = scope.texts(test.given.texts(1), at)
    if comparing.match == ":count":
        return _counted(terms, comparing, keys, at)
    return disjunction([_if_there(term, _compared(term, comparing, keys, at), scope) for term in terms])


def _header(test: Test, scope: Scope) -> Predicate:
    names = dict.fromkeys(name.lower() for name in scope.texts(test.given.texts(0), test.at))
    shown = {name.lower(): name for name in scope.texts(test.given.texts(0), test.at)}
    return _over([_header_part(shown[name], test) for name in names], test, scope)


def _header_part(name: str, test: Test) -> Part:
    if not name or not name.isascii() or not name.isprintable() or ":" in name or " " in name:
        raise Untaken(test.at, f'the header "{name[:40]}"', why="no header has such a name")
    return Part("header", name)


def _exists(test: Test, scope: Scope) -> Predicate:
    names = scope.texts(test.given.texts(0), test.at)
    return conjunction([Exists(_header_part(name, test)) for name in names])


def _address(test: Test, scope: Scope) -> Predicate:
    piece = _PIECES[test.given.one_of(*_PIECES) or ":all"]
    terms: list[Term] = []
    for name in dict.fromkeys(name.lower() for name in scope.texts(test.given.texts(0), test.at)):
        family = _FAMILIES.get(name)
        if family is None:
            raise Untaken(
                test.at, f'address "{name[:40]}"', why="rules know the addresses in From, To, Cc and Reply-To",
                what_to_do='header("…") contains "…" looks at the text of any header',
            )  # fmt: skip
        terms.append(Part(f"{family}.{piece}"))
    return _over(terms, test, scope)


def _envelope(test: Test, scope: Scope) -> Predicate:
    piece = _PIECES[test.given.one_of(*_PIECES) or ":all"]
    comparing, at = _comparing(test), test.at
    keys = scope.texts(test.given.texts(1), at)
    found: list[Predicate] = []
    for name in dict.fromkeys(name.lower() for name in scope.texts(test.given.texts(0), at)):
        if name not in _ENVELOPE:
            raise Untaken(at, f'envelope "{name[:40]}"', why="rules know the sender and the recipients of an envelope")
        term = Part(f"{_ENVELOPE[name]}.{piece}")
        condition = _if_there(term, _compared(term, comparing, keys, at), scope)
        # A notice has no sender, which Sieve reads as an address without a sign.
        if name == "from" and piece == "address" and _is_met(comparing, keys, at):
            condition = disjunction([Not(Exists(term)), condition])
        found.append(condition)
    return disjunction(found)


def _is_met(comparing: Comparing, keys: tuple[str, ...], at: int) -> bool:
    """Say whether empty text matches one of the keys."""
    if comparing.match != ":regex":
        return any(comparing.holds("", key) for key in keys)
    raise Untaken(at, ':regex of the envelope "from"', why="a notice has no sender", what_to_do=":matches does as well")


def _size(test: Test, _: Scope) -> Predicate:
    (bound,) = test.given.positional
    assert isinstance(bound, Quantity)
    sign: Comparison = ">" if ":over" in test.given.tags else "<"
    return Compare(sign, Part("message.size"), Number(bound.value, "size"))


def _body(test: Test, scope: Scope) -> Predicate:
    if ":raw" in test.given.tags:
        raise Untaken(test.at, "body :raw", why="rules see the text of a mail and not its bytes",
                      what_to_do=":text looks at the text")  # fmt: skip
    kinds = test.given.tag_texts(":content")
    if kinds and kinds != ("text",):
        raise Untaken(test.at, f'body :content "{kinds[0][:40]}"', why="rules see all text of a mail as one",
                      what_to_do=":text looks at all of it")  # fmt: skip
    comparing = _comparing(test)
    if comparing.match in (":count", ":value"):
        raise Untaken(test.at, f"{comparing.match} of the body", why="rules see all text of a mail as one")
    keys = scope.texts(test.given.texts(0), test.at)
    term = Part("message.text")
    return _if_there(term, _compared(term, comparing, keys, test.at), scope)


def _date(test: Test, scope: Scope) -> Predicate:
    at = test.at
    (name,) = scope.texts(test.given.texts(0), at)
    if name.lower() != "date":
        raise Untaken(at, f'the date in "{name[:40]}"', why="rules know the date in the header Date",
                      what_to_do="arrived is when the office accepted the mail")  # fmt: skip
    if ":originalzone" in test.given.tags:
        raise Untaken(at, ":originalzone", why="rules mean days and hours in the zone of the office")
    return _if_there(Part("mail.date"), _on_date("mail.date", test, scope, 1), scope)


def _currentdate(test: Test, scope: Scope) -> Predicate:
    return _on_date("now", test, scope, 0)


def _on_date(base: str, test: Test, scope: Scope, place: int) -> Predicate:
    if ":zone" in test.given.tags:
        raise Untaken(test.at, ":zone", why="rules mean days and hours in the zone of the office",
                      what_to_do="leave it out where the office is in this zone")  # fmt: skip
    comparing = _comparing(test)
    if comparing.match == ":regex":
        raise Untaken(test.at, ":regex of a date", why="rules compare days and times and not their writing")
    (part,) = scope.texts(test.given.texts(place), test.at)
    keys = scope.texts(test.given.texts(place + 1), test.at)
    return on_date(base, part, comparing=comparing, keys=keys, at=test.at)


def _string(test: Test, scope: Scope) -> Predicate:
    comparing = _comparing(test)
    values = scope.texts(test.given.texts(0), test.at)
    keys = scope.texts(test.given.texts(1), test.at)
    if comparing.match == ":regex":
        raise Untaken(test.at, ":regex of a string", why="what a script says itself is compared while it is read")
    if comparing.match == ":count":
        count = str(sum(bool(value) for value in test.given.texts(0) if value))
        return Fixed("true" if any(comparing.holds(count, key) for key in keys) else "false")
    holds = any(comparing.holds(value, key) for value in values for key in keys)
    return Fixed("true" if holds else "false")


_MAKERS: Final[dict[str, Callable[[Test, Scope], Predicate]]] = {
    "address": _address,
    "allof": _all_of,
    "anyof": _any_of,
    "body": _body,
    "currentdate": _currentdate,
    "date": _date,
    "envelope": _envelope,
    "exists": _exists,
    "false": lambda _test, _scope: Fixed("false"),
    "header": _header,
    "not": _not,
    "size": _size,
    "string": _string,
    "true": lambda _test, _scope: Fixed("true"),
}
