"""The examples of the documentation run, page by page, each page in a fresh folder and a home of its own.

`python` blocks of a page run in order in one namespace and may await. `console` blocks hold `$ command` lines, each
followed by the output it must have, if any is given; `...` stands for anything. `rule` blocks are rules whose own
examples hold; `condition`, `elvin` and `pattern` blocks hold one in each line, as printed. `text` blocks are not run.
A name behind the word, as in `rule house.rules`, is that of the file that the block is put into.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.elvin.parse import parse_subscription
from posthouse.matching.language.elvin.printer import print_subscription
from posthouse.matching.language.pattern.parse import parse_pattern
from posthouse.matching.language.pattern.printer import print_pattern
from posthouse.matching.language.rule.example import record_of
from posthouse.matching.language.rule.layout import print_condition
from posthouse.matching.language.rule.parse import parse_condition, parse_rules
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.match import FALSE, TRUE, UNKNOWN
from posthouse.matching.value.wordlist import WordList
from posthouse.testing.port import free_port
from tests.docs.pages import ROOT, Block, blocks, pages_with_examples

COMMAND_S = 20.0
EXPECTED = {"match": TRUE, "no match": FALSE, "unknown": UNKNOWN}


class Visit:
    """One page being read and tried: its folder, its running programs, its loop and its names."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.names: dict[str, Any] = {"__name__": "__main__"}  # whatever the examples define
        self.runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self.ports: dict[str, str] = {}

    def placed(self, text: str) -> str:
        """Give text in which ports 8020 to 8039 and 2525 of this machine are free ones, the same on the whole page."""

        def port(found: re.Match[str]) -> str:
            if found[2] not in self.ports:
                self.ports[found[2]] = str(free_port())
            return f"{found[1]}:{self.ports[found[2]]}"

        return re.sub(r"\b(127\.0\.0\.1|localhost):(80[23][0-9]|2525)\b", port, text)

    def try_block(self, block: Block) -> None:
        place = f"{self.page.relative_to(ROOT)}:{block.line}"
        kind, _, name = block.info.partition(" ")
        if name:
            (self.folder / name).write_text(block.text, encoding="utf-8")
        match kind:
            case "text":
                pass
            case "python":
                self.run_python(block, place)
            case "console":
                for command, expected in commands(block):
                    self.run_command(self.placed(command), self.placed(expected), place)
            case "toml":
                tomllib.loads(block.text)
            case "json":
                json.loads(block.text)
            case "rule":
                try_rules(block, place)
            case "condition":
                for line in block.text.strip().splitlines():
                    assert print_condition(parse_condition(line)) == line, place
            case "elvin":
                for line in block.text.strip().splitlines():
                    assert print_subscription(parse_subscription(line)) == line, place
            case "pattern":
                for line in block.text.strip().splitlines():
                    assert print_pattern(parse_pattern(line)) == line, place
            case _:
                known = "python, console, toml, json, rule, condition, elvin, pattern or text"
                pytest.fail(f"{place}: a block says {known}, not {block.info!r}")

    def run_python(self, block: Block, place: str) -> None:
        # Blank lines in front make the line numbers of a traceback those of the page.
        source = "\n" * block.line + self.placed(block.text)
        code = compile(source, place.partition(":")[0], "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, self.names)
        if inspect.iscoroutine(result):
            self.runner.run(asyncio.wait_for(result, COMMAND_S))

    def run_command(self, command: str, expected: str, place: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("POSTHOUSE")}
        environment |= {
            "HOME": str(self.folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "COLUMNS": "120",
            "POSTHOUSE_HTTP_LISTEN": self.placed("127.0.0.1:8025"),
        }
        # To a file, not a pipe: a program that goes on in the background would hold the pipe open.
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.started.append(process)
            code = process.wait(timeout=COMMAND_S)
            output.seek(0)
            written = output.read().decode()
        assert code == 0, f"{place}: `{command}` ended with {code}:\n{written}"
        if expected:
            assert agrees(written, expected), f"{place}: `{command}` wrote\n{written}\ninstead of\n{expected}"

    def leave(self) -> None:
        for process in self.started:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()
        self.runner.close()


def try_rules(block: Block, place: str) -> None:
    """See that rules stand in their canonical form, and that their own examples hold, those of mails in files apart."""
    file = parse_rules(block.text)
    assert print_rules(file).strip() == block.text.strip(), place
    lists = {
        source.name: WordList(source.words if source.file is None else Path(source.file).read_text().splitlines())
        for source in file.words
    }
    for rule in file.rules:
        for example in (example for example in rule.examples if example.file is None):
            found = evaluate(rule.condition, record_of(example), lists=lists).truth
            assert EXPECTED[example.expected] is found, f"{place}: rule {rule.name}, example {example.title}"


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Take a console block apart into commands and the output expected of each."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"line {block.line}: a console block begins with `$ `"
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = f"{command[:-1]}{more.strip()}"
        yield command.strip(), expected.strip("\n")


def agrees(written: str, expected: str) -> bool:
    """Compare line by line without regard to blanks at line ends; `...` stands for anything."""
    written, expected = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (written, expected))
    pattern = ".*".join(re.escape(piece) for piece in expected.split("..."))
    return re.fullmatch(pattern, written, re.DOTALL) is not None


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # Shorter than tmp_path: the path of a socket may have hardly more than a hundred characters.
    with tempfile.TemporaryDirectory(prefix="page-") as name:
        monkeypatch.chdir(name)
        monkeypatch.setenv("HOME", name)
        yield Path(name)


@pytest.mark.parametrize("page", pages_with_examples(), ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, folder: Path) -> None:
    visit = Visit(page, folder)
    try:
        for block in blocks(page):
            visit.try_block(block)
    finally:
        visit.leave()


@pytest.mark.parametrize(
    ("written", "expected", "agree"),
    [
        ("one \ntwo\n", "one\ntwo", True),
        ("one\ntwo\nthree", "one\n...\nthree", True),
        ("sent 01234", "sent ...", True),
        ("sent", "read ...", False),
        ("a.b", "a+b", False),
    ],
)
def test_dots_stand_for_anything(written: str, expected: str, agree: bool) -> None:
    assert agrees(written, expected) is agree
