"""The file of accounts: read, read again when it changes, and silent about what stands in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from posthouse.message.maildoor import MailDoor, MailTerms
from posthouse.transport.smtp.accounts import AccountFile, AccountsFault, check_accounts, read_accounts, write_account


async def test_a_password_is_checked_and_a_change_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    path.write_text(f"# bakers\n\n{write_account('ada', 'rye bread')}\n")
    accounts = AccountFile(path)
    assert await accounts.check("ada", "rye bread") is True
    assert await accounts.check("ada", "white bread") is False
    assert await accounts.check("ben", "rye bread") is False
    path.write_text(f"{write_account('ben', 'rolls')}\n")
    os.utime(path, (1, 1))
    assert await accounts.check("ben", "rolls") is True
    assert await accounts.check("ada", "rye bread") is False


async def test_a_file_that_is_gone_is_no_wrong_password(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    path.write_text(f"{write_account('ada', 'rye bread')}\n")
    accounts = AccountFile(path)
    path.unlink()
    assert await accounts.check("ada", "rye bread") is None
    assert await accounts.find("ada") is None


async def test_nobody_has_keys_that_stay_the_same() -> None:
    accounts = AccountFile(None)
    first, second = await accounts.find("nobody"), await accounts.find("nobody")
    assert first is not None
    assert second is not None
    assert first.salt == second.salt
    assert await accounts.check("nobody", "") is False


@pytest.mark.parametrize("line", ["ada:rye bread", "rye bread", "ada:$2y$10$abc", "\x07:x"])
def test_a_wrong_line_is_named_but_not_repeated(line: str) -> None:
    with pytest.raises(AccountsFault) as fault:
        read_accounts(f"# one\n{line}\n", "accounts")
    assert "accounts, line 2" in str(fault.value)
    assert "rye" not in str(fault.value)


@pytest.mark.parametrize("name", ["", "a:b", " ada", "#ada", "a\x07b"])
def test_a_name_must_fit_into_a_line(name: str) -> None:
    with pytest.raises(AccountsFault):
        write_account(name, "rye bread")


def test_a_door_at_which_nobody_could_sign_in_is_refused() -> None:
    door = MailDoor(name="submission", speech="smtp", listen="127.0.0.1:0", tls="required", auth="required")
    with pytest.raises(AccountsFault, match=r"doors\.submission"):
        check_accounts(MailTerms(doors=(door,)))
    check_accounts(MailTerms(doors=(door,), accounts="accounts"))


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(AccountsFault, match="cannot be read"):
        AccountFile(tmp_path / "nowhere")
