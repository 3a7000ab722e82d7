"""The desk every command stands at: its settings, the way to its office, and how its answers are written.

`at_desk` gives a command the options they come from. This is the only place of the command line that starts a loop.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
import msgspec
import uvloop

from posthouse.cli.ending import Terminated, misuse, warn
from posthouse.cli.far import Far
from posthouse.cli.printer import Printer, shown_path
from posthouse.client import Office
from posthouse.errors import PosthouseError
from posthouse.message.name import OfficeName, parse_office
from posthouse.server.log import write_log
from posthouse.server.settings import Settings, terms_of
from posthouse.server.sources import Given, Reading, flag, read_settings

Answer = TypeVar("Answer")


class OfficeMissing(PosthouseError):
    """There is no office at the path of the store."""

    code: ClassVar[str] = "office.missing"
    public: ClassVar[str] = "There is no such office."


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the options every command has were given."""

    store: str | None = None
    config: str | None = None
    sets: tuple[str, ...] = ()
    as_json: bool = False
    far: Far = Far()


class Desk:
    """What a command works with."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self.printer = Printer(as_json=wish.as_json)
        self._told: str | None = None

    @property
    def as_json(self) -> bool:
        """Say whether the answer is for a program."""
        return self._wish.as_json

    @functools.cached_property
    def reading(self) -> Reading:
        """The settings, and where each comes from."""
        flags = [flag(text) for text in self._wish.sets]
        if self._wish.store is not None:
            flags.append(Given(name="store.path", value=self._wish.store, place="--store", source="flag"))
        return read_settings(config=self._wish.config, flags=flags, environment=os.environ)

    def read_again(self) -> Settings:
        """Read the settings from where they came from, as they are there now."""
        return Desk(self._wish).settings

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.reading.settings

    @property
    def path(self) -> Path:
        """The file of the store."""
        return Path(self.settings.store.path)

    @property
    def url(self) -> str | None:
        """Where the office is, if it is elsewhere on the network."""
        return self._wish.far.office

    @property
    def where(self) -> str:
        """Say where the office is."""
        return self.url or shown_path(self.path)

    @property
    def name(self) -> OfficeName:
        """The name of the office: as the settings say, or as one elsewhere says itself once it is reached."""
        return parse_office(self.settings.office.name if self._told is None else self._told)

    def at(self, store: str) -> Desk:
        """Give the same desk at another store, unless one was named."""
        if self.reading.origins["store.path"].source != "default":
            return self
        return Desk(msgspec.structs.replace(self._wish, store=store))

    def asking(self, far: Far) -> Desk:
        """Give the same desk for an office elsewhere, if one is named."""
        return Desk(msgspec.structs.replace(self._wish, far=far))

    @asynccontextmanager
    async def office(self, *, create: bool = False) -> AsyncIterator[Office]:
        """Open the office: elsewhere, through the process that runs it here, or directly."""
        far = self._wish.far.reach(os.environ)
        if far is not None:
            if self._wish.store is not None:
                raise misuse("--store names an office here, --office one elsewhere: give one of them")
            async with far:
                self._told = far.name
                yield far
            return
        if not self.path.exists():
            if not create:
                raise OfficeMissing(
                    "there is no office here", where=shown_path(self.path),
                    hint="name one with --store, or start one with `posthouse serve`",
                )  # fmt: skip
            warn(f"a new office is made at {shown_path(self.path)}")
        # The office of a command that goes at once writes only what somebody must know.
        write_log(msgspec.structs.replace(self.settings.log, level="warning"))
        async with Office.open(self.path, terms=terms_of(self.settings)) as office:
            yield office

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run the work of a command to its end; SIGINT and SIGTERM cancel it, so that it can put things back."""
        terminated = False

        async def watched() -> Answer:
            task = asyncio.current_task()
            assert task is not None

            def terminate() -> None:
                nonlocal terminated
                terminated = True
                task.cancel()

            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
            return await work

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            try:
                return runner.run(watched())
            except asyncio.CancelledError:
                if terminated:
                    raise Terminated from None
                raise

    def serve(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work that sees to the signals by itself."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(work)


# `Any`: the options of a command are its own affair.
def at_desk(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command its desk, and give it the options every command has."""

    @click.option("--store", metavar="FILE", help="The file of the office's store; the setting store.path.")
    @click.option("--config", metavar="FILE", help="The settings file, instead of ./posthouse.toml.")
    @click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A setting; may be given several times.")
    @click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for programs.")
    @functools.wraps(command)
    def call(**given: Any) -> Any:
        wish = Wish(**{name: given.pop(name) for name in Wish.__struct_fields__ if name in given})
        return command(Desk(wish), **given)

    return call


# `Any`: the options of a command are its own affair.
def at_any_desk(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for a command that may as well be meant for an office elsewhere on the network."""

    @click.option("--office", metavar="URL", help="Ask the office at this address instead of the one here.")
    @click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The key for it, in a file that only you may read; else the variable POSTHOUSE_KEY.",
    )
    @click.option("--ca", type=click.Path(path_type=Path), metavar="FILE", help="The authorities that vouch for it.")
    @click.option("--plain", is_flag=True, help="Let the key go over http to another machine.")
    @at_desk
    @functools.wraps(command)
    def call(desk: Desk, **given: Any) -> Any:
        far = Far(**{name: given.pop(name) for name in Far.__struct_fields__})
        return command(desk.asking(far), **given)

    return call
