"""What is special about the way over the network: lost connections, killed offices, strangers, keys."""

from __future__ import annotations

import asyncio
import itertools
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from websockets.asyncio.client import connect as websocket
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from posthouse.client import Draft, LeaseLost, Office, connect
from posthouse.errors import PosthouseError
from posthouse.office.calls import AskStatus, TakeNext
from posthouse.server.assemble import open_house
from posthouse.transport.ports import Disconnected, Unreachable
from posthouse.transport.websocket.link import KeyRefused, NotAnOffice, NotTrusted
from posthouse.transport.websocket.stream import SUBPROTOCOL
from tests.scenario.office.listener import KEY, listening
from tests.scenario.office.ways import QUICK


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    async with open_house(folder / "office.db", QUICK, socket=False) as house, listening(house) as url:
        yield url


class Server:
    """An office in a process of its own, which can be killed and started again at the same port."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: asyncio.subprocess.Process | None = None
        self.url = ""

    async def start(self) -> None:
        port = self.url.rpartition(":")[2] or "0"
        program = str(Path(__file__).with_name("serving.py"))
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, program, str(self._path), port,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = (await self._process.stdout.readline()).decode().strip()
        assert self.url

    async def kill(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    async def restart_gently(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert await self._process.wait() == 0
        await self.start()


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[Server]:
    started = Server(folder / "office.db")
    await started.start()
    try:
        yield started
    finally:
        await started.kill()


async def test_a_hundred_takers_wait_over_one_connection(tmp_path: Path) -> None:
    async with served(tmp_path) as url, connect(url, key=KEY) as office:
        takers = [asyncio.create_task(office.get(f"box{number}", wait=None)) for number in range(100)]
        while (await office.call(AskStatus())).waiting < 100:
            pass
        for number in range(100):
            await office.put(f"box{number}", str(number))
        assert [message and message.body for message in await asyncio.gather(*takers)] == [
            str(number).encode() for number in range(100)
        ]


async def test_what_a_lost_connection_had_in_hand_goes_back(tmp_path: Path) -> None:
    """A-064"""
    async with served(tmp_path) as url, connect(url, key=KEY) as there:
        async with connect(url, key=KEY) as here:
            await here.put("bob", "1")
            assert await here.take("bob") is not None
            assert await there.get("bob") is None
        got = await there.get("bob", wait=5)
        assert got is not None
        assert got.body == b"1"


async def test_a_taker_goes_on_waiting_while_the_office_is_killed_and_comes_back(tmp_path: Path) -> None:
    async with server(tmp_path) as office, connect(office.url, key=KEY) as here:
        waiting = asyncio.create_task(here.get("bob", wait=None))
        assert await here.get("carol") is None
        await office.restart()
        async with connect(office.url, key=KEY) as there:
            await there.put("bob", "after")
        message = await waiting
        assert message is not None
        assert message.body == b"after"


async def test_a_taker_goes_on_waiting_while_the_office_closes_and_comes_back(tmp_path: Path) -> None:
    async with server(tmp_path) as office, connect(office.url, key=KEY) as here:
        waiting = asyncio.create_task(here.get("bob", wait=None))
        assert await here.get("carol") is None
        await office.restart_gently()
        await here.put("bob", "after")
        message = await waiting
        assert message is not None
        assert message.body == b"after"


async def test_a_wait_for_an_office_that_stays_away_ends_on_time_with_nothing(tmp_path: Path) -> None:
    """A-062"""
    async with server(tmp_path) as office, connect(office.url, key=KEY, timeout=0.2) as here:
        waiting = asyncio.create_task(here.get("bob", wait=0.5))
        assert await here.get("carol") is None
        await office.kill()
        begun = asyncio.get_running_loop().time()
        assert await waiting is None
        assert asyncio.get_running_loop().time() - begun < 5
        with pytest.raises(Unreachable, match="no office answers"):
            await here.put("bob")


@pytest.mark.timeout(120)
async def test_kills_while_messages_are_put_lose_none_and_double_none(tmp_path: Path) -> None:
    """Every put that was answered is there once, in the order of its sender."""
    async with server(tmp_path) as office, connect(office.url, key=KEY) as here:
        done = asyncio.Event()
        put: dict[int, int] = {}

        async def send(sender: int) -> None:
            for number in itertools.count():
                if done.is_set():
                    return
                await here.put("bob", f"{sender} {number}", sender=str(sender))
                put[sender] = number + 1

        async with asyncio.TaskGroup() as group:
            for sender in range(4):
                group.create_task(send(sender))
            for kills in range(5):
                while sum(put.values()) < 40 * (kills + 1):  # noqa: ASYNC110 - putting sets no event
                    await asyncio.sleep(0)
                await office.restart()
            done.set()
        got: list[bytes] = []
        while (message := await here.get("bob")) is not None:
            assert isinstance(message.body, bytes)
            got.append(message.body)
        for sender, count in put.items():
            mine = [body for body in got if body.startswith(b"%d " % sender)]
            assert mine == [b"%d %d" % (sender, number) for number in range(count)]


async def test_a_lease_outlives_the_kill_of_the_office(tmp_path: Path) -> None:
    async with server(tmp_path) as office, connect(office.url, key=KEY) as here:
        await here.put("bob")
        delivery = await here.take("bob")
        assert delivery is not None
        await office.restart()
        assert await here.get("bob") is None
        await here.acknowledge(delivery)
        with pytest.raises(LeaseLost):
            await here.acknowledge(delivery)


async def test_an_office_that_closes_leaves_leases_with_their_takers(tmp_path: Path) -> None:
    async with open_house(tmp_path / "office.db", QUICK, socket=False) as house, AsyncExitStack() as opened:
        async with listening(house) as url:
            office = await opened.enter_async_context(connect(url, key=KEY))
            await office.put("bob")
            delivery = await office.take("bob")
            assert delivery is not None
        async with listening(house, port=int(url.rpartition(":")[2])):
            assert await office.get("bob") is None
            await office.acknowledge(delivery)


async def test_a_closed_way_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        office = connect(url, key=KEY)
        async with office:
            pass
        with pytest.raises(Disconnected, match="closed"):
            await office.get("bob")


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_who_has_no_key_is_told_so_and_the_key_is_not(tmp_path: Path, key: str | None) -> None:
    async with served(tmp_path) as url:
        with pytest.raises(KeyRefused, match="key") as refusal:
            async with connect(url, key=key):
                pass
        assert "wrong" not in str(refusal.value)
        assert refusal.value.__cause__ is None
        assert refusal.value.hint


async def test_an_office_of_another_name_is_not_the_one_that_was_meant(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        async with connect(url, key=KEY, office="local:"):
            pass
        with pytest.raises(NotAnOffice, match="expected the office local:elsewhere"):
            async with connect(url, key=KEY, office="local:elsewhere"):
                pass


async def answering(answer: bytes) -> tuple[asyncio.Server, str]:
    """Listen at a port where something else than an office answers."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", NotAnOffice),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", NotAnOffice),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", NotAnOffice),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Unreachable),
        (b"220 mail.example ESMTP\r\n", NotAnOffice),
        (b"", Unreachable),
    ],
)
async def test_what_is_no_office_is_told_in_one_sentence(answer: bytes, kind: type[PosthouseError]) -> None:
    listener, url = await answering(answer)
    async with listener:
        with pytest.raises(kind) as told:
            async with connect(url, key=KEY):
                pass
        assert KEY not in str(told.value)
        assert told.value.where is not None


