"""How another office is listed in the settings: one line with its name, its keys, and how it is reached."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.name import parse_office
from posthouse.message.peer import Peer
from posthouse.server.quantity import Kind

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What a peer may be called here."""

_ALGORITHM: Final = "ed25519:"
_MOST_KEYS: Final = 8
_MOST_LETTERS: Final = 4_096


def peer_of(name: str, line: str) -> Peer:
    """Read the line of a peer; ValueError says what is wrong with it."""
    if len(line) > _MOST_LETTERS:
        raise ValueError(f"expected at most {_MOST_LETTERS:,} characters")
    words = line.split()
    try:
        office = parse_office(words[0] if words else "")
    except PosthouseError as fault:
        raise ValueError(f"the office: {fault}") from None
    if office.protocol not in {"http", "https"}:
        raise ValueError("the office: expected a name that begins with http:// or https://")
    peer = Peer(name=name, office=str(office))
    for word in words[1:]:
        peer = _with_word(peer, word)
    if bool(peer.keys) == bool(peer.via):
        raise ValueError("expected either the keys of the office or the peer it is reached by way of")
    return peer


def _with_word(peer: Peer, word: str) -> Peer:
    mark, sign, rest = word.partition("=")
    if word.startswith(_ALGORITHM):
        if len(peer.keys) >= _MOST_KEYS:
            raise ValueError(f"expected at most {_MOST_KEYS} keys")
        return msgspec.structs.replace(peer, keys=(*peer.keys, _checked_key(word)))
    if word == "relay":
        return msgspec.structs.replace(peer, relay=True)
    if mark == "via" and NAME.fullmatch(rest):
        return msgspec.structs.replace(peer, via=rest)
    if mark == "read" and rest:
        return msgspec.structs.replace(peer, read=(*peer.read, unquote(rest, errors="strict")))
    if mark == "ca" and sign and rest:
        return msgspec.structs.replace(peer, ca=str(Path(rest).expanduser()))
    raise ValueError(f"expected ed25519:KEY, via=PEER, ca=FILE, read=MAILBOX or relay, found {word[:60]!r}")


def _checked_key(word: str) -> str:
    try:
        raw = base64.b64decode(word.removeprefix(_ALGORITHM), validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    if len(raw) != 32:
        raise ValueError("a key: expected ed25519: and 44 letters of Base64, as `posthouse peer key` prints it")
    return word


def _read(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    return _written(peer_of("", value))


def _written(peer: Peer) -> str:
    """Give the line of a peer."""
    words = [peer.office, *peer.keys]
    words += [f"via={peer.via}"] if peer.via else []
    words += [f"ca={peer.ca}"] if peer.ca else []
    words += ["relay"] if peer.relay else []
    words += [f"read={quote(pattern, safe='*')}" for pattern in peer.read]
    return " ".join(words)


def _placed(line: str, folder: Path) -> str:
    """Give a line in which the path of a file counts from a folder."""
    peer = peer_of("", line)
    return _written(msgspec.structs.replace(peer, ca=str(folder / peer.ca))) if peer.ca else line


PEER: Final = Kind(
    'the name of an office with its keys, such as "http://post.example:8025/north ed25519:KEY"', _read, placed=_placed
)


def faults_among(peers: dict[str, Peer], own: str) -> dict[str, tuple[str, str]]:
    """Say what is wrong between the lines of all peers: for the name of each, what was expected and found."""
    faults: dict[str, tuple[str, str]] = {}
    offices: dict[str, str] = {}
    for name, peer in peers.items():
        if peer.office == own:
            faults[name] = "another office than this one", peer.office
        elif peer.office in offices:
            faults[name] = "each office once", f"{peer.office}, which is {offices[peer.office]} as well"
        elif peer.via and (fault := _way_fault(peer, peers)):
            faults[name] = fault, f"via={peer.via}"
        offices.setdefault(peer.office, name)
    return faults


def _way_fault(peer: Peer, peers: dict[str, Peer]) -> str:
    passed = {peer.name}
    while peer.via:
        if peer.via not in peers:
            return "a way by a peer that is listed"
        if peer.via in passed:
            return "a way that does not lead in a circle"
        passed.add(peer.via)
        peer = peers[peer.via]
    return ""
