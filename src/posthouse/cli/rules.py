"""`posthouse rules`: rules are checked, printed, tried on their own examples, and explained on a message."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_any_desk, at_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.printer import clean, plural
from posthouse.cli.rulebook import BOOK_COMMANDS
from posthouse.cli.rulefile import (
    MAX_BYTES,
    RuleText,
    decode,
    problem_document,
    read_limited,
    read_rules,
    read_sound_rules,
    shown_name,
)
from posthouse.cli.subject import Asked, read_subject
from posthouse.cli.verdict import Marks, document, tell
from posthouse.clock import SystemClock
from posthouse.matching.language.reader import Problem, UnreadableText, excerpt
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.language.rule.rule import Rule, RuleFile
from posthouse.matching.language.sieve.walk import import_sieve
from posthouse.matching.trial.example import SAID, Trial, record_of_example, try_examples
from posthouse.matching.trial.reach import Warned, find_oddities
from posthouse.matching.trial.reason import judge_rule

_DAY = 86_400_000_000


@click.group()
def rules() -> None:
    """Check rules, try them, say why they match, keep them as the book an office goes by.

    A rule says which messages are meant and what is to be done with them. Rules are written in files of text, and go
    by editions into the book of an office: write keeps one, activate puts it in force, rollback takes it back.
    """


for _command in BOOK_COMMANDS:
    rules.add_command(_command)


# --- check ------------------------------------------------------------------------------------------------------------


@rules.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Count warnings as faults.")
@at_desk
def check(desk: Desk, files: tuple[str, ...], *, strict: bool) -> int:
    """Tell every fault of files of rules, and what is odd about them.

    Each fault says its line and column, what was expected, what was found, and what was perhaps meant. Warnings tell of
    rules that no message can match, that say the same as another one, or that stand twice. - is standard input. The
    exit code is 1 if there are faults.
    """
    today = SystemClock().now() // _DAY
    names: dict[str, str] = {}
    faults = warnings = 0
    for name in files:
        read = read_rules(name)
        odd = [] if read.file is None else [*_known_elsewhere(read, names), *find_oddities(read.file, today=today)]
        faults += len(read.problems) + len(read.list_faults)
        warnings += len(odd)
        if desk.as_json:
            desk.printer.document(_checked(read, odd))
        else:
            _tell_faults(desk, read, odd)
    if not desk.as_json and (faults or warnings):
        desk.printer.line(f"{plural(faults, 'fault')}, {plural(warnings, 'warning')}")
    return exitcode.FAILURE if faults or (strict and warnings) else exitcode.OK


def _known_elsewhere(read: RuleText, names: dict[str, str]) -> list[Warned]:
    """Give the rules whose names stand in a file before; the names of this one are remembered."""
    assert read.file is not None
    found = []
    for rule in read.file.rules:
        earlier = names.setdefault(rule.name, read.name)
        if earlier != read.name:
            found.append(Warned(rule.name, f"a rule in {shown_name(earlier)} has this name too"))
    return found


def _tell_faults(desk: Desk, read: RuleText, odd: list[Warned]) -> None:
    line = desk.printer.line
    for problem in read.problems:
        _tell_problem(desk, read.name, read.text, problem)
    for source, why in read.list_faults:
        line(clean(f'{shown_name(read.name)}: words "{source.name}": {why}'))
    for warned in odd:
        hint = f" ({warned.hint})" if warned.hint else ""
        line(clean(f'{shown_name(read.name)}: warning: {warned.kind} "{warned.item}": {warned.what}{hint}'))
    if read.is_sound and read.file is not None and not odd:
        line(f"{clean(shown_name(read.name))}: {plural(len(read.file.rules), 'rule')} in order")


def _tell_problem(desk: Desk, name: str, text: str, problem: Problem) -> None:
    desk.printer.line(clean(f"{shown_name(name)}:{problem.line}:{problem.column}: {_without_place(str(problem))}"))
    for shown in excerpt(text, problem).split("\n"):
        desk.printer.line(f"    {shown}")


def _without_place(told: str) -> str:
    return told.partition(": ")[2]


# `Any`: the members of a JSON object, here and below.
def _checked(read: RuleText, odd: list[Warned]) -> dict[str, Any]:
    return {
        "file": read.name,
        "rules": None if read.file is None else len(read.file.rules),
        "faults": [problem_document(problem) for problem in read.problems]
        + [{"words": source.name, "what": why} for source, why in read.list_faults],
        "warnings": [{warned.kind: warned.item, "what": warned.what, "hint": warned.hint} for warned in odd],
    }


# --- print ------------------------------------------------------------------------------------------------------------


@rules.command("print")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--check", "only_check", is_flag=True, help="Only say which files are written otherwise; the exit code is 1 then."
)
@click.option("--write", is_flag=True, help="Write the form into the files instead.")
@at_desk
def print_(desk: Desk, files: tuple[str, ...], *, only_check: bool, write: bool) -> int:
    """Print rules in their one canonical form.

    Two files that say the same are printed the same, so that versions differ only where their meaning does.
    """
    if only_check and write:
        raise misuse("one of --check and --write: look first, or write")
    differing = 0
    for name in files:
        read, file = read_sound_rules(name)
        printed = print_rules(file)
        differs = printed != read.text
        differing += differs
        if write and differs:
            _replace(name, printed)
        if desk.as_json:
            desk.printer.document({"file": name, "canonical": not differs, "text": printed})
        elif only_check and differs:
            desk.printer.line(clean(f"{shown_name(name)}:{_first_difference(read.text, printed)}: written otherwise"))
        elif not only_check and not write:
            desk.printer.raw(printed.encode())
    return exitcode.FAILURE if only_check and differing else exitcode.OK


def _first_difference(one: str, other: str) -> int:
    ours, theirs = one.split("\n"), other.split("\n")
    pairs = zip(ours, theirs, strict=False)
    return next((number for number, (left, right) in enumerate(pairs, 1) if left != right), min(len(ours), len(theirs)))


def _replace(name: str, text: str) -> None:
    """Write a file anew, so that it is the old one or the new one at every moment."""
    path = Path(name)
    if not path.is_file():
        raise misuse(f"--write writes into files, and {shown_name(name)} is none")
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


# --- test -------------------------------------------------------------------------------------------------------------


@rules.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--rule", "only", metavar="NAME", help="Run the examples of this rule only.")
@at_desk
def test(desk: Desk, files: tuple[str, ...], *, only: str | None) -> int:
    """Run the examples that rules carry, and say where a rule says something else than its example expects.

    Mails and lists that an example or a rule names stand relative to the file. The exit code is 1 if an example fails.
    """
    ran = failed = chosen = 0
    without: list[str] = []
    for name in files:
        read, file = read_sound_rules(name)
        for rule in _named(file, only):
            chosen += 1
            trials = try_examples(rule, lists=read.lists, read_file=read.beside)
            ran += len(trials)
            failed += sum(not trial.holds for trial in trials)
            without += [] if trials else [rule.name]
            for trial in trials:
                _tell_trial(desk, read, rule, trial)
    if only is not None and not chosen:
        raise misuse(f"no rule is named {clean(only)!r}")
    if not desk.as_json:
        desk.printer.line(f"{plural(ran, 'example')}, {failed} failed")
        if without:
            named = ", ".join(f'"{clean(name)}"' for name in without[:5]) + (" and others" if len(without) > 5 else "")
            warn(f"without an example: {named}")
    return exitcode.FAILURE if failed else exitcode.OK


def _named(file: RuleFile, only: str | None) -> list[Rule]:
    return [rule for rule in file.rules if only is None or rule.name == only]


def _tell_trial(desk: Desk, read: RuleText, rule: Rule, trial: Trial) -> None:
    if desk.as_json:
        desk.printer.document(_tried(read, rule, trial))
        return
    if trial.holds:
        return
    title = f" {clean(trial.example.title)!r}" if trial.example.title else ""
    place = f'{shown_name(read.name)}: rule "{clean(rule.name)}", example {trial.number}{title}'
    if trial.verdict is None:
        desk.printer.line(f"{place}: {clean(trial.fault)}")
        return
    desk.printer.line(f"{place}: expected {trial.example.expected}, found {SAID[trial.verdict.truth]}")
    record = record_of_example(trial.example, read_file=read.beside)
    for line in list(tell(trial.verdict, record, marks=_marks()))[1:]:
        if not line.startswith(("  then", "  but")):
            desk.printer.line(f"  {line}")


def _tried(read: RuleText, rule: Rule, trial: Trial) -> dict[str, Any]:
    return {
        "file": read.name,
        "rule": rule.name,
        "example": trial.number,
        "title": trial.example.title,
        "expected": trial.example.expected,
        "found": None if trial.verdict is None else SAID[trial.verdict.truth],
        "holds": trial.holds,
        "fault": trial.fault or None,
        "conditions": []
        if trial.verdict is None or trial.holds
        else document(trial.verdict, record_of_example(trial.example, read_file=read.beside))["conditions"],
    }


# --- explain ----------------------------------------------------------------------------------------------------------


@rules.command()
@click.argument("file", metavar="FILE")
@click.argument("message", metavar="MESSAGE")
@click.option("--sender", metavar="ADDRESS", help="The envelope's sender of a mail; else who stands in From.")
@click.option("--recipient", multiple=True, metavar="ADDRESS", help="A recipient of a mail; else those in To and Cc.")
@click.option("--now", metavar="INSTANT", help="The time of the decision, such as 2026-01-31T12:00:00Z; else now.")
@click.option("--rule", "only", metavar="NAME", help="Explain this rule only.")
@click.option("--firing", is_flag=True, help="Leave out rules that do not apply.")
@at_any_desk
def explain(
    desk: Desk,
    file: str,
    message: str,
    *,
    sender: str | None,
    recipient: tuple[str, ...],
    now: str | None,
    only: str | None,
    firing: bool,
) -> None:
    """Say of each rule whether it matches a message, and which of its conditions made it so.

    MESSAGE is the file of a mail, a JSON document as `posthouse send --document` takes it, - for one of both from
    standard input, or the id of a message of the office. What decided is shown with the words that were found marked.
    """
    read, rule_file = read_sound_rules(file)
    chosen = _named(rule_file, only)
    if only is not None and not chosen:
        raise misuse(f"no rule is named {clean(only)!r}")
    record = read_subject(desk, Asked(message=message, sender=sender, recipients=recipient, now=now))
    verdicts = [judge_rule(rule, record, lists=read.lists) for rule in chosen]
    for verdict in verdicts:
        if firing and not verdict.fires:
            continue
        if desk.as_json:
            desk.printer.document(document(verdict, record))
            continue
        for line in tell(verdict, record, marks=_marks()):
            desk.printer.line(line)
    if not desk.as_json:
        firing_now = sum(verdict.fires for verdict in verdicts)
        of_all = plural(len(verdicts), "rule")
        desk.printer.line(f"{firing_now} of {of_all} {'applies' if firing_now == 1 else 'apply'}")


def _marks() -> Marks:
    return Marks(in_colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))


# --- import -----------------------------------------------------------------------------------------------------------


@rules.group("import")
def import_() -> None:
    """Make rules of what other programs decide by."""


@import_.command()
@click.argument("file", metavar="FILE")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the rules into a new file.")
@at_desk
def sieve(desk: Desk, file: str, *, output: Path | None) -> int:
    """Make rules of a Sieve script, and say what could not be taken over and why.

    The rules are true of the mails the script does something with. What has no counterpart stands on standard error
    with its place, its reason and what to do, and as comments at the end of the rules; the exit code is 1 then. - is
    standard input.
    """
    text = decode(read_limited(file, MAX_BYTES), file)
    try:
        imported = import_sieve(text)
    except UnreadableText as unreadable:
        if not desk.as_json:
            for problem in unreadable.problems:
                _tell_problem(desk, file, text, problem)
            desk.printer.line(plural(len(unreadable.problems), "fault"))
            return exitcode.USAGE
        desk.printer.document({"file": file, "faults": [problem_document(one) for one in unreadable.problems]})
        return exitcode.USAGE
    written = print_rules(imported.file)
    if output is not None:
        with output.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(written)
    if desk.as_json:
        left = [msgspec.structs.asdict(one) for one in imported.left]
        desk.printer.document({"file": file, "rules": len(imported.file.rules), "left": left, "text": written})
    else:
        if output is None:
            desk.printer.raw(written.encode())
        for one in imported.left:
            warn(clean(f"{shown_name(file)}: {one}"))
        if output is not None:
            desk.printer.line(f"{plural(len(imported.file.rules), 'rule')} written to {clean(str(output))}")
    return exitcode.FAILURE if imported.left else exitcode.OK
