"""Message patterns as text, as data and as predicates, as section 1 of the requirements of switching says it."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.engine.indexed.plan import compile_plan
from posthouse.matching.engine.indexed.sweep import match
from posthouse.matching.engine.single.evaluate import evaluate, evaluate_batch
from posthouse.matching.language.pattern.lower import lower
from posthouse.matching.language.pattern.parse import parse_pattern, parse_patterns
from posthouse.matching.language.pattern.pattern import (
    Argument,
    Context,
    Pattern,
    Scope,
    with_scope_id,
    without_scope_id,
)
from posthouse.matching.language.pattern.printer import print_pattern, print_patterns
from posthouse.matching.language.reader import UnreadableText
from posthouse.matching.match import TRUE
from posthouse.matching.predicate.check import check_predicate
from posthouse.matching.predicate.node import Number, Octets, Text
from posthouse.matching.value.record import Record
from posthouse.message.attribute import Int32, Value
from posthouse.testing.pattern import draw_pattern, draw_scoped

CREATE = Pattern(role="handle", classes=("request",), operations=("Create_Obj",), scopes=(Scope(),))
PUT = Pattern(
    role="handle", classes=("request",), operations=("Put_Contents",), scopes=(Scope("file", ids=("Alpha",)),)
)
CHANGED = Pattern(role="observe", classes=("notice",), operations=("LinkChgd", "NodeChgd"), states=("handled",))


def scoped(**fields: Value) -> Record:
    """Give a request of session S1 with these fields of the switch; `kind` is the message's own."""
    kind = str(fields.pop("kind", "request"))
    given: dict[str, Value] = {"operation": "m", "scope": "session", "session": "S1", "state": "sent"} | fields
    attributes = {f"switch.{name.replace('__', '.')}": value for name, value in given.items()}
    return Record(kind=kind, sender="ann@alpha.example", attributes=attributes)


def suits(text: str, record: Record, session: str | None = "S1") -> bool:
    return evaluate(lower(parse_pattern(text), session=session), record).truth is TRUE


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ('handle request operation "Create_Obj" scope session', CREATE),
        ('handle request operation "Put_Contents" scope file "Alpha"', PUT),
        ('observe notice operation "LinkChgd", "NodeChgd" state handled', CHANGED),
        ("observe", Pattern(role="observe")),
        ("handle-push request, notice", Pattern(role="handle-push", classes=("request", "notice"))),
        (
            'handle-rotate scope session or file "a", "b" or file-in-session priority -5',
            Pattern(
                role="handle-rotate",
                scopes=(Scope(), Scope("file", ids=("a", "b")), Scope("file", "in-session")),
                priority=-5,
            ),
        ),
        (
            'handle disposition start, queue sender "ann@alpha.example" sender type "Editor"',
            Pattern(
                role="handle",
                dispositions=("start", "queue"),
                senders=("ann@alpha.example",),
                sender_types=("Editor",),
            ),
        ),
        ('observe handler "h" handler type "H"', Pattern(role="observe", handlers=("h",), handler_types=("H",))),
        (
            'handle arguments (in string "x", out, any integer 5, inout ALL hex "00ff", any -2.5)',
            Pattern(
                role="handle",
                arguments=(
                    Argument("in", "string", Text("x")),
                    Argument("out"),
                    Argument(None, "integer", Number(5, "int64")),
                    Argument("inout", "ALL", Octets(b"\x00\xff")),
                    Argument(None, None, Number(-2.5, "real64")),
                ),
            ),
        ),
        (
            'handle context "A" = 1, "B" = "x", "C"',
            Pattern(role="handle", contexts=(Context("A", Number(1, "int64")), Context("B", Text("x")), Context("C"))),
        ),
    ],
)
def test_a_pattern_is_the_data_it_says(text: str, pattern: Pattern) -> None:
    """W-015 to W-019, W-021, SW-23: the patterns of figure 3a, and every field."""
    assert parse_pattern(text) == pattern
    assert print_pattern(pattern) == text


def test_a_long_pattern_fills_several_lines() -> None:
    text = print_patterns((CREATE, Pattern(role="handle", operations=tuple(f"operation{n}" for n in range(9))), PUT))
    assert len(text.splitlines()) == 6
    assert print_patterns(parse_patterns(text)) == text


