"""Admission: whose key a request shows. A key comes in the header `Authorization: Bearer` and nowhere else."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from posthouse.errors import PosthouseError
from posthouse.office.keyring import MARK, CredentialRefused, Keyring
from posthouse.office.permit import Permit
from posthouse.web.asgi import Scope

_LIKE_A_KEY: Final = re.compile(rf"{MARK}_[a-z2-7]{{10}}_[a-z2-7]{{20}}".encode())
_KEPT_IN: Final = "posthouse.permit"


class BadWebRequest(PosthouseError):
    """A request over HTTP that is not formed as it must be."""

    code: ClassVar[str] = "request.malformed"
    public: ClassVar[str] = "The request is malformed."


def authenticate(scope: Scope, keyring: Keyring) -> Permit | None:
    """Give what the key in the headers permits, None where there is none; for requests and for WebSockets.

    `CredentialRefused` where the key is wrong, `BadWebRequest` where it is not where it belongs.
    """
    address = scope.get("raw_path") or scope["path"].encode()
    if _LIKE_A_KEY.search(address) or _LIKE_A_KEY.search(scope.get("query_string", b"")):
        raise BadWebRequest(
            "a key must not stand in an address, where logs and histories keep it",
            hint="send it as `Authorization: Bearer ...`, and revoke this one",
        )
    shown = [value for name, value in scope["headers"] if name == b"authorization"]
    if not shown:
        return None
    if len(shown) > 1:
        raise BadWebRequest("expected one Authorization header, found several")
    scheme, _, key = shown[0].partition(b" ")
    if scheme.lower() != b"bearer":
        raise CredentialRefused("expected `Authorization: Bearer` and a key", hint="posthouse key create makes one")
    return keyring.recognise(key.strip().decode("latin-1"))


def admit(scope: Scope, permit: Permit | None) -> None:
    """Note who asks, for everything that handles the request further in."""
    scope.setdefault("state", {})[_KEPT_IN] = permit


def known_permit(scope: Scope) -> Permit | None:
    """Give the permit of a request that may come without one."""
    permit: Permit | None = scope.get("state", {}).get(_KEPT_IN)
    return permit


def permit_of(scope: Scope) -> Permit:
    """Give the permit of a request that needs one; `CredentialRefused` where it shows no key."""
    permit = known_permit(scope)
    if permit is None:
        raise CredentialRefused(
            "this needs a key, and none was shown",
            hint="send `Authorization: Bearer` and a key; posthouse key create makes one",
        )
    return permit
