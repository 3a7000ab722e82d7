"""What a client says to show who it is: PLAIN, and SCRAM-SHA-256 (RFC 5802, 7677), in which no password travels."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import ClassVar, Final, NamedTuple, Protocol

from posthouse.errors import PosthouseError

# The server chooses how much work it makes of the password; beyond this it would hold up everybody else's mail.
_MOST_ROUNDS: Final = 200_000
_LEAST_ROUNDS: Final = 4_096


class Credentials(NamedTuple):
    """A name and its password."""

    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r})"


class Unconvincing(PosthouseError):
    """The server did not show that it knows the password too, or asks for what no server should."""

    code: ClassVar[str] = "relay.unconvincing"
    public: ClassVar[str] = "The next mail server could not be trusted."


class Mechanism(Protocol):
    """One way of showing who somebody is."""

    name: str

    def begin(self) -> bytes:
        """Give what is said first."""
        ...

    def answer(self, challenge: bytes) -> bytes:
        """Answer a challenge; `Unconvincing` where it is not worth one."""
        ...

    def conclude(self) -> None:
        """Hear that the server is content; `Unconvincing` where that is too early."""
        ...


class Plain:
    """See `Mechanism`."""

    name = "PLAIN"

    def __init__(self, credentials: Credentials) -> None:
        self._said = f"\0{credentials.user}\0{credentials.password}".encode()

    def begin(self) -> bytes:
        return self._said

    def answer(self, challenge: bytes) -> bytes:
        if challenge:
            raise Unconvincing("expected the server to take the password as it is, found another question")
        return self._said

    def conclude(self) -> None:
        return


class Scram:
    """See `Mechanism`."""

    name = "SCRAM-SHA-256"

    def __init__(self, credentials: Credentials, nonce: str) -> None:
        user = credentials.user.replace("=", "=3D").replace(",", "=2C")
        self._password = credentials.password.encode()
        self._nonce = nonce
        self._first = f"n={user},r={nonce}"
        self._proof_of_server: bytes | None = None
        self._is_convinced = False

    def begin(self) -> bytes:
        return f"n,,{self._first}".encode()

    def answer(self, challenge: bytes) -> bytes:
        if self._proof_of_server is not None:
            self._verify(challenge)
            return b""
        nonce, salt, rounds = _fields(challenge)
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise Unconvincing("expected the server to add to the number it was given, found another one")
        if not _LEAST_ROUNDS <= rounds <= _MOST_ROUNDS:
            raise Unconvincing(f"expected {_LEAST_ROUNDS} to {_MOST_ROUNDS} rounds of hashing, found {rounds}")
        salted = hashlib.pbkdf2_hmac("sha256", self._password, salt, rounds)
        without_proof = f"c=biws,r={nonce}"
        said = f"{self._first},{challenge.decode()},{without_proof}".encode()
        key = _hmac(salted, b"Client Key")
        signature = _hmac(hashlib.sha256(key).digest(), said)
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        self._proof_of_server = _hmac(_hmac(salted, b"Server Key"), said)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def conclude(self) -> None:
        if not self._is_convinced:
            raise Unconvincing("the server took the password without showing that it knows it")

    def _verify(self, challenge: bytes) -> None:
        shown = b"v=" + base64.b64encode(self._proof_of_server or b"")
        if not hmac.compare_digest(challenge.split(b",")[0], shown):
            raise Unconvincing("the server does not know the password it asks for")
        self._is_convinced = True


def _fields(challenge: bytes) -> tuple[str, bytes, int]:
    try:
        parts = dict(part.split("=", 1) for part in challenge.decode("ascii").split(","))
        return parts["r"], base64.b64decode(parts["s"], validate=True), int(parts["i"])
    except (ValueError, KeyError, binascii.Error):
        raise Unconvincing("expected a number, salt and rounds, found something else") from None


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")
