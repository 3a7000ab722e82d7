"""Where the mail for a domain goes: the table of routes people write, read and asked. It resolves no name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Literal, NamedTuple

from posthouse.errors import PosthouseError

Encryption = Literal["never", "may", "must"]
Kind = Literal["mx", "server", "maildir"]

_PORTS: Final[Mapping[str, int]] = {"smtp": 25, "smtp+tls": 25, "smtps": 465, "lmtp": 24}
_PLACE: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::([0-9]{1,5}))?/?")
_PATTERN: Final = re.compile(r"\*|(?:\*?\.)?[^\s@*/]+")


class MalformedRoute(PosthouseError):
    """A line of the table of routes that cannot be read."""

    code: ClassVar[str] = "route.malformed"
    public: ClassVar[str] = "The office is not set up correctly."


class Target(NamedTuple):
    """What a domain's mail is handed to."""

    kind: Kind
    host: str = ""
    port: int = 25
    path: str = ""
    """The path of a socket, or the pattern of a maildir."""
    is_lmtp: bool = False
    is_encrypted: bool = False
    encryption: Encryption = "may"

    @property
    def is_final(self) -> bool:
        """Say whether mail handed there has arrived, and is not passed on as mail."""
        return self.kind == "maildir" or self.is_lmtp


MX: Final = Target("mx")


class Routes:
    """The table; the most exact line wins."""

    def __init__(self, lines: Iterable[tuple[str, str]] = ()) -> None:
        self._targets = {_pattern(pattern): read_target(text) for pattern, text in lines}

    def target(self, domain: str) -> Target:
        """Give where the mail of a domain goes: its own line, that of the nearest domain above, that of all, or MX."""
        if domain in self._targets:
            return self._targets[domain]
        if not domain.startswith("["):
            labels = domain.split(".")
            for start in range(1, len(labels)):
                found = self._targets.get("." + ".".join(labels[start:]))
                if found is not None:
                    return found
        return self._targets.get("*", MX)


def read_target(text: str) -> Target:
    """Read `mx`, `smtp://host:port`, `smtp+tls://`, `smtps://`, `lmtp://`, `lmtp:/path` or `maildir:/path`."""
    text = text.strip()
    if text == "mx":
        return MX
    if text.startswith("maildir:/"):
        return Target("maildir", path=_maildir(text))
    if text.startswith("lmtp:/") and not text.startswith("lmtp://"):
        return Target("server", path=text.removeprefix("lmtp:"), is_lmtp=True, encryption="never")
    scheme, _, rest = text.partition("://")
    place = _PLACE.fullmatch(rest)
    if scheme not in _PORTS or place is None or not 0 < int(place[3] or 1) < 65_536:
        raise MalformedRoute(
            "expected mx, smtp://HOST:PORT, smtp+tls://HOST:PORT, smtps://HOST:PORT, lmtp://HOST:PORT, lmtp:/SOCKET or "
            f"maildir:/FOLDER, found {text!r}"
        )
    must = scheme in {"smtp+tls", "smtps"}
    return Target(
        "server",
        host=place[1] or place[2],
        port=int(place[3] or _PORTS[scheme]),
        is_lmtp=scheme == "lmtp",
        is_encrypted=scheme == "smtps",
        encryption="must" if must else "may",
    )


def is_pattern(text: str) -> bool:
    """Say whether this can stand on the left of a route."""
    return _PATTERN.fullmatch(text) is not None


def _maildir(text: str) -> str:
    path = text.removeprefix("maildir:")
    if not path.isprintable() or "{" in path.replace("{local}", "").replace("{domain}", ""):
        raise MalformedRoute(
            f"expected a folder with no more than {{domain}} and {{local}} in its path, found {text!r}"
        )
    return path


def _pattern(text: str) -> str:
    """Read `example.org`, `.example.org` for all domains below it, or `*`; as they are looked up."""
    text = text.strip().lower()
    if not _PATTERN.fullmatch(text):
        raise MalformedRoute(f"expected a domain, .domain for those below it, or *, found {text!r}")
    return text if text == "*" else text.removeprefix("*")
