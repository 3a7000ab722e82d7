"""Where an office is reached over the network, and as whom: read from what a program was given, all faults told."""

from __future__ import annotations

import ipaddress
from typing import ClassVar, Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from posthouse.errors import PosthouseError

PATH: Final = "/link"
"""Where an office answers programs, below the address it is given by."""

_PLAIN: Final = frozenset({"http", "ws"})
_SECURE: Final = frozenset({"https", "wss"})
_MOST: Final = 2_000


class MalformedAddress(PosthouseError):
    """What is given as the address of an office, or as the key to it, cannot be one."""

    code: ClassVar[str] = "address.malformed"
    public: ClassVar[str] = "The address of the office is malformed."


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """An address that can be asked; the key stands in no text made of it."""

    url: str
    """The address of the WebSocket."""
    shown: str
    """The address as it was given."""
    secure: bool
    host: str
    key: str | None

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def read_address(url: str, *, key: str | None, plain: bool) -> Address:
    """Read the address of an office; `plain` lets a key go over the network in the clear."""
    parts = _split(url)
    host = parts.hostname or ""
    shown = _shown(parts)
    if not host:
        raise MalformedAddress("expected a host after the scheme, found none", where=shown, hint=_EXAMPLE)
    if parts.username is not None or parts.password is not None:
        raise MalformedAddress(
            "expected no user and no password in the address", where=shown, hint="give the key apart from the address"
        )
    if parts.query or parts.fragment:
        raise MalformedAddress("expected an address that ends with its path", where=shown, hint=_EXAMPLE)
    secure = parts.scheme in _SECURE
    if key is not None:
        _check_key(key)
        if not (secure or plain or is_loopback(host)):
            raise MalformedAddress(
                "a key is not sent in the clear to another machine", where=shown,
                hint="use https; on a network you trust, `plain` allows it",
            )  # fmt: skip
    path = parts.path.rstrip("/").removesuffix(PATH)
    address = f"{'wss' if secure else 'ws'}://{parts.netloc}{path}{PATH}"
    return Address(url=address, shown=shown, secure=secure, host=host, key=key)


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, by what it is called alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


_EXAMPLE: Final = "for example https://office.example:8026"


def _split(url: str) -> SplitResult:
    if len(url) > _MOST or not url.isascii() or any(sign <= " " or sign == "\x7f" for sign in url):
        raise MalformedAddress(f"expected up to {_MOST} ASCII characters without blanks", hint=_EXAMPLE)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as fault:
        raise MalformedAddress(f"the address cannot be read: {fault}", hint=_EXAMPLE) from None
    if parts.scheme not in _PLAIN | _SECURE:
        # The rest may hold what is nobody's business: a password, where somebody forgot the scheme.
        raise MalformedAddress("expected an address that begins with https:// or http://", hint=_EXAMPLE)
    return parts


def _shown(parts: SplitResult) -> str:
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _check_key(key: str) -> None:
    if not 0 < len(key) <= _MOST or not key.isascii() or not key.isprintable() or " " in key:
        raise MalformedAddress("the key cannot be one: expected printable characters without blanks", where="key")
