"""`posthouse policy`: what the office has decided about gating once for all."""

from __future__ import annotations

from typing import Any

import click

from posthouse.cli.book import (
    activate_edition,
    diff_editions,
    list_editions,
    number,
    numbers,
    read_text,
    roll_back,
    show_edition,
    some_number,
    write_edition,
    writing,
)
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.gate.policy import BOOK


@click.group()
def policy() -> None:
    """Show what the office has decided about gating once for all, and change it.

    How long a decision can be undone, where a second person has to agree, what happens on expiry: what is not written
    in the policy goes by its defaults.
    """


@policy.command()
@some_number
@at_any_desk
def show(desk: Desk, number: int | None) -> None:
    """Show an edition of the policy; the one in force where no number is given."""
    show_edition(desk, BOOK, number=number)


@policy.command("list")
@at_any_desk
def list_(desk: Desk) -> None:
    """List the editions of the policy, newest first."""
    list_editions(desk, BOOK)


@policy.command()
@click.argument("file", metavar="FILE")
@writing
@at_any_desk
# `Any`: the options of all commands that write an edition.
def write(desk: Desk, file: str, **given: Any) -> int:
    """Check a file with a policy and keep it as the next edition; it is in force when it is activated."""
    return write_edition(desk, BOOK, text=read_text(file), **given)


@policy.command()
@number
@at_any_desk
def activate(desk: Desk, number: int) -> None:
    """Put an edition of the policy in force; 0 goes back to the defaults."""
    activate_edition(desk, BOOK, number=number)


@policy.command()
@numbers
@at_any_desk
def diff(desk: Desk, numbers: tuple[int, ...]) -> int:
    """Say how two editions of the policy differ: those named, or the one in force and the newest."""
    return diff_editions(desk, BOOK, numbers=numbers)


@policy.command()
@at_any_desk
def rollback(desk: Desk) -> None:
    """Put the policy in force again that was in force before."""
    roll_back(desk, BOOK)
