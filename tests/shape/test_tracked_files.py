"""No tracked file knows the machine it was written on, a package index, or a secret."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.shape.source import ROOT

# Put together from pieces, so that this file does not find itself.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w./-])/(?:ro{2}t|t[m]p|w[o]rk|h[o]me/\w+|o[p]t)(?:/|\b(?!\w))"),
    "the host of a package index": re.compile(
        "|".join(
            re.escape(".".join(parts))
            for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("deb", "debian", "org"))
        ),
    ),
    "a private key": re.compile("-----BEGIN [A-Z ]*PRIVATE" + " KEY"),
    "a credential": re.compile(r"\b(?:ghp|gho|xox[bp]|AKIA)[_-]?[A-Za-z0-9]{16,}"),
    "a secret in clear": re.compile(
        r"""(?i)\b(?:pass(?:word|wd)|secret|api_?key|auth_?token)\b\s*[:=]\s*["'](?!made-up|example)[^"'\s{$]{8,}["']""",
    ),
}

EXCEPTIONS: dict[str, str] = {
    # "path what": "reason"
}


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_tracked_files_hold_nothing_private() -> None:
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(text.splitlines(), start=1):
            found += [
                f"{name}:{number}: {what}: {line.strip()[:100]}"
                for what, pattern in FORBIDDEN.items()
                if pattern.search(line) and f"{name} {what}" not in EXCEPTIONS
            ]
    assert not found, "\n" + "\n".join(found)
