"""Credentials: what a program or a person shows to an office from afar; the secret itself is never kept."""

from __future__ import annotations

import msgspec


class Credential(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What may be told of a credential to whoever looks after the office."""

    id: str
    """The part of the key that may be seen: it names the credential, and proves nothing."""
    name: str
    """What people call it."""
    scopes: tuple[str, ...]
    """What it permits, as it was written: `send as ada`, `read orders*`, `administer`."""
    created: int
    expires: int | None = None
    revoked: int | None = None


class Issue(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A credential as the store keeps it; to write one is refused as stale where its id is known."""

    credential: Credential
    digest: bytes
    """SHA-256 of the key; see `office.credential` for why this is enough."""


class Revoke(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """End a credential for good; refused as stale where there is none that still stands."""

    id: str
    at: int


class Account(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A person who signs in; stale where the store has another version than the one before this one."""

    name: str
    """What is typed to sign in; lower case."""
    address: str
    """Who it is to the organisation: the roles of this address are those the person may act in."""
    scopes: tuple[str, ...] = ()
    """What the person may do besides: `write rules`, `edit organisation`, `audit`, `administer`, as for keys."""
    digest: str = ""
    """Argon2 of the password; empty where nobody can sign in with one."""
    created: int = 0
    is_closed: bool = False
    version: int = 1