def test_any_subset_of_fields_is_asked() -> None:
    """W-016, W-017: what is left out is a wildcard; of several values any will do."""
    assert suits("handle", scoped())
    assert suits('handle operation "x", "m"', scoped())
    assert not suits('handle operation "x"', scoped())
    assert not suits('handle operation "M"', scoped())
    assert suits('handle sender "ann@alpha.example"', scoped())
    assert suits("handle disposition queue", scoped(disposition=("start", "queue")))
    assert not suits("handle disposition queue", scoped())
    assert suits('handle handler type "A", "B"', scoped(handler__types=("C", "B")))


def test_classes() -> None:
    """W-050: a request is what has the kind of one, also one with a name of its own."""
    assert suits("handle request", scoped(kind="request.render"))
    assert not suits("handle request", scoped(kind="notice"))
    assert suits("handle notice", scoped(kind="notice"))
    assert not suits("handle", scoped(kind="mail"))


def test_states() -> None:
    """W-021, SW-04: an observer asks for finished messages only."""
    assert suits("observe state handled, failed", scoped(state="handled"))
    assert not suits("observe state handled", scoped(state="sent"))


FILE_A: dict[str, Value] = {"scope__ids": ("A",)}


@pytest.mark.parametrize(
    ("scope", "sent_to"),
    [
        ("session", {"session", "file-or-session"}),
        ('file "A"', {"file", "file-or-session"}),
        ('file-in-session "A"', {"file-in-session"}),
        ("file-in-session", {"file-in-session"}),
        ('file-or-session "A"', {"session", "file", "file-or-session"}),
        ("file", set()),
        ("file-or-session", {"session", "file-or-session"}),
        ('session or file "A"', {"session", "file", "file-or-session"}),
        ('file "B"', set()),
        ('file-in-session "B"', set()),
        ('file-or-session "B"', {"session", "file-or-session"}),
        ('file "B", "A"', {"file", "file-or-session"}),
    ],
)
def test_scopes(scope: str, sent_to: set[str]) -> None:
    """W-018 to W-020, W-A9, W-A11, W-A14, SW-24: which messages each scope looks at."""
    kinds = ("session", "file", "file-in-session", "file-or-session")
    assert {kind for kind in kinds if suits(f"handle scope {scope}", scoped(scope=kind, **FILE_A))} == sent_to
    assert all(suits("handle", scoped(scope=kind, **FILE_A)) for kind in kinds)


@pytest.mark.parametrize(
    ("scope", "elsewhere"),
    [("session", False), ('file "A"', True), ('file-in-session "A"', False), ('file-or-session "A"', True)],
)
def test_the_session_is_the_one_that_registered(scope: str, elsewhere: bool) -> None:
    """W-059, SW-25: what asks for the session is not reached by what another session sends."""
    sent = "file-in-session" if "-in-" in scope else "file-or-session"
    record = scoped(scope=sent, **FILE_A)
    assert suits(f"handle scope {scope}", record, session="S1")
    assert suits(f"handle scope {scope}", record, session="S2") is elsewhere
    assert suits(f"handle scope {scope}", record, session=None)


ARGUMENTS: dict[str, Value] = {
    "argument__0": "x", "argument__0__mode": "in", "argument__0__type": "string",
    "argument__1": Int32(5), "argument__1__mode": "in", "argument__1__type": "integer",
    "argument__2": b"ab", "argument__2__mode": "out", "argument__2__type": "ALL",
    "context__A": 1, "context__B": "2",
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("arguments (in string)", True),
        ('arguments (in string "x")', True),
        ('arguments (in string "y")', False),
        ("arguments (out string)", False),
        ("arguments (in integer)", False),
        ("arguments (in ALL)", True),
        ("arguments (any, any integer 5)", True),
        ("arguments (any, any integer 5.0)", True),
        ("arguments (any, any, out file)", True),
        ('arguments (any, any, out file hex "6162")', True),
        ('arguments (any, any, out file hex "6163")', False),
        ("arguments (any, any, any, any)", False),
        ('context "A"', True),
        ('context "A" = 1, "B" = "2"', True),
        ('context "A" = 2', False),
        ('context "C"', False),
    ],
)
def test_arguments_and_contexts(fields: str, expected: bool) -> None:
    """Section 1.7: a pattern states fewer arguments than the message has, never more; ALL suits every type."""
    assert suits(f"handle {fields}", scoped(**ARGUMENTS)) is expected


