"""An office elsewhere on the network, as the options of a command name it; its key is never among them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from posthouse.cli.ending import misuse
from posthouse.client import Office, connect
from posthouse.errors import PosthouseError

VARIABLE: Final = "POSTHOUSE_KEY"
"""Where the key is looked for when no file is named."""

_MOST: Final = 4_096
# Seconds a command waits for an office that goes away while it asks.
_TIMEOUT: Final = 10.0


class KeyFileUnfit(PosthouseError):
    """The file of a key cannot be used."""

    code: ClassVar[str] = "key.file-unfit"
    public: ClassVar[str] = "The key cannot be used."


class Far(msgspec.Struct, frozen=True, kw_only=True):
    """What the options that lead elsewhere were given."""

    office: str | None = None
    key_file: Path | None = None
    ca: Path | None = None
    plain: bool = False

    def reach(self, environment: Mapping[str, str]) -> Office | None:
        """Give the office, not yet connected; none where none is named."""
        if self.office is None:
            if self.key_file is not None or self.ca is not None or self.plain:
                raise misuse("--key-file, --ca and --plain belong to --office")
            return None
        key = environment.get(VARIABLE) or None if self.key_file is None else read_key(self.key_file)
        return connect(self.office, key=key, ca=self.ca, plain=self.plain, timeout=_TIMEOUT)


def read_key(path: Path) -> str:
    """Read a key from a file that nobody else can read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            text = file.read(_MOST + 1)
    except OSError as fault:
        raise KeyFileUnfit(
            f"the key cannot be read: {(fault.strerror or str(fault)).lower()}", where=str(path)
        ) from None
    if mode & 0o077:
        raise KeyFileUnfit(
            f"expected a file that only its owner may read, found mode {mode:o}",
            where=str(path),
            hint=f"if nobody else has read it: chmod 600 {path}; otherwise make a new key",
        )
    words = text.split()
    if len(words) != 1 or len(text) > _MOST or not words[0].isascii():
        raise KeyFileUnfit("expected one key and nothing else", where=str(path))
    return words[0].decode("ascii")
