"""`sieve-test` of Dovecot: a script with one `fileinto` for each rule, and one process for each mail."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.figure import Missing
from posthouse.matching.predicate.node import And, InList, Part, Predicate, Quantified, Search, Texts
from posthouse.message.features import MailFeatures

WHO: Final = "sieve-test"
MISSING: Final = Missing(WHO, "apt-get install dovecot-sieve")
_FILED: Final = re.compile(r"store message in folder: rule(\d+)")
_LIMITS: Final = "plugin {\n  sieve_max_script_size = 100M\n  sieve_max_actions = 10000\n}"
_HEAD: Final = 'require ["fileinto", "body"];\n'


class SieveTest:
    """A script, compiled once, that is asked mail by mail."""

    def __init__(self, folder: Path, rules: Sequence[str]) -> None:
        self._folder = folder
        self._script = folder / "rules.sieve"
        lines = [
            "ssl = no",
            "log_path = /dev/stderr",
            f"mail_home = {folder}",
            f"mail_location = maildir:{folder}/mail",
        ]
        if os.getuid() == 0:
            lines += ["mail_uid = 65534", "mail_gid = 65534", "first_valid_uid = 0"]
        (folder / "dovecot.conf").write_text("\n".join((*lines, _LIMITS, "")))
        said = (f'if {test} {{ fileinto "rule{number}"; }}' for number, test in enumerate(rules))
        self._script.write_text(_HEAD + "\n".join(said) + "\n")

    def hits(self, mail: bytes) -> list[int]:
        """Give the rules that are true of a mail."""
        letter = self._folder / "letter.eml"
        letter.write_bytes(mail)
        ran = subprocess.run(
            ["sieve-test", "-c", self._folder / "dovecot.conf", self._script, letter],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        return [int(number) for number in _FILED.findall(ran.stdout)]


@contextmanager
def sieve_test(rules: Sequence[str]) -> Iterator[SieveTest]:
    """Give the script of some tests, in a folder that its own user may write."""
    with tempfile.TemporaryDirectory(prefix="sieve-") as name:
        Path(name).chmod(0o777)
        yield SieveTest(Path(name), rules)


def is_missing() -> bool:
    """Say whether the program is not here."""
    return shutil.which("sieve-test") is None


def time_of_children() -> float:
    """Give the processor time that ended processes of ours have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- rules and mails as Sieve has them --------------------------------------------------------------------------------


def said_in_sieve(rule: Predicate) -> str | None:
    """Give the test of a rule of the policy mix; None for what Sieve cannot say, or not without an extension."""
    if isinstance(rule, And):
        tests = [said_in_sieve(part) for part in rule.parts]
        return f"allof ({', '.join(test for test in tests if test)})" if all(tests) else None
    if isinstance(rule, Quantified):
        return said_in_sieve(rule.part)
    if isinstance(rule, Search) and rule.sign in ("contains", "word"):
        return _search(rule)
    if isinstance(rule, InList) and isinstance(rule.values, Texts) and isinstance(rule.term, Part):
        header = {"sender.domain": "from", "recipient.domain": "to"}[rule.term.name]
        return f'address :domain "{header}" [{", ".join(map(_quoted, rule.values.values))}]'
    # Sizes are left out: the mail that is written here has no attachments.
    return None


def _search(leaf: Search) -> str:
    assert isinstance(leaf.term, Part)
    assert isinstance(leaf.texts, Texts)
    wanted = _quoted(leaf.texts.values[0])
    if leaf.term.name == "message.text":
        return f"body :text :contains {wanted}"
    return f'header :contains "{leaf.term.argument or leaf.term.name}" {wanted}'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_mail(mail: MailFeatures) -> bytes:
    """Write a mail with the headers and the text that rules of the mix ask for."""
    lines = [
        f"From: <{mail.sender[0].address if mail.sender else ''}>",
        f"To: {', '.join(f'<{address.address}>' for address in mail.to)}",
        f"Subject: {_plain(mail.subject or '')}",
        *(f"{name}: {_plain(value)}" for name, value in mail.headers if name in ("x-mailer", "list-id")),
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
    ]
    text = (mail.text or "").replace("\r\n", "\n").replace("\n", "\r\n")
    return ("\r\n".join(lines) + "\r\n\r\n" + text).encode("utf-8", "replace")


def _plain(value: str) -> str:
    return " ".join(value.split())
