"""Messages in files, as predicates read them: mails, and JSON documents in any of their forms, one in each line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from posthouse.cli.rulefile import STANDARD_INPUT, shown_name
from posthouse.cli.subject import MAX_MAIL
from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.matching.trial.example import record_of_mail
from posthouse.matching.value.record import Context, Record, make_record
from posthouse.message.envelope import Envelope
from posthouse.message.features import extract
from posthouse.message.form import json, plain
from posthouse.message.form.form import MAX_FORM, MalformedForm
from posthouse.message.message import Message

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Specimen(msgspec.Struct, frozen=True):
    """One message of a file, or what is wrong with it."""

    place: str
    """The file, and the line where it has several messages."""
    record: Record | None = None
    fault: PosthouseError | None = None


def read_specimens(path: Path, clock: Clock) -> Iterator[Specimen]:
    """Read the messages of a file, or of standard input for a path of `-`."""
    is_input = str(path) == STANDARD_INPUT
    name = shown_name(str(path))
    with open(0, "rb", closefd=False) if is_input else path.open("rb") as stream:
        start = _start_of(stream)
        if path.suffix.lower() != ".eml" and start in (b"{", b"["):
            yield from _read_json(stream, name, clock=clock, is_list=start == b"[")
        elif start or path.suffix.lower() == ".eml":
            yield _guard(name, lambda: _read_mail(stream, name, clock))


def _start_of(stream: IO[bytes]) -> bytes:
    """Give the first byte that is no blank, without taking it; what stands before it is passed over."""
    assert isinstance(stream, io.BufferedReader)
    while piece := stream.peek(1):
        begun = piece.lstrip()
        stream.read(len(piece) - len(begun))
        if begun:
            return begun[:1]
    return b""


# --- mails ------------------------------------------------------------------------------------------------------------


def _read_mail(stream: IO[bytes], name: str, clock: Clock) -> Record:
    raw = stream.read(MAX_MAIL + 1)
    if len(raw) > MAX_MAIL:
        raise MalformedForm(f"expected a mail of at most {MAX_MAIL:,} bytes", where=name)
    now = clock.now()
    return msgspec.structs.replace(record_of_mail(raw), created=now, arrived=now, context=Context(now=now))


# --- documents --------------------------------------------------------------------------------------------------------


def _read_json(stream: IO[bytes], name: str, *, clock: Clock, is_list: bool) -> Iterator[Specimen]:
    first = stream.readline(MAX_FORM + 1)
    if is_list or not _is_whole(first):
        yield from _read_together(first + stream.read(max(0, MAX_FORM + 1 - len(first))), name, clock)
        return
    number = 0
    line = first
    while line:
        number += 1
        if line.strip():
            yield _guard(f"{name}:{number}", lambda line=line: _read_document(line, clock))  # type: ignore[misc]  # this line
        while line and not line.endswith(b"\n"):
            # The rest of a line that is too long.
            line = stream.readline(MAX_FORM + 1)
        line = stream.readline(MAX_FORM + 1)


def _read_together(whole: bytes, name: str, clock: Clock) -> Iterator[Specimen]:
    """Read a document that fills several lines, or a list of documents."""
    if not whole.startswith(b"["):
        yield _guard(name, lambda: _read_document(whole, clock))
        return
    try:
        documents = plain.split(whole)
    except PosthouseError as fault:
        yield Specimen(name, fault=fault)
        return
    for number, document in enumerate(documents, start=1):
        yield _guard(f"{name}:{number}", lambda document=document: _read_document(bytes(document), clock))  # type: ignore[misc]  # this one


def _is_whole(line: bytes) -> bool:
    try:
        _members(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _read_document(document: bytes, clock: Clock) -> Record:
    now = clock.now()
    message, envelope = _read_form(document.strip(), clock, now)
    features = extract(message, envelope, accepted=now)
    return make_record(message, envelope, features=features, context=Context(now=now))


def _read_form(document: bytes, clock: Clock, now: int) -> tuple[Message, Envelope]:
    """Read the form in which messages are kept, which has a head, or the one in which people write them."""
    if len(document) <= MAX_FORM and _is_whole(document) and {"head", "head_base64"} & set(_members(document)):
        message, envelope = json.read(document)
        return message, envelope or Envelope(sender=message.sender, recipients=message.recipients)
    return plain.read(document, identity=clock.new_id(), created=now)


def _guard(place: str, read: Callable[[], Record]) -> Specimen:
    try:
        return Specimen(place, record=read())
    except PosthouseError as fault:
        return Specimen(place, fault=fault)
