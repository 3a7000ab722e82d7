"""`posthouse match`: which messages of files an expression matches, and why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.printer import clean
from posthouse.cli.rulefile import STANDARD_INPUT, UnreadableFile, read_words, shown_name
from posthouse.cli.specimen import Specimen, read_specimens
from posthouse.cli.verdict import Marks, addresses, condition_document, tell_conditions
from posthouse.clock import SystemClock
from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.elvin.parse import parse_subscription
from posthouse.matching.language.pattern.lower import lower
from posthouse.matching.language.pattern.parse import parse_pattern
from posthouse.matching.language.reader import UnreadableText
from posthouse.matching.language.rule.parse import parse_condition
from posthouse.matching.match import FALSE, TRUE, Match, Truth
from posthouse.matching.predicate.node import Predicate
from posthouse.matching.trial.example import SAID
from posthouse.matching.trial.reason import Condition, judge_condition
from posthouse.matching.trial.subscription import judge_subscription
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import Lists, WordList

Judgement = tuple[Match, tuple[Condition, ...] | None]
"""What became of a message, with the reasons where they were asked for."""
Explain = Callable[[Predicate, Record, Lists], Judgement]


class Language(NamedTuple):
    """How an expression is read, and how its reasons are told."""

    parse: Callable[[str], Predicate]
    explain: Explain


def _explain_condition(predicate: Predicate, record: Record, lists: Lists) -> Judgement:
    return judge_condition(predicate, record, lists=lists)


def _explain_subscription(predicate: Predicate, record: Record, _: Lists) -> Judgement:
    return judge_subscription(predicate, record)


LANGUAGES: Final = {
    "elvin": Language(parse_subscription, _explain_subscription),
    # What a pattern becomes has words in the language of rules only.
    "pattern": Language(lambda text: lower(parse_pattern(text)), _explain_condition),
    "rule-condition": Language(parse_condition, _explain_condition),
}


@click.command()
@click.argument("expression")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option(
    "--lang", type=click.Choice(list(LANGUAGES)), default="elvin", show_default=True,
    help="The language of the expression.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Say of every message what made it match or not.")
@click.option(
    "--words", multiple=True, metavar="NAME=FILE",
    help="A named list for rule-condition, one word in each line; may be given several times.",
)  # fmt: skip
@at_desk
def match(
    desk: Desk,
    expression: str,
    files: tuple[Path, ...],
    lang: str,
    explain: bool,  # noqa: FBT001 - click names it
    words: tuple[str, ...],
) -> int:
    """Say which messages an expression matches.

    posthouse match 'severity >= 3 && begins-with(host, "web")' events.jsonl

    Messages are read from files, or from standard input: a mail as it is, or JSON with one message in each line. Writes
    the place of each message that matches; with --json a line for each message. The exit code is 0 if one matches, 3 if
    none does.
    """
    language = LANGUAGES[lang]
    predicate = _read(language, expression, desk)
    lists = dict(map(_read_list, words))

    def judge(record: Record) -> Judgement:
        if explain:
            return language.explain(predicate, record, lists)
        return evaluate(predicate, record, lists=lists), None

    paths = files or (Path(STANDARD_INPUT),)
    if not files and sys.stdin.isatty():
        warn("messages are read from the terminal; Ctrl-D ends them")
    seen: set[Truth | None] = set()
    for specimen in _specimens(paths):
        if specimen.record is None:
            seen.add(None)
            warn(clean(f"{specimen.place}: {specimen.fault}"))
        else:
            seen.add(_tell(desk, specimen, judge))
    if None in seen:
        return exitcode.FAILURE
    return exitcode.OK if TRUE in seen else exitcode.NOTHING


def _read(language: Language, expression: str, desk: Desk) -> Predicate:
    """Read the expression; each of its faults is an error of its own, and stands below its place."""
    try:
        return language.parse(expression)
    except UnreadableText as unreadable:
        if not desk.as_json and "\n" not in expression and len(expression) <= 120 and expression.isprintable():
            marks = [" "] * (len(expression) + 1)
            for problem in unreadable.problems:
                for at in range(problem.column - 1, min(problem.column - 1 + problem.length, len(marks))):
                    marks[at] = "^"
            click.echo(f"{expression}\n{''.join(marks).rstrip()}", err=True)
        raise ExceptionGroup("", [UnreadableText((problem,)) for problem in unreadable.problems]) from None


def _read_list(given: str) -> tuple[str, WordList]:
    name, equals, path = given.partition("=")
    if not name or not equals or not path:
        raise misuse(f"expected --words NAME=FILE, found {given}")
    return name, WordList(read_words(path))


def _specimens(paths: tuple[Path, ...]) -> Iterator[Specimen]:
    clock = SystemClock()
    for path in paths:
        try:
            yield from read_specimens(path, clock)
        except OSError as fault:
            why = (fault.strerror or str(fault)).lower()
            yield Specimen(shown_name(str(path)), fault=UnreadableFile(why))


def _tell(desk: Desk, specimen: Specimen, judge: Callable[[Record], Judgement]) -> Truth:
    """Write what became of one message, with the reasons there are."""
    record = specimen.record
    assert record is not None
    found, conditions = judge(record)
    if desk.as_json:
        desk.printer.document(_document(specimen.place, found, record, conditions=conditions))
    elif conditions is not None:
        verdict = {TRUE: "matches", FALSE: "does not match"}.get(found.truth, "is unknown, and so does not match")
        desk.printer.line(f"{clean(specimen.place)} {verdict}")
        if found.recipients:
            desk.printer.line(f"  for      {clean(', '.join(addresses(found.recipients, record)))}")
        for line in tell_conditions(conditions, record, marks=Marks(in_colour=sys.stdout.isatty())):
            desk.printer.line(line)
    elif found.truth is TRUE:
        desk.printer.line(clean(specimen.place))
    return found.truth


# `Any`: the members of a JSON object.
def _document(place: str, found: Match, record: Record, *, conditions: tuple[Condition, ...] | None) -> dict[str, Any]:
    told = {
        "place": place,
        "verdict": SAID[found.truth],
        "recipients": None if found.recipients is None else addresses(found.recipients, record),
    }
    if conditions is None:
        return told
    return {**told, "conditions": [condition_document(condition, record) for condition in conditions]}
