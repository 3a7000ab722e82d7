"""Scripted dialogues: text files of what a client says and what must be answered, and the two ways to play them.

A script begins with lines `@ name = value` that say how the door is set up. Then follow

    c → EHLO mill.example      what the client sends, with CR LF at its end; lines in a row are sent in one piece;
                               `\\r \\n \\0 \\t \\xff \\\\` stand for bytes, `\\` at the end of a line for no line end
    s ← 250 2.1.0 Sender ok    one line of the answer; `...` stands for anything
    s ← (closed)               the server hangs up
    c ↔ TLS                    the connection is encrypted from here on
    c (silence)                the client says nothing until its time is over
    o ← <from> to,to: content  what the office was given, with the same escapes; in order, checked at the end
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

FOLDER = Path(__file__).parent

_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|[rn0t\\])|\{(\d+)\*(.)\}")
_PLAIN = {b"r": b"\r", b"n": b"\n", b"0": b"\0", b"t": b"\t", b"\\": b"\\"}


class Step(NamedTuple):
    """One thing that happens; `text` is what is sent, expected or given."""

    kind: Literal["send", "expect", "tls", "silence", "given"]
    data: bytes
    line: int


class Script(NamedTuple):
    """One dialogue."""

    name: str
    terms: dict[str, str]
    steps: list[Step]

    @property
    def given(self) -> list[bytes]:
        """What the office must have been given."""
        return [step.data for step in self.steps if step.kind == "given"]


def scripts(folder: str) -> list[Script]:
    """Read all dialogues of a folder."""
    return [read(path) for path in sorted((FOLDER / folder).glob("*.txt"))]


def read(path: Path) -> Script:
    """Read one dialogue."""
    terms: dict[str, str] = {}
    steps: list[Step] = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@ "):
            name, _, value = line[2:].partition("=")
            terms[name.strip()] = value.strip()
            continue
        step = _step(line, number)
        if step.kind == "send" and steps and steps[-1].kind == "send":
            step = Step("send", steps.pop().data + step.data, number)
        steps.append(step)
    return Script(path.stem, terms, steps)


def _step(line: str, number: int) -> Step:
    mark, _, rest = line.partition(" ")
    sign, _, text = rest.partition(" ")
    match mark, sign:
        case "c", "→":
            ends = not text.endswith("\\") or text.endswith("\\\\")
            return Step("send", _bytes(text if ends else text[:-1]) + (b"\r\n" if ends else b""), number)
        case "s", "←":
            return Step("expect", text.encode(), number)
        case "c", "↔":
            return Step("tls", b"", number)
        case "c", "(silence)":
            return Step("silence", b"", number)
        case "o", "←":
            return Step("given", _bytes(text), number)
    raise ValueError(f"line {number}: {line}")


def _bytes(text: str) -> bytes:
    def put(found: re.Match[bytes]) -> bytes:
        if found[2] is not None:
            return found[3] * int(found[2])
        return bytes.fromhex(found[1][1:].decode()) if found[1][:1] == b"x" else _PLAIN[found[1]]

    return _ESCAPE.sub(put, text.encode())


def is_as_expected(found: bytes, expected: bytes) -> bool:
    """Compare an answer with what a script says; `...` stands for anything."""
    pattern = b".*".join(re.escape(part) for part in expected.split(b"..."))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


def told(name: str, recipients: Iterable[str], content: bytes) -> bytes:
    """Write what the office was given as scripts do."""
    return f"<{name}> {','.join(recipient.removeprefix('smtp:') for recipient in recipients)}: ".encode() + content