def test_scope_ids_come_and_go_in_every_scope_of_their_type() -> None:
    """W-022 to W-024, W-027, SW-23: adding and deleting change all scopes with ids and nothing else."""
    both = with_scope_id(PUT, "Beta")
    assert both.scopes == (Scope("file", ids=("Alpha", "Beta")),)
    assert without_scope_id(both, "Alpha").scopes == (Scope("file", ids=("Beta",)),)
    assert with_scope_id(both, "Beta") == both
    assert with_scope_id(CREATE, "Beta") == CREATE
    assert with_scope_id(CHANGED, "Beta") == CHANGED
    every = Pattern(
        role="handle", scopes=(Scope(), Scope("file", "in-session"), Scope("file", "or-session"), Scope("x"))
    )
    added = (Scope(), Scope("file", "in-session", ("b",)), Scope("file", "or-session", ("b",)), Scope("x"))
    assert with_scope_id(every, "b").scopes == added
    assert without_scope_id(with_scope_id(every, "b"), "b") == every


def test_scope_types_are_an_open_family() -> None:
    """W-019: other types than files are registered, and have both bonds as well."""
    types = frozenset({"file", "room"})
    pattern = parse_pattern('handle scope room-or-session "12"', types=types)
    assert pattern.scopes == (Scope("room", "or-session", ("12",)),)
    record = scoped(scope="room-or-session", scope__ids=("12",))
    assert evaluate(lower(pattern), record).truth is TRUE
    assert suits("handle scope session", record)
    with pytest.raises(UnreadableText, match="expected a scope: session, file, file-in-session, file-or-session"):
        parse_pattern('handle scope room "12"')


def test_an_unknown_field_is_refused_with_the_list_of_fields() -> None:
    """W-030: unknown names and ill-typed values are refused, all at once."""
    with pytest.raises(UnreadableText) as unreadable:
        parse_pattern("handle colour red state done priority high")
    told = [str(problem) for problem in unreadable.value.problems]
    assert "operation, state, scope, disposition, sender, sender type" in told[0]
    assert told[1:] == [
        'line 1, column 25: expected created, sent, handled, queued, started or failed, found "done"',
        'line 1, column 39: expected a priority from -1000 to 1000, found "high"',
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: "handle " * 1001,
        lambda: "handle operation " + ", ".join(f'"{number}"' for number in range(1001)),
        lambda: "handle arguments (" + "any, " * 100,
        lambda: "(" * 249_000,
        lambda: '"' * 249_001,
        lambda: "x " * 124_000,
        lambda: "handle " * 10_000_000,
        lambda: "handle scope " + "file or " * 30_000,
        lambda: "handle priority " + "9" * 200_000,
        lambda: 'handle operation "' + "x" * 2_000 + '"',
    ],
)
def test_what_is_beyond_a_limit_is_refused_soon(make: Callable[[], str]) -> None:
    text = make()
    start = time.perf_counter()
    with pytest.raises(UnreadableText) as unreadable:
        parse_patterns(text)
    assert time.perf_counter() - start < 3
    assert len(unreadable.value.problems) <= 100


SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_reads_what_it_prints(seed: int) -> None:
    chance = Random(seed)
    patterns = tuple(draw_pattern(chance) for _ in range(3))
    assert parse_patterns(print_patterns(patterns)) == patterns
    assert all(parse_pattern(print_pattern(pattern)) == pattern for pattern in patterns)
    assert not any(check_predicate(lower(pattern, session="S1")) for pattern in patterns)


@given(st.text(min_size=1, max_size=50))
def test_any_text_travels(text: str) -> None:
    pattern = Pattern(role="observe", operations=(text,), arguments=(Argument("in", text, Text(text)),))
    assert parse_pattern(print_pattern(pattern)) == pattern


def agree(seed: int, many: int) -> None:
    chance = Random(seed)
    predicates = tuple(lower(draw_pattern(chance), session=chance.choice((None, "S1"))) for _ in range(many))
    records = tuple(draw_scoped(chance) for _ in range(many))
    plan = compile_plan(dict(enumerate(predicates)), only_true=False)
    assert match(plan, records) == evaluate_batch(predicates, records), f"seed {seed}"


@given(SEEDS)
def test_both_engines_agree(seed: int) -> None:
    agree(seed, 10)
