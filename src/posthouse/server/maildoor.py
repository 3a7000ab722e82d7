"""How a door for mail is listed in the settings: one line with what is spoken there, where, and who is trusted."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Final, Literal, cast

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.maildoor import MailDoor, Speech
from posthouse.message.name import parse_office
from posthouse.server.quantity import Kind, read_size

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What a door may be called."""

_MOST_LETTERS: Final = 4_096
_MOST_NETWORKS: Final = 64
_ADDRESS: Final = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})")
_UNIX: Final = "unix"
# A socket's path is at most 107 bytes long on Linux.
_MOST_PATH: Final = 107

Tls = Literal["none", "starttls", "required", "implicit"]
Auth = Literal["none", "offered", "required"]


def door_of(name: str, line: str) -> MailDoor:
    """Read the line of a door; ValueError says what is wrong with it."""
    if len(line) > _MOST_LETTERS:
        raise ValueError(f"expected at most {_MOST_LETTERS:,} characters")
    words = line.split()
    if len(words) < 2 or words[0] not in ("smtp", "lmtp", "milter"):
        raise ValueError("expected smtp, lmtp or milter, and where to listen")
    door = MailDoor(name=name, speech=cast("Speech", words[0]), listen=_listen(words[1]))
    for word in words[2:]:
        door = _with_word(door, word)
    if door.speech == "milter" and len(words) > 2:
        raise ValueError("expected nothing behind the address of a milter")
    if door.auth != "none" and door.tls == "none":
        raise ValueError("expected tls=starttls, required or implicit, as nobody signs in over a plain connection")
    return door


def _listen(text: str) -> str:
    if text.startswith(f"{_UNIX}:"):
        path = str(Path(text.removeprefix(f"{_UNIX}:")).expanduser())
        if path == "." or "\0" in path or len(path.encode()) > _MOST_PATH:
            raise ValueError(f"expected unix: and a path of at most {_MOST_PATH} bytes, found {text[:60]!r}")
        return f"{_UNIX}:{path}"
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found[1]) > 65_535:
        raise ValueError(f'expected an address such as "127.0.0.1:2525" or "unix:/run/mail.sock", found {text[:60]!r}')
    return text


def _with_word(door: MailDoor, word: str) -> MailDoor:
    mark, _, rest = word.partition("=")
    match mark:
        case "tls" if rest in ("none", "starttls", "required", "implicit"):
            return msgspec.structs.replace(door, tls=cast("Tls", rest))
        case "auth" if rest in ("none", "offered", "required"):
            return msgspec.structs.replace(door, auth=cast("Auth", rest))
        case "relay":
            return msgspec.structs.replace(door, relay=_networks(rest))
        case "xclient":
            return msgspec.structs.replace(door, front_ends=_networks(rest))
        case "size":
            return msgspec.structs.replace(door, mail_bytes=_size(rest))
    raise ValueError(
        "expected tls=none|starttls|required|implicit, auth=none|offered|required, relay=NETWORKS, xclient=NETWORKS"
        f" or size=BYTES, found {word[:60]!r}"
    )


def _networks(text: str) -> tuple[str, ...]:
    words = text.split(",")
    if len(words) > _MOST_NETWORKS:
        raise ValueError(f"expected at most {_MOST_NETWORKS} networks")
    return tuple(word if word == _UNIX else _network(word) for word in words)


def _network(text: str) -> str:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f'expected networks such as "127.0.0.1,10.0.0.0/8,unix", found {text[:60]!r}') from None
    if network.prefixlen == 0:
        raise ValueError(f"expected networks of those who are trusted, found {text}, which is everybody")
    return str(network)


def _size(text: str) -> int:
    try:
        return read_size(text)
    except ValueError:
        raise ValueError(f"expected a size such as 50MiB, found {text[:60]!r}") from None


def _read(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    return _written(door_of("", value))


def _written(door: MailDoor) -> str:
    """Give the line of a door."""
    words = [door.speech, door.listen]
    words += [f"tls={door.tls}"] if door.tls != "none" else []
    words += [f"auth={door.auth}"] if door.auth != "none" else []
    words += [f"relay={','.join(door.relay)}"] if door.relay else []
    words += [f"xclient={','.join(door.front_ends)}"] if door.front_ends else []
    words += [f"size={door.mail_bytes}"] if door.mail_bytes is not None else []
    return " ".join(words)


def _placed(line: str, folder: Path) -> str:
    """Give a line in which the path of a socket counts from a folder."""
    door = door_of("", line)
    if not door.listen.startswith(f"{_UNIX}:"):
        return line
    path = folder / door.listen.removeprefix(f"{_UNIX}:")
    return _written(msgspec.structs.replace(door, listen=f"{_UNIX}:{path}"))


DOOR: Final = Kind('a door for mail, such as "smtp 127.0.0.1:2525 tls=starttls"', _read, placed=_placed)


def _read_domains(value: object) -> str:
    """Read domains with spaces or commas between them, or a list of them."""
    words = (
        value if isinstance(value, list) else re.split(r"[\s,]+", value.strip(", ")) if isinstance(value, str) else None
    )
    if words is None or not all(isinstance(word, str) for word in words):
        raise ValueError(value)
    return " ".join(dict.fromkeys(_domain(word) for word in words if word))


def _domain(text: str) -> str:
    # One name has one spelling: small letters, composed.
    try:
        office = parse_office(f"smtp:{text}")
    except PosthouseError as fault:
        raise ValueError(str(fault)) from None
    if office.host.startswith("["):
        raise ValueError(text)
    return office.host


def _read_hostname(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    return _domain(value) if value else ""


DOMAINS: Final = Kind('domains such as "bakery.example flour.example"', _read_domains)
HOSTNAME: Final = Kind('the name of a host, such as "mx.bakery.example"', _read_hostname)
