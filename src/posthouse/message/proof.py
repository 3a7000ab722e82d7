"""Whether an audit is whole: what was changed, removed, reordered or cut off, and the first record of which that holds.

Everything here works on what a stranger has as well: the records with their chain, the seals, the office's public key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from posthouse.message.audit import START, Seal

Ill = Literal["changed", "removed", "reordered", "payload", "seal", "cut off"]

# The commitment ends a record, as 64 digits before a quote and a bracket.
_COMMITMENT: Final = slice(-66, -2)

IsSigned = Callable[[Seal], bool]
"""Says of a seal whether it is signed with the key it names."""


class Row(NamedTuple):
    """A record as it lies in a store or an export."""

    number: int
    record: bytes
    chain: bytes
    salt: bytes | None
    payload: bytes | None


class Link(NamedTuple):
    """Where the chain stands after a record."""

    number: int
    chain: bytes


BEGINNING: Final = Link(0, START)


class Flaw(NamedTuple):
    """What is wrong, at the first record of which it can be said."""

    number: int
    ill: Ill
    text: str


def prove(rows: Iterable[tuple[int, bytes, bytes, bytes | None, bytes | None]], behind: Link) -> Link | Flaw:
    """Follow the chain through records, in the fields of `Row`; give where it ends, or the first flaw."""
    # This loop is the price of an audit: it does nothing that can be done once, and names what is wrong only then.
    number, chain = behind
    for place, record, link, salt, payload in rows:
        number += 1
        chain = sha256(chain + record).digest()
        # That the record says its own number need not be looked at: the chain stands for what it says.
        if chain != link or place != number:
            return _flaw(number, place, record=record)
        if payload is not None and record[_COMMITMENT] != sha256((salt or b"") + payload).hexdigest().encode():
            return Flaw(number, "payload", f"record {number}: what it says of persons is not what was recorded")
    return Link(number, chain)


def _flaw(number: int, place: int, *, record: bytes) -> Flaw:
    if place > number:
        missing = f"record {number} is" if place == number + 1 else f"records {number} to {place - 1} are"
        return Flaw(number, "removed", f"{missing} missing")
    said = record[1:].partition(b",")[0]
    if place < number or said != b"%d" % number:
        found = place if place < number else said.decode("ascii", "replace")
        return Flaw(number, "reordered", f"record {number}: in its place stands record {found}")
    return Flaw(number, "changed", f"record {number} is not what was recorded, or what came before it is not")


def wrong_seal(seal: Seal, chain: bytes | None, *, is_signed: IsSigned, key: bytes | None = None) -> Flaw | None:
    """Hold a seal against the chain at its record; `key` is the only one to be trusted, where it is known."""
    number = seal.number
    if key is not None and seal.key != key:
        return Flaw(number, "seal", f"the seal of record {number} was made with another key")
    if not is_signed(seal):
        return Flaw(number, "seal", f"the seal of record {number} is not signed by its key")
    if chain is None:
        return Flaw(number, "cut off", f"record {number} was sealed and is gone")
    if chain != seal.chain:
        return Flaw(number, "changed", f"record {number} is not what was sealed, or what came before it is not")
    return None


def against(copy: Sequence[Link], chain_at: Callable[[int], bytes | None]) -> Flaw | None:
    """Hold the chain against an exported copy of it, which was proved before."""
    for number, chain in copy:
        found = chain_at(number)
        if found is None:
            return Flaw(number, "cut off", f"record {number} was exported and is gone")
        if found != chain:
            return Flaw(number, "changed", f"record {number} is not what was exported, or what came before it is not")
    return None
