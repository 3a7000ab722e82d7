"""The ports of the ways between processes: a door to offices elsewhere, and the link of a program to its office."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar, Final, NamedTuple, Protocol, runtime_checkable

from posthouse.errors import PosthouseError
from posthouse.message.answer import Answer, Status
from posthouse.message.envelope import Envelope
from posthouse.message.message import Message

MAX_FRAME: Final = 64 * 1_048_576
"""Bytes of one question or answer between a program and its office."""


class Pieces(Protocol):
    """A large body, as often as it is asked for."""

    def __call__(self, start: int = 0, /) -> AsyncIterator[bytes]:
        """Give the body in pieces, from a byte on."""
        ...


class Outgoing(NamedTuple):
    """One message for one office elsewhere; the envelope names only the recipients there."""

    message: Message
    envelope: Envelope
    pieces: Pieces | None = None
    """Gives a large body; there where the message names its body by a hash."""
    accepted: int = 0
    """When this office took it in, in microseconds since 1970."""


class Result(NamedTuple):
    """What became of one message at a door.

    delivered    the other office has it and answers for it from now on
    unreachable  nobody answered, or they asked to come back later: the same message is brought again, before its lane
    deferred     they want this message later, and others now: it is brought again, and its lane goes on meanwhile
    refused      they will never take it
    """

    status: Status
    reason: str = ""
    pause: float | None = None
    """Seconds after which an office that is there asked to come back, or None where it did not."""
    answers: tuple[Answer, ...] = ()
    """What was said to each recipient of the envelope, where it is known; else the status holds for all of them."""


_WORST_FIRST: Final[tuple[Status, ...]] = ("unreachable", "deferred", "refused", "delivered")
_MOST_SAID: Final = 1_000


def result_of(answers: Sequence[Answer]) -> Result:
    """Give the result of a message by what was said to each recipient; its status is what says most of what is left."""
    status = next(status for status in _WORST_FIRST if any(answer.status == status for answer in answers))
    said = dict.fromkeys(answer.reason for answer in answers if answer.status != "delivered" and answer.reason)
    return Result(status, "; ".join(said)[:_MOST_SAID], answers=tuple(answers))


class Door(Protocol):
    """One way out, for all names of one protocol."""

    @property
    def protocol(self) -> str:
        """The protocol of the names this door serves."""
        ...

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        """Bring messages of one office's lanes, in order, and give each one's result in the same order.

        `office` is the name of the office as names are printed. Called for one walk at a time for a lane. A message
        brought twice must not be kept twice: the same id means the same message; a door to servers that know no such
        id says in its description what it does instead. Where a message is unreachable, so are those behind it in its
        lane. Whatever is raised counts as unreachable for the whole batch.
        """
        ...

    async def greet(self) -> None:
        """Tell the offices that are known that this one is there: who waited for it need wait no longer.

        Called once this one can be reached. Who does not answer is not told; nothing is raised.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; called once, after the last delivery."""
        ...


class Errand(Protocol):
    """One way to ask other offices for what lies in their mailboxes, for all names of one protocol."""

    async def ask(self, office: str, question: bytes) -> bytes:
        """Ask another office, and wait for its answer as long as that takes; many at once.

        `office` is its name as names are printed. `Unreachable` where nobody answers, or where the connection ends
        before the answer came: whether the question was heard is then not known. Who is cancelled withdraws the
        question: what the other office lends all the same goes back there, at the latest when its lease ends.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; called once, after the last question."""
        ...


@runtime_checkable
class PatientDoor(Protocol):
    """What a door has beside the rest whose walks may take longer than the office grants others."""

    @property
    def seconds(self) -> float:
        """How long one walk may take."""
        ...


class Disconnected(PosthouseError):
    """The office went away in the middle of a question; whether it was carried out is not known."""

    code: ClassVar[str] = "office.disconnected"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The connection to the office was lost."


class Unreachable(PosthouseError):
    """No office answers at the socket."""

    code: ClassVar[str] = "office.unreachable"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office does not answer."


class FrameTooLarge(PosthouseError):
    """A question or its answer is larger than the socket carries."""

    code: ClassVar[str] = "frame.too-large"
    public: ClassVar[str] = "The request is too large."


class Link(Protocol):
    """The asking side of one connection to an office."""

    @property
    def is_open(self) -> bool:
        """Say whether the office is still there, as far as is known."""
        ...

    async def ask(self, question: bytes, *, late: Callable[[bytes], None] | None = None) -> bytes:
        """Send a question and wait for its answer, many at once; `Disconnected` where the office goes away.

        Who is cancelled withdraws the question; `late` hears the answer if it was on its way by then.
        """
        ...

    async def close(self) -> None:
        """Hang up."""
        ...


class Session(Protocol):
    """What stands behind one connection, on the answering side."""

    async def answer(self, question: bytes) -> bytes:
        """Answer one question, never with nothing, and never raise for what a stranger may send.

        Called for many at once; cancelled where the question is withdrawn.
        """
        ...

    async def end(self, *, gone: bool) -> None:
        """Hear that the connection ends: the peer has gone, or else the office closes.

        Called once, when no answer is under way any more.
        """
        ...
