"""Names of offices and mailboxes: read in any of their forms, printed in one.

The grammar, with examples and every fault, stands in docs/reference/names.md. Two names are the same when their values
are equal. Nothing here asks a directory or resolves a host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import ClassVar, TypeVar

from msgspec import Struct, field

from posthouse.errors import PosthouseError
from posthouse.message.host import bracketed, read_domain, read_host, read_port
from posthouse.message.spelling import (
    MAILBOX_SIGNS,
    MAX_WORD,
    OFFICE_SIGNS,
    UNSAFE,
    Fault,
    Part,
    escaped,
    quoted,
    read_word,
)

MAX_NAME = 1000
"""Characters in a name, as it is written and in its canonical form."""
MAX_PROTOCOL = 32

_MAX_CACHED = 128
_MAX_ECHO = 80
_BARE = re.compile(r"[A-Za-z0-9._~+-]+")
_PROTOCOL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_QUOTED_LOCAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOT_IN_LOCAL = re.compile(r"[^A-Za-z0-9.!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]")


class MalformedName(PosthouseError):
    """Text that is not a name: which text, at which column counted from 1, and the reason."""

    code: ClassVar[str] = "name.malformed"
    public: ClassVar[str] = "The name is malformed."
    column: int

    def __init__(self, text: str, *, column: int, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(reason, where=f"name {quoted(text, _MAX_ECHO)}", column=column)

    # Errors cross process borders by pickle, which would call this class with the finished sentence alone.
    def __reduce__(self) -> tuple[partial[MalformedName], tuple[str]]:
        return partial(MalformedName, column=self.column, reason=self.reason), (self.text,)


class Defaults(Struct, frozen=True):
    """What a name may leave out."""

    protocol: str = "http"
    office: str = "main"
    ports: Mapping[str, int] = field(default_factory=lambda: {"http": 8025, "https": 8026, "nats": 4222})

    def __hash__(self) -> int:
        return hash((self.protocol, self.office))


class OfficeName(Struct, frozen=True, gc=False, order=True, cache_hash=True):
    """A post office: `protocol://host:port/office`, `local:office`, or `smtp:domain` for the mail system of a domain.

    Made by `parse_office`: the laws of reading and printing hold for values made there.
    """

    protocol: str
    host: str
    port: int | None
    office: str

    def __str__(self) -> str:
        return _printed_office(self)


@lru_cache(maxsize=4096)
def _printed_office(office: OfficeName) -> str:
    if office.protocol == "local":
        return f"local:{escaped(office.office)}"
    if office.protocol == "smtp":
        return f"smtp:{office.host}"
    return f"{office.protocol}://{bracketed(office.host)}:{office.port}/{escaped(office.office)}"


class MailboxName(Struct, frozen=True, gc=False, order=True, cache_hash=True):
    """A mailbox of an office; where the office is the mail system of a domain, the mailbox is the whole address."""

    office: OfficeName
    mailbox: str

    def __str__(self) -> str:
        if self.office.protocol == "smtp":
            return f"smtp:{self.mailbox}"
        return f"{self.office}#{escaped(self.mailbox, MAILBOX_SIGNS)}"


DEFAULTS = Defaults()
LOCAL = OfficeName("local", "", None, "")
"""This office, whatever it is called from outside."""


def parse_mailbox(text: str, defaults: Defaults = DEFAULTS) -> MailboxName:
    """Read the name of a mailbox in any of its forms, or raise MalformedName."""
    # Long names are rare, and strangers must not be able to fill the memory with them.
    if len(text) > _MAX_CACHED:
        return _parse_mailbox(text, defaults)
    return _cached_mailbox(text) if defaults is DEFAULTS else _cached_mailbox(text, defaults)


def _parse_mailbox(text: str, defaults: Defaults = DEFAULTS) -> MailboxName:
    if len(text) <= MAX_WORD and _BARE.fullmatch(text) and text.strip("."):
        return MailboxName(LOCAL, text)
    try:
        whole = _whole(text)
        return _within_limit(whole, _read_mailbox(whole, defaults))
    except Fault as fault:
        raise MalformedName(text, column=fault.at + 1, reason=fault.reason) from None


_cached_mailbox = lru_cache(maxsize=65536)(_parse_mailbox)


def parse_office(text: str, defaults: Defaults = DEFAULTS) -> OfficeName:
    """Read the name of an office, which is the part before "#" of a mailbox's name, or raise MalformedName."""
    try:
        whole = _whole(text)
        mark = whole.find("#")
        if mark < whole.stop:
            raise whole.fault(mark, 'the name of an office, which has no "#"')
        return _within_limit(whole, _read_office(whole, defaults))
    except Fault as fault:
        raise MalformedName(text, column=fault.at + 1, reason=fault.reason) from None


