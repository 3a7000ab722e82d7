"""Every error, setting, command and stage has its entry in the reference."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, headings
from tools import reference


@pytest.mark.parametrize("page", reference.WRITERS)
def test_written_page_says_what_the_code_says(page: str) -> None:
    assert page not in reference.stale_pages(), "run `make format`"


def test_every_error_has_its_heading() -> None:
    assert headings(DOCS / "reference" / "errors.md", 2) == [error.code for error in reference.all_errors()]


def test_every_command_has_its_heading() -> None:
    commands = list(reference.commands())
    if not commands:
        pytest.skip("no command line yet")
    assert headings(DOCS / "reference" / "commands.md", 2) == commands


def test_the_described_route_is_the_route() -> None:
    stages = reference.stages()
    if not stages:
        pytest.skip("no route yet")
    described = [title.strip("`") for title in headings(DOCS / "route.md", 3)]
    assert described == stages, "docs/route.md describes each stage under a heading `### name`, in the order of ROUTE"
