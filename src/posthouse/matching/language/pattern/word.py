"""What the words of patterns look like, their fields and limits; reader and printer share them."""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

import msgspec

from posthouse.matching.language.pattern.pattern import Class, Disposition, Mode, Role, State
from posthouse.matching.language.reader import Lexicon

MAX_LENGTH: Final = 250_000
"""Characters of one text."""
MAX_PATTERNS: Final = 1_000
MAX_VALUES: Final = 1_000
"""Values of one field."""
MAX_ARGUMENTS: Final = 64
MAX_TEXT: Final = 1_000
"""Characters of one value."""
MAX_PRIORITY: Final = 1_000

LEXICON: Final = Lexicon(
    (
        ("text", r"""(?s:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""),
        ("real", r"-?\d+\.\d+(?:[eE][+-]?\d+)?(?![\w.])"),
        ("whole", r"-?\d+(?![\w.])"),
        ("odd", r"-?\d[\w.]*"),
        ("word", r"[^\W\d]\w*(?:-\w+)*"),
        ("sign", r"[,=()]"),
    )
)

ROLES: Final[tuple[Role, ...]] = get_args(Role)
CLASSES: Final[tuple[Class, ...]] = get_args(Class)
STATES: Final[tuple[State, ...]] = get_args(State)
DISPOSITIONS: Final[tuple[Disposition, ...]] = get_args(Disposition)
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
ANY: Final = "any"
"""The mode of an argument that suits every mode."""
HEX: Final = "hex"

Kind = Literal["texts", "words", "scopes", "arguments", "contexts", "priority"]


class Clause(msgspec.Struct, frozen=True):
    """One field as it is written."""

    words: tuple[str, ...]
    field: str
    kind: Kind
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words that begin it."""
        return " ".join(self.words)


CLAUSES: Final = (
    Clause(("operation",), "operations", "texts"),
    Clause(("state",), "states", "words", STATES),
    Clause(("scope",), "scopes", "scopes"),
    Clause(("disposition",), "dispositions", "words", DISPOSITIONS),
    Clause(("sender",), "senders", "texts"),
    Clause(("sender", "type"), "sender_types", "texts"),
    Clause(("handler",), "handlers", "texts"),
    Clause(("handler", "type"), "handler_types", "texts"),
    Clause(("arguments",), "arguments", "arguments"),
    Clause(("context",), "contexts", "contexts"),
    Clause(("priority",), "priority", "priority"),
)
"""In the order in which they are printed."""
NAMES: Final = tuple(clause.name for clause in CLAUSES)
STARTS: Final = frozenset({*ROLES, *(clause.words[0] for clause in CLAUSES)})
PLAIN_WORD: Final = re.compile(r"[^\W\d]\w*(?:-\w+)*")
MEANT: Final = {
    "op": "operation", "operations": "operation", "ops": "operation", "states": "state", "scopes": "scope",
    "argument": "arguments", "args": "arguments", "contexts": "context", "from": "sender", "ptype": "sender type",
    "class": "request or notice", "requests": "request", "notices": "notice", "to": "handler",
}  # fmt: skip
"""What people write, and what it is called here."""
