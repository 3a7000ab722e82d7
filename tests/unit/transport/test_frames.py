from __future__ import annotations

import asyncio
import os
import stat
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posthouse.transport.control.socket import FrameServer, SocketRefused, open_link
from posthouse.transport.frames import FrameLink
from posthouse.transport.ports import MAX_FRAME, Disconnected, FrameTooLarge, Unreachable

HEAD = struct.Struct(">IQ")


class Echo:
    """A session that says what it hears; what begins with `wait` it says when it is let."""

    def __init__(self, user: int) -> None:
        self.user = user
        self.go_on = asyncio.Event()
        self.heard: list[bytes] = []
        self.withdrawn: list[bytes] = []
        self.ended: list[bool] = []
        self.end_heard = asyncio.Event()

    async def answer(self, question: bytes) -> bytes:
        self.heard.append(question)
        if question.startswith(b"wait"):
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.withdrawn.append(question)
                raise
        return b"you said " + question

    async def end(self, *, gone: bool) -> None:
        self.ended.append(gone)
        self.end_heard.set()


class Line:
    """A server and everybody who called it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions: list[Echo] = []
        self.server = FrameServer(path, self._begin)

    def _begin(self, user: int) -> Echo:
        session = Echo(user)
        self.sessions.append(session)
        return session

    async def heard(self, count: int) -> Echo:
        while not self.sessions or len(self.sessions[0].heard) < count:  # noqa: ASYNC110 - hearing sets no event
            await asyncio.sleep(0)
        return self.sessions[0]


@asynccontextmanager
async def line(folder: Path) -> AsyncIterator[Line]:
    opened = Line(folder / "office.sock")
    await opened.server.open()
    try:
        yield opened
    finally:
        await opened.server.close()


@asynccontextmanager
async def linked(opened: Line) -> AsyncIterator[FrameLink]:
    link = await open_link(opened.path)
    try:
        yield link
    finally:
        await link.close()


async def test_questions_are_answered(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        assert await link.ask(b"hello") == b"you said hello"
        assert link.is_open
        assert opened.sessions[0].user == os.getuid()


async def test_a_late_answer_holds_up_no_other(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        slow = asyncio.ensure_future(link.ask(b"wait for me"))
        session = await opened.heard(1)
        answers = await asyncio.gather(*(link.ask(b"%d" % number) for number in range(500)))
        assert answers == [b"you said %d" % number for number in range(500)]
        session.go_on.set()
        assert await slow == b"you said wait for me"


async def test_a_withdrawn_question_is_broken_off(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        late: list[bytes] = []
        asking = asyncio.ensure_future(link.ask(b"wait", late=late.append))
        session = await opened.heard(1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await link.ask(b"next") == b"you said next"
        assert session.withdrawn == [b"wait"]
        assert late == []


async def test_the_answer_to_a_question_withdrawn_too_late_is_not_lost(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        late: list[bytes] = []
        asking = asyncio.ensure_future(link.ask(b"quick", late=late.append))
        await opened.heard(1)
        # The answer is on its way by now, but nobody here has read it.
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await link.ask(b"next")
        assert late == [b"you said quick"]


async def test_who_hangs_up_is_heard_of(tmp_path: Path) -> None:
    async with line(tmp_path) as opened:
        async with linked(opened) as link:
            await link.ask(b"hello")
        session = opened.sessions[0]
        await session.end_heard.wait()
        assert session.ended == [True]


async def test_where_the_office_closes_it_is_no_guest_who_has_gone(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        asking = asyncio.ensure_future(link.ask(b"wait"))
        session = await opened.heard(1)
        await opened.server.close()
        assert session.ended == [False]
        assert session.withdrawn == [b"wait"]
        with pytest.raises(Disconnected):
            await asking
        assert not link.is_open
        with pytest.raises(Disconnected):
            await link.ask(b"hello")
    assert not opened.path.exists()


async def test_nobody_answers_where_nobody_is(tmp_path: Path) -> None:
    with pytest.raises(Unreachable):
        await open_link(tmp_path / "office.sock")
    with pytest.raises(Unreachable):
        await open_link(tmp_path / "no folder" / "office.sock")


async def test_a_socket_somebody_left_behind_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "office.sock").write_bytes(b"")
    async with line(tmp_path) as opened, linked(opened) as link:
        assert await link.ask(b"hello")


async def test_the_socket_belongs_to_its_user_alone(tmp_path: Path) -> None:
    async with line(tmp_path) as opened:
        mode = opened.path.stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600


async def test_a_folder_however_deep_can_hold_a_socket(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a rather long name for a folder"] * 20)
    deep.mkdir(parents=True)
    async with line(deep) as opened, linked(opened) as link:
        assert await link.ask(b"hello")


async def test_where_no_socket_can_be_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(SocketRefused, match="control socket"):
        await FrameServer(tmp_path / ("x" * 200), Echo).open()
    (tmp_path / "folder").mkdir()
    with pytest.raises(SocketRefused):
        await FrameServer(tmp_path / "folder", Echo).open()


async def test_a_question_too_large_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        with pytest.raises(FrameTooLarge):
            await link.ask(b"x" * (MAX_FRAME + 1))
        assert await link.ask(b"hello")


async def test_a_large_question_and_answer_pass(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        large = b"x" * 5_000_000
        assert await link.ask(large) == b"you said " + large


async def rudely(opened: Line, sent: bytes) -> bytes:
    """Send bytes and say no more; give what comes back until the other side hangs up or has nothing to say."""
    reader, writer = await asyncio.open_unix_connection(opened.path)
    try:
        writer.write(sent)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: post.example\r\n\r\n",
        HEAD.pack(2**32 - 1, 1),
        HEAD.pack(MAX_FRAME + 1, 1) + b"x",
        HEAD.pack(100, 1) + b"only this",
        HEAD.pack(5, 1)[:7],
        HEAD.pack(0, 77) * 1000,
        HEAD.pack(4, 9) + b"wait" + HEAD.pack(4, 9) + b"same",
    ],
)
async def test_rude_guests_are_hung_up_on_and_others_served(tmp_path: Path, sent: bytes) -> None:
    async with line(tmp_path) as opened:
        assert await rudely(opened, sent) == b""
        async with linked(opened) as link:
            assert await link.ask(b"hello") == b"you said hello"


async def test_thousands_of_questions_at_once_are_all_answered(tmp_path: Path) -> None:
    async with line(tmp_path) as opened, linked(opened) as link:
        answers = await asyncio.gather(*(link.ask(b"%d" % number) for number in range(20_000)))
        assert answers[-1] == b"you said 19999"


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_no_bytes_at_all_stop_the_server(sent: bytes) -> None:
    async def talk() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with line(Path(folder)) as opened:
                await rudely(opened, sent)
                async with linked(opened) as link:
                    assert await link.ask(b"hello") == b"you said hello"

    asyncio.run(talk())