def short(name: MailboxName, defaults: Defaults = DEFAULTS) -> str:
    """Print the shortest form that `parse_mailbox` reads as this name under the same defaults."""
    office = name.office
    if office.protocol == "smtp":
        return name.mailbox
    if office.protocol == "local":
        return str(name) if office.office else min(escaped(name.mailbox), str(name), key=len)
    return f"{_short_office(office, defaults)}#{escaped(name.mailbox, MAILBOX_SIGNS)}"


def _short_office(office: OfficeName, defaults: Defaults) -> str:
    port = "" if defaults.ports.get(office.protocol) == office.port else f":{office.port}"
    # At the beginning of a name "local:" and "smtp:" are protocols, so a host called so needs its own before it.
    implied = office.protocol == defaults.protocol and not (port and office.host in ("local", "smtp"))
    path = "" if office.office == defaults.office else f"/{escaped(office.office)}"
    return f"{'' if implied else office.protocol + '://'}{bracketed(office.host)}{port}{path}"


class Url(Struct, frozen=True, order=True, cache_hash=True):
    """The address of an office or an agent manager; `ref` says what is meant inside it, and is "" for itself."""

    office: OfficeName
    ref: str = ""

    @classmethod
    def parse(cls, text: str, defaults: Defaults = DEFAULTS) -> Url:
        """Read the name of an office, with or without "#" and a ref, or raise MalformedName."""
        try:
            whole = _whole(text)
            mark = whole.find("#")
            office = _read_office(whole.of(0, mark), defaults)
            if mark == whole.stop:
                return _within_limit(whole, cls(office))
            if office.protocol == "smtp":
                raise whole.fault(mark, "the end, as the mail system of a domain has no parts")
            return _within_limit(
                whole, cls(office, read_word(whole.of(mark + 1, whole.stop), "ref", signs=MAILBOX_SIGNS))
            )
        except Fault as fault:
            raise MalformedName(text, column=fault.at + 1, reason=fault.reason) from None

    @classmethod
    def build(cls, protocol: str, host: str, *, port: int | None, file: str) -> Url:
        """Put a Url together from its parts, none of them escaped, or raise MalformedName."""
        return cls.parse(_composed(protocol, host, port=port, file=file))

    @property
    def protocol(self) -> str:
        return self.office.protocol

    @property
    def host(self) -> str:
        return self.office.host

    @property
    def port(self) -> int | None:
        return self.office.port

    @property
    def file(self) -> str:
        return self.office.office

    @property
    def name(self) -> str:
        """The Url without its ref."""
        return str(self.office)

    def with_ref(self, ref: str) -> Url:
        """Point at something else in the same office, not escaped, or with "" at the office itself."""
        return Url.parse(f"{self.name}#{escaped(ref, MAILBOX_SIGNS)}") if ref else Url(self.office)

    def __str__(self) -> str:
        return f"{self.name}#{escaped(self.ref, MAILBOX_SIGNS)}" if self.ref else self.name


def _composed(protocol: str, host: str, *, port: int | None, file: str) -> str:
    """Spell the parts so that whatever does not belong into one of them is found there when they are read."""
    place = escaped(host if host.startswith("[") else bracketed(host), OFFICE_SIGNS + "[:]")
    if port is not None:
        place += f":{port}"
    path = escaped(file)
    if protocol.lower() == "local":
        return f"{protocol}:{place}/{path}" if place else f"{protocol}:{path}"
    if protocol.lower() == "smtp":
        return f"{protocol}:{place}/{path}" if path else f"{protocol}:{place}"
    return f"{escaped(protocol)}://{place}/{path}"


_Name = TypeVar("_Name", OfficeName, MailboxName, Url)


def _whole(text: str) -> Part:
    whole = Part(text, 0, len(text))
    if not text:
        raise whole.fault(0, "a name")
    if len(text) > MAX_NAME:
        raise whole.fault(MAX_NAME, f"at most {MAX_NAME:,} characters", found=f"{len(text):,}")
    unsafe = UNSAFE.search(text)
    if unsafe:
        raise whole.fault(unsafe.start(), "no control, line break, surrogate or change of direction")
    return whole


def _within_limit(whole: Part, name: _Name) -> _Name:
    # Escapes can make the canonical form longer than what was written, and it must be readable again.
    size = len(str(name))
    if size > MAX_NAME:
        raise whole.fault(whole.stop, f"at most {MAX_NAME:,} characters when written in full", found=f"{size:,}")
    return name


