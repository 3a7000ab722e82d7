"""How often a client may ask: a bucket that fills by itself and is drawn from with each request."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Final

import msgspec

_MOST_CLIENTS: Final = 50_000


class Rate(msgspec.Struct, frozen=True):
    """So many requests a second in the long run, and so many at once after a pause."""

    per_second: float
    burst: float


class Bucket(msgspec.Struct, frozen=True, gc=False):
    """What a client has left, and since when it fills."""

    left: float
    at: float


def draw(bucket: Bucket | None, rate: Rate, *, now: float) -> tuple[Bucket, float]:
    """Give the bucket after a request, and how long the client has to wait; 0 where it may go on."""
    left = rate.burst if bucket is None else min(rate.burst, bucket.left + (now - bucket.at) * rate.per_second)
    if left >= 1:
        return Bucket(left - 1, now), 0.0
    return Bucket(left, now), (1 - left) / rate.per_second


class Buckets:
    """The buckets of all clients seen lately; the one longest unseen is forgotten first, and is full by then."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def draw(self, client: str, rate: Rate, *, now: float) -> float:
        """Take one request of a client; give the seconds it has to wait."""
        bucket, wait = draw(self._buckets.pop(client, None), rate, now=now)
        self._buckets[client] = bucket
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return wait


def client_of(address: str) -> str:
    """Give under what a stranger is counted: an address, or the network of one who has a whole network of them."""
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if isinstance(read, IPv6Address):
        return str(read.ipv4_mapped) if read.ipv4_mapped is not None else f"{IPv6Address(int(read) >> 64 << 64)}/64"
    return str(read)
