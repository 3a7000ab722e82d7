"""The body of a message to send: from the command line, a file or standard input, and what it seems to be."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from posthouse.cli.blocking import apart
from posthouse.cli.progress import Tally
from posthouse.client.draft import Content
from posthouse.message.form.plain import text_of

TEXT: Final = "text/plain; charset=utf-8"
_PIECE: Final = 1_048_576
_WHOLE: Final = 65_536


class Typed(NamedTuple):
    """A body, and its media type where it shows."""

    content: Content
    content_type: str | None = None


def from_argument(text: str) -> Typed:
    """Give what was typed; bytes that are no text stay as they are."""
    raw = os.fsencode(text)
    return Typed(raw, _type_of(raw))


async def from_file(path: Path, tally: Tally) -> Typed:
    """Give a file; its name tells the type, or else its content if it is short."""
    typed = await _from_stream(await apart(lambda: path.open("rb", buffering=0)), tally)
    guessed, packed = mimetypes.guess_type(path.name)
    return typed if guessed is None or packed else Typed(typed.content, guessed)


async def from_input(tally: Tally) -> Typed:
    """Give what comes by standard input."""
    return await _from_stream(standard_input(), tally)


def standard_input() -> IO[bytes]:
    """Give standard input as bytes; an OSError where the shell closed it."""
    return os.fdopen(0, "rb", buffering=0, closefd=False)


async def _from_stream(stream: IO[bytes], tally: Tally) -> Typed:
    start = b""
    while len(start) <= _WHOLE and (piece := await apart(lambda: stream.read(_PIECE))):
        start += piece
    if len(start) <= _WHOLE:
        stream.close()
        return Typed(start, _type_of(start))
    return Typed(_pieces(start, stream, tally=tally))


async def _pieces(start: bytes, stream: IO[bytes], *, tally: Tally) -> AsyncIterator[bytes]:
    with stream:
        piece = start
        while piece:
            yield piece
            tally.add(len(piece))
            piece = await apart(lambda: stream.read(_PIECE))


def _type_of(body: bytes) -> str | None:
    return TEXT if text_of(body) is not None else None