def _read_mailbox(whole: Part, defaults: Defaults) -> MailboxName:
    text = whole.text
    if _has_protocol(whole, "smtp"):
        return _read_address(whole.of(len("smtp:"), whole.stop))
    mark = whole.find("#")
    if whole.starts_with('"') or ("@" in text and "://" not in text[:mark] and not _has_protocol(whole, "local")):
        return _read_address(whole)
    if mark < whole.stop:
        office = _read_office(whole.of(0, mark), defaults)
        return MailboxName(office, read_word(whole.of(mark + 1, whole.stop), "mailbox", signs=MAILBOX_SIGNS))
    if "/" in text or ":" in text:
        _read_office(whole, defaults)
        raise whole.fault(mark, '"#" and a mailbox')
    return MailboxName(LOCAL, read_word(whole, "mailbox", signs=OFFICE_SIGNS))


def _has_protocol(part: Part, protocol: str) -> bool:
    """Tell whether one of the two protocols without a host is written out."""
    return part.text[: len(protocol) + 1].lower() == f"{protocol}:"


def _read_office(part: Part, defaults: Defaults) -> OfficeName:
    if _has_protocol(part, "local"):
        return OfficeName("local", "", None, _read_office_word(part.of(len("local:"), part.stop), ""))
    if _has_protocol(part, "smtp"):
        return OfficeName("smtp", read_domain(part.of(len("smtp:"), part.stop)), None, "")
    mark = part.find("://")
    named = mark < part.stop
    protocol = _read_protocol(part.of(part.start, mark)) if named else defaults.protocol
    start = mark + len("://") if named else part.start
    slash = part.of(start, part.stop).find("/")
    host, port = _read_place(part.of(start, slash), protocol, ports=defaults.ports)
    path = part.of(min(slash + 1, part.stop), part.stop)
    return OfficeName(protocol, host, port, _read_office_word(path, defaults.office))


def _read_office_word(part: Part, default: str) -> str:
    return read_word(part, "office", signs=OFFICE_SIGNS) if part.start < part.stop else default


def _read_protocol(part: Part) -> str:
    sound = _PROTOCOL.match(part.text, part.start, part.stop)
    stop = sound.end() if sound else part.start
    if not sound or stop < part.stop:
        raise part.fault(stop, 'a protocol such as "http" before "://"')
    if stop - part.start > MAX_PROTOCOL:
        raise part.fault(part.start, f"a protocol of at most {MAX_PROTOCOL} characters", found=str(stop - part.start))
    return str(part).lower()


def _read_place(part: Part, protocol: str, *, ports: Mapping[str, int]) -> tuple[str, int]:
    bracket = part.find("]") if part.starts_with("[") else part.start
    colon = part.of(bracket, part.stop).find(":")
    host = read_host(part.of(part.start, colon))
    if colon < part.stop:
        return host, read_port(part.of(colon + 1, part.stop))
    port = ports.get(protocol)
    if port is None:
        raise part.fault(colon, f'":" and a port, as {quoted(protocol)} has no default port')
    return host, port


def _read_address(part: Part) -> MailboxName:
    """Read a mail address: its local part is kept as written, its domain in lower case."""
    local = part.of(part.start, _end_of_local(part))
    if local.start == local.stop:
        raise part.fault(part.start, 'a name before "@"')
    if local.stop == part.stop or part.text[local.stop] != "@":
        raise part.fault(local.stop, '"@" and a domain')
    domain = read_domain(part.of(local.stop + 1, part.stop))
    address = f"{local}@{domain}"
    size = len(address.encode())
    if size > MAX_WORD:
        raise part.fault(part.start, f"an address of at most {MAX_WORD} bytes", found=str(size))
    return MailboxName(OfficeName("smtp", domain, None, ""), address)


def _end_of_local(part: Part) -> int:
    if part.starts_with('"'):
        string = _QUOTED_LOCAL.match(part.text, part.start, part.stop)
        if not string:
            raise part.fault(part.stop, "a closing quotation mark")
        return string.end()
    # Dots may stand anywhere: some providers gave out addresses such as "ann..b." that mail servers still accept.
    stop = part.find("@")
    wrong = _NOT_IN_LOCAL.search(part.text, part.start, stop)
    if wrong:
        raise part.fault(wrong.start(), 'a letter, a digit or one of ".!#$%&\'*+-/=?^_`{|}~" before "@"')
    return stop
