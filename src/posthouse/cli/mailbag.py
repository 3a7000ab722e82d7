"""`posthouse mailbag`: the folders of a gatekeeper, and what is done to all that lies in one, and when."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import tzinfo
from typing import Any, Final, get_args

import click
import msgspec

from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse
from posthouse.cli.listing import Listing
from posthouse.cli.printer import Cell, clean, plural
from posthouse.cli.seat import CaseMissing, as_role, office_time, role_of, who, zone_of
from posthouse.client import Office
from posthouse.message.case import Function, Mailbag, Rhythm
from posthouse.message.form.plain import shown_instant
from posthouse.office.deskcalls import CountDockets, ListMailbags, RemoveMailbag, RunMailbag, WriteMailbag

_FUNCTIONS: Final = get_args(Function)
_UNITS: Final = {"hour": "hours", "day": "days", "month": "months"}
_PERIODS: Final = ("week", "month", "quarter", "year")
_RHYTHMS: Final = "never, `2 hours`, `10 days`, `1 month on 5`, `on 2026-12-31`, `end of month`"


@click.group(cls=Listing)
def mailbag() -> None:
    """List the mailbags of a gatekeeper, add one, change it, run it.

    What is filed in a mailbag waits there until its function is applied to all of it: released, returned, deleted,
    forwarded, or put on the review list. A mailbag without a function is a plain folder.
    """


def rhythm(text: str) -> Rhythm:
    """Read when a mailbag runs."""
    words = text.strip().lower().split()
    match words:
        case ["never"]:
            return Rhythm()
        case ["on", date]:
            return Rhythm(every="date", date=date)
        case ["end", "of", period] if period in _PERIODS:
            return Rhythm(every="end", period=period)  # type: ignore[arg-type]  # one of its words, as was just asked
        case [count, unit, *rest] if count.isdecimal() and unit.rstrip("s") in _UNITS and len(count) < 6:
            day = 1
            if rest:
                if len(rest) != 2 or rest[0] != "on" or not rest[1].isdecimal() or unit.rstrip("s") != "month":
                    raise click.BadParameter(f"expected one of {_RHYTHMS}, found {text!r}")
                day = int(rest[1])
            every: Any = _UNITS[unit.rstrip("s")]
            return Rhythm(every=every, count=int(count), day=day)
        case _:
            raise click.BadParameter(f"expected one of {_RHYTHMS}, found {text!r}")


def rhythm_words(given: Rhythm) -> str:
    """Write when a mailbag runs, as it is read."""
    match given.every:
        case "none":
            return "never"
        case "date":
            return f"on {given.date}"
        case "end":
            return f"end of {given.period}"
        case "months":
            return f"{plural(given.count, 'month')} on {given.day}"
        case unit:
            return plural(given.count, unit[:-1])


# `Any`, here and below: a command as click makes it, and the options it was given.
def _shaped(command: Any) -> Any:
    for option in (
        click.option("--function", type=click.Choice(_FUNCTIONS), help="What is done to all that lies in it."),
        click.option("--every", "rhythm", metavar="WHEN", help=f"When: {_RHYTHMS}."),
        click.option("--to", metavar="ROLE|ADDRESS", help="Whom `forward` goes to."),
        click.option("--saying", help="What `return` or `forward` says."),
        click.option("--yes", is_flag=True, help="Mean it, where the change makes it run at once."),
    ):
        command = option(command)
    return command


@mailbag.command("list")
@as_role
@at_any_desk
def list_(desk: Desk, role: str | None) -> None:
    """List mailbags with what lies in them and when they run; of one role with --as, else of all that are yours."""
    bags, counts, zone = desk.run(_list(desk, role))
    if desk.as_json:
        desk.printer.documents(document(bag) | {"messages": counts.get((bag.gatekeeper, bag.id), 0)} for bag in bags)
        return
    desk.printer.table(
        ("gatekeeper", "mailbag", "function", "every", "messages", "last run", "next run"),
        [_row(bag, counts, zone) for bag in bags],
        empty="no mailbag yet: posthouse mailbag add makes one",
    )


async def _list(desk: Desk, role: str | None) -> tuple[list[Mailbag], dict[tuple[str, str], int], tzinfo]:
    async with desk.office() as office:
        bags = await office.call(ListMailbags(gatekeeper=role))
        found = await office.call(CountDockets(gatekeeper=role))
        return bags, {(one.gatekeeper, one.folder): one.count for one in found}, await zone_of(office)


def _row(bag: Mailbag, counts: dict[tuple[str, str], int], zone: tzinfo) -> tuple[Cell, ...]:
    function = f"{bag.function} to {bag.to}" if bag.to else bag.function
    return (
        bag.gatekeeper, bag.name, function, rhythm_words(bag.rhythm), counts.get((bag.gatekeeper, bag.id), 0),
        office_time(bag.last_run, zone), office_time(bag.next_run, zone),
    )  # fmt: skip


def document(bag: Mailbag) -> dict[str, Any]:
    """Give a mailbag for programs."""
    return {
        "id": bag.id,
        "gatekeeper": bag.gatekeeper,
        "name": bag.name,
        "function": bag.function,
        "to": bag.to,
        "saying": bag.saying,
        "rhythm": msgspec.structs.asdict(bag.rhythm),
        "last_run": shown_instant(bag.last_run),
        "next_run": shown_instant(bag.next_run),
        "version": bag.version,
    }


@mailbag.command()
@click.argument("name", metavar="NAME")
@as_role
@_shaped
@at_any_desk
def add(desk: Desk, name: str, *, role: str | None, **given: Any) -> None:
    """Add a mailbag."""

    def made(role: str, _known: list[Mailbag]) -> Mailbag:
        return Mailbag(
            id="",
            gatekeeper=role,
            name=name,
            function=given["function"] or "none",
            to=given["to"] or "",
            saying=given["saying"] or "",
            rhythm=rhythm(given["rhythm"] or "never"),
        )

    _write(desk, role, made, is_confirmed=given["yes"])


@mailbag.command()
@click.argument("name", metavar="NAME")
@as_role
@click.option("--rename", metavar="NAME", help="Call it so from now on; rules that name it still mean it.")
@_shaped
@at_any_desk
def change(desk: Desk, name: str, *, role: str | None, rename: str | None, **given: Any) -> None:
    """Change a mailbag; the dates of all that lies in it change with it."""

    def changed(role: str, known: list[Mailbag]) -> Mailbag:
        bag = named(known, name, role=role)
        fields = {field: given[field] for field in ("function", "to", "saying") if given[field] is not None}
        fields |= {"rhythm": rhythm(given["rhythm"])} if given["rhythm"] is not None else {}
        fields |= {"name": rename} if rename is not None else {}
        if not fields:
            raise misuse("nothing to change: give --function, --every, --to, --saying or --rename")
        return msgspec.structs.replace(bag, version=bag.version + 1, **fields)

    _write(desk, role, changed, is_confirmed=given["yes"])


def _write(
    desk: Desk, named_role: str | None, make: Callable[[str, list[Mailbag]], Mailbag], *, is_confirmed: bool
) -> None:
    async def written() -> tuple[Mailbag, tzinfo]:
        async with desk.office() as office:
            role = await role_of(office, named_role)
            known = await office.call(ListMailbags(gatekeeper=role))
            bag = make(role, known)
            call = WriteMailbag(mailbag=bag, by=who(), is_confirmed=is_confirmed)
            return await office.call(call), await zone_of(office)

    bag, zone = desk.run(written())
    if desk.as_json:
        desk.printer.document(document(bag))
    else:
        runs = office_time(bag.next_run, zone)
        desk.printer.line(f"{clean(bag.name)} of {clean(bag.gatekeeper)}: {bag.function}, next run {runs or 'never'}")


@mailbag.command()
@click.argument("name", metavar="NAME")
@as_role
@click.option("--yes", is_flag=True, help="Do it without asking.")
@at_any_desk
def run(desk: Desk, name: str, *, role: str | None, yes: bool) -> None:
    """Apply the function of a mailbag to all that lies in it, now."""

    async def ran(*, confirmed: bool) -> tuple[Mailbag, int]:
        async with desk.office() as office:
            acting, bag = await _found(office, role, name)
            call = RunMailbag(gatekeeper=acting, id=bag.id, by=who(), is_confirmed=confirmed)
            return bag, await office.call(call)

    if not yes:
        bag, count = desk.run(ran(confirmed=False))
        if not sys.stdin.isatty():
            raise misuse(f"{bag.function} would be applied to {plural(count, 'message')}: say --yes if you mean it")
        click.confirm(f"{bag.function}: {plural(count, 'message')}. Go on?", abort=True, err=True)
    bag, count = desk.run(ran(confirmed=True))
    if desk.as_json:
        desk.printer.document({"id": bag.id, "function": bag.function, "count": count})
    else:
        desk.printer.line(f"{clean(bag.name)}: {bag.function} applied to {plural(count, 'message')}")


@mailbag.command()
@click.argument("name", metavar="NAME")
@as_role
@at_any_desk
def remove(desk: Desk, name: str, *, role: str | None) -> None:
    """Remove a mailbag that is empty and that no rule names."""

    async def removed() -> Mailbag:
        async with desk.office() as office:
            acting, bag = await _found(office, role, name)
            await office.call(RemoveMailbag(gatekeeper=acting, id=bag.id, by=who()))
            return bag

    bag = desk.run(removed())
    if desk.as_json:
        desk.printer.document({"id": bag.id, "removed": True})
    else:
        desk.printer.line(f"{clean(bag.name)} of {clean(bag.gatekeeper)}: removed")


async def _found(office: Office, role: str | None, name: str) -> tuple[str, Mailbag]:
    acting = await role_of(office, role)
    return acting, named(await office.call(ListMailbags(gatekeeper=acting)), name, role=acting)


def named(known: list[Mailbag], name: str, *, role: str) -> Mailbag:
    """Give the mailbag of a name, or of an id."""
    for bag in known:
        if name in (bag.name, bag.id):
            return bag
    names = ", ".join(clean(bag.name) for bag in known) or "none"
    raise CaseMissing(f"{role} has no mailbag {name!r}", hint=f"there are: {names}")
