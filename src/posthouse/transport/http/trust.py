"""Who may speak: keys, the offices that are known by them, and frames that were heard before. Decides, does nothing.

A stranger, a wrong key, a bad signature and a frame for somebody else are one and the same, at the same price.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from typing import ClassVar, Final, Literal, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from posthouse.errors import PosthouseError
from posthouse.message.peer import Peer
from posthouse.transport.http.frame import KEY_ID, Header, Sealed

ALGORITHM: Final = "ed25519:"
_SECOND: Final = 1_000_000
# Frames of one office that are remembered; a sender in a hurry fills this in half a minute.
_REMEMBERED: Final = 8_192
# Checked where no key is known, so that nobody learns by waiting which offices are; whatever it says counts for no.
_NOBODY: Final = Ed25519PublicKey.from_public_bytes(b"\x58" + b"\x66" * 31)


class MalformedKey(PosthouseError):
    """A text that is no public key."""

    code: ClassVar[str] = "peer.key-malformed"
    public: ClassVar[str] = "The key cannot be read."


class PublicKey:
    """One key by which another office is known."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.id = key_id(raw)
        self._key = Ed25519PublicKey.from_public_bytes(raw)

    def has_signed(self, signature: bytes, data: bytes | memoryview) -> bool:
        """Say whether the signature is this key's over these bytes."""
        return _is_good(self._key, signature, data=data)

    def __str__(self) -> str:
        return f"{ALGORITHM}{base64.b64encode(self.raw).decode()}"


class OwnKey:
    """The key with which this office signs; never shown, in no form."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key().public_bytes_raw())
        self.sign = key.sign

    def __repr__(self) -> str:
        return f"OwnKey({self.public})"


class Known(NamedTuple):
    """A peer whose signature was found good."""

    peer: Peer
    header: Header


class Turned(NamedTuple):
    """Why a frame is not heard.

    stranger  nobody that is known has signed it, or it is meant for somebody else
    skewed    a peer has signed it, but its clock says something else than ours; `known` says who
    replayed  it was heard before
    """

    why: Literal["stranger", "skewed", "replayed"]
    known: Known | None = None


class Ring:
    """The keys of all peers."""

    def __init__(self, peers: Iterable[Peer]) -> None:
        self.peers = tuple(peers)
        self.by_office = {peer.office: peer for peer in self.peers}
        self.by_name = {peer.name: peer for peer in self.peers}
        self._keys = {
            (peer.office, key.id): key for peer in self.peers for key in (public_key(text) for text in peer.keys)
        }

    def signer(self, sealed: Sealed) -> Peer | None:
        """Give the peer that has signed a frame; none at the same price."""
        header = sealed.header
        key = self._keys.get((header.sender, header.key))
        if key is None:
            _is_good(_NOBODY, sealed.signature, data=sealed.signed)
            return None
        return self.by_office[header.sender] if key.has_signed(sealed.signature, sealed.signed) else None


class Doorkeeper:
    """Decides which frames are heard; remembers for a while which were."""

    def __init__(self, office: str, ring: Ring, *, skew_seconds: float) -> None:
        self._office = office
        self._ring = ring
        self._skew = int(skew_seconds * _SECOND)
        self._windows: dict[str, Window] = {}

    def judge(self, sealed: Sealed, *, now: int) -> Known | Turned:
        """Say who speaks, or why nobody listens."""
        header = sealed.header
        peer = self._ring.signer(sealed)
        if peer is None or header.to != self._office or header.about == "answer":
            return Turned("stranger")
        known = Known(peer, header)
        if abs(header.instant - now) > self._skew:
            return Turned("skewed", known)
        window = self._windows.setdefault(peer.office, Window())
        if not window.is_new(header.id, header.instant, oldest=now - self._skew):
            return Turned("replayed")
        return known


class Window:
    """The frames of one peer that were heard lately.

    Where there are more than it holds it forgets the oldest, and takes nothing any more that is as old. After a restart
    it is empty: a frame that is replayed then brings messages whose ids are known.
    """

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._seen: dict[bytes, int] = {}
        self._floor = 0

    def is_new(self, frame: bytes, instant: int, *, oldest: int) -> bool:
        """Say whether a frame was not heard before; now it was."""
        while self._seen:
            first = next(iter(self._seen))
            if self._seen[first] >= oldest and len(self._seen) < self._most:
                break
            self._floor = max(self._floor, self._seen.pop(first))
        if instant <= self._floor or frame in self._seen:
            return False
        self._seen[frame] = instant
        return True

    def __len__(self) -> int:
        return len(self._seen)


def key_id(raw: bytes) -> bytes:
    """Give the few bytes by which a frame names the key it was signed with."""
    return hashlib.sha256(raw).digest()[:KEY_ID]


def public_key(text: str) -> PublicKey:
    """Read a public key as it is pasted: `ed25519:` and 44 letters of Base64."""
    mark, written = text[: len(ALGORITHM)], text[len(ALGORITHM) :]
    try:
        return PublicKey(base64.b64decode(written if mark == ALGORITHM else "", validate=True))
    except (ValueError, binascii.Error):
        raise MalformedKey(
            "expected ed25519: and a key of 32 bytes in Base64, as `posthouse peer key` prints it", where="key"
        ) from None


def _is_good(key: Ed25519PublicKey, signature: bytes, *, data: bytes | memoryview) -> bool:
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True
