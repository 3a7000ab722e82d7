"""The gate of the demo: the books a company of forty goes by, and the mail of a week that its rules hold."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from email.utils import getaddresses
from importlib import resources
from typing import Any, Final

from posthouse.client import Draft, Office
from posthouse.clock import Clock, SystemClock
from posthouse.message.form.composition import MAIL_TYPE, Attached, Writing, written
from posthouse.office.deskcalls import Activate, ListEditions, WriteEdition

_COMPANY: Final = resources.files("posthouse.cli.company")
_BOOKS: Final = (("organisation", "organisation.toml"), ("policy", "policy.toml"), ("rules", "house.rules"))
_AUTHOR: Final = "the demo"


async def furnish_gate(office: Office, *, domain: str) -> int:
    """Put the books in force and send the letters, in an office that has no books; gives how many letters."""
    if await office.call(ListEditions(book="rules")):
        return 0
    for book, file in _BOOKS:
        text = _COMPANY.joinpath(file).read_text(encoding="utf-8")
        note = "as it comes with Posthouse"
        answer = await office.call(WriteEdition(book=book, text=text, by=_AUTHOR, note=note))
        assert answer.edition is not None, answer.faults
        await office.call(Activate(book=book, number=answer.edition.number, by=_AUTHOR))
    letters = list(_letters(SystemClock(), domain))
    await office.put_many(letters)
    return len(letters)


def _letters(clock: Clock, domain: str) -> Iterator[Draft]:
    read = tomllib.loads(_COMPANY.joinpath("letters.toml").read_text(encoding="utf-8"))
    for letter in read["letter"]:
        body = written(_writing(letter, clock), domain)
        yield Draft(
            to=_names([*letter["to"], *letter.get("cc", [])]),
            sender=_names([letter["from"]])[0],
            body=body, kind="mail", content_type=MAIL_TYPE, ordered=False,
        )  # fmt: skip


# `Any`: a table of TOML that comes with the program.
def _writing(letter: dict[str, Any], clock: Clock) -> Writing:
    files = (Attached(letter["file"], "text/csv", letter["content"].encode()),) if "file" in letter else ()
    return Writing(
        identity=clock.new_id(),
        sender=letter["from"],
        to=tuple(letter["to"]),
        cc=tuple(letter.get("cc", ())),
        subject=letter["subject"],
        text=letter["text"].lstrip("\n"),
        files=files,
        at=clock.now(),
    )


def _names(people: list[str]) -> tuple[str, ...]:
    return tuple(f"smtp:{address}" for _, address in getaddresses(people))