async def test_nobody_at_the_port(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        pass
    with pytest.raises(Unreachable, match="no office answers"):
        async with connect(url, key=KEY):
            pass


HEAD = struct.Struct(">IQ")


@pytest.mark.parametrize(
    "sent",
    [
        HEAD.pack(2**31, 1) + b"x",
        HEAD.pack(4, 1)[:5],
        b"\xff" * 1000,
        "text",
        b"",
        HEAD.pack(3, 1) + b"bad" + HEAD.pack(3, 1) + b"bad",
    ],
)
async def test_no_bytes_of_a_stranger_stop_the_office(tmp_path: Path, sent: bytes | str) -> None:
    async with served(tmp_path) as url, connect(url, key=KEY) as office:
        await office.put("bob", "1")
        address = f"{url.replace('http', 'ws')}/link"
        async with websocket(
            address, subprotocols=[Subprotocol(SUBPROTOCOL)], additional_headers={"Authorization": f"Bearer {KEY}"}
        ) as line:
            await line.send(sent)
            await line.send(b"\xff" * 100)
            try:
                async with asyncio.timeout(1):
                    async for _ in line:
                        pass
            except (ConnectionClosed, TimeoutError):
                pass
        message = await office.get("bob")
        assert message is not None


async def test_a_program_that_reads_nothing_holds_up_no_other_and_keeps_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as url, connect(url, key=KEY) as office:
        await office.put_many([Draft(to="bob", body=b"x" * 60_000) for _ in range(200)])
        question = msgspec.msgpack.encode(TakeNext(mailbox="bob", limit=100))
        async with websocket(
            f"{url.replace('http', 'ws')}/link",
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            additional_headers={"Authorization": f"Bearer {KEY}"},
            max_queue=1,
            close_timeout=0.2,
        ) as line:
            for number in range(1, 200):
                await line.send(HEAD.pack(len(question), number) + question)
            while await office.take("bob") is not None:
                pass
            await office.put("carol")
            assert await office.get("carol") is not None
        assert await office.get("bob", wait=5) is not None


async def test_a_stranger_without_the_subprotocol_is_sent_away(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        with pytest.raises(Exception, match="426"):
            async with websocket(f"{url.replace('http', 'ws')}/link"):
                pass


async def test_the_key_says_who_sends(tmp_path: Path) -> None:
    async with served(tmp_path) as url, connect(url, key=KEY) as office, Office.open(tmp_path / "other.db") as other:
        assert await other.get("bob") is None
        await office.put("bob")
        delivery = await office.take("bob")
        assert delivery is not None
        assert delivery.envelope.principal == "key tests"


def certificate(folder: Path) -> Path:
    """Make a certificate for this machine that vouches for itself, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + made.public_bytes(Encoding.PEM))
    return path


async def test_tls_is_trusted_by_the_authority_that_is_named_and_by_no_other(tmp_path: Path) -> None:
    authority = certificate(tmp_path)
    async with (
        open_house(tmp_path / "office.db", QUICK, socket=False) as house,
        listening(house, certificate=authority) as url,
    ):
        async with connect(url, key=KEY, ca=authority) as office:
            await office.put("bob", b"x" * 1_000_000)
            assert await office.get("bob") is not None
        for address, kind, says in (
            (url, NotTrusted, "not trusted"),
            (url.replace("https", "http"), Unreachable, "before the handshake"),
        ):
            with pytest.raises(kind, match=says) as told:
                async with connect(address, key=KEY):
                    pass
            assert KEY not in str(told.value)
    async with served(tmp_path) as plain:
        with pytest.raises(NotAnOffice, match="no TLS"):
            async with connect(plain.replace("http", "https"), key=KEY):
                pass


@pytest.mark.parametrize(
    "answer", [HEAD.pack(2**31, 1), b"\xff" * 100, HEAD.pack(4, 77) + b"what", HEAD.pack(3, 1) + b"bad", b"", "text"]
)
async def test_an_office_that_answers_nonsense_is_left_in_the_end(answer: bytes | str) -> None:
    heard = 0

    async def talk(line: ServerConnection) -> None:
        nonlocal heard
        async for _ in line:
            heard += 1
            await line.send(answer)
            await line.close()

    async with listen(talk, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)]) as server:
        url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        async with connect(url, key=KEY, timeout=0.3) as office:
            with pytest.raises(PosthouseError):
                await office.put("bob")
            if answer[:4] != HEAD.pack(3, 1)[:4]:
                assert await office.get("bob", wait=0.2) is None
        assert 0 < heard < 100, "an office that hangs up at once is not asked without a pause"
