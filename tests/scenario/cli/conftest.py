"""Each test has a terminal in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario.cli.command import Terminal


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory(prefix="post-") as folder:
        opened = Terminal(Path(folder))
        try:
            yield opened
        finally:
            opened.end()
