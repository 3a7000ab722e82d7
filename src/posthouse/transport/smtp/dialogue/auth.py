"""Signing in (RFC 4954): the exchanges of PLAIN, LOGIN and SCRAM-SHA-256 as steps from a response to what follows."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from posthouse.transport.smtp.dialogue.event import Check, FindKeys
from posthouse.transport.smtp.dialogue.reply import Reply
from posthouse.transport.smtp.dialogue.scram import Exchange, Keys, prepare

SIGNED_IN: Final = Reply(235, "2.7.0", "Signed in")
WRONG: Final = Reply(535, "5.7.8", "User name or password is wrong")
MALFORMED: Final = Reply(501, "5.5.2", "Malformed response")
CANCELLED: Final = Reply(501, "5.7.0", "Sign-in given up")
UNAVAILABLE: Final = Reply(454, "4.7.0", "Signing in does not work now; try again later")


class Challenge(NamedTuple):
    """Send this and wait for a response."""

    data: bytes

    def encode(self) -> bytes:
        return b"334 " + base64.b64encode(self.data) + b"\r\n"


class SignedIn(NamedTuple):
    """Nothing is left to check."""

    user: str


Step = Challenge | Check | FindKeys | SignedIn | Reply


class Mechanism(Protocol):
    """One way to sign in."""

    def respond(self, response: bytes | None) -> Step:
        """Take a response, decoded; none where the client gave none with AUTH."""
        ...


def _decode(text: bytes) -> bytes | None:
    """Give the octets of a response; none where it is no base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


class Plain:
    """RFC 4616."""

    def respond(self, response: bytes | None) -> Step:
        if response is None:
            return Challenge(b"")
        try:
            acting, user, password = response.decode().split("\0")
        except ValueError:
            return MALFORMED
        if acting not in ("", user):
            return WRONG
        return _check(user, password)


class Login:
    """What nobody ever wrote down, and many programs still know alone."""

    def __init__(self) -> None:
        self._user: str | None = None

    def respond(self, response: bytes | None) -> Step:
        if response is None:
            return Challenge(b"Username:")
        try:
            text = response.decode()
        except ValueError:
            return MALFORMED
        if self._user is None:
            self._user = text
            return Challenge(b"Password:")
        return _check(self._user, text)


class Scram:
    """RFC 7677."""

    def __init__(self) -> None:
        self._exchange: Exchange | None = None
        self._is_proven = False

    def respond(self, response: bytes | None) -> Step:
        if response is None:
            return Challenge(b"")
        if self._exchange is None:
            try:
                self._exchange = Exchange(response)
            except ValueError:
                return MALFORMED
            return FindKeys(self._exchange.user)
        if self._is_proven:
            return SignedIn(self._exchange.user) if response == b"" else MALFORMED
        signature = self._exchange.verify(response)
        if signature is None:
            return WRONG
        self._is_proven = True
        return Challenge(signature)

    def found(self, keys: Keys, nonce: str) -> Step:
        """Hear the keys that `FindKeys` asked for."""
        assert self._exchange is not None
        return Challenge(self._exchange.challenge(keys, nonce))


def _check(user: str, password: str) -> Step:
    try:
        return Check(prepare(user), prepare(password)) if user and password else WRONG
    except ValueError:
        return WRONG


class SignIn:
    """One AUTH command, from its first response to its end."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._user = ""

    def begin(self, initial: str) -> Step:
        """Take what stood behind the mechanism's name: nothing, `=` for an empty response, or a response."""
        if not initial:
            return self._mechanism.respond(None)
        return self.respond(b"" if initial == "=" else initial.encode())

    def respond(self, line: bytes) -> Step:
        """Take a response as it was sent."""
        if line == b"*":
            return CANCELLED
        response = _decode(line)
        if response is None:
            return MALFORMED
        step = self._mechanism.respond(response)
        if isinstance(step, Check):
            self._user = step.user
        return step

    def checked(self, *, right: bool | None) -> Step:
        """Hear whether the password was right; none where nobody could say."""
        if right is None:
            return UNAVAILABLE
        return SignedIn(self._user) if right else WRONG

    def found(self, keys: Keys | None, nonce: str) -> Step:
        """Hear the keys of the user; none where nobody could look."""
        if keys is None:
            return UNAVAILABLE
        assert isinstance(self._mechanism, Scram)
        return self._mechanism.found(keys, nonce)


def begin(argument: str, *, offered: Sequence[str]) -> tuple[SignIn | None, Step]:
    """Begin what AUTH asks for."""
    name, _, initial = argument.partition(" ")
    if name.upper() not in offered:
        return None, Reply(504, "5.5.4", "Unknown mechanism")
    signing = SignIn(_MECHANISMS[name.upper()]())
    return signing, signing.begin(initial.strip())


_MECHANISMS: Final[dict[str, Callable[[], Mechanism]]] = {"SCRAM-SHA-256": Scram, "PLAIN": Plain, "LOGIN": Login}
