"""`posthouse bench`: the figures of bench/, where the source tree is there to measure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import click

import posthouse
from posthouse.errors import PosthouseError


class SourceMissing(PosthouseError):
    """The benchmarks stand in the source tree, and this Posthouse was installed without it."""

    code: ClassVar[str] = "source.missing"


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="The long run, on filled stores.")
def bench(name: str | None, full: bool) -> int:  # noqa: FBT001 - click names it
    """Measure, beside the peers, on this machine.

    NAME is a file of bench/ or a figure; without it all are measured, which takes about a minute. The last lines are
    `figure NAME VALUE`. Needs the source tree and what its tests need; `make bench` does the same.
    """
    root = Path(posthouse.__file__).resolve().parents[2]
    if not (root / "bench" / "__main__.py").exists():
        raise SourceMissing(
            "the benchmarks are not part of an installed Posthouse", hint="run this in a source tree: make bench"
        )
    command = [sys.executable, "-m", "bench", *([name] if name else [])]
    environment = os.environ | ({"FULL": "1"} if full else {})
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode  # noqa: S603 - our own program
