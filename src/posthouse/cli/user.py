"""`posthouse user`: the accounts of people who sign in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.printer import clean, local_time
from posthouse.cli.seat import who
from posthouse.message.credential import Account
from posthouse.message.form.plain import shown_instant
from posthouse.office.deskcalls import ListAccounts, WriteAccount

_MOST: Final = 1_024


@click.group(cls=Listing)
def user() -> None:
    """Open accounts of people, change them, close them.

    An account is for a person who signs in, a key for a program. In which roles a person reviews, the organisation
    says of the address; what else is permitted stands in the account. A password is asked for, or read from a file.
    """


# `Any`, here and below: a command as click makes it, and the options it was given.
def _shaped(command: Any) -> Any:
    for option in (
        click.option("--address", metavar="ADDRESS", help="Who it is to the organisation: ada@bakery.example."),
        click.option(
            "--may", "scopes", multiple=True, metavar="SCOPE",
            help="What is permitted besides: write rules, edit organisation, audit, administer; may be repeated.",
        ),
        click.option(
            "--password-file", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
            help="Read the password from the first line of this file.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@user.command()
@click.argument("name", metavar="NAME")
@_shaped
@click.option("--no-password", is_flag=True, help="Set none: nobody can sign in until one is set.")
@at_any_desk
def add(desk: Desk, name: str, *, no_password: bool, **given: Any) -> None:
    """Open an account."""
    if any(account.name == name for account in desk.run(_listed(desk, create=True))):
        raise misuse(f"there is an account {name} already: posthouse user change changes it")
    password = None if no_password else _password(given["password_file"])
    scopes = list(given["scopes"])
    _write(desk, WriteAccount(name=name, address=given["address"], scopes=scopes, password=password, by=who()))


@user.command("list")
@at_any_desk
def list_(desk: Desk) -> None:
    """List the accounts, those that were closed included."""
    found = desk.run(_listed(desk))
    if desk.as_json:
        desk.printer.documents(map(document, found))
        return
    desk.printer.table(
        ("name", "address", "may", "since", "state"),
        [
            (one.name, one.address, ", ".join(one.scopes), local_time(one.created), _state(one))
            for one in found
        ],
        empty="no account yet: posthouse user add opens one",
    )  # fmt: skip


@user.command()
@click.argument("name", metavar="NAME")
@_shaped
@click.option("--may-nothing", is_flag=True, help="Permit nothing besides the roles the organisation gives.")
@click.option("--password", "new_password", is_flag=True, help="Ask for a new password.")
@click.option("--reopen", is_flag=True, help="Open it again.")
@at_any_desk
def change(desk: Desk, name: str, *, may_nothing: bool, new_password: bool, reopen: bool, **given: Any) -> None:
    """Change an account: its address, what it permits, its password."""
    _must_be(desk, name)
    if may_nothing and given["scopes"]:
        raise misuse("--may and --may-nothing say two things: give one of them")
    asks = new_password or given["password_file"] is not None
    scopes = [] if may_nothing else list(given["scopes"]) or None
    if not asks and not reopen and scopes is None and given["address"] is None:
        raise misuse("nothing to change: give --address, --may, --may-nothing, --password or --reopen")
    password = _password(given["password_file"]) if asks else None
    _write(
        desk,
        WriteAccount(
            name=name, address=given["address"], scopes=scopes, password=password,
            is_closed=False if reopen else None, by=who(),
        ),
    )  # fmt: skip


@user.command()
@click.argument("name", metavar="NAME")
@at_any_desk
def close(desk: Desk, name: str) -> None:
    """Close an account: nobody signs in with it any more; what was done with it stays on record."""
    _must_be(desk, name)
    _write(desk, WriteAccount(name=name, is_closed=True, by=who()))


async def _listed(desk: Desk, *, create: bool = False) -> list[Account]:
    async with desk.office(create=create) as office:
        return await office.call(ListAccounts())


def _must_be(desk: Desk, name: str) -> None:
    if not any(account.name == name for account in desk.run(_listed(desk))):
        raise misuse(f"there is no account {clean(name)!r}: posthouse user list names them all")


def _write(desk: Desk, call: WriteAccount) -> None:
    async def written() -> Account:
        async with desk.office(create=True) as office:
            return await office.call(call)

    account = desk.run(written())
    if desk.as_json:
        desk.printer.document(document(account))
    else:
        may = ", ".join(account.scopes) or "what the organisation says"
        desk.printer.line(f"{account.name}: {_state(account)}, {account.address or 'no address'}, may {may}")


def _password(file: Path | None) -> str:
    """Get a password without its standing among the arguments, where everybody on the machine could read it."""
    if file is not None:
        with file.open(encoding="utf-8") as stream:
            given: str = stream.readline(_MOST).removesuffix("\n")
    elif sys.stdin.isatty():
        given = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        given = sys.stdin.readline(_MOST).removesuffix("\n")
    if not given:
        raise misuse("expected a password, found nothing")
    return given


def document(account: Account) -> dict[str, Any]:
    """Give an account for programs."""
    return {
        "name": account.name,
        "address": account.address,
        "scopes": list(account.scopes),
        "created": shown_instant(account.created),
        "closed": account.is_closed,
    }


def _state(account: Account) -> str:
    return "closed" if account.is_closed else "open"
