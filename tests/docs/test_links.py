"""Links lead somewhere, every page can be reached from the index, change notes are named so that they can be sorted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, anchors, docs_pages, links, pages_with_links


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", pages_with_links(), ids=name_of)
def test_links_resolve(page: Path) -> None:
    broken = []
    for link in links(page):
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            broken.append(link)
    assert not broken, f"{name_of(page)}: nothing stands at {broken}"


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    ahead = [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
        ahead += [target for target in targets if target.suffix == ".md" and target.exists()]
    lost = sorted(name_of(page) for page in set(docs_pages()) - reached)
    assert not lost, f"no way leads from docs/README.md to {lost}"


def test_change_notes_are_named_by_kind() -> None:
    named = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")
    notes = [path for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    misnamed = [note.name for note in notes if not named.fullmatch(note.name)]
    assert not misnamed, f"changes/ holds <slug>.<added|changed|fixed|removed>.md, not {misnamed}"
    assert all(note.read_text(encoding="utf-8").strip() for note in notes)
