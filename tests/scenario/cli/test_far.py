"""The same commands for an office elsewhere on the network."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.scenario.cli.command import Terminal, line_of


class Elsewhere:
    """An office that is served, and how to reach it."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        process = terminal.start("serve", "--json")
        self.url: str = json.loads(line_of(process))["http"][0]
        self.process = process
        self.key_file = str(terminal.folder / "key")
        self.key = self.make_key("--administer", path=self.key_file)

    def make_key(self, *permits: str, path: str) -> str:
        made = self.terminal.run("key", "create", "tester", *permits)
        assert made.code == 0, made.err
        Path(path).write_bytes(made.out)
        Path(path).chmod(0o600)
        return made.text.strip()

    def asked(self, *arguments: str) -> tuple[str, ...]:
        return (*arguments, "--office", self.url, "--key-file", self.key_file)


@pytest.fixture
def elsewhere(terminal: Terminal) -> Elsewhere:
    return Elsewhere(terminal)


def test_what_is_sent_over_the_network_is_read_over_it_and_here(elsewhere: Elsewhere) -> None:
    run = elsewhere.terminal.run
    sent = run(*elsewhere.asked("send", "orders", "two loaves", "--sender", "ada"))
    assert sent.code == 0, sent.err
    assert run("queue", "list", "orders", "--json").document["message"] == sent.text.strip()
    got = run(*elsewhere.asked("read", "orders", "--json"))
    assert got.document["id"] == sent.text.strip()
    assert run(*elsewhere.asked("read", "orders")).code == 3
    told = run(*elsewhere.asked("trace", sent.text.strip(), "--json")).document
    assert told["id"] == sent.text.strip()


def test_looking_after_an_office_elsewhere(elsewhere: Elsewhere) -> None:
    run = elsewhere.terminal.run
    for _ in range(3):
        run("send", "orders", "x")
    status = run(*elsewhere.asked("status", "--json", "--wait", "5s")).document
    assert (status["queued"], status["running"], status["store_path"]) == (3, True, None)
    assert elsewhere.url in run(*elsewhere.asked("status")).text
    assert len(run(*elsewhere.asked("queue", "list", "orders", "--json")).documents) == 3
    assert run(*elsewhere.asked("dead", "list")).code == 0
    assert run(*elsewhere.asked("mailbox", "set", "orders", "--max-messages", "3")).code == 0
    assert run(*elsewhere.asked("send", "orders", "y")).code == 4


def test_a_large_body_goes_and_comes(elsewhere: Elsewhere) -> None:
    body = os.urandom(3_000_000)
    run = elsewhere.terminal.run
    (elsewhere.terminal.folder / "body").write_bytes(body)
    sent = run(*elsewhere.asked("send", "orders", "--file", "body"))
    assert sent.code == 0, sent.err
    assert run(*elsewhere.asked("read", "orders")).out == body


def test_the_key_comes_from_the_environment_too_and_is_never_shown(elsewhere: Elsewhere) -> None:
    run = elsewhere.terminal.run
    assert run("status", "--office", elsewhere.url, POSTHOUSE_KEY=elsewhere.key).code == 0
    wrong = run("status", "--office", elsewhere.url, POSTHOUSE_KEY="ph_wrong", POSTHOUSE_DEBUG="1")
    assert wrong.code == 1
    assert "does not accept the key" in wrong.err
    assert "ph_wrong" not in wrong.err
    none = run("status", "--office", elsewhere.url, "--json")
    assert none.error["code"] == "key.refused"
    assert "asks for a key" in none.error["what"]


def test_a_key_permits_what_it_says_and_no_more(elsewhere: Elsewhere) -> None:
    few = str(elsewhere.terminal.folder / "few")
    elsewhere.make_key("--read", "orders", path=few)
    run = elsewhere.terminal.run
    run("send", "orders", "x")
    assert run("read", "orders", "--office", elsewhere.url, "--key-file", few).code == 0
    for words in (("read", "secret"), ("send", "orders", "x"), ("status",), ("dead", "list")):
        refused = run(*words, "--office", elsewhere.url, "--key-file", few, "--json")
        assert refused.error["code"] == "call.forbidden"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--office", "office.example"), 2, "begins with https"),
        (("--office", "http://office.example"), 2, "in the clear"),
        (("--office", "http://127.0.0.1:1"), 5, "no office answers"),
        (("--office", "http://127.0.0.1:1", "--store", "x.db"), 2, "give one of them"),
        (("--key-file", "nothing"), 2, "belong to --office"),
        (("--office", "http://127.0.0.1:1", "--key-file", "nothing"), 1, "cannot be read"),
        (("--office", "https://127.0.0.1:1", "--ca", "nothing"), 5, "cannot be read"),
    ],
)
def test_what_is_wrong_is_told(terminal: Terminal, words: tuple[str, ...], code: int, says: str) -> None:
    ran = terminal.run("status", *words, POSTHOUSE_KEY="ph_secret")
    assert (ran.code, says in ran.err) == (code, True), ran.err
    assert "ph_secret" not in ran.err


def test_a_key_in_a_file_that_others_may_read_is_not_used(terminal: Terminal) -> None:
    (terminal.folder / "key").write_text("ph_secret")
    (terminal.folder / "key").chmod(0o644)
    ran = terminal.run("status", "--office", "http://127.0.0.1:1", "--key-file", "key")
    assert "chmod 600 key" in ran.err
    assert "ph_secret" not in ran.err


def test_commands_of_this_machine_have_no_office_elsewhere(terminal: Terminal) -> None:
    for command in ("serve", "restore", "verify"):
        assert "no such option '--office'" in terminal.run(command, "--office", "http://127.0.0.1:1").err
