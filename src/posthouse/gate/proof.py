"""What is wrong with a rule book before it is kept: every fault and every warning with its line and column.

A fault keeps an edition from being written; a warning says what its author may not have meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec

from posthouse.gate.action import TABLE
from posthouse.gate.rulebook import Kind, kind_of, named_lists, owner_of
from posthouse.gate.statistics import SENDER_COUNTERS, WINDOWS, is_known
from posthouse.matching.language.reader import Problem, UnreadableText, nearest_word
from posthouse.matching.language.rule.parse import Places, parse_placed
from posthouse.matching.language.rule.rule import Action, Rule, RuleFile, WordSource
from posthouse.matching.predicate.node import Fixed, Node, Part, children, terms
from posthouse.message.spelling import quoted

MAX_FAULTS: Final = 100


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the books and mailbags of the office are, for the names in rules."""

    roles: Collection[str] | None = None
    """All roles; None where nobody has said who is who."""
    lists: Collection[str] = ()
    """The named lists that have a book of their own."""
    mailbags: Mapping[str, Collection[str]] = {}
    """The names of the mailbags of each gatekeeper, by role in small letters."""
    forwards: Mapping[str, Collection[str]] = {}
    """To whom the rules in force of each gatekeeper forward, by role in small letters."""


class Proof(msgspec.Struct, frozen=True):
    """What was found."""

    faults: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    file: RuleFile | None = None
    """None where it cannot be read."""


def prove(title: str, text: str, *, known: Known) -> Proof:
    """Check the text of a rule book."""
    try:
        file, places = parse_placed(text)
    except UnreadableText as unreadable:
        return Proof(faults=unreadable.problems)
    kind = kind_of(title) or "office"
    checker = _Checker(kind, owner_of(title) or "", known=known, places=places)
    for number, item in enumerate(file.items):
        if isinstance(item, Rule):
            checker.check(number, item, file=file)
        elif item.file is not None:
            checker.refuse_file(number, item)
    checker.look_over(file)
    return Proof(tuple(checker.faults[:MAX_FAULTS]), tuple(checker.warnings[:MAX_FAULTS]), file)


_At = tuple[int, str]


