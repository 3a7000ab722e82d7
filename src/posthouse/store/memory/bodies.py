"""Large bodies in memory, by content address."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Final

from posthouse.message.message import Body
from posthouse.store.ports import BodyMissing, BodyTooLarge

_PIECE: Final = 1 << 18


class MemoryBodies:
    """See `ports.Bodies`."""

    def __init__(self) -> None:
        self._bodies: dict[Body, bytes] = {}

    async def save(self, chunks: AsyncIterator[bytes], *, limit: int) -> Body:
        digest = hashlib.sha256()
        kept = bytearray()
        async for chunk in chunks:
            if len(kept) + len(chunk) > limit:
                raise BodyTooLarge(f"expected at most {limit} bytes, found more")
            digest.update(chunk)
            kept += chunk
        body = Body(digest.hexdigest(), len(kept))
        self._bodies.setdefault(body, bytes(kept))
        return body

    async def read(self, body: Body, *, start: int = 0) -> AsyncIterator[bytes]:
        kept = self._bodies.get(body)
        if kept is None:
            raise BodyMissing("there is no such body", where=body.sha256)
        for at in range(start, len(kept), _PIECE):
            yield kept[at : at + _PIECE]

    async def has(self, body: Body) -> bool:
        return body in self._bodies

    async def use(self) -> float | None:
        return None
