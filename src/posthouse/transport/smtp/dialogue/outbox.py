"""What a dialogue says and asks, gathered until its door carries it out."""

from __future__ import annotations

from posthouse.transport.smtp.dialogue.event import Event, Say
from posthouse.transport.smtp.dialogue.reply import Reply


class Outbox:
    """Replies that follow one another leave as one piece (RFC 2920, section 3.2)."""

    def __init__(self) -> None:
        self._said: list[bytes] = []
        self._events: list[Event] = []

    def say(self, reply: Reply) -> None:
        """Answer the client."""
        self._said.append(reply.encode())

    def say_bytes(self, line: bytes) -> None:
        """Send a line that is no reply."""
        self._said.append(line)

    def tell(self, event: Event) -> None:
        """Tell the door something, after everything said before it."""
        self._close_saying()
        self._events.append(event)

    def take(self) -> list[Event]:
        """Give everything since the last time."""
        self._close_saying()
        taken, self._events = self._events, []
        return taken

    def _close_saying(self) -> None:
        if self._said:
            said = self._said
            self._events.append(Say(said[0] if len(said) == 1 else b"".join(said)))
            self._said = []
