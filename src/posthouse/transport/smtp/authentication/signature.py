"""Who signed a mail: DKIM (RFC 6376, RFC 8463) and the chain of those who passed it on, ARC (RFC 8617).

The library reads and verifies the signatures; body, keys and limits are ours, since a stranger writes all three.
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
from typing import Any, Final, NamedTuple

import dkim

from posthouse.transport.smtp.authentication.body import BodyHash, hash_relaxed, hash_simple
from posthouse.transport.smtp.authentication.lookup import Questions
from posthouse.transport.smtp.names import NamesUnavailable

MAX_HEADER: Final = 262_144
MAX_FIELDS: Final = 1_000
MAX_SIGNATURE: Final = 16_384
MAX_SIGNATURES: Final = 5
"""Signatures of one mail that are looked at, from the top."""
MAX_LINKS: Final = 50
"""Links of a chain, as RFC 8617 has it."""

# RFC 8301, section 3.2; what is larger, or has a large exponent, is there to keep us busy.
_MIN_KEY_BITS: Final = 1_024
_MAX_KEY_BITS: Final = 8_192
_MAX_EXPONENT_BITS: Final = 64
_SIGNING: Final = frozenset({b"dkim-signature", b"arc-seal", b"arc-message-signature", b"arc-authentication-results"})
# No mail system folds like that, and expressions of the library take the square of it.
_LONG_SPACE: Final = re.compile(rb"\s{64}")
_ALGORITHMS: Final = {b"rsa-sha256": b"rsa", b"ed25519-sha256": b"ed25519"}
_FORMS: Final = frozenset({b"simple", b"relaxed"})
_BEST_FIRST: Final = ("pass", "temperror", "fail", "permerror", "neutral", "none")

# What is wrong with a stranger's signature is a result, and no news for the log.
_SILENT: Final = logging.getLogger("posthouse.dkim")
_SILENT.disabled = True


class Signed(NamedTuple):
    """What the signatures of a mail come to."""

    result: str
    domains: tuple[str, ...] = ()
    """Whose signatures are good."""


class Bodies:
    """The hashes of one body, each made once."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._known: dict[bytes, BodyHash] = {}

    def hash_for(self, form: bytes) -> BodyHash:
        """Give the hash of the body in a form of DKIM."""
        if form not in self._known:
            self._known[form] = hash_relaxed(self._body) if form == b"relaxed" else hash_simple(self._body)
        return self._known[form]


# `Any`: the library knows no types.
class _Verifying:
    """Replaces how the library asks for keys and how it hashes a body; `why` says what stood in the way."""

    pk: Any
    ktag: Any

    def prepare(self, bodies: Bodies, questions: Questions) -> None:
        self._bodies = bodies
        self._questions = questions
        self.why = ""

    def verify_sig(self, sig: dict[bytes, bytes], include_headers: list[bytes], *rest: Any) -> bool:
        self.why = self._body_fault(sig) or self._key_fault(sig)
        if self.why:
            return False
        ours = {tag: value for tag, value in sig.items() if tag not in {b"bh", b"l"}}
        return bool(self.verify_sig_process(ours, include_headers, *rest))  # type: ignore[attr-defined]

    def _body_fault(self, sig: dict[bytes, bytes]) -> str:
        if sig.get(b"a") not in _ALGORITHMS:
            return "permerror"
        if b"bh" not in sig:
            return ""
        forms = sig.get(b"c", b"simple/simple").split(b"/")
        if not _FORMS.issuperset(forms):
            return "permerror"
        found = self._bodies.hash_for(forms[1] if len(forms) > 1 else b"simple")
        covered = int(sig.get(b"l", b"%d" % found.length))
        if covered != found.length:
            # What was added behind the signed part is anybody's.
            return "neutral" if covered < found.length else "permerror"
        return "" if base64.b64decode(re.sub(rb"\s+", b"", sig[b"bh"])) == found.digest else "fail"

    def _key_fault(self, sig: dict[bytes, bytes]) -> str:
        name = f"{sig[b's'].decode()}._domainkey.{sig[b'd'].decode()}"
        try:
            texts = self._questions.texts(name)
        except NamesUnavailable:
            return "temperror"
        marked = [text for text in texts if text.startswith(b"v=DKIM1")] or texts
        if not marked:
            return "permerror"
        try:
            self.pk, self.keysize, self.ktag, self.seqtlsrpt = dkim.evaluate_pk(name, marked[0])
        except (dkim.DKIMException, binascii.Error):
            return "permerror"
        if self.ktag != _ALGORITHMS[sig[b"a"]]:
            return "permerror"
        if self.ktag != b"rsa":
            return ""
        is_sound = (
            _MIN_KEY_BITS <= self.keysize <= _MAX_KEY_BITS
            and self.pk["publicExponent"].bit_length() <= _MAX_EXPONENT_BITS
        )
        return "" if is_sound else "permerror"