class _Checker:
    """Checks the rules of one book."""

    def __init__(self, kind: Kind, owner: str, *, known: Known, places: Places) -> None:
        self._kind: Final = kind
        self._owner: Final = owner
        self._known: Final = known
        self._places: Final = places
        self.faults: Final[list[Problem]] = []
        self.warnings: Final[list[Problem]] = []

    def refuse_file(self, number: int, source: WordSource) -> None:
        """Refuse a list in a file: a book says everything itself."""
        hint = f"keep it as the book words {source.name}, or write it out behind ="
        self._fault((number, "rule"), "a list that is written out", f"the file {quoted(source.file or '')}", hint)

    def _fault(self, at: _At, expected: str, found: str, hint: str | None = None) -> None:
        """Note what keeps the book from being used."""
        self.faults.append(self._problem(at, expected, found, hint))

    def _warn(self, at: _At, expected: str, found: str, hint: str | None = None) -> None:
        """Note what its author may not have meant."""
        self.warnings.append(self._problem(at, expected, found, hint))

    def _problem(self, at: _At, expected: str, found: str, hint: str | None) -> Problem:
        line, column = self._places.get(at) or self._places.get((at[0], "rule"), (1, 1))
        return Problem(line, column, expected, found, hint)

    # --- one rule -----------------------------------------------------------------------------------------------------

    def check(self, number: int, rule: Rule, *, file: RuleFile) -> None:
        """Check one rule for itself."""
        self._check_checkpoints(number, rule)
        self._check_names(number, rule, file)
        for place, action in enumerate(rule.actions):
            self._check_action((number, f"action {place}"), action)
        ranked = [place for place, action in enumerate(rule.actions) if self._decides(action)]
        for place in ranked[1:]:
            self._warn(
                (number, f"action {place}"), "one action that decides about the message in a rule",
                f"{rule.actions[place].name} beside {rule.actions[ranked[0]].name}",
                "the one of the higher rank is carried out" if self._kind == "office" else "the first is carried out",
            )  # fmt: skip
        if self._kind == "gatekeeper" and rule.scope == "recipient":
            self._fault(
                (number, "clause scope"), "scope message", "scope recipient", "a gatekeeper has one case at hand"
            )

    def _decides(self, action: Action) -> bool:
        return TABLE[action.name].course is not None

    def _check_checkpoints(self, number: int, rule: Rule) -> None:
        at = (number, "clause checkpoint")
        if self._kind == "office" and "expiry" in rule.checkpoints:
            hint = "what happens on expiry stands in the rules of a gatekeeper"
            self._fault(at, "submit, relay, deliver or reprocess", "expiry", hint)
        elif self._kind == "gatekeeper" and set(rule.checkpoints) - {"expiry"}:
            found = ", ".join(checkpoint for checkpoint in rule.checkpoints if checkpoint != "expiry")
            self._fault(at, "expiry", found, "the rules of a gatekeeper are asked when nobody has decided in time")

    def _check_names(self, number: int, rule: Rule, file: RuleFile) -> None:
        own = {source.name for source in file.words}
        for name in sorted(named_lists(rule.condition) - own - set(self._known.lists)):
            hint = nearest_word(name, (*own, *self._known.lists)) or f"write words {quoted(name)} = …"
            self._fault((number, "if"), "a list that there is", quoted(name), hint)
        for part in _parts(rule):
            argument = part.argument or ""
            if part.name == "office.stat" and not is_known(argument):
                hint = "docs/reference/statistics.md lists them"
                self._fault((number, "if"), "a figure of the office", quoted(argument), hint)
            if part.name == "sender.stat" and not _is_sender_figure(argument):
                self._fault((number, "if"), "messages or recipients and a window, as in messages.1h", quoted(argument))

    def _check_action(self, at: _At, action: Action) -> None:
        place = TABLE[action.name]
        if not (place.at_office if self._kind == "office" else place.by_gatekeeper):
            whose = "an office" if self._kind == "office" else "a gatekeeper"
            self._fault(at, f"an action that the rules of {whose} can say", action.name)
            return
        if action.name == "gate":
            for who in action.to:
                self._check_gatekeeper(at, who)
        elif action.name == "file":
            mailbags = self._known.mailbags.get(self._owner.casefold(), ())
            if action.to[0].casefold() not in {name.casefold() for name in (*mailbags, "inbox", "review")}:
                hint = nearest_word(action.to[0], tuple(mailbags)) or "a message in no mailbag goes to the review list"
                self._fault(at, f"a mailbag of {self._owner}", quoted(action.to[0]), hint)

    def _check_gatekeeper(self, at: _At, who: str) -> None:
        role, _, office = who.partition("@")
        roles = self._known.roles
        if office:
            self._warn(at, "a gatekeeper of this office", quoted(who), "who stands in here gets it")
        elif roles is None:
            self._warn(at, "an organisation that says who is who", "none", f"{quoted(role)} is taken as it is named")
        elif role.casefold() not in {known.casefold() for known in roles}:
            self._fault(at, "a gatekeeper whose role there is", quoted(role), nearest_word(role, tuple(roles)))

    # --- all of them --------------------------------------------------------------------------------------------------

    def look_over(self, file: RuleFile) -> None:
        """Look at the rules together."""
        rules = [(number, item) for number, item in enumerate(file.items) if isinstance(item, Rule) and item.is_enabled]
        if self._kind == "gatekeeper":
            self._find_unreachable(rules)
            self._find_circle(rules)
        else:
            self._find_vain_releases(rules)

    def _find_unreachable(self, rules: list[tuple[int, Rule]]) -> None:
        last: Rule | None = None
        for number, rule in rules:
            if last is not None:
                hint = "the first rule that fires decides"
                self._warn(
                    (number, "rule"), f"a rule before {quoted(last.name)}, which always fires", "one behind", hint
                )
            elif _is_unconditional(rule) and any(map(self._decides, rule.actions)):
                last = rule

    def _find_circle(self, rules: list[tuple[int, Rule]]) -> None:
        """Find automatic forwarding that comes back: nobody would ever look at the message."""
        own = self._owner.casefold()
        for number, rule in rules:
            for place, action in enumerate(rule.actions):
                for who in action.to if action.name in ("forward", "gate") else ():
                    way = self._way(who.casefold(), own)
                    if way:
                        found = " → ".join((self._owner, *way))
                        hint = "the second time it goes to the review list"
                        self._warn((number, f"action {place}"), "a way that does not come back", found, hint)

    def _way(self, start: str, goal: str) -> tuple[str, ...]:
        """Give the way by which rules forward to a goal; nothing where they do not."""
        waiting: list[tuple[str, ...]] = [(start,)]
        seen: set[str] = set()
        while waiting:
            way = waiting.pop()
            if way[-1] == goal:
                return way
            if way[-1] not in seen:
                seen.add(way[-1])
                waiting += [(*way, onward.casefold()) for onward in self._known.forwards.get(way[-1], ())]
        return ()

    def _find_vain_releases(self, rules: list[tuple[int, Rule]]) -> None:
        gates = [rule for _, rule in rules if _does(rule, "gate")]
        if not gates:
            return
        for number, rule in rules:
            if _does(rule, "release"):
                hint = f"write the exception into the rule that gates, such as {quoted(gates[0].name)}, as AND NOT …"
                self._warn((number, "rule"), "a rule that can win", "a release, which never outranks a gate", hint)


def _does(rule: Rule, name: str) -> bool:
    return any(action.name == name for action in rule.actions)


def _is_unconditional(rule: Rule) -> bool:
    is_limited = rule.valid_from is not None or rule.valid_until is not None or rule.sample is not None
    return rule.condition == Fixed("true") and not is_limited


def _parts(rule: Rule) -> Iterator[Part]:
    waiting: list[Node] = [rule.condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Part):
            yield node
        waiting += terms(node)
        waiting += children(node)  # type: ignore[arg-type]  # a term has none


def _is_sender_figure(name: str) -> bool:
    counter, _, window = name.rpartition(".")
    return counter in SENDER_COUNTERS and window in WINDOWS
