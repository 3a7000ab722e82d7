"""Mail of the world outside: the corpora where they are, and how Python's `email` reads the same."""

from __future__ import annotations

import email
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC
from email.headerregistry import AddressHeader, DateHeader
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parents[3]
ARCHIVES: Final = ("spamassassin.tar.xz", "mime_torture.tar.xz")
HOMES: Final = ("spamassassin", "cpython-test_email", "mime4j")
FOLDERS: Final = ("spamassassin/*/*", "cpython-test_email/msg_*.txt", "mime4j/*/*.msg")

Mailboxes = list[tuple[str, str]]
Files = list[tuple[str, str, int | None]]


def paths() -> list[Path]:
    """Give the mails."""
    return _found(FOLDERS)


def files() -> list[Path]:
    """Give the mails and all that lies beside them: pictures, sounds, what others read in the mails."""
    return _found([f"{home}/**/*" for home in HOMES])


def _found(patterns: Sequence[str]) -> list[Path]:
    place = _unpacked(_place())
    found = sorted(path for pattern in patterns for path in place.glob(pattern) if path.is_file())
    if not found:
        pytest.skip(
            f"no corpora in {place}: put {' and '.join(ARCHIVES)} there, or name their folder in POSTHOUSE_CORPORA"
        )
    return found


def _place() -> Path:
    """Give the folder of the corpora: the one that is named, or one beside the project's own, or the user's cache."""
    named = os.environ.get("POSTHOUSE_CORPORA")
    beside = ROOT.parent / "shared" / "corpora"
    return Path(named) if named else beside if beside.is_dir() else _cache()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "posthouse-corpora"


def _unpacked(place: Path) -> Path:
    """Give the folder the archives of a place are unpacked in; the place itself where it holds none."""
    archives = [place / name for name in ARCHIVES if (place / name).is_file()]
    if not archives:
        return place
    cache = _cache() / "-".join(str(archive.stat().st_size) for archive in archives)
    if not cache.is_dir():
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=cache.parent))
        for archive in archives:
            with tarfile.open(archive) as packed:
                packed.extractall(fresh, filter="data")
        try:
            fresh.rename(cache)
        except OSError:
            # Another run was quicker.
            shutil.rmtree(fresh)
    return cache


class Said(NamedTuple):
    """What a reader finds in a mail, blanks evened out; `texts` is none where there is HTML."""

    subject: str | None
    addresses: dict[str, Mailboxes]
    date: tuple[int | None, int | None]
    files: Files | None
    text: str | None


def even(text: str) -> str:
    return " ".join(text.split())


def read_with_email(raw: bytes) -> Said:
    mail = email.message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    files: Files = []
    texts: list[str] | None = []
    for part in _leaves(mail):
        kind, name = part.get_content_type(), part.get_filename() or ""
        if part.get_content_maintype() == "message":
            files.append((name, kind, None))
            continue
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        is_attachment = part.get_content_disposition() == "attachment"
        if part.get_content_maintype() != "text" or is_attachment or name:
            files.append((name, kind, len(content)))
        if part.get_content_maintype() == "text" and not is_attachment:
            if kind == "text/html" or texts is None:
                texts = None
            else:
                texts.append(_decode(content, part.get_content_charset("ascii")))
    return Said(
        None if mail["subject"] is None else even(str(mail["subject"])),
        {name: _addresses(mail, name) for name in ("from", "to", "cc", "reply-to")},
        _date(mail),
        files,
        None if texts is None else even("\n".join(texts)),
    )


def _decode(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset, "replace")
    except LookupError:
        return content.decode("latin-1")


def _leaves(mail: EmailMessage) -> Iterator[EmailMessage]:
    if not mail.is_multipart():
        yield mail
        return
    if mail.get_content_maintype() == "message":
        yield mail
        # These are not mails, though Python reads them as if they were.
        if mail.get_content_type() != "message/rfc822":
            return
    for part in mail.iter_parts() if mail.get_content_maintype() != "message" else mail.get_payload():
        assert isinstance(part, EmailMessage)
        yield from _leaves(part)


def _addresses(mail: EmailMessage, name: str) -> Mailboxes:
    found: Mailboxes = []
    for field in mail.get_all(name, []):
        assert isinstance(field, AddressHeader)
        found += [(even(each.display_name), each.addr_spec) for each in field.addresses]
    return found


def _date(mail: EmailMessage) -> tuple[int | None, int | None]:
    field = mail["date"]
    moment = field.datetime if isinstance(field, DateHeader) else None
    if moment is None:
        return None, None
    offset = moment.utcoffset()
    instant = moment if offset is not None else moment.replace(tzinfo=UTC)
    return round(instant.timestamp() * 1_000_000), None if offset is None else round(offset.total_seconds() / 60)
