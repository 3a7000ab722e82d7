"""Hosts, mail domains and ports as they stand in names: read into one canonical form, never resolved."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

from posthouse.message.spelling import Part, is_mark, is_word, quoted

MAX_HOST = 253
MAX_LABEL = 63

# What a resolver may take for an IPv4 address (WHATWG URL, section 3.5): "127.1" must not be a second name of a host.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")


def read_port(part: Part) -> int:
    digits = str(part)
    plain = digits.isascii() and digits.isdecimal()
    if plain and 1 <= int(digits) <= 65535:
        return int(digits)
    found = digits if plain and len(digits) <= 20 else quoted(digits)
    raise part.fault(part.start, "a port from 1 to 65535", found=found if digits else "none")


def read_host(part: Part, kind: str = "host") -> str:
    """Read a domain name, an IPv4 address or, in brackets that are not kept, an IPv6 address."""
    if part.starts_with("["):
        return _read_ipv6(part, part.start + 1)
    if not str(part):
        raise part.fault(part.start, f"a {kind}")
    labels: list[str] = []
    at = part.start
    for label in str(part).split("."):
        labels.append(_read_label(part.of(at, at + len(label)), kind))
        at += len(label) + 1
    size = sum(map(_wire_length, labels)) + len(labels) - 1
    if size > MAX_HOST:
        raise part.fault(part.start, f"a {kind} of at most {MAX_HOST} characters", found=str(size))
    host = ".".join(labels)
    if _NUMERIC.fullmatch(labels[-1]) and not _is_ipv4(host):
        raise part.fault(part.start, "an IPv4 address of four numbers from 0 to 255", found=quoted(host))
    return host


def read_domain(part: Part) -> str:
    """Read the domain of a mail address, or an address in brackets, which are kept (RFC 5321, section 4.1.3)."""
    if not part.starts_with("["):
        return read_host(part, "domain")
    if str(part)[:6].lower() == "[ipv6:":
        return f"[ipv6:{_read_ipv6(part, part.start + 6)}]"
    if not str(part).endswith("]") or not _is_ipv4(str(part)[1:-1]):
        raise part.fault(
            part.start, 'an address such as "[192.0.2.1]" or "[ipv6:2001:db8::1]"', found=quoted(str(part))
        )
    return str(part)


def bracketed(host: str) -> str:
    """Spell a host so that `read_host` reads it."""
    return f"[{host}]" if ":" in host else host


def _read_label(part: Part, kind: str) -> str:
    for at in range(part.start, part.stop):
        if not _may_stand_in_host(part.text[at]):
            raise part.fault(at, f'a letter, a digit, "-", "_" or "." in the {kind}')
    if part.start == part.stop:
        raise part.fault(part.start, f"a label of the {kind}")
    if part.starts_with("-") or is_mark(part.text[part.start]):
        raise part.fault(part.start, f"a letter or digit at the beginning of a label of the {kind}")
    if part.text[part.stop - 1] == "-":
        raise part.fault(part.stop - 1, f"a letter or digit at the end of a label of the {kind}")
    label = unicodedata.normalize("NFC", unicodedata.normalize("NFC", str(part)).lower())
    size = len(label) if len(label) > MAX_LABEL else _wire_length(label)
    if size > MAX_LABEL:
        raise part.fault(part.start, f"a label of at most {MAX_LABEL} characters", found=str(size))
    return label


def _wire_length(label: str) -> int:
    """Count the characters of a label as the domain name system carries it (RFC 5890, A-label)."""
    return len(label) if label.isascii() else len("xn--") + len(label.encode("punycode"))


def _may_stand_in_host(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "-_"
    # Resolvers map compatibility letters to plain ones (UTS 46): a wide "e" would be a second spelling of "e".
    return is_word(char) and unicodedata.normalize("NFKC", char) == unicodedata.normalize("NFC", char)


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _read_ipv6(part: Part, start: int) -> str:
    """Read the address from `start` to the bracket with which the part must end."""
    close = part.find("]")
    if close == part.stop:
        raise part.fault(close, '"]" after the address')
    if close + 1 < part.stop:
        raise part.fault(close + 1, 'nothing, or ":" and a port, after "]"')
    text = part.text[start:close]
    if "%" in text:
        raise part.fault(start + text.index("%"), "an IPv6 address without a zone")
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise part.fault(start, "an IPv6 address", found=quoted(text)) from None
    # Python prints these in two ways, depending on its version; this is the way of RFC 5952, section 5.
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)
