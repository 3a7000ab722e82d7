"""An office that runs until it is told to stop: the house is opened, served, and closed with nothing half done."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import structlog

from posthouse.errors import PosthouseError
from posthouse.office.calls import AskStatus, Reload
from posthouse.office.house import House
from posthouse.server.assemble import open_house, open_mail_doors, reach_house, socket_of
from posthouse.server.certificate import mail_context, renew_mail
from posthouse.server.log import write_log
from posthouse.server.notify import reloading, tell_systemd
from posthouse.server.reload import Reloader
from posthouse.server.settings import Settings, terms_of
from posthouse.server.web import Mount, over_http
from posthouse.store.ports import StoreLocked
from posthouse.web.asgi import Asgi

# A command that opened the office directly holds it for a moment only: worth waiting for.
_LOOK_FOR: Final = 1.0
_LOOK_EVERY: Final = 0.05
# What a batch makes dies without the collector. By its usual threshold, of 700, it looks about once a batch of 64 and
# finds little: without that a message with rules took about one twentieth less processor time.
_COLLECT_AFTER: Final = (20_000, 20, 50)

_log = structlog.get_logger("posthouse.server")


class AlreadyRunning(PosthouseError):
    """Another process has this office open; commands and programs may use it as it is."""

    code: ClassVar[str] = "office.running"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The office is in use."


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Where an office that has just opened can be found."""

    store: str
    socket: str
    process: int
    http: list[str]
    """The addresses it answers at over HTTP."""
    mail: dict[str, list[str]] = {}
    """Where its doors for mail listen, by their names."""


async def serve(
    settings: Settings, live: Callable[[Ready], Coroutine[Any, Any, None]], *, read: Callable[[], Settings]
) -> None:
    """Run the office until SIGTERM or SIGINT; `live` runs beside it from when it is open to just before it closes.

    SIGHUP, or who asks for it, has the settings read again by `read`.
    """
    write_log(settings.log)
    path = Path(settings.store.path)
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_signals(stop))
        mounts: dict[str, Mount] = {}
        house = await stack.enter_async_context(opened(settings, mounts=mounts))
        site = await stack.enter_async_context(over_http(house, settings.http, mounts=mounts))
        mail = mail_context(house.terms.mail)
        reloader = Reloader(settings, site, read=read, renew=lambda: renew_mail(mail, house.terms.mail))
        house.reload = reloader.reload
        await stack.enter_async_context(_hangups(reloader))
        doors = await stack.enter_async_context(open_mail_doors(house, mail))
        _spare_the_collector()
        ready = Ready(
            store=str(path), socket=str(socket_of(path)), process=os.getpid(), http=list(site.addresses),
            mail=dict(doors),
        )  # fmt: skip
        _log.info("office.ready", office=str(house.terms.name), **msgspec.structs.asdict(ready))
        tell_systemd(os.environ, "READY=1", f"STATUS={' '.join(ready.http) or 'open'}")
        # Offices elsewhere that waited for this one need wait no longer.
        await stack.enter_async_context(_beside(house.announce()))
        await _until(stop, live(ready))
        _log.info("office.stopping")
        tell_systemd(os.environ, "STOPPING=1")
    _log.info("office.stopped")


def _spare_the_collector() -> None:
    """Have the garbage collector leave alone what lives as long as the office, and look at the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Have work done meanwhile, as far as it comes."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _until(stop: asyncio.Event, living: Coroutine[Any, Any, None]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(living)
            await stop.wait()
            task.cancel()
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None


@asynccontextmanager
async def opened(settings: Settings, *, mounts: MutableMapping[str, Mount]) -> AsyncIterator[House]:
    """Open the house and learn what it answers over HTTP; `AlreadyRunning` says which process has it."""
    path = Path(settings.store.path)
    loop = asyncio.get_running_loop()
    last = loop.time() + _LOOK_FOR

    def mount(prefix: str, app: Asgi) -> None:
        # Other offices sign what they say, and have limits of their own.
        mounts[prefix] = Mount(app, limited=False)

    async with AsyncExitStack() as stack:
        house: House | None = None
        while house is None:
            try:
                house = await stack.enter_async_context(open_house(path, terms_of(settings), mount=mount))
            except StoreLocked:
                if loop.time() > last:
                    raise await _already_running(path) from None
                # The kernel tells nobody that a file lock was let go.
                await asyncio.sleep(_LOOK_EVERY)
        yield house


async def _already_running(path: Path) -> AlreadyRunning:
    hint = "send, read and all other commands use it as it is"
    try:
        link = await reach_house(path)
        try:
            status = await link.answer(AskStatus())
        finally:
            await link.close()
    except PosthouseError:
        return AlreadyRunning("another process has the office open but does not answer yet", where=str(path))
    return AlreadyRunning(f"the office is already running, as process {status.process}", where=str(path), hint=hint)


@asynccontextmanager
async def _hangups(reloader: Reloader) -> AsyncIterator[None]:
    """Let SIGHUP have the settings read again; its answer stands in the log."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        tell_systemd(os.environ, reloading(loop.time()))
        await reloader.reload(Reload())
        tell_systemd(os.environ, "READY=1")

    def hear() -> None:
        task = loop.create_task(reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGHUP, hear)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        await asyncio.gather(*tasks)


@asynccontextmanager
async def _signals(stop: asyncio.Event) -> AsyncIterator[None]:
    """Let SIGTERM and SIGINT set the event; a second one ends the process at once, which loses nothing either."""
    loop = asyncio.get_running_loop()

    def hear(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, hear, number)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
