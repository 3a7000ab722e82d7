"""Help that is quick and true, and completion for three shells."""

from __future__ import annotations

import subprocess
import sys

import pytest

from posthouse.cli.main import COMMANDS
from tests.scenario.cli.command import Terminal
from tools import reference

SLOW = ("asyncio", "msgspec", "rich", "structlog", "uvloop", "apsw", "posthouse.client")


def test_help_imports_little() -> None:
    code = f"import posthouse.cli.main, sys; print(*[name for name in {SLOW} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_help_says_what_each_command_says_of_itself() -> None:
    said = {
        name.removeprefix("posthouse "): (command.help or "").partition("\n")[0]
        for name, command in reference.commands().items()
        if name.count(" ") == 1
    }
    assert said == dict(COMMANDS)


def test_help_of_everything_can_be_written(terminal: Terminal) -> None:
    ran = terminal.run("--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(name in ran.text for name in COMMANDS)
    assert terminal.run("mailbox", "set", "-h").code == 0
    assert terminal.run("--version").text.startswith("posthouse 0.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes(shell: str, terminal: Terminal) -> None:
    script = terminal.run("completion", shell)
    assert script.code == 0
    assert "_POSTHOUSE_COMPLETE" in script.text


def test_completion_names_commands_and_options(terminal: Terminal) -> None:
    asked = {"_POSTHOUSE_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "posthouse st"}
    assert terminal.run(**asked).text == "plain,status\n"
    asked = {"_POSTHOUSE_COMPLETE": "bash_complete", "COMP_CWORD": "2", "COMP_WORDS": "posthouse send --pri"}
    assert terminal.run(**asked).text == "plain,--priority\n"
