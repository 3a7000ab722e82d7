"""One office speaks to another: a frame is signed and sent, and only an answer the other has signed is believed."""

from __future__ import annotations

import asyncio
import ssl
from typing import ClassVar, Final, NamedTuple, NoReturn
from urllib.parse import quote

import httpx

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.host import bracketed
from posthouse.message.name import OfficeName, parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.transport.http.cargo import Answer, encode, read_answer
from posthouse.transport.http.frame import About, Header, MalformedFrame, payload_of, seal, split
from posthouse.transport.http.trust import OwnKey, Ring

FORM: Final = "application/vnd.posthouse.frame"
_MOST_CONNECTIONS: Final = 100
_LONGEST_PAUSE: Final = 3_600.0


class NotHeard(PosthouseError):
    """The other office did not answer, or not in a way that can be believed; nothing is known about the frame."""

    code: ClassVar[str] = "peer.not-heard"
    permanent: ClassVar[bool] = False
    public: ClassVar[str] = "The other office does not answer."
    pause: float | None = None
    """Seconds after which it wants to be asked again, where it said so."""

    def __init__(
        self, what: str, *, where: str | None = None, pause: float | None = None, hint: str | None = None
    ) -> None:
        self.pause = pause
        super().__init__(what, where=where, hint=hint)


class FrameRefused(NotHeard):
    """The frame was larger than the other office takes at once."""

    code: ClassVar[str] = "peer.frame-refused"
    public: ClassVar[str] = "The frame is too large."


class _Heard(NamedTuple):
    """What another office has answered."""

    answer: Answer
    ahead: float
    """Seconds by which its clock is ahead, the way of the frame included."""


class CertificatesUnusable(PosthouseError):
    """The file of certificates that vouch for another office cannot be used."""

    code: ClassVar[str] = "certificates.unusable"
    public: ClassVar[str] = "The office cannot be reached."


class Caller:
    """Speaks to all peers, over connections that are kept."""

    def __init__(self, clock: Clock, bounds: Exchange, *, name: str, key: OwnKey, ring: Ring) -> None:
        self._clock = clock
        self._bounds = bounds
        self._name = name
        self._key = key
        self._ring = ring
        self._clients: dict[str, httpx.AsyncClient] = {}
        self.transport: httpx.AsyncBaseTransport | None = None
        """What carries requests, where it is not to be the network."""

    @property
    def peers(self) -> tuple[Peer, ...]:
        """All offices that are known."""
        return self._ring.peers

    def route(self, office: str) -> Peer | None:
        """Give the peer that takes messages for an office: itself, or the one its mail goes by way of."""
        peer = self._ring.by_office.get(office)
        while peer is not None and peer.via:
            peer = self._ring.by_name.get(peer.via)
        return peer

    async def greet(self, peer: Peer) -> float:
        """Bring nothing, and give by how many seconds the clock there is ahead of the clock here."""
        try:
            return (await self._ask(peer, encode(()), about="letters", body="")).ahead
        except NotHeard as fault:
            raise NotHeard(fault.what, where=peer.office, hint=fault.hint) from fault

    async def say(self, peer: Peer, payload: bytes, *, about: About, body: str = "") -> Answer:
        """Send a frame and give what the other office answers; raises `NotHeard` where it says nothing credible."""
        return (await self._ask(peer, payload, about=about, body=body)).answer

    async def _ask(self, peer: Peer, payload: bytes, *, about: About, body: str) -> _Heard:
        header = Header(
            about=about, sender=self._name, to=peer.office, key=self._key.public.id,
            id=self._clock.new_id().bytes, instant=self._clock.now(), size=0,
        )  # fmt: skip
        data = seal(header, payload, sign=self._key.sign, pack=self._bounds.compress)
        office = parse_office(peer.office)
        try:
            async with asyncio.timeout(self._bounds.answer_within):
                status, answer, pause = await self._exchange(peer, data, address=_address(office, body), body=body)
        except TimeoutError:
            raise NotHeard(f"no answer within {self._bounds.answer_within:g} s") from None
        except httpx.HTTPError as fault:
            raise NotHeard(_told(fault)) from fault
        except ssl.SSLError as fault:
            raise NotHeard(f"no secure connection: {fault.reason}") from fault
        if status != 200:
            _unsigned(status, pause)
        return self._believed(peer, header, answer=answer)

    async def close(self) -> None:
        """Let go of all connections."""
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()

    async def _exchange(self, peer: Peer, data: bytes, *, address: str, body: str) -> tuple[int, bytes, float | None]:
        method = "PATCH" if body else "POST"
        client = self._client(peer.ca or self._bounds.ca)
        async with client.stream(method, address, content=data, headers={"content-type": FORM}) as response:
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_raw():
                size += len(part)
                if size > self._bounds.frame_bytes:
                    raise NotHeard("the answer is larger than any that is expected")
                parts.append(part)
            return response.status_code, b"".join(parts), _pause(response.headers.get("retry-after", ""))

    def _client(self, ca: str) -> httpx.AsyncClient:
        client = self._clients.get(ca)
        if client is None:
            client = self._clients[ca] = httpx.AsyncClient(
                verify=_certificates(ca),
                transport=self.transport,
                # What the environment says of proxies is meant for browsers.
                trust_env=False,
                timeout=httpx.Timeout(self._bounds.answer_within, connect=self._bounds.connect_seconds),
                limits=httpx.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_CONNECTIONS),
            )
        return client

    def _believed(self, peer: Peer, asked: Header, *, answer: bytes) -> _Heard:
        """Read an answer, once it is certain that the peer has given it to this very frame."""
        try:
            sealed = split(answer)
            header = sealed.header
            sound = header.about == "answer" and header.answers == asked.id
            if not sound or header.to != self._name or self._ring.signer(sealed) is not peer:
                raise NotHeard(
                    "what answers there is not the office that is listed, or its key has changed",
                    hint="compare the key under [peers] with what `posthouse peer key` prints there",
                )
            read = read_answer(payload_of(sealed, limit=self._bounds.frame_bytes))
        except MalformedFrame as fault:
            raise NotHeard(f"the answer cannot be read: {fault}") from fault
        apart = (header.instant - asked.instant) / 1_000_000
        if read.verdict == "clock":
            raise NotHeard(
                f"its clock is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} the clock here, which is more"
                " than it tolerates",
                hint="set the clocks of both machines",
            )
        if read.verdict == "busy":
            raise NotHeard(f"it asks to come back later: {read.reason}", pause=min(read.pause, _LONGEST_PAUSE))
        return _Heard(read, apart)


