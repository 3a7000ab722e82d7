"""What coverage-guided hunts found is never found again; under the marker `fuzz`, the hunts themselves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.hunt import client, dialogue, reader

ROOT = Path(__file__).parents[2]
# A finding is put there as NAME.bin, in the folder of its target.
FOUND = Path(__file__).with_name("found")
TARGETS: dict[str, Callable[[bytes], None]] = {
    "client": client.target,
    "dialogue": dialogue.target,
    "reader": reader.target,
}
SECONDS = 120


def test_what_was_found_is_mended() -> None:
    for path in FOUND.glob("*/*.bin"):
        TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_hunts_begin_with_what_does_not_break(name: str) -> None:
    seeds = {"client": client.seeds, "dialogue": dialogue.seeds, "reader": reader.seeds}[name]
    for seed in seeds():
        TARGETS[name](seed)


@pytest.mark.fuzz
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not made for this machine")
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_breaks_that_is_made_by_what_it_reaches(name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    ran = subprocess.run(
        [
            sys.executable, "-m", "tests.hunt.cover", name, str(corpus), f"-max_total_time={SECONDS}", "-max_len=4000",
            "-timeout=20", f"-artifact_prefix={tmp_path}/",
        ],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-4_000:].decode(errors="replace")
