"""The door to webhooks: what happened is posted to an address, signed, in order, and again until somebody takes it.

What is public may be reached by anybody; what is not only where its network is listed, however its name is resolved.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import urlsplit

import httpx

from posthouse.clock import Clock
from posthouse.errors import PosthouseError
from posthouse.message.name import parse_office
from posthouse.message.webhook import PROTOCOL, Webhook, port_of
from posthouse.transport.ports import Outgoing, Result

SHORTEST: Final = 24
"""Bytes of a secret."""

_LONGEST: Final = 4_096
_MARK: Final = "whsec_"
_SECONDS: Final = 15.0
_GONE: Final = 410
_LONGEST_PAUSE: Final = 86_400
# Addresses of the old protocol inside the new one, which lead wherever those lead.
_TRANSLATED: Final = ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Gives the addresses of a host."""


class SecretUnfit(PosthouseError):
    """The file with the secret of a webhook cannot be used."""

    code: ClassVar[str] = "webhook.secret_file-unfit"
    public: ClassVar[str] = "The webhook cannot be used."


class NotMeant(PosthouseError):
    """The address of a webhook leads to a network that is not public and not listed."""

    code: ClassVar[str] = "webhook.not-public"
    public: ClassVar[str] = "The webhook cannot be reached."


def read_secret(path: Path) -> bytes:
    """Read a secret from a file that nobody else can read: `whsec_` and Base64, or any other text."""
    try:
        mode, text = path.stat().st_mode & 0o777, path.read_bytes()[: _LONGEST + 1]
    except OSError as fault:
        raise SecretUnfit(
            f"the secret cannot be read: {(fault.strerror or str(fault)).lower()}", where=str(path)
        ) from None
    if mode & 0o077:
        raise SecretUnfit(
            f"expected a file that only its owner may read, found mode {mode:o}", where=str(path),
            hint=f"chmod 600 {path}",
        )  # fmt: skip
    secret = _secret_in(text.strip())
    if secret is None or len(secret) < SHORTEST:
        raise SecretUnfit(
            f"expected a secret of {SHORTEST} bytes or more", where=str(path),
            hint="openssl rand -base64 32 | sed s/^/whsec_/ makes one",
        )  # fmt: skip
    return secret


def _secret_in(text: bytes) -> bytes | None:
    if len(text) > _LONGEST or not text.startswith(_MARK.encode()):
        return text if len(text) <= _LONGEST else None
    try:
        return base64.b64decode(text[len(_MARK) :], validate=True)
    except (binascii.Error, ValueError):
        return None


def signature(secret: bytes, body: bytes, *, identity: str, seconds: int) -> str:
    """Sign what is posted, together with its id and the time, so that neither can be changed nor sent again later."""
    signed = f"{identity}.{seconds}.".encode() + body
    return f"v1,{base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()}"


class WebhookDoor:
    """See `ports.Door`; a message brought twice bears the same `webhook-id`, by which whoever takes it knows it."""

    protocol = PROTOCOL

    def __init__(self, hooks: Sequence[Webhook], clock: Clock, *, resolve: Resolve | None = None, ca: str = "") -> None:
        self._hooks = {hook.name: hook for hook in hooks}
        self._secrets: Mapping[str, bytes] = {hook.name: read_secret(Path(hook.secret_file)) for hook in hooks}
        self._clock = clock
        self._resolve = resolve or _resolved
        self._ca = ca
        self._client: httpx.AsyncClient | None = None

    async def deliver(self, office: str, batch: Sequence[Outgoing]) -> list[Result]:
        hook = self._hooks.get(parse_office(office).office)
        if hook is None:
            return [Result("refused", "no webhook of this name is listed any more")] * len(batch)
        results: list[Result] = []
        for outgoing in batch:
            result = await self._post(hook, outgoing)
            results.append(result)
            if result.status == "unreachable":
                # In order: what follows waits with it.
                break
        return results + [Result("unreachable", results[-1].reason)] * (len(batch) - len(results))

    async def greet(self) -> None:
        # Nobody there waits for this office.
        return

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _post(self, hook: Webhook, outgoing: Outgoing) -> Result:
        body = outgoing.message.body
        if not isinstance(body, bytes):
            return Result("refused", "an event is never that large")
        try:
            async with asyncio.timeout(_SECONDS):
                address = await self._address(hook)
                return await self._sent(hook, address, identity=str(outgoing.message.id), body=body)
        except TimeoutError:
            return Result("unreachable", f"no answer within {_SECONDS:g} s")
        except NotMeant as fault:
            return Result("unreachable", f"{fault.what} ({fault.hint})")
        except (httpx.HTTPError, OSError) as fault:
            return Result("unreachable", f"nobody answers: {type(fault).__name__}")

    async def _address(self, hook: Webhook) -> str:
        """Give the address to connect to: looked up once, and looked at, so that no name leads elsewhere meanwhile."""
        host = urlsplit(hook.url).hostname or ""
        found = await self._resolve(host, port_of(hook.url))
        for address in found:
            if is_meant(address, hook.inside):
                return address
        shown = ", ".join(found[:3]) or "nowhere"
        raise NotMeant(
            f"{host} leads to {shown}, which is not public", hint="list its network with inside= if it is meant"
        )

    async def _sent(self, hook: Webhook, address: str, *, identity: str, body: bytes) -> Result:
        parts = urlsplit(hook.url)
        seconds = self._clock.now() // 1_000_000
        headers = {
            "host": parts.netloc.rpartition("@")[2],
            "content-type": "application/cloudevents+json",
            "user-agent": "posthouse",
            "webhook-id": identity,
            "webhook-timestamp": str(seconds),
            "webhook-signature": signature(self._secrets[hook.name], body, identity=identity, seconds=seconds),
        }
        there = f"[{address}]" if ":" in address else address
        query = f"?{parts.query}" if parts.query else ""
        url = f"{parts.scheme}://{there}:{port_of(hook.url)}{parts.path or '/'}{query}"
        request = self._open().build_request(
            "POST", url, headers=headers, content=body, extensions={"sni_hostname": parts.hostname or ""}
        )
        response = await self._open().send(request, stream=True)
        # What is said besides the status is nobody's business here, however much it is.
        await response.aclose()
        return _result(response)

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            # What the environment says of proxies is meant for browsers; a redirect would lead to who was not listed.
            self._client = httpx.AsyncClient(
                verify=self._ca or True, trust_env=False, follow_redirects=False, timeout=_SECONDS
            )
        return self._client


def is_meant(address: str, inside: Sequence[str]) -> bool:
    """Say whether an address may be connected to."""
    try:
        ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    networks = [ip_network(one) for one in inside]
    if any(ip.version == network.version and ip in network for network in networks):
        return True
    return ip.is_global and not ip.is_multicast and not (ip.version == 6 and ip in _TRANSLATED)


def _result(response: httpx.Response) -> Result:
    status = response.status_code
    if 200 <= status < 300:
        return Result("delivered")
    if status == _GONE:
        return Result("refused", "the address says 410: it wants to hear nothing any more")
    hint = "; a redirect is not followed: list the address it leads to" if 300 <= status < 400 else ""
    return Result("unreachable", f"the address says {status}{hint}", pause=_pause(response))


def _pause(response: httpx.Response) -> float | None:
    asked = response.headers.get("retry-after", "")
    return float(min(int(asked), _LONGEST_PAUSE)) if re.fullmatch(r"[0-9]{1,9}", asked) else None


async def _resolved(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