def _unsigned(status: int, pause: float | None) -> NoReturn:
    """Say what an answer means that nobody has signed: never more than that nothing is known."""
    if status == 413:
        raise FrameRefused("it takes no frame as large as this one")
    if status in {429, 503}:
        raise NotHeard("it asks to come back later", pause=1.0 if pause is None else pause)
    if status == 403:
        raise NotHeard(
            "the office there does not know this one",
            hint="it must list this office's name with the key that `posthouse peer key` prints",
        )
    raise NotHeard(f"what answers there is no office: status {status}")


def _address(office: OfficeName, body: str) -> str:
    place = f"{office.protocol}://{bracketed(office.host)}:{office.port}/offices/{quote(office.office, safe='')}"
    return f"{place}/bodies/{body}" if body else f"{place}/frames"


def _certificates(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca or None)
    except (OSError, ssl.SSLError) as fault:
        raise CertificatesUnusable(
            f"expected a file of certificates in PEM: {fault.strerror or fault}", where=ca
        ) from fault  # fmt: skip


def _pause(text: str) -> float | None:
    return min(float(text), _LONGEST_PAUSE) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _told(fault: httpx.HTTPError) -> str:
    """Say in a few words why there was no answer."""
    if isinstance(fault, httpx.ConnectTimeout):
        return "no connection in time"
    if isinstance(fault, httpx.TimeoutException):
        return "no answer in time"
    why = _cause(fault) or str(fault)
    what = "no connection" if isinstance(fault, httpx.ConnectError) else "the connection was lost"
    return f"{what}: {why}" if why else what


def _cause(fault: BaseException) -> str:
    """Give what the system says, where the fault comes from there."""
    found = ""
    following: BaseException | None = fault
    while following is not None:
        if isinstance(following, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted: {following.verify_message}"
        if isinstance(following, BaseExceptionGroup):
            following = following.exceptions[0]
        if isinstance(following, OSError) and following.strerror:
            found = following.strerror.lower()
        following = following.__cause__ or following.__context__
    return found
