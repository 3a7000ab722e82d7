"""The accounts of people: who may sign in, as whom, and what for; programs show keys instead.

A password is kept as its Argon2 hash alone. It is hashed on a thread, two at a time, for each takes 46 MiB for a while.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.changes import Changes
from posthouse.message.credential import Account
from posthouse.message.name import MalformedName, parse_mailbox
from posthouse.office.auditing import record
from posthouse.office.counter import Unavailable
from posthouse.office.deskcalls import ListAccounts, WriteAccount
from posthouse.office.mailbox import BadRequest
from posthouse.office.permit import MOST_SCOPES, Permit, parse_scope
from posthouse.store.ports import Store

SHORTEST: Final = 10
LONGEST: Final = 200
"""Characters of a password."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")
_MOST: Final = 100_000
_AT_ONCE: Final = 2
_TRIES: Final = 3

# One pass over much memory, on one lane: as hard to try as many passes over less, and soon done for who knows it.
_HASHER: Final = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)
# Of a password nobody knows: whoever asks for a name that is not there waits as long as for one that is.
_NOBODY: Final = "$argon2id$v=19$m=47104,t=1,p=1$cG9zdGhvdXNlIG5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


class AccountRefused(PosthouseError):
    """The name and the password belong to no account that may sign in; which of both is wrong is not told."""

    code: ClassVar[str] = "account.refused"
    public: ClassVar[str] = "The name or the password is wrong."


class PasswordUnfit(PosthouseError):
    """The password is too short, too long, or the name of the account."""

    code: ClassVar[str] = "account.password-unfit"
    public: ClassVar[str] = "The password cannot be used."


Duties = Callable[[str], Awaitable[tuple[str, ...]]]
"""Gives the roles an address holds or deputises by the organisation in force."""


async def no_duties(_address: str) -> tuple[str, ...]:
    """Give the roles of somebody where there is no organisation."""
    return ()


class Accounts:
    """The accounts of one office; all of them are in memory."""

    def __init__(self, clock: Clock, store: Store, *, duties: Duties = no_duties) -> None:
        self._clock = clock
        self._store = store
        self._duties = duties
        self._known: dict[str, Account] = {}
        self._hashing = asyncio.Semaphore(_AT_ONCE)
        self._writing = asyncio.Lock()

    async def load(self) -> None:
        """Learn what the store has."""
        self._known = {account.name: account for account in await self._store.credentials.accounts()}

    async def recognise(self, name: str, password: str) -> Permit:
        """Give what somebody may do who signs in; `AccountRefused` where the name or the password is wrong."""
        account = self._known.get(name.strip().lower()[:LONGEST])
        usable = account is not None and not account.is_closed and bool(account.digest)
        digest = account.digest if account is not None and usable else _NOBODY
        async with self._hashing:
            good = await asyncio.to_thread(_verify, digest, password[: LONGEST + 1])
        permit = await self.permit_of(account.name) if account is not None and usable and good else None
        if permit is None:
            raise AccountRefused("the name or the password is wrong", hint="an administrator can set a new password")
        return permit

    async def permit_of(self, name: str) -> Permit | None:
        """Give what somebody may do who signed in before, as it is now; None where the account is closed."""
        account = self._known.get(name)
        if account is None or account.is_closed:
            return None
        return Permit(
            principal=f"account {account.name}",
            credential=f"account {account.name}",
            name=account.name,
            scopes=tuple(map(parse_scope, account.scopes)),
            address=account.address,
            roles=await self._duties(account.address) if account.address else (),
        )

    async def listed(self, _call: ListAccounts) -> list[Account]:
        """List the accounts by name, without what their passwords are checked by."""
        return [_shown(self._known[name]) for name in sorted(self._known)]

    async def write(self, call: WriteAccount) -> Account:
        """Open an account, or change one."""
        _check(call)
        digest = None if call.password is None else await self._hash(call)
        async with self._writing:
            for _ in range(_TRIES):
                known = self._known.get(call.name)
                if known is None and len(self._known) >= _MOST:
                    raise BadRequest(f"expected at most {_MOST} accounts in one office")
                account = _changed(known, call, digest, now=self._clock.now())
                entry = record(
                    self._clock, _act(known, account), actor=call.by, subject=f"account {account.name}",
                    changed=_differing(known, account), scopes=list(account.scopes), address=account.address,
                )  # fmt: skip
                outcome = (await self._store.commit([Changes(accounts=(account,), audits=(entry,))]))[0]
                if outcome.status == "done":
                    self._known[account.name] = account
                    return _shown(account)
                if outcome.status == "refused":
                    raise Unavailable(outcome.detail)
                await self.load()
        raise Unavailable("the account is being changed by somebody else; try again")

    async def _hash(self, call: WriteAccount) -> str:
        assert call.password is not None
        check_password(call.name, call.password)
        async with self._hashing:
            return await asyncio.to_thread(_HASHER.hash, _plain(call.password))


def check_password(name: str, password: str) -> None:
    """Raise `PasswordUnfit` where a password must not be used."""
    plain = _plain(password)
    if not SHORTEST <= len(plain) <= LONGEST:
        raise PasswordUnfit(f"expected a password of {SHORTEST} to {LONGEST} characters, found {len(plain)}")
    if any(unicodedata.category(sign) == "Cc" for sign in plain):
        raise PasswordUnfit("expected a password without control characters")
    if plain.casefold() == name.casefold():
        raise PasswordUnfit("expected a password that is not the name of the account")


def _plain(password: str) -> str:
    """Give a password as it is, whatever keyboard it was typed on: one sign in two spellings is the same."""
    return unicodedata.normalize("NFC", password)


def _verify(digest: str, password: str) -> bool:
    try:
        return _HASHER.verify(digest, _plain(password))
    except (Argon2Error, InvalidHashError):
        return False


def _check(call: WriteAccount) -> None:
    if not _NAME.fullmatch(call.name):
        raise BadRequest(
            f"expected a name of 1 to 64 lower-case letters, digits and . _ @ + -, found {call.name[:100]!r}",
            hint="the name is what somebody types to sign in, such as `ada`",
        )
    if call.scopes is not None and len(call.scopes) > MOST_SCOPES:
        raise BadRequest(f"expected at most {MOST_SCOPES} scopes, found {len(call.scopes)}", where=call.name)
    if call.address:
        try:
            parse_mailbox(call.address)
        except MalformedName as fault:
            raise BadRequest(f"expected an address: {fault.what}", where=call.name) from None


def _changed(known: Account | None, call: WriteAccount, digest: str | None, *, now: int) -> Account:
    old = known or Account(name=call.name, address="", created=now, version=0)
    return Account(
        name=old.name,
        address=old.address if call.address is None else call.address,
        scopes=old.scopes if call.scopes is None else tuple(str(parse_scope(text)) for text in call.scopes),
        digest=old.digest if digest is None else digest,
        created=old.created,
        is_closed=old.is_closed if call.is_closed is None else call.is_closed,
        version=old.version + 1,
    )


def _act(known: Account | None, account: Account) -> str:
    if known is None:
        return "account.opened"
    return "account.closed" if account.is_closed and not known.is_closed else "account.changed"


def _differing(known: Account | None, account: Account) -> list[str]:
    """Name what is other than before; the audit says that a password was set, and nothing of it."""
    names = {"address": "address", "scopes": "scopes", "digest": "password", "is_closed": "closed"}
    before = known or Account(name=account.name, address="")
    return [said for field, said in names.items() if getattr(account, field) != getattr(before, field)]


def _shown(account: Account) -> Account:
    return msgspec.structs.replace(account, digest="")
