"""Named SQL statements, read from the `.sql` files beside the store that runs them.

A statement begins with a line `-- name: words` and ends where the next one begins; other comments belong to its reader.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Final

_NAME: Final = re.compile(r"^-- name: *([a-z0-9-]+) *$", re.MULTILINE)


def load(package: str, file: str) -> dict[str, str]:
    """Give the statements of one file by name."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = _NAME.split(text)
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


def migrations(package: str) -> list[str]:
    """Give the numbered migrations of a package in their order."""
    files = [file for file in resources.files(package).iterdir() if file.name.endswith(".sql")]
    return [file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)]
