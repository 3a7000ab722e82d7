"""A gatekeeper changes the text of a held message: it becomes a letter of its own, and the original is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from posthouse.clock import Clock
from posthouse.gate.opening import content_of
from posthouse.gate.review import Order, told
from posthouse.gate.wrapper import with_review
from posthouse.message import features
from posthouse.message.changes import Post
from posthouse.message.form.mail.splice import Spliced, TextUnchangeable, Wanted, splice
from posthouse.message.journey import pack
from posthouse.message.message import Body, Message
from posthouse.office.desk.commanding import Commands, answer, unknown
from posthouse.office.desk.executor import Executor
from posthouse.office.desk.papers import Deed, Papers, audited, changed, reviewed
from posthouse.office.desk.rewriting import letter_of, rewritten_journey
from posthouse.office.deskcalls import Decided, Edit
from posthouse.store.ports import Bodies

MAX_EDITED: Final = 64 << 20
"""Bytes of a message whose text can be changed: it is held in memory meanwhile."""
_TEXTS: Final = ("text/", "application/json", "application/xml", "application/yaml")


class Editing:
    """Changes texts."""

    def __init__(self, clock: Clock, *, bodies: Bodies, executor: Executor, commands: Commands) -> None:
        self._clock = clock
        self._bodies = bodies
        self._executor = executor
        self._commands = commands

    async def edit(self, call: Edit) -> Decided:
        """Change the text of a held message."""
        found = await self._commands.find(call.case, call.turn, gatekeeper=call.gatekeeper)
        if found is None:
            return unknown(call.case, call.turn)
        docket = found[0]
        now = self._clock.now()
        if not docket.is_open or docket.pending:
            return answer(docket, "already", text=told(docket))
        if docket.claimed_by not in {"", call.by} and (docket.claimed_until or 0) > now:
            return answer(docket, "refused", text=f"{docket.claimed_by} is working on it: it can be read meanwhile")
        if call.version is not None and call.version != docket.version:
            return answer(docket, "stale", text="it has changed: look at it again")
        order = Order(
            id=f"edit {self._clock.new_id()}", command="review", actor="person", person=call.by or call.gatekeeper,
            at=now, before=docket.status, folder_before=docket.folder, comment="the text was changed",
        )  # fmt: skip
        papers = await self._executor.papers(docket, order, setting=await self._executor.setting())
        if papers is None:
            return answer(docket, "refused", text="its message is not here any more")
        return await self._edited(papers, call)

    async def _edited(self, papers: Papers, call: Edit) -> Decided:
        message = papers.message
        if message.size > MAX_EDITED:
            return answer(papers.docket, "refused", text=f"expected at most {MAX_EDITED} bytes, found {message.size}")
        raw = await self._read(message.body)
        try:
            spliced = spliced_of(message, raw, call=call, note=_note(papers))
        except TextUnchangeable as fault:
            return answer(papers.docket, "refused", text=str(fault))
        if spliced.broke_signature and not call.is_confirmed:
            return answer(papers.docket, "confirm", text="it is signed: what is changed bears no signature any more")
        body: bytes | Body = spliced.raw
        if isinstance(message.body, Body):
            body = await self._bodies.save(_piece(spliced.raw), limit=MAX_EDITED * 2)
        outcome = await self._executor.write(rewritten(papers, body, raw=spliced.raw))
        if outcome.status != "done":
            return answer(papers.docket, "stale", text="it has changed: look at it again")
        again = await self._commands.find(call.case, call.turn, gatekeeper=call.gatekeeper)
        return answer(papers.docket if again is None else again[0], "done", text="the text was changed")

    async def _read(self, body: bytes | Body) -> bytes:
        if not isinstance(body, Body):
            return bytes(body)
        return b"".join([bytes(piece) async for piece in self._bodies.read(body)])


def spliced_of(message: Message, raw: bytes, *, call: Edit, note: str) -> Spliced:
    """Give the body of a message with another text; raises TextUnchangeable where that cannot be."""
    if message.content_type.startswith(features.MAIL):
        return splice(raw, Wanted(call.text, note, call.subject, call.without_attachments))
    if not message.content_type.startswith(_TEXTS):
        raise TextUnchangeable(f"expected a text, found {message.content_type}", hint="return it instead")
    # A form that programs read has no room for words that belong to nothing in it.
    text = f"{note}\n\n{call.text}" if note and message.content_type.startswith("text/plain") else call.text
    return Spliced(text.encode(), broke_signature=False)


def rewritten(papers: Papers, body: bytes | Body, *, raw: bytes) -> Deed:
    """Give what is written when a text was changed: the letter, its case, its docket."""
    journey = rewritten_journey(papers, body, raw=raw)
    message = journey.message
    before, after = papers.wrapper.content, content_of(message)
    review = msgspec.structs.replace(reviewed(papers), content_before=before, content_after=after)
    wrapper = msgspec.structs.replace(with_review(papers.wrapper, review), content=after, is_edited=True)
    case = changed(papers.case, wrapper, edited=message.id, luggage=pack(journey))
    mail = journey.luggage.features.mail
    docket = msgspec.structs.replace(
        papers.docket, version=papers.docket.version + 1, size=message.size, status="reviewed",
        subject=papers.docket.subject if mail is None else mail.subject or "",
        attachments=0 if mail is None else len(mail.attachments or ()), last_action="edited",
    )  # fmt: skip
    audit = audited(papers, "case.edited", before=before, after=after, message=str(message.id))
    return Deed(cases=(case,), dockets=(docket,), posts=(Post(letter=letter_of(papers, journey)),), audits=(audit,))


def _note(papers: Papers) -> str:
    """Give the note for who reads the changed text; once is enough."""
    return "" if papers.wrapper.is_edited else papers.setting.policy.edit_note


async def _piece(raw: bytes) -> AsyncIterator[bytes]:
    yield raw
