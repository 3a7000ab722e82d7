"""How a webhook is listed in the settings: one line with its address, the file of its secret, and what it hears of."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.name import parse_office
from posthouse.message.webhook import Webhook
from posthouse.server.quantity import Kind

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What a webhook may be called."""

_EVENT: Final = re.compile(r"case\.(?:[a-z-]+\*?|\*)|\*")
_MOST_LETTERS: Final = 4_096
_USED: Final = re.compile(r"[!-~]+")


def hook_of(name: str, line: str) -> Webhook:
    """Read the line of a webhook; ValueError says what is wrong with it."""
    if len(line) > _MOST_LETTERS:
        raise ValueError(f"expected at most {_MOST_LETTERS:,} characters")
    if name and not NAME.fullmatch(name):
        raise ValueError("expected a name of lower-case letters, digits, _ and -")
    url, *words = line.split() or [""]
    hook = Webhook(name=name, url=_checked(url), secret_file="")
    for word in words:
        hook = _with_word(hook, word)
    if not hook.secret_file:
        raise ValueError("expected secret=FILE, the file of the secret that what is posted is signed with")
    if hook.url.startswith("http://") and not hook.inside:
        raise ValueError("expected https://; http:// is for networks listed with inside=")
    return hook


def _checked(url: str) -> str:
    expected = "expected an address that begins with https:// or http://, without a user and a password in it"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(expected) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc or parts.fragment:
        raise ValueError(expected)
    if not _USED.fullmatch(url) or port == 0:
        raise ValueError(expected)
    try:
        parse_office(str(Webhook(name="x", url=url, secret_file="").place))
    except PosthouseError as fault:
        raise ValueError(f"the host: {fault}") from None
    return url


def _with_word(hook: Webhook, word: str) -> Webhook:
    mark, _, rest = word.partition("=")
    if mark == "secret" and rest:
        return msgspec.structs.replace(hook, secret_file=str(Path(rest).expanduser()))
    if mark == "events" and all(map(_EVENT.fullmatch, rest.split(","))):
        return msgspec.structs.replace(hook, events=tuple(rest.split(",")))
    if mark == "inside" and rest:
        try:
            networks = tuple(str(ip_network(one)) for one in rest.split(","))
        except ValueError:
            raise ValueError(f"inside=: expected networks such as 10.0.0.0/8, found {rest[:60]!r}") from None
        return msgspec.structs.replace(hook, inside=networks)
    raise ValueError(f"expected secret=FILE, events=case.opened,... or inside=NETWORKS, found {word[:60]!r}")


def _read(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)  # noqa: TRY004 - every reader refuses with ValueError
    return _written(hook_of("", value))


def _written(hook: Webhook) -> str:
    """Give the line of a webhook."""
    words = [hook.url, f"secret={hook.secret_file}"]
    words += [f"events={','.join(hook.events)}"] if hook.events else []
    words += [f"inside={','.join(hook.inside)}"] if hook.inside else []
    return " ".join(words)


def _placed(line: str, folder: Path) -> str:
    """Give a line in which the path of a file counts from a folder."""
    hook = hook_of("", line)
    return _written(msgspec.structs.replace(hook, secret_file=str(folder / hook.secret_file)))


WEBHOOK: Final = Kind(
    'an address and the file of its secret, such as "https://crm.example/posthouse secret=crm.secret"', _read,
    placed=_placed,
)  # fmt: skip
