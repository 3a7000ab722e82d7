"""The keyring: it issues and revokes credentials, and knows whose key somebody shows."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import ClassVar, Final, NamedTuple

import msgspec

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes, Outcome
from posthouse.message.credential import Credential, Issue, Revoke
from posthouse.office.auditing import record
from posthouse.office.calls import CreateCredential, Issued, ListCredentials, RevokeCredential
from posthouse.office.counter import Unavailable
from posthouse.office.mailbox import BadRequest
from posthouse.office.permit import MOST_SCOPES, Permit, parse_scope
from posthouse.office.terms import SECOND
from posthouse.store.ports import Store

MARK: Final = "ph"
"""What every key begins with, so that people and scanners of sources know one when they see it."""

_ID: Final = 10
_KEY: Final = re.compile(rf"{MARK}_([a-z2-7]{{{_ID}}})_[a-z2-7]{{52}}")
_LONGEST_KEY: Final = 80
_LONGEST_NAME: Final = 100
_LONGEST_TERM: Final = 100 * 365 * 86_400.0
_MOST: Final = 10_000
_PAGE: Final = 1_000


class CredentialRefused(PosthouseError):
    """The key that was shown is not known, has expired or was revoked."""

    code: ClassVar[str] = "credential.refused"
    public: ClassVar[str] = "The key is not accepted."


class CredentialUnknown(PosthouseError):
    """No credential of this id still stands."""

    code: ClassVar[str] = "credential.unknown"
    public: ClassVar[str] = "There is no such key."


class _Known(NamedTuple):
    issue: Issue
    permit: Permit


class Keyring:
    """The credentials of one office; all of them are in memory, for every request asks."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._known: dict[str, _Known] = {}

    async def load(self) -> None:
        """Learn what the store has."""
        after = ""
        while page := await self._store.credentials.issued(after=after, limit=_PAGE):
            for issue in page:
                self._learn(issue)
            after = page[-1].credential.id

    def recognise(self, key: str) -> Permit:
        """Give what a key permits; `CredentialRefused` where it is none, or no longer one."""
        found = _KEY.fullmatch(key) if len(key) <= _LONGEST_KEY else None
        known = self._known.get(found[1]) if found is not None else None
        # A key that nobody knows takes as long as one whose end is wrong.
        good = hmac.compare_digest(_digest(key[:_LONGEST_KEY]), known.issue.digest if known is not None else bytes(32))
        if known is None or not good:
            raise CredentialRefused("the key is not known here", hint="posthouse key create makes one")
        self._check(known)
        return known.permit

    def stands(self, permit: Permit) -> bool:
        """Say whether a permit given out earlier still holds; for connections that last."""
        known = self._known.get(permit.credential)
        return known is not None and self._end_of(known) is None

    def permit_of(self, credential: str) -> Permit | None:
        """Give the permit of a credential that still stands, by its id, to who has shown its key before."""
        known = self._known.get(credential)
        return known.permit if known is not None and self._end_of(known) is None else None

    def check(self, permit: Permit) -> None:
        """Raise `CredentialRefused` where a permit given out earlier no longer holds."""
        if not self.stands(permit):
            raise CredentialRefused("the key has expired or was revoked", hint="posthouse key create makes a new one")

    async def create(self, call: CreateCredential) -> Issued:
        """Issue a credential; its key is told here and never again."""
        credential = self._drawn(call)
        key = f"{MARK}_{credential.id}_{_letters(self._clock.secret())}"
        issue = Issue(credential=credential, digest=_digest(key))
        entry = record(
            self._clock, "key.created", actor=call.by, subject=f"key {credential.id}", name=credential.name,
            scopes=list(credential.scopes),
        )  # fmt: skip
        if (await self._commit(Changes(issues=(issue,), audits=(entry,)))).status != "done":
            raise Unavailable("the credential could not be written; try again")
        self._learn(issue)
        return Issued(credential=credential, key=key)

    async def listed(self, call: ListCredentials) -> list[Credential]:
        """List all credentials ever issued."""
        if not 0 < call.limit <= _MOST:
            raise BadRequest(f"expected a limit from 1 to {_MOST}, found {call.limit}")
        issues = await self._store.credentials.issued(after=call.after, limit=call.limit)
        return [issue.credential for issue in issues]

    async def revoke(self, call: RevokeCredential) -> Credential:
        """End a credential for good."""
        known = self._known.get(call.id)
        now = self._clock.now()
        entry = record(self._clock, "key.revoked", actor=call.by, subject=f"key {call.id[:_LONGEST_KEY]}")
        changes = Changes(revokes=(Revoke(id=call.id, at=now),), audits=(entry,))
        outcome = await self._commit(changes) if known is not None else None
        if known is None or outcome is None or outcome.status != "done":
            what = "there is no such credential" if known is None else "the credential was revoked before"
            raise CredentialUnknown(what, where=call.id[:_LONGEST_KEY], hint="posthouse key list names them all")
        ended = msgspec.structs.replace(known.issue.credential, revoked=now)
        self._learn(msgspec.structs.replace(known.issue, credential=ended))
        return ended

    def _drawn(self, call: CreateCredential) -> Credential:
        if not 0 < len(call.name) <= _LONGEST_NAME or not call.name.isprintable():
            raise BadRequest(f"expected a name of 1 to {_LONGEST_NAME} printable characters, found {call.name[:120]!r}")
        if not 0 < len(call.scopes) <= MOST_SCOPES:
            raise BadRequest(f"expected 1 to {MOST_SCOPES} scopes, found {len(call.scopes)}")
        if call.expires_in is not None and not 0 < call.expires_in <= _LONGEST_TERM:
            raise BadRequest(f"expected a credential to stand for up to 100 years, found {call.expires_in:g} seconds")
        if len(self._known) >= _MOST:
            raise BadRequest(f"expected at most {_MOST} credentials in one office")
        now = self._clock.now()
        return Credential(
            id=_letters(self._clock.secret())[:_ID],
            name=call.name,
            scopes=tuple(str(parse_scope(text)) for text in call.scopes),
            created=now,
            expires=None if call.expires_in is None else now + round(call.expires_in * SECOND),
        )

    async def _commit(self, changes: Changes) -> Outcome:
        outcome = (await self._store.commit([changes]))[0]
        if outcome.status == "refused":
            raise Unavailable(outcome.detail)
        return outcome

    def _learn(self, issue: Issue) -> None:
        known = issue.credential
        scopes = tuple(map(parse_scope, known.scopes))
        permit = Permit(principal=f"key {known.id}", credential=known.id, name=known.name, scopes=scopes)
        self._known[known.id] = _Known(issue, permit)

    def _check(self, known: _Known) -> None:
        # Whoever comes here has shown the right key, so the reason tells a stranger nothing.
        end = self._end_of(known)
        if end is not None:
            raise CredentialRefused(f"the key {end}", hint="posthouse key create makes a new one")

    def _end_of(self, known: _Known) -> str | None:
        credential = known.issue.credential
        if credential.revoked is not None:
            return "was revoked"
        if credential.expires is not None and credential.expires <= self._clock.now():
            return "has expired"
        return None


def _letters(secret: bytes) -> str:
    return base64.b32encode(secret).decode().rstrip("=").lower()


def _digest(key: str) -> bytes:
    # One round is enough: a key holds 256 bits of chance, so nobody finds it by trying, however fast the trying is.
    # Slow hashes are for passwords, which people choose; here they would only slow down every request.
    return hashlib.sha256(key.encode()).digest()