class _Dkim(_Verifying, dkim.DKIM):  # type: ignore[misc]
    """One mail, its signatures."""

    def verify_sig(self, sig: dict[bytes, bytes], include_headers: list[bytes], *rest: Any) -> bool:
        if b"from" not in include_headers:
            self.why = "permerror"
            return False
        return super().verify_sig(sig, include_headers, *rest)


class _Arc(_Verifying, dkim.ARC):  # type: ignore[misc]
    """One mail, its chain."""

    is_delayed = False

    def verify_sig(self, sig: dict[bytes, bytes], include_headers: list[bytes], *rest: Any) -> bool:
        is_good = super().verify_sig(sig, include_headers, *rest)
        self.is_delayed |= self.why == "temperror"
        return is_good


def check_dkim(header: bytes, bodies: Bodies, *, questions: Questions) -> Signed:
    """Say what the signatures of a mail come to; one good one is enough."""
    if not _signs(header, b"dkim-signature"):
        return Signed("none")
    try:
        mail = _Dkim(header, logger=_SILENT)
    except Exception:  # noqa: BLE001 - a header the library does not take
        return Signed("permerror")
    if not _is_bounded(mail.headers):
        return Signed("permerror")
    mail.prepare(bodies, questions)
    results: list[str] = []
    domains: list[str] = []
    count = sum(name.lower() == b"dkim-signature" for name, _ in mail.headers)
    for number in range(min(count, MAX_SIGNATURES)):
        result = _one(mail, number)
        results.append(result)
        if result == "pass":
            domains.append(mail.domain.decode("ascii", "replace").lower().rstrip("."))
    return Signed(min(results, key=_BEST_FIRST.index, default="none"), tuple(dict.fromkeys(domains)))


def _one(mail: _Dkim, number: int) -> str:
    mail.why = ""
    try:
        return "pass" if mail.verify(idx=number) else mail.why or "fail"
    except Exception:  # noqa: BLE001 - the library meets what strangers write; what it stumbles on is no signature
        return "permerror"


def check_arc(header: bytes, bodies: Bodies, *, questions: Questions) -> str:
    """Say whether the chain of those who passed a mail on holds; whether they are to be believed is not asked."""
    if not _signs(header, b"arc-"):
        return "none"
    try:
        mail = _Arc(header, logger=_SILENT)
        if not _is_bounded(mail.headers):
            return "permerror"
        mail.prepare(bodies, questions)
        if mail.sorted_arc_headers()[0] > MAX_LINKS:
            return "fail"
        found, _, _ = mail.verify()
    except Exception:  # noqa: BLE001 - as above
        return "fail"
    if found == dkim.CV_Pass:
        return "pass"
    return "none" if found == dkim.CV_None else "temperror" if mail.is_delayed else "fail"


def _signs(header: bytes, name: bytes) -> bool:
    return (b"\n" + header[:MAX_HEADER].lower()).find(b"\n" + name) >= 0


def _is_bounded(headers: list[list[bytes]]) -> bool:
    return (
        len(headers) <= MAX_FIELDS
        and sum(len(value) for _, value in headers) <= MAX_HEADER
        and all(
            len(value) <= MAX_SIGNATURE and _LONG_SPACE.search(value) is None
            for name, value in headers
            if name.lower() in _SIGNING
        )
    )
