"""The file with the key of an office: made when it is first needed, read by nobody but its user."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from posthouse.errors import PosthouseError
from posthouse.transport.http.trust import OwnKey


class KeyUnusable(PosthouseError):
    """The file with the key of this office cannot be used."""

    code: ClassVar[str] = "peer.key-unusable"
    public: ClassVar[str] = "The office cannot sign."


def load_or_make(path: Path) -> OwnKey:
    """Give the key in a file, made now if there is none."""
    return load(path) or make(path)


def load(path: Path) -> OwnKey | None:
    """Give the key in a file; none where there is no file."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            text = file.read(65_536)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise _unusable(path, fault.strerror or str(fault)) from fault
    if mode & 0o077:
        raise KeyUnusable(
            f"expected a file that only its owner may read, found mode {mode:o}",
            where=str(path),
            hint=f"if nobody else has read it: chmod 600 {path}; otherwise make a new key",
        )
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable("expected an Ed25519 key in PEM, found something else", where=str(path))
    return OwnKey(key)


def switch(path: Path, following: Path) -> OwnKey | None:
    """Put the key that was made to follow in the place of the one in use; none where none was made."""
    key = load(following)
    if key is not None:
        try:
            following.replace(path)
            sync_folder(path.parent)
        except OSError as fault:
            raise _unusable(path, fault.strerror or str(fault)) from fault
    return key


def make(path: Path) -> OwnKey:
    """Make a key and keep it; where another process was first, its key is given."""
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    passing = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            # A link, unlike a renaming, never takes the place of a key that is there.
            with contextlib.suppress(FileExistsError):
                os.link(passing, path)
            sync_folder(path.parent)
        finally:
            passing.unlink()
    except OSError as fault:
        raise _unusable(path, fault.strerror or str(fault)) from fault
    return load(path) or OwnKey(key)


def sync_folder(path: Path) -> None:
    """Return once the names in a folder are durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, why: str) -> KeyUnusable:
    return KeyUnusable(f"the key of this office cannot be read or made: {why.lower()}", where=str(path))
