"""SCRAM-SHA-256 on the side of the server (RFC 5802, RFC 7677), and the keys it is checked with.

Written here and not taken from a library: it is a page, the nonce must be handed in, and keys are kept in the very form
PostgreSQL keeps them: `SCRAM-SHA-256$iterations:salt$stored key:server key`. Channel binding is not offered.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import stringprep
import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple

ITERATIONS: Final = 4_096
# More would let a file of accounts keep the office busy for seconds with each sign-in.
MAX_ITERATIONS: Final = 1_000_000

_KEYS: Final = re.compile(r"SCRAM-SHA-256\$([0-9]{1,7}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]{44}):([A-Za-z0-9+/=]{44})")
_FIRST: Final = re.compile(r"(?:n|y),(?:a=([^,]+))?,(n=([^,]+),r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)", re.DOTALL)
_FINAL: Final = re.compile(r"(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+)(?:,[^,]+)*?),p=([A-Za-z0-9+/=]+)")
_PROHIBITED: Final[tuple[Callable[[str], bool], ...]] = (
    stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3, stringprep.in_table_c4,
    stringprep.in_table_c5, stringprep.in_table_c6, stringprep.in_table_c7, stringprep.in_table_c8,
    stringprep.in_table_c9,
)  # fmt: skip


class Keys(NamedTuple):
    """What is kept of a password; it cannot be had back from this."""

    iterations: int
    salt: bytes
    stored: bytes
    server: bytes

    def __str__(self) -> str:
        salt, stored, server = (base64.b64encode(part).decode() for part in (self.salt, self.stored, self.server))
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored}:{server}"


def read_keys(text: str) -> Keys | None:
    """Read keys as they stand in a file of accounts; none where this is something else."""
    match = _KEYS.fullmatch(text)
    if match is None or not 0 < int(match[1]) <= MAX_ITERATIONS:
        return None
    try:
        salt, stored, server = (base64.b64decode(match[part], validate=True) for part in (2, 3, 4))
    except binascii.Error:
        return None
    return Keys(int(match[1]), salt, stored, server)


def make_keys(password: str, salt: bytes, *, iterations: int = ITERATIONS) -> Keys:
    """Make the keys of a password; takes milliseconds on purpose."""
    salted = hashlib.pbkdf2_hmac("sha256", prepare(password).encode(), salt, iterations)
    client = hmac.digest(salted, b"Client Key", "sha256")
    return Keys(iterations, salt, hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256"))


def is_password(keys: Keys, password: str) -> bool:
    """Say whether the keys are those of a password; takes milliseconds on purpose."""
    made = make_keys(password, keys.salt, iterations=keys.iterations)
    return hmac.compare_digest(made.stored, keys.stored)


class Exchange:
    """One sign-in: the client's first message, the server's, the client's proof, the server's."""

    def __init__(self, first: bytes) -> None:
        """Read the client's first message; ValueError where it is none."""
        match = _FIRST.fullmatch(first.decode())
        if match is None:
            raise ValueError("not the first message of SCRAM")
        self.user = prepare(match[3].replace("=2C", ",").replace("=3D", "="))
        if match[1] is not None and prepare(match[1].replace("=2C", ",").replace("=3D", "=")) != self.user:
            raise ValueError("nobody may act for somebody else")
        self._header = first[: match.start(2)]
        self._bare, self._nonce = match[2], match[4]
        self._challenge = ""
        self._keys: Keys | None = None

    def challenge(self, keys: Keys, nonce: str) -> bytes:
        """Give the server's first message."""
        self._keys = keys
        self._nonce += nonce
        self._challenge = f"r={self._nonce},s={base64.b64encode(keys.salt).decode()},i={keys.iterations}"
        return self._challenge.encode()

    def verify(self, final: bytes) -> bytes | None:
        """Check the client's proof: give the server's last message, or none where it is wrong."""
        match = _FINAL.fullmatch(final.decode("ascii", "replace"))
        if match is None or self._keys is None:
            return None
        try:
            header, proof = (base64.b64decode(match[part], validate=True) for part in (2, 4))
        except binascii.Error:
            return None
        if header != self._header or match[3] != self._nonce or len(proof) != len(self._keys.stored):
            return None
        whole = f"{self._bare},{self._challenge},{match[1]}".encode()
        signature = hmac.digest(self._keys.stored, whole, "sha256")
        client = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
        if not hmac.compare_digest(hashlib.sha256(client).digest(), self._keys.stored):
            return None
        return b"v=" + base64.b64encode(hmac.digest(self._keys.server, whole, "sha256"))


def prepare(text: str) -> str:
    """Put a name or a password into the one form it is compared in (SASLprep, RFC 4013), or raise ValueError."""
    if text.isascii():
        if not text.isprintable():
            raise ValueError("a control character")
        return text
    mapped = "".join(
        " " if stringprep.in_table_c12(char) else "" if stringprep.in_table_b1(char) else char for char in text
    )
    form = unicodedata.normalize("NFKC", mapped)
    if any(prohibited(char) for char in form for prohibited in _PROHIBITED):
        raise ValueError("a character that cannot be told from others")
    # RFC 3454, section 6: text from right to left stays so from its beginning to its end.
    if any(map(stringprep.in_table_d1, form)) and (
        any(map(stringprep.in_table_d2, form))
        or not (stringprep.in_table_d1(form[0]) and stringprep.in_table_d1(form[-1]))
    ):
        raise ValueError("text of both directions")
    return form
