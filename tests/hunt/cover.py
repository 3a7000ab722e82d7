"""Feeds a target with bytes that are made by what they reach in it: `-m tests.hunt.cover TARGET FOLDER FLAGS...`.

The flags are those of libFuzzer. What breaks the target is written to a file, and the process ends with an error.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Hunt until the time is over or something breaks."""
    # It has no types, and is there on some machines only.
    atheris = import_module("atheris")
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["posthouse"], enable_loader_override=False):
        hunted = import_module(f"tests.hunt.{name}")
    for number, seed in enumerate(hunted.seeds()):
        (Path(sys.argv[1]) / f"seed-{number}").write_bytes(seed)
    atheris.Setup(sys.argv, hunted.target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
