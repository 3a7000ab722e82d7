"""Identities that follow from others: what is made of a message for one purpose has one id, however often it is."""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

_FRACTION: Final = 0xFFF
_CHANCE: Final = (1 << 62) - 1


def derived(message: UUID, said: str) -> UUID:
    """Give the id of what is made of a message under these words."""
    digest = hashlib.blake2b(said.encode(), key=message.bytes, digest_size=10).digest()
    # RFC 9562, section 5.7: the time is that of the message, everything else would be chance.
    fraction, chance = int.from_bytes(digest[:2]) & _FRACTION, int.from_bytes(digest[2:]) & _CHANCE
    return UUID(int=message.int >> 80 << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | chance)
