"""Sessions of people who look after the office: a signed cookie for an hour, and the mark every form must bear."""

from __future__ import annotations

import base64
import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final

import msgspec

from posthouse.clock import Clock
from posthouse.office.keyring import Keyring
from posthouse.office.permit import Permit
from posthouse.web.asgi import Scope, header_of

COOKIE: Final = "posthouse_session"
LASTS_S: Final = 3_600
_SECOND: Final = 1_000_000
_LONGEST: Final = 1_000


class Session(msgspec.Struct, frozen=True, array_like=True):
    """What the cookie says; the key itself is not in it."""

    credential: str
    until: int
    nonce: str
    """Drawn for each session, so that its forms bear a mark nobody can foresee."""


class Sessions:
    """Opens sessions and knows them again; what it signs with is drawn anew with each start of the office."""

    def __init__(self, keyring: Keyring, clock: Clock) -> None:
        self._keyring = keyring
        self._clock = clock
        self._secret = clock.secret()

    def open(self, permit: Permit) -> Session:
        """Begin a session."""
        nonce = self._clock.secret().hex()[:32]
        return Session(permit.credential, self._clock.now() + LASTS_S * _SECOND, nonce)

    def cookie(self, session: Session, *, secure: bool) -> str:
        """Write the header that hands a session to a browser."""
        return _cookie(self._seal(session), LASTS_S, secure=secure)

    def no_cookie(self, *, secure: bool) -> str:
        """Write the header that takes it away."""
        return _cookie("", 0, secure=secure)

    def find(self, scope: Scope) -> tuple[Session, Permit] | None:
        """Give the session of a request, where it has one that still holds."""
        session = self._unseal(_sealed_in(scope))
        if session is None or session.until <= self._clock.now():
            return None
        permit = self._keyring.permit_of(session.credential)
        return (session, permit) if permit is not None and permit.administers else None

    def mark(self, session: Session) -> str:
        """Give what each form of a session must bear."""
        return self._sign(b"form", session.nonce.encode())

    def is_mark(self, session: Session, mark: str) -> bool:
        """Say whether a form comes from a page of this session."""
        return hmac.compare_digest(self.mark(session).encode(), mark[:_LONGEST].encode())

    def _seal(self, session: Session) -> str:
        text = base64.urlsafe_b64encode(msgspec.msgpack.encode(session)).decode()
        return f"{text}.{self._sign(b'session', text.encode())}"

    def _unseal(self, sealed: str) -> Session | None:
        text, _, signature = sealed.partition(".")
        if not hmac.compare_digest(self._sign(b"session", text.encode()).encode(), signature.encode()):
            return None
        return msgspec.msgpack.decode(base64.urlsafe_b64decode(text), type=Session)

    def _sign(self, purpose: bytes, data: bytes) -> str:
        return hmac.new(self._secret, purpose + b"\0" + data, hashlib.sha256).hexdigest()


def is_same_site(scope: Scope) -> bool:
    """Say whether a form was sent from a page of this office, as far as the browser tells."""
    fetched = header_of(scope, b"sec-fetch-site")
    if fetched is not None:
        return fetched in (b"same-origin", b"none")
    # Browsers too old to say so say at least where a form comes from; `null` is somewhere unknown.
    origin = header_of(scope, b"origin")
    host = header_of(scope, b"host") or b""
    return origin is None or origin.partition(b"://")[2] == host


def _sealed_in(scope: Scope) -> str:
    shown = header_of(scope, b"cookie")
    if shown is None or len(shown) > 4 * _LONGEST:
        return ""
    try:
        found = SimpleCookie(shown.decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return found.value[:_LONGEST] if found is not None else ""


def _cookie(value: str, seconds: int, *, secure: bool) -> str:
    safe = "; Secure" if secure else ""
    return f"{COOKIE}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Strict{safe}"
