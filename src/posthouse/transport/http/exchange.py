"""The parts by which one office exchanges messages with others: its key, its doors, its entrance."""

from __future__ import annotations

from pathlib import Path

from posthouse.clock import Clock
from posthouse.message.name import OfficeName
from posthouse.message.peer import Exchange
from posthouse.transport.http.arrival import Arrivals
from posthouse.transport.http.caller import Caller
from posthouse.transport.http.door import HttpDoor
from posthouse.transport.http.entrance import Entrance, Inside
from posthouse.transport.http.errand import HttpErrand
from posthouse.transport.http.keyfile import load_or_make, switch
from posthouse.transport.http.trust import OwnKey, Ring


class Post:
    """Everything HTTP between one office and its peers."""

    def __init__(self, clock: Clock, exchange: Exchange, *, name: OfficeName, key: OwnKey, folder: Path) -> None:
        self._clock = clock
        self._exchange = exchange
        self._key = key
        self._folder = folder
        self._ring = Ring(exchange.peers)
        self.caller = Caller(clock, exchange, name=str(name), key=key, ring=self._ring)
        self.asker = Caller(clock, exchange, name=str(name), key=key, ring=self._ring)

    def doors(self) -> list[HttpDoor]:
        """Give the doors to other offices."""
        return [
            HttpDoor("http", self.caller, clock=self._clock, bounds=self._exchange),
            HttpDoor("https", self.caller, clock=self._clock, bounds=self._exchange),
        ]

    def errand(self) -> HttpErrand:
        """Give what asks other offices, for `http:` and for `https:` names."""
        return HttpErrand(self.asker)

    async def entrance(self, inside: Inside) -> Entrance:
        """Give the entrance for other offices; what arrived in part before is taken up."""
        arrivals = Arrivals(
            self._folder, inside.shelf, bounds=self._exchange, body_bytes=inside.body_bytes, clock=self._clock
        )
        await arrivals.open()
        return Entrance(
            self._clock, self._exchange, key=self._key, ring=self._ring, inside=inside, arrivals=arrivals
        )  # fmt: skip


def key_of(exchange: Exchange, store: Path) -> OwnKey:
    """Give the key of the office whose store is this file, made now if there is none."""
    return load_or_make(key_file(exchange, store))


def key_file(exchange: Exchange, store: Path) -> Path:
    """Give where the key of an office lies."""
    return Path(exchange.key) if exchange.key else store.with_name(f"{store.name}.key")


def following_key(exchange: Exchange, store: Path) -> OwnKey:
    """Give the key that is to follow the one in use, made now if there is none."""
    return load_or_make(_following(exchange, store))


def switch_key(exchange: Exchange, store: Path) -> OwnKey | None:
    """Use the key that was made to follow from the next start on; none where none was made."""
    return switch(key_file(exchange, store), _following(exchange, store))


def _following(exchange: Exchange, store: Path) -> Path:
    path = key_file(exchange, store)
    return path.with_name(f"{path.name}.next")
