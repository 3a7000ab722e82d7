"""Those who may sign in, from a file: one line for each, its name, a colon, and the keys of its password.

The file is read again when it changes; a password itself is nowhere kept.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from pathlib import Path
from typing import ClassVar, Final

import structlog

from posthouse.errors import PosthouseError
from posthouse.message.maildoor import MailTerms
from posthouse.transport.smtp.dialogue.scram import ITERATIONS, Keys, is_password, make_keys, prepare, read_keys

_MAX_FILE: Final = 16 * 1_048_576

_log = structlog.get_logger("posthouse.smtp")


class AccountsFault(PosthouseError):
    """The file of accounts cannot be used: its line, what was expected there, and what was found."""

    code: ClassVar[str] = "accounts.fault"
    public: ClassVar[str] = "The office is not set up correctly."


class AccountFile:
    """As `port.Accounts` asks."""

    def __init__(self, path: Path | None) -> None:
        """Read the file, or stand for nobody at all where there is none."""
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._accounts: dict[str, Keys] = {}
        # Somebody who does not exist is refused as slowly, and with the same salt each time, as somebody who does.
        self._secret = os.urandom(32)
        if path is not None:
            self._load(path)

    async def check(self, user: str, password: str) -> bool | None:
        keys = await self.find(user)
        if keys is None:
            return None
        return await asyncio.to_thread(is_password, keys, password)

    async def find(self, user: str) -> Keys | None:
        if self._path is not None:
            try:
                await asyncio.to_thread(self._load, self._path)
            except AccountsFault as fault:
                _log.error("accounts.unreadable", fault=str(fault))
                return None
        return self._accounts.get(user) or self._nobody(user)

    def _nobody(self, user: str) -> Keys:
        salt = hmac.digest(self._secret, user.encode(), "sha256")[:16]
        return Keys(ITERATIONS, salt, os.urandom(32), os.urandom(32))

    def _load(self, path: Path) -> None:
        try:
            status = path.stat()
            stamp = status.st_mtime_ns, status.st_size
            if stamp == self._stamp:
                return
            if status.st_size > _MAX_FILE:
                raise AccountsFault(f"expected at most {_MAX_FILE} bytes, found {status.st_size}", where=str(path))
            text = path.read_text()
        except OSError as fault:
            raise AccountsFault(f"the file cannot be read: {fault.strerror}", where=str(path)) from fault
        except UnicodeDecodeError as fault:
            raise AccountsFault("expected UTF-8", where=str(path)) from fault
        self._accounts = read_accounts(text, str(path))
        self._stamp = stamp


def check_accounts(terms: MailTerms) -> None:
    """Refuse a door at which people are to sign in where nobody can; a front end may vouch for them, too."""
    for door in terms.doors:
        if door.auth != "none" and not terms.accounts and not door.front_ends:
            raise AccountsFault(
                "expected a file of accounts, as people sign in at the door, found none", where=f"doors.{door.name}",
                hint="give mail.accounts",
            )  # fmt: skip


def write_account(name: str, password: str) -> str:
    """Give the line of somebody; `AccountsFault` where the name or the password cannot be one."""
    try:
        prepared = prepare(name)
        if not prepared or ":" in prepared or prepared != prepared.strip() or prepared.startswith("#"):
            raise AccountsFault("expected a name without a colon or spaces around it", where="account")
        return f"{prepared}:{make_keys(password, os.urandom(16))}"
    except ValueError as fault:
        raise AccountsFault(f"expected letters, digits and signs, found {fault}", where="account") from None


def read_accounts(text: str, place: str) -> dict[str, Keys]:
    """Read the lines of accounts."""
    accounts: dict[str, Keys] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, mark, written = line.strip().partition(":")
        keys = read_keys(written)
        where = f"{place}, line {number}"
        if not mark or keys is None:
            # What stands there instead may be a password: it is not repeated.
            raise AccountsFault(
                "expected a name, a colon and keys that begin with SCRAM-SHA-256$", where=where,
                hint="`posthouse account NAME` prints such a line",
            )  # fmt: skip
        try:
            accounts[prepare(name)] = keys
        except ValueError:
            raise AccountsFault("expected a name without control characters", where=where) from None
    return accounts
