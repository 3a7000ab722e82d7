"""The written pages as the docs tests see them: fenced blocks, headings, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```[ \t]*$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One fenced block: what it says it is, its text, and the line of the page it begins on."""

    info: str
    text: str
    line: int


def docs_pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def pages_with_examples() -> list[Path]:
    return [ROOT / "README.md", *docs_pages()]


def pages_with_links() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("changes/*.md")), *docs_pages()]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        yield Block(match["info"].strip(), body, text[: match.start()].count("\n") + 1)


def prose(page: Path) -> str:
    """Give the page without its blocks, so that what looks like a heading or link in an example does not count."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def headings(page: Path, level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+?)\s*$", prose(page), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings as the usual renderers form them."""
    titles = re.findall(r"^#+ (.+?)\s*$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    """Give the targets of a page's links that stay inside the project."""
    without_code = re.sub(r"`[^`\n]*`", "", prose(page))
    targets: list[str] = re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]
