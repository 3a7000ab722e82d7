"""Walks through a script and makes a rule of every place where something is done, under the condition to come there.

Branches exclude what stands before them, and `stop` excludes what follows: no rule depends on the order of others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from posthouse.matching.language.rule.rule import Note, Rule, RuleFile
from posthouse.matching.language.sieve.condition import Scope, conjunction, contrary, predicate_of
from posthouse.matching.language.sieve.deed import DEEDS, Deed
from posthouse.matching.language.sieve.form import FOREIGN_COMMANDS
from posthouse.matching.language.sieve.left import Left, Untaken
from posthouse.matching.language.sieve.parse import parse_sieve
from posthouse.matching.language.sieve.script import Command, Script, Test, commands_within
from posthouse.matching.language.sieve.variable import modified
from posthouse.matching.predicate.check import check_predicate
from posthouse.matching.predicate.node import Constants, Fixed, InList, Leaf, Predicate, Search, Texts, leaves

MAX_NAME: Final = 200
MAX_BEFORE: Final = 500
"""Conditions that a rule may exclude because they stand before it; nobody could read more."""
MAX_WEIGHT: Final = 1_000_000
"""Conditions and texts in all rules of one script: each rule says again what stands before it."""


class Imported(msgspec.Struct, frozen=True):
    """What became of a script."""

    file: RuleFile
    left: tuple[Left, ...]
    """What could not be taken over."""


class Guard(msgspec.Struct, frozen=True):
    """The condition under which a place is reached, its conjuncts one by one; or why that cannot be said."""

    parts: tuple[Predicate, ...] = ()
    lost: int | None = None
    """The line of the test that has no counterpart."""

    @property
    def is_dead(self) -> bool:
        """Say whether no mail comes there."""
        return any(isinstance(part, Fixed) and part.truth == "false" for part in self.parts)

    def also(self, *parts: Predicate) -> Guard:
        """Give the guard with more conditions."""
        return Guard((*self.parts, *parts), self.lost)

    def without_reason(self, line: int) -> Guard:
        """Give the guard of a place that depends on what could not be taken over."""
        return Guard(self.parts, line if self.lost is None else self.lost)


class Passed(msgspec.Struct, frozen=True):
    """How a block was passed."""

    stops: tuple[Predicate, ...] = ()
    """The conditions, beside that of the block, under which the script ended in it."""
    ends: bool = False
    """It ended in any case."""
    lost: int | None = None
    """The script may have ended in it, nobody can say when."""


def import_sieve(text: str) -> Imported:
    """Make rules of a script, or raise UnreadableText with all its faults."""
    script, reader = parse_sieve(text)
    walk = _Walk(script, reader.place)
    walk.block(script.commands, Guard())
    return walk.result()


class _Walk:
    """One walk; rules and what is left are gathered as they are met."""

    def __init__(self, script: Script, place: Callable[[int], tuple[int, int]]) -> None:
        self._place: Final = place
        self._extensions: Final = script.extensions
        self._variables: dict[str, str | None] = {}
        self._rules: list[Rule] = []
        self._left: list[Left] = []
        self._names: set[str] = set()
        self._title: str | None = None
        self._weight = 0
        self._weights: dict[Predicate, int] = {}

    def result(self) -> Imported:
        left = tuple(sorted(dict.fromkeys(self._left), key=lambda one: (one.line, one.column)))
        notes = tuple(Note("end", f"NOT TAKEN OVER: {one}") for one in left)
        return Imported(RuleFile(tuple(self._rules), notes), left)

    # --- blocks -------------------------------------------------------------------------------------------------------

    def block(self, commands: tuple[Command, ...], guard: Guard) -> Passed:
        """Walk through a block that is reached under a guard."""
        stops: list[Predicate] = []
        deed: Deed | None = None
        lost: int | None = None
        here = guard
        place = 0
        while place < len(commands):
            command = commands[place]
            if command.name in DEEDS:
                deed = self._do(command, deed, here)
                place += 1
                continue
            if command.name == "if":
                chain = _chain(commands, place)
                self._flush(deed, here)
                deed = None
                passed = self._branches(chain, here)
                place += len(chain)
                stops += passed.stops
                lost = passed.lost if lost is None else lost
                if passed.ends:
                    return Passed(tuple(stops), ends=True, lost=lost)
                here = here.also(*map(contrary, passed.stops))
                here = here if passed.lost is None else here.without_reason(passed.lost)
                continue
            place += 1
            if command.name == "stop":
                self._flush(deed, here)
                # What stopped before is excluded here already.
                return Passed(tuple(stops), ends=True, lost=lost)
            self._other(command, here)
        self._flush(deed, here)
        return Passed(tuple(stops), lost=lost)

    def _branches(self, chain: tuple[Command, ...], guard: Guard) -> Passed:
        """Walk through if, elsif and else; each excludes the ones before."""
        before = dict(self._variables)
        after: list[dict[str, str | None]] = []
        stops: list[Predicate] = []
        earlier: list[Predicate] = []
        lost: int | None = None
        ends: int | None = None
        for command in chain:
            self._variables = dict(before)
            self._title = command.title or self._title if command.name != "if" else command.title
            test = self._test(command, lost)
            own = guard.also(*earlier) if test is None else guard.also(*earlier, test.positive)
            if test is None:
                lost = self._place(command.at)[0] if lost is None else lost
            own = own if lost is None else own.without_reason(lost)
            passed = Passed(ends=True) if own.is_dead else self.block(command.block or (), own)
            reached = own.parts[len(guard.parts) :] if test is None else (*earlier, test.exact)
            found = [conjunction([*reached, stop]) for stop in passed.stops]
            if passed.ends and not own.is_dead:
                found = [conjunction([*reached])]
            if lost is not None and (found or passed.lost is not None):
                ends = lost
            elif passed.lost is not None:
                ends = passed.lost
            else:
                stops += found
            if not passed.ends:
                after.append(self._variables)
            if test is not None:
                earlier.append(contrary(test.exact))
        is_closed = chain[-1].name == "else"
        if not is_closed and not Guard(tuple(earlier)).is_dead:
            after.append(before)
        self._variables = _merged(after)
        self._title = None
        return Passed(tuple(stops), ends=is_closed and not after and lost is None, lost=ends)

    def _test(self, command: Command, lost: int | None) -> _Both | None:
        if command.name == "else":
            return _Both(Fixed("true"), Fixed("true"))
        if lost is not None:
            return None
        scope = Scope(self._variables, self._extensions)
        try:
            positive = predicate_of(command.tests[0], scope)
            exact = predicate_of(command.tests[0], msgspec.structs.replace(scope, is_exact=True))
        except Untaken as untaken:
            self._leave(untaken)
            self._leave_tests(command.tests[0], scope, untaken.at)
            return None
        return _Both(positive, exact)

    def _leave_tests(self, test: Test, scope: Scope, told: int) -> None:
        """Tell of the other tests inside that have no counterpart either."""
        for part in test.tests:
            if not part.tests:
                try:
                    predicate_of(part, scope)
                except Untaken as untaken:
                    if untaken.at != told:
                        self._leave(untaken)
            else:
                self._leave_tests(part, scope, told)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _do(self, command: Command, deed: Deed | None, guard: Guard) -> Deed:
        found = Deed(command.at) if deed is None else deed
        found.title = found.title or command.title
        if guard.is_dead:
            return found
        scope = Scope(self._variables, self._extensions)
        try:
            texts = scope.texts(command.given.texts(0), command.at) if command.given.positional else ("",)
            found.add(command, texts[0])
        except Untaken as untaken:
            self._leave(untaken)
        return found

    def _other(self, command: Command, guard: Guard) -> None:
        if command.name == "set":
            self._set(command)
        elif command.name in FOREIGN_COMMANDS and not guard.is_dead:
            why, hint = FOREIGN_COMMANDS[command.name]
            self._leave(Untaken(command.at, command.name, why=why, what_to_do=hint))
            for inner in commands_within(command.block or ()):
                if inner.name in DEEDS:
                    self._leave(Untaken(inner.at, inner.name, why=f"it stands in {command.name}"))

    def _set(self, command: Command) -> None:
        name = command.given.texts(0)[0].lower()
        try:
            (value,) = Scope(self._variables, self._extensions).texts(command.given.texts(1), command.at)
        except Untaken:
            # It is told where the variable is used, if it is.
            self._variables[name] = None
        else:
            self._variables[name] = modified(command, value)

    # --- rules --------------------------------------------------------------------------------------------------------

    def _flush(self, deed: Deed | None, guard: Guard) -> None:
        """Make the rule of what was gathered, if it can be said."""
        if deed is None or guard.is_dead:
            return
        line, _ = self._place(deed.at)
        actions = deed.actions()
        if not actions:
            return
        refusal = self._refusal(guard)
        if refusal is not None:
            self._leave(Untaken(deed.at, " and ".join(deed.names), why=refusal[0], what_to_do=refusal[1]))
            return
        condition = conjunction(list(guard.parts))
        name = self._name(deed.title or self._title, line)
        self._rules.append(Rule(name=name, condition=condition, actions=actions, notes=(Note("rule", f"line {line}"),)))

    def _refusal(self, guard: Guard) -> tuple[str, str | None] | None:
        """Say why a guard cannot be the condition of a rule, and what to do; None where it can."""
        if guard.lost is not None:
            return f"it depends on the test in line {guard.lost}", None
        if len(guard.parts) > MAX_BEFORE:
            return f"more than {MAX_BEFORE} conditions stand before it", "divide the script"
        self._weight += sum(map(self._weigh, guard.parts))
        if self._weight > MAX_WEIGHT:
            return (
                f"the rules of the script would say more than {MAX_WEIGHT:,} conditions and texts",
                "divide the script",
            )
        faults = check_predicate(conjunction(list(guard.parts)))
        return (faults[0].what, faults[0].hint) if faults else None

    def _weigh(self, part: Predicate) -> int:
        """Count the conditions and texts of a conjunct, once."""
        found = self._weights.get(part)
        if found is None:
            found = self._weights[part] = sum(1 + _texts_in(leaf) for _, leaf in leaves(part))
        return found

    def _name(self, title: str | None, line: int) -> str:
        name = (title or f"line {line}")[:MAX_NAME]
        if name in self._names:
            name = f"{name}, line {line}"
        while name in self._names:
            name = f"{name}'"
        self._names.add(name)
        return name

    def _leave(self, untaken: Untaken) -> None:
        line, column = self._place(untaken.at)
        self._left.append(Left(line, column, untaken.construct, untaken.why, untaken.what_to_do))


class _Both(msgspec.Struct, frozen=True):
    """A test as it stands, and as its contrary can be asked for."""

    positive: Predicate
    exact: Predicate


def _texts_in(leaf: Leaf) -> int:
    named = leaf.texts if isinstance(leaf, Search) else leaf.values if isinstance(leaf, InList) else None
    return len(named.values) if isinstance(named, Texts | Constants) else 1


def _chain(commands: tuple[Command, ...], place: int) -> tuple[Command, ...]:
    end = place + 1
    while end < len(commands) and commands[end].name in ("elsif", "else"):
        end += 1
    return commands[place:end]


def _merged(branches: list[dict[str, str | None]]) -> dict[str, str | None]:
    """Give the variables behind branches: what is not the same in all of them depends on the mail."""
    names = {name for branch in branches for name in branch}
    found: dict[str, str | None] = {}
    for name in names:
        values = {branch.get(name, "") for branch in branches}
        found[name] = values.pop() if len(values) == 1 else None
    return found
