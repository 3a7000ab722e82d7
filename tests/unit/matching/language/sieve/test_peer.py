"""Scripts made into rules say of each mail what `sieve-test` of Dovecot does with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from posthouse.matching.engine.single.evaluate import evaluate
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.language.rule.rule import RuleFile
from posthouse.matching.language.sieve.walk import import_sieve
from posthouse.matching.match import TRUE
from posthouse.matching.trial.example import record_of_mail
from posthouse.matching.value.record import Context, Record
from tests.unit.matching.language.sieve.generate import Chance

Outcome = frozenset[tuple[str, str]]
_DONE = (
    (re.compile(r"store message in folder: (.+)"), "file"),
    (re.compile(r"redirect message to: <(.+)>"), "send"),
    (re.compile(r"(discard)"), "discard"),
    (re.compile(r"reject message with reason: (.+)"), "reject"),
)
_NOW = 1_790_000_000_000_000


class Peer:
    """`sieve-test`, in a folder that its own user may read."""

    def __init__(self, folder: Path, program: str) -> None:
        self._folder = folder
        self._program = program
        self._count = 0
        lines = [
            "ssl = no",
            "log_path = /dev/stderr",
            f"mail_home = {folder}",
            f"mail_location = maildir:{folder}/mail",
        ]
        if os.getuid() == 0:
            lines += ["mail_uid = 65534", "mail_gid = 65534", "first_valid_uid = 0"]
        (folder / "dovecot.conf").write_text("\n".join(lines) + "\n")

    def run(self, script: str, mail: bytes, *, envelope: tuple[str, str]) -> Outcome:
        self._count += 1
        # Each script has a name of its own: a compiled one of the same second would be taken for it.
        path, letter = self._folder / f"{self._count}.sieve", self._folder / f"{self._count}.eml"
        path.write_text(script)
        letter.write_bytes(mail)
        sender, recipient = envelope
        ran = subprocess.run(
            [self._program, "-c", self._folder / "dovecot.conf", "-f", sender, "-a", recipient, path, letter],
            capture_output=True, text=True, timeout=30, check=False, env={**os.environ, "TZ": "UTC"},
        )  # fmt: skip
        assert ran.returncode == 0, f"{ran.stderr}\n{script}"
        performed, _, implicit = ran.stdout.partition("Implicit keep:")
        return normal({*told(performed), *({("keep", "")} if "INBOX" in implicit else set())})


def told(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        for pattern, kind in _DONE:
            if found := pattern.search(line):
                yield ("keep", "") if found[1] == "INBOX" else (kind, "" if kind == "discard" else found[1])


def normal(found: set[tuple[str, str]]) -> Outcome:
    """Leave out what says no more where something else is done."""
    return frozenset(found - {("discard", "")} if len(found) > 1 else found)


def ours(file: RuleFile, record: Record) -> Outcome:
    found: set[tuple[str, str]] = set()
    stays = True
    for rule in file.rules:
        if evaluate(rule.condition, record).truth is not TRUE:
            continue
        for action in rule.actions:
            match action.name:
                case "file" | "forward" | "copy":
                    found.add(("file" if action.name == "file" else "send", action.to[0]))
                case "release":
                    found.add(("keep", ""))
                case "delete":
                    found.add(("discard", ""))
                case _:
                    found.add(("reject", action.saying or ""))
            stays = stays and action.name in ("copy", "release")
    return normal(found | ({("keep", "")} if stays else set()))


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    program = shutil.which("sieve-test")
    if program is None:
        pytest.skip("sieve-test is not here")
    with tempfile.TemporaryDirectory(prefix="sieve-") as name:
        Path(name).chmod(0o777)
        yield Peer(Path(name), program)


def agree(peer: Peer, *, seed: int, mails: int) -> None:
    chance = Chance(seed)
    script = chance.script()
    imported = import_sieve(script)
    assert not imported.left, f"{imported.left}\n{script}"
    # What is printed and read again is what was meant.
    file = parse_rules(print_rules(imported.file))
    assert [rule.condition for rule in file.rules] == [rule.condition for rule in imported.file.rules]
    for _ in range(mails):
        mail, envelope = chance.mail(), chance.envelope()
        record = record_of_mail(mail, sender=envelope[0], recipients=(envelope[1],), context=Context(now=_NOW))
        theirs = peer.run(script, mail, envelope=envelope)
        assert ours(file, record) == theirs, f"seed {seed}\n{script}\n{mail.decode()}\n{envelope}"


@pytest.mark.service("sieve-test")
@pytest.mark.parametrize("seed", range(60))
def test_generated_scripts_do_the_same(peer: Peer, seed: int) -> None:
    agree(peer, seed=seed, mails=4)


@pytest.mark.fuzz
@pytest.mark.service("sieve-test")
def test_many_generated_scripts_do_the_same(peer: Peer) -> None:
    for seed in range(1_000, 6_000):
        agree(peer, seed=seed, mails=5)
