"""The ways between offices of one process: `local:name#mailbox` reaches the office of that name on the same street."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from posthouse.errors import PosthouseError
from posthouse.message.name import parse_office
from posthouse.transport.ports import Outgoing, Result, Unreachable

# What an office takes in, and how it answers each message.
Letterbox = Callable[[Sequence[Outgoing]], Awaitable[list[Result]]]
# What an office answers another one, by its name.
Window = Callable[[str, bytes], Awaitable[bytes]]


class NameTaken(PosthouseError):
    """Another office of this process has the same local name; mail for it could go to either."""

    code: ClassVar[str] = "office.name-taken"
    public: ClassVar[str] = "The office cannot be opened under this name."


class Street:
    """The offices of one process, by name."""

    def __init__(self) -> None:
        self._letterboxes: dict[str, Letterbox] = {}
        self._windows: dict[str, Window] = {}

    def move_in(self, office: str, letterbox: Letterbox, *, window: Window | None = None) -> None:
        """Open the letterbox of an office, and its window, where others ask for what lies in its mailboxes."""
        if office in self._letterboxes:
            raise NameTaken(f"another office of this process is called {office}", hint="give one of them another name")
        self._letterboxes[office] = letterbox
        if window is not None:
            self._windows[office] = window

    def move_out(self, office: str) -> None:
        """Close both again."""
        del self._letterboxes[office]
        self._windows.pop(office, None)

    def letterbox(self, office: str) -> Letterbox | None:
        """Give the letterbox of an office, if it is open."""
        return self._letterboxes.get(office)

    def window(self, office: str) -> Window | None:
        """Give the window of an office, if it is open."""
        return self._windows.get(office)


class InProcessDoor:
    """See `ports.Door`."""

    protocol = "local"

    def __init__(self, street: Street) -> None:
        self._street = street

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        letterbox = self._street.letterbox(parse_office(office).office)
        if letterbox is None:
            return [Result("unreachable", f"the office {office} is not open in this process")] * len(batch)
        return await letterbox(batch)

    async def greet(self) -> None:
        # Who shares the process hears of nothing else.
        return

    async def close(self) -> None:
        return


class InProcessErrand:
    """See `ports.Errand`; `name` is the office that asks."""

    def __init__(self, street: Street, name: str) -> None:
        self._street = street
        self._name = name

    async def ask(self, office: str, question: bytes) -> bytes:
        window = self._street.window(parse_office(office).office)
        if window is None:
            raise Unreachable("the office is not open in this process", where=office)
        return await window(self._name, question)

    async def close(self) -> None:
        return
