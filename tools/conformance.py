"""Write docs/reference/conformance.md: each numbered requirement, and the tests that name it; `--check` compares only.

A test names requirements in a comment line of nothing but numbers, directly above it: `# G-55, G-56`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
REQUIREMENTS: Final = ROOT / "tools" / "requirements.toml"
PAGE: Final = ROOT / "docs" / "reference" / "conformance.md"
WRITTEN: Final = (
    "<!-- Written by tools/conformance.py from the tests: name the number above a test, then `make format`. -->\n"
)

_NAMES: Final = re.compile(r"^ *# (?P<numbers>[A-Z]-\d+(?:, [A-Z]-\d+)*)$")
_TEST: Final = re.compile(r"^ *(?:async )?def (?P<name>test_\w+)")
_BETWEEN: Final = re.compile(r"^ *(?:@|#|\)|\]|\}|$)|^    ")
_LEVELS: Final = {"M": "must", "S": "should", "C": "could"}
_WAITS: Final = {
    "federation": "waits for offices that gate for each other",
    "pages": "waits for the reviewer's pages",
    "pipeline": "waits for the data pipeline",
}

_MOST_NAMED: Final = 3
_PAGE: Final = """\
# Conformance

{written}
What gatekeeping has to do, number by number, and which tests show that it does. A number without a test is not shown,
whatever the code does. Of {count} numbers {shown} have a test.

## Requirements

| number | level | what it asks | shown by |
|---|---|---|---|
{rows}
## Claims

What the published method claims, as the numbers above that carry it.

| claim | what it says | numbers | state |
|---|---|---|---|
{claims}"""

# `Any`: a table of TOML.
Requirement = Mapping[str, Any]


def tests_by_number() -> dict[str, list[str]]:
    """Give the tests that name each number, by their files."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for numbers, test in _named(path.read_text(encoding="utf-8").splitlines()):
            for number in numbers:
                found.setdefault(number, []).append(f"{path.relative_to(ROOT / 'tests')}::{test}")
    return found


def _named(lines: list[str]) -> Iterator[tuple[list[str], str]]:
    numbers: list[str] = []
    for line in lines:
        if (named := _NAMES.match(line)) is not None:
            numbers += named["numbers"].split(", ")
        elif (test := _TEST.match(line)) is not None:
            yield numbers, test["name"]
            numbers = []
        elif not _BETWEEN.match(line):
            numbers = []


def page() -> str:
    """Give the whole page."""
    known = tomllib.loads(REQUIREMENTS.read_text(encoding="utf-8"))
    tests = tests_by_number()
    unknown = sorted(set(tests) - set(known))
    if unknown:
        raise SystemExit(f"{REQUIREMENTS.relative_to(ROOT)} lacks what tests name: {', '.join(unknown)}")
    requirements = {number: one for number, one in known.items() if not number.startswith("claim-")}
    shown = sum(number in tests for number in requirements)
    rows = [_row(number, one, tests.get(number, [])) for number, one in requirements.items()]
    claims = [_claim(name, one, tests) for name, one in known.items() if name.startswith("claim-")]
    return _PAGE.format(written=WRITTEN, count=len(rows), shown=shown, rows="".join(rows), claims="".join(claims))


def _row(number: str, one: Requirement, tests: list[str]) -> str:
    named = [f"`{test}`" for test in tests[:_MOST_NAMED]]
    if len(tests) > _MOST_NAMED:
        named.append(f"and {len(tests) - _MOST_NAMED} more")
    state = "<br>".join(named) or _WAITS.get(one.get("waits_for", ""), "no test yet")
    return f"| {number} | {_LEVELS[one['level']]} | {_cell(one['asks'])} | {state} |\n"


def _claim(name: str, one: Requirement, tests: Mapping[str, list[str]]) -> str:
    missing = [number for number in one["by"] if number not in tests]
    state = "shown" if not missing else f"without a test: {', '.join(missing)}"
    return f"| {name.removeprefix('claim-')} | {_cell(one['asks'])} | {', '.join(one['by'])} | {state} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Write the page, or say that it is out of date."""
    written = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(written, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != written:
        raise SystemExit(f"{PAGE.relative_to(ROOT)} is out of date: make format writes it")


if __name__ == "__main__":
    main()
