"""What the parts of a mail hold: its text, its attachments, and whether it is signed or encrypted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from posthouse.message.form.mail.charset import decode, decode_lines
from posthouse.message.form.mail.header import text_of
from posthouse.message.form.mail.limit import MAX_HIDDEN, MAX_TEXT, MAX_WRAPS
from posthouse.message.form.mail.part import MESSAGES, Part, Structure, read_structure
from posthouse.message.form.mail.transfer import IDENTITY, decode_content, find_uuencoded

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PKCS7: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_META: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_-]{1,40})", re.IGNORECASE)
_LONG_WORD: Final = 4_096
_META_WITHIN: Final = 2_048
# Object identifiers: signedData and envelopedData of PKCS #7, authEnvelopedData of S/MIME.
_SIGNED_DATA: Final = bytes.fromhex("06092a864886f70d010702")
_ENVELOPED: Final = (bytes.fromhex("06092a864886f70d010703"), bytes.fromhex("060b2a864886f70d0109100117"))


class File(NamedTuple):
    """A part that is meant to be kept as a file."""

    name: str
    content_type: str
    size: int | None
    sha256: bytes | None


class Content(NamedTuple):
    """What a mail holds; none is what is not known."""

    text: str | None
    files: Sequence[File] | None
    is_signed: bool | None
    is_encrypted: bool | None
    text_is_whole: bool = True
    """False where `text` is only the beginning of it."""
    hidden: str = ""
    """The text of HTML parts that their marks keep from being seen."""
    hidden_is_whole: bool = True

    @property
    def unknown(self) -> list[str]:
        """The names of what is not known, or not all of it."""
        names = ("attachments", "is_signed", "is_encrypted")
        missing = [name for name, value in zip(names, self[1:4], strict=True) if value is None]
        cut = [name for name, whole in (("text", self.text_is_whole), ("hidden", self.hidden_is_whole)) if not whole]
        return [*cut, *missing]


def read_content(raw: bytes, structure: Structure) -> Content:
    """Read what the parts of a mail hold."""
    gathered = _Gathered()
    gathered.add(raw, structure)
    return Content(
        "\n".join(gathered.texts) if gathered.text_is_whole or any(gathered.texts) else None,
        gathered.files if gathered.files_are_whole else None,
        gathered.is_signed or (False if gathered.files_are_whole else None),
        gathered.is_encrypted or (False if gathered.files_are_whole else None),
        gathered.text_is_whole,
        "\n".join(gathered.hidden),
        # What is missing of the text may hide something too.
        gathered.text_is_whole and gathered.hidden_room >= 0,
    )


class _Place(NamedTuple):
    """Where a part stands."""

    wraps: int
    """Mails around it that are encoded."""
    is_own: bool
    """It belongs to the mail itself and to none that is attached."""
    is_cut: bool
    """Its end is not there."""
    may_be_bare: bool
    """A CR may end a line of it alone."""


class _Gathered:
    """What was found so far, part by part."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.hidden: list[str] = []
        self.hidden_room = MAX_HIDDEN
        self.files: list[File] = []
        self.is_signed = False
        self.is_encrypted = False
        self.text_is_whole = True
        self.files_are_whole = True
        self._room = MAX_TEXT
        self._ends_here = False

    def add(self, raw: bytes, structure: Structure, *, wraps: int = 0) -> None:
        self.files_are_whole = self.files_are_whole and structure.is_whole
        for part in structure.parts:
            place = _Place(
                wraps,
                is_own=not wraps and not part.in_attached,
                is_cut=structure.is_cut and part.end == len(raw),
                may_be_bare=structure.has_bare_returns or part.encoding not in IDENTITY,
            )
            if part.content_type.startswith("multipart/"):
                self._add_multipart(raw, part, place)
            elif part.content_type.startswith("text/") or part.content_type in _HTML:
                self._add_text(raw, part, place)
            # A mail that is read as the part of another one is kept whole, as the file it could become.
            else:
                self._add_file(raw, part, place)
        # What was left out stands behind all of this.
        self.text_is_whole = self.text_is_whole and structure.is_whole

    def _add_multipart(self, raw: bytes, part: Part, place: _Place) -> None:
        if place.is_own:
            self.is_signed = self.is_signed or part.content_type == "multipart/signed"
            self.is_encrypted = self.is_encrypted or part.content_type == "multipart/encrypted"
        if part.is_leaf:
            # No part was found in it: a mail program would show what stands there, and nobody knows what it was to be.
            self.files_are_whole = False
            if place.is_cut:
                self.text_is_whole = False
            else:
                self._take(raw[part.body : part.end], "", place)

    def _add_text(self, raw: bytes, part: Part, place: _Place) -> None:
        data = raw[part.body : part.end]
        decoded = decode_content(data, part.encoding)
        if part.disposition == "attachment" or part.name:
            self._keep(part, decoded)
            if part.disposition == "attachment":
                return
        content = data if decoded is None else decoded
        charset = part.parameters.get("charset", "").split(" ", 1)[0]
        if part.content_type in _HTML:
            self._take_html(content, charset, place)
            return
        if place.is_own and b"-----BEGIN PGP" in content:
            self.is_signed = self.is_signed or b"-----BEGIN PGP SIGNED MESSAGE-----" in content
            self.is_encrypted = self.is_encrypted or b"-----BEGIN PGP MESSAGE-----" in content
        if b"\nbegin" in content or content.startswith(b"begin"):
            content = self._take_uuencoded(content)
        self._take(content, charset, place)

    def _add_file(self, raw: bytes, part: Part, place: _Place) -> None:
        content = decode_content(raw[part.body : part.end], part.encoding)
        self._keep(part, content)
        if content is None:
            return
        if part.content_type in _PKCS7 and place.is_own:
            beginning = content[:64]
            if _SIGNED_DATA in beginning or part.parameters.get("smime-type", "").lower() == "signed-data":
                self.is_signed = True
            elif any(mark in beginning for mark in _ENVELOPED) or part.parameters.get("smime-type") != "certs-only":
                self.is_encrypted = True
        if part.content_type in MESSAGES and part.encoding not in IDENTITY:
            if place.wraps == MAX_WRAPS:
                self.text_is_whole = self.files_are_whole = False
            else:
                structure = read_structure(content, depth=part.depth + 1, is_cut=place.is_cut)
                self.add(content, structure, wraps=place.wraps + 1)

    def _keep(self, part: Part, content: bytes | None) -> None:
        if content is None:
            self.files.append(File(part.name, part.content_type, None, None))
        else:
            self.files.append(File(part.name, part.content_type, len(content), hashlib.sha256(content).digest()))

    def _take_uuencoded(self, content: bytes) -> bytes:
        """Take the files out of a text of the time before MIME."""
        kept: list[bytes] = []
        at = 0
        for found in find_uuencoded(content):
            kept.append(content[at : found.start])
            at = found.end
            name = text_of(found.name.decode("latin-1"))
            digest = hashlib.sha256(found.content).digest()
            self.files.append(File(name, "application/octet-stream", len(found.content), digest))
        return b"".join(kept) + content[at:] if kept else content

    def _take_html(self, content: bytes, charset: str, place: _Place) -> None:
        if not self.text_is_whole:
            return
        if not charset and (named := _META.search(content, 0, _META_WITHIN)):
            charset = named[1].decode("ascii")
        # The parser is loaded when the first mail in HTML comes, and not with the office.
        from posthouse.message.form.mail.html import read_html  # noqa: PLC0415

        html = read_html(decode(self._readable(content, place), charset))
        self._add_piece(html.text)
        if html.hidden:
            self.hidden.append(html.hidden[: max(self.hidden_room, 0)])
            self.hidden_room -= len(html.hidden)

    def _take(self, content: bytes, charset: str, place: _Place) -> None:
        if self.text_is_whole:
            self._add_piece(decode_lines(self._readable(content, place), charset, may_be_bare=place.may_be_bare))

    def _readable(self, content: bytes, place: _Place) -> bytes:
        """Give as much of a text as there is room for; no charset says less than one character in four bytes."""
        most = 4 * self._room
        if len(content) <= most and not place.is_cut:
            return content
        self._ends_here = True
        # The last word may be half of one, and its last character too.
        end = 1 + max(content.rfind(mark, 0, most) for mark in (b"\n", b" ", b">"))
        return content[: end if most - end < _LONG_WORD or len(content) - end < _LONG_WORD else most]

    def _add_piece(self, text: str) -> None:
        self.texts.append(text[: self._room] if len(text) > self._room else text)
        if len(text) > self._room or self._ends_here:
            self.text_is_whole = False
        self._room -= len(text)
