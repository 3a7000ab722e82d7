"""What a gatekeeper does with what lies before him, and what its sender and an administrator may do about it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import click
import msgspec

from posthouse.cli import exitcode
from posthouse.cli.desk import Desk, at_any_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.gatelist import document, text_in
from posthouse.cli.moment import moment
from posthouse.cli.parameter import duration
from posthouse.cli.printer import clean
from posthouse.cli.seat import as_role, docket_of, find_case, role_of, short, who, zone_of
from posthouse.client import Office
from posthouse.message.case import Command, Docket
from posthouse.message.form.plain import shown_instant
from posthouse.office.deskcalls import (
    Annotate,
    Claim,
    Decide,
    Decided,
    Decision,
    Edit,
    HoldCase,
    Recall,
    SkipStop,
    TellCase,
    Undo,
)

_SECOND: Final = 1_000_000
_LARGEST: Final = 1_048_576

_CODES: Final = {
    "done": exitcode.OK,
    "already": exitcode.FAILURE,
    "stale": exitcode.FAILURE,
    "refused": exitcode.REFUSED,
    "confirm": exitcode.FAILURE,
    "unknown": exitcode.NOTHING,
}
"""How a command ends by what became of a decision."""

ids = click.argument("cases", metavar="ID...", nargs=-1, required=True)
one_id = click.argument("case", metavar="ID")
comment_option = click.option(
    "--comment", default="", help="A note for those who look after the case; nobody else sees it."
)
yes_option = click.option("--yes", is_flag=True, help="Mean it, where the office asks back.")


# `Any`, here and below: the options of a command, as click read them, and the fields of a decision.
def _decide(desk: Desk, cases: tuple[str, ...], role: str | None, command: Command, **fields: Any) -> int:
    """Decide on one docket or many, each for itself."""
    is_confirmed = fields.pop("yes", False)
    decided = desk.run(_decided(desk, cases, role, command=command, fields=fields, is_confirmed=is_confirmed))
    return tell(desk, decided)


async def _decided(
    desk: Desk, cases: tuple[str, ...], named: str | None, *, command: Command, fields: dict[str, Any],
    is_confirmed: bool,
) -> list[Decided]:  # fmt: skip
    async with desk.office() as office:
        role = await role_of(office, named)
        dockets = [await docket_of(office, digits, role=role) for digits in cases]

        async def ask(chosen: list[Docket], *, confirmed: bool) -> list[Decided]:
            decisions = [
                Decision(case=one.case, turn=one.turn, command=command, is_confirmed=confirmed, **fields)
                for one in chosen
            ]
            return await office.call(Decide(decisions=decisions, gatekeeper=role, by=who()))

        answers = await ask(dockets, confirmed=is_confirmed)
        again = [number for number, answer in enumerate(answers) if answer.status == "confirm" and sure(answer)]
        for number, answer in zip(again, await ask([dockets[n] for n in again], confirmed=True), strict=True):
            answers[number] = answer
        return answers


def sure(answer: Decided) -> bool:
    """Ask whoever sits at a terminal whether he means it; nobody else is asked."""
    if not sys.stdin.isatty():
        return False
    return click.confirm(f"{short(answer.case)}: {clean(answer.text)}. Go on?", err=True)


def tell(desk: Desk, decided: list[Decided]) -> int:
    """Say what became of decisions, and end as the worst of them asks for."""
    for one in decided:
        if desk.as_json:
            desk.printer.document(answer_of(one))
        elif one.status == "done":
            desk.printer.line(f"{short(one.case)}: {clean(one.text) or 'done'}{_undoable(one)}")
        else:
            hint = "; say --yes if you mean it" if one.status == "confirm" else ""
            warn(f"{short(one.case)}: {one.status}: {clean(one.text)}{hint}")
    return max((_CODES[one.status] for one in decided), default=exitcode.OK)


def _undoable(one: Decided) -> str:
    if one.undo_until is None:
        return ""
    return f", can be undone with `posthouse gate undo {short(one.case)}`"


def answer_of(one: Decided) -> dict[str, Any]:
    """Give what became of a decision for programs."""
    return {
        "case": str(one.case),
        "turn": one.turn,
        "status": one.status,
        "text": one.text,
        "undo_until": shown_instant(one.undo_until),
        "docket": None if one.docket is None else document(one.docket),
    }


@click.command()
@ids
@as_role
@click.option("--to", "recipients", multiple=True, metavar="ADDRESS", help="Only to this recipient; may be repeated.")
@comment_option
@yes_option
@at_any_desk
def release(desk: Desk, cases: tuple[str, ...], *, role: str | None, **given: Any) -> int:
    """Let messages go on to their recipients, or to the next gatekeeper."""
    return _decide(desk, cases, role, "release", **given)


@click.command("return")
@ids
@as_role
@click.option("--saying", default="", help="What the sender is told; else the reason it was held.")
@click.option("--without-original", is_flag=True, help="Do not send the message back with it.")
@comment_option
@yes_option
@at_any_desk
def return_(desk: Desk, cases: tuple[str, ...], *, role: str | None, without_original: bool, **given: Any) -> int:
    """Send messages back to their senders with an explanation; that is final."""
    return _decide(desk, cases, role, "return", includes_original=not without_original, **given)


@click.command()
@ids
@as_role
@click.option("--to", required=True, metavar="ROLE|ADDRESS", help="Another gatekeeper, or any other person.")
@click.option("--saying", default="", help="What is asked of them; sender and recipients never see it.")
@click.option("--for-good", is_flag=True, help="It need not come back to you afterwards.")
@click.option("--within", type=duration, metavar="DURATION", help="How long they have: 4h, 3d.")
@comment_option
@yes_option
@at_any_desk
def forward(
    desk: Desk, cases: tuple[str, ...], *, role: str | None, for_good: bool, within: float | None, **given: Any
) -> int:
    """Hand messages to another gatekeeper, or to a person for an answer."""
    given |= {"comes_back": not for_good, "within": None if within is None else round(within * _SECOND)}
    return _decide(desk, cases, role, "forward", **given)


@click.command()
@ids
@click.option("--in", "mailbag", required=True, metavar="MAILBAG", help="The mailbag; inbox and review are two more.")
@as_role
@comment_option
@at_any_desk
def file(desk: Desk, cases: tuple[str, ...], *, role: str | None, **given: Any) -> int:
    """Put messages into a mailbag; what is done with all that lies there, and when, the mailbag says."""
    return _decide(desk, cases, role, "file", **given)


@click.command()
@ids
@as_role
@comment_option
@yes_option
@at_any_desk
def delete(desk: Desk, cases: tuple[str, ...], *, role: str | None, **given: Any) -> int:
    """Delete messages; nobody gets them, and that is final."""
    return _decide(desk, cases, role, "delete", **given)


@click.command()
@ids
@as_role
@click.option("--to", multiple=True, required=True, metavar="ADDRESS", help="Who gets a copy; may be repeated.")
@comment_option
@yes_option
@at_any_desk
def copy(desk: Desk, cases: tuple[str, ...], *, role: str | None, to: tuple[str, ...], **given: Any) -> int:
    """Send a copy to somebody else; the messages stay where they are."""
    return _decide(desk, cases, role, "copy", to=", ".join(to), **given)


async def _on_docket(
    desk: Desk, digits: str, named: str | None, call: Callable[[Docket, str], Any]
) -> Decided:  # `Any`: one of the calls that are answered by a `Decided`
    async with desk.office() as office:
        role = await role_of(office, named)
        docket = await docket_of(office, digits, role=role)
        decided: Decided = await office.call(call(docket, role))
        return decided


@click.command()
@one_id
@as_role
@click.option("--let-go", "lets_go", is_flag=True, help="Let it go again.")
@click.option("--take-over", "takes_over", is_flag=True, help="Take it although somebody else has it.")
@at_any_desk
def claim(desk: Desk, case: str, *, role: str | None, **given: bool) -> int:
    """Take a message for yourself for a while, so that nobody else works on it."""

    def call(docket: Docket, role: str) -> Claim:
        return Claim(case=docket.case, turn=docket.turn, gatekeeper=role, by=who(), **given)

    return tell(desk, [desk.run(_on_docket(desk, case, role, call))])


@click.command()
@one_id
@as_role
@at_any_desk
def undo(desk: Desk, case: str, *, role: str | None) -> int:
    """Take back a decision, as long as it was not carried out."""

    def call(docket: Docket, role: str) -> Undo:
        return Undo(case=docket.case, turn=docket.turn, gatekeeper=role, by=who())

    return tell(desk, [desk.run(_on_docket(desk, case, role, call))])


@click.command()
@one_id
@as_role
@click.option("--comment", default="", help="A note for those who look after the case.")
@click.option("--review-on", type=moment, metavar="WHEN", help="The date of automatic review: 2026-12-01, or 3d.")
@click.option("--delete-on", type=moment, metavar="WHEN|none", help="When it is deleted from the inbox, or none.")
@at_any_desk
def note(desk: Desk, case: str, *, role: str | None, comment: str, review_on: str | None, delete_on: str | None) -> int:
    """Add a note to a case, or change its dates."""
    if not comment and review_on is None and delete_on is None:
        raise misuse("there is nothing to note: give --comment, --review-on or --delete-on")
    return tell(desk, [desk.run(_note(desk, case, role, comment=comment, dates=(review_on, delete_on)))])


async def _note(
    desk: Desk, digits: str, named: str | None, *, comment: str, dates: tuple[Any, Any]
) -> Decided:  # `Any`: dates as `moment` read them
    async with desk.office() as office:
        role = await role_of(office, named)
        docket = await docket_of(office, digits, role=role)
        zone = await zone_of(office)
        review_on, delete_on = (None if date is None else date(zone) for date in dates)
        return await office.call(
            Annotate(
                case=docket.case, turn=docket.turn, gatekeeper=role, by=who(), comment=comment, expires=review_on,
                retain=delete_on, drops_retain=dates[1] is not None and delete_on is None,
            )
        )  # fmt: skip


@click.command()
@one_id
@as_role
@click.option(
    "--text-file", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
    help="The new text, instead of asking for it in $EDITOR.",
)  # fmt: skip
@click.option("--subject", help="The new subject.")
@click.option(
    "--without", "without_attachments", multiple=True, type=click.IntRange(0), metavar="NUMBER",
    help="Take out this attachment, counted from 0; may be repeated.",
)  # fmt: skip
@yes_option
@at_any_desk
def edit(desk: Desk, case: str, *, role: str | None, **given: Any) -> int:
    """Change the text of a message that is held; the original is kept.

    The text is opened in $EDITOR, or comes from a file. That it was changed shows, where the policy does not say
    otherwise.
    """
    given["text"] = _read_text(given.pop("text_file"))
    return tell(desk, [desk.run(_edit(desk, case, role, given=given))])


def _read_text(file: Path | None) -> str | None:
    if file is None:
        return None
    if file.stat().st_size > _LARGEST:
        raise misuse(f"expected a text of at most {_LARGEST} bytes: {file}")
    return file.read_text(encoding="utf-8")


async def _edit(desk: Desk, digits: str, named: str | None, *, given: dict[str, Any]) -> Decided:
    async with desk.office() as office:
        role = await role_of(office, named)
        docket = await docket_of(office, digits, role=role)
        text = given.pop("text")
        if text is None:
            text = await _new_text(office, docket, role)
        call = Edit(
            case=docket.case, turn=docket.turn, gatekeeper=role, text=text, by=who(), version=docket.version,
            is_confirmed=given.pop("yes"), **given,
        )  # fmt: skip
        answer = await office.call(call)
        if answer.status == "confirm" and sure(answer):
            answer = await office.call(msgspec.structs.replace(call, is_confirmed=True))
        return answer


async def _new_text(office: Office, docket: Docket, role: str) -> str:
    """Have the text changed in an editor; meanwhile nobody else works on it, and it does not expire."""
    story = await office.call(TellCase(case=docket.case, gatekeeper=role, by=who(), body_limit=_LARGEST))
    assert story is not None
    if story.is_cut:
        raise misuse("the message is too large for an editor: give --text-file")
    old = text_in(story)
    await office.call(Claim(case=docket.case, turn=docket.turn, gatekeeper=role, by=who()))
    new = click.edit(old, extension=".txt")
    if new is None or new == old:
        await office.call(Claim(case=docket.case, turn=docket.turn, gatekeeper=role, by=who(), lets_go=True))
        raise misuse("the text was left as it was, so nothing was changed")
    return new


@click.command()
@one_id
@click.option("--lift", is_flag=True, help="Lift the hold instead.")
@click.option("--reason", default="", help="Why; it stands in the audit.")
@at_any_desk
def hold(desk: Desk, case: str, *, lift: bool, reason: str) -> int:
    """Put a legal hold on a case: nothing of it may be deleted until it is lifted."""

    async def held() -> Decided:
        async with desk.office() as office:
            found = await find_case(office, case)
            return await office.call(HoldCase(case=found.id, by=who(), is_held=not lift, reason=reason))

    return tell(desk, [desk.run(held())])


@click.command()
@click.argument("message", metavar="MESSAGE")
@click.option("--reason", default="", help="Why; those who look after the case see it.")
@at_any_desk
def recall(desk: Desk, message: str, *, reason: str) -> int:
    """Take back a message of your own that is held, as long as nothing final was decided.

    MESSAGE is the id the message got when it was sent.
    """

    async def recalled() -> list[Decided]:
        async with desk.office() as office:
            identity = UUID(message) if len(message) == 36 else (await find_case(office, message)).message
            return await office.call(Recall(message=identity, by=who(), reason=reason))

    return tell(desk, desk.run(recalled()))


@click.command()
@one_id
@click.option("--gatekeeper", required=True, metavar="ROLE", help="The stop that is left out.")
@click.option("--reason", default="", help="Why; it stands in the audit.")
@at_any_desk
def skip(desk: Desk, case: str, *, gatekeeper: str, reason: str) -> int:
    """Have a case go on without one of its gatekeepers; for administrators, and recorded."""

    async def skipped() -> Decided:
        async with desk.office() as office:
            found = await find_case(office, case)
            return await office.call(SkipStop(case=found.id, gatekeeper=gatekeeper, by=who(), reason=reason))

    return tell(desk, [desk.run(skipped())])
