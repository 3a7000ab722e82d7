"""Other offices as this one knows them, and how much is exchanged with them: values, and nothing that is done."""

from __future__ import annotations

import msgspec

MIB = 1_048_576


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """Another office as this one knows it."""

    name: str
    """What it is called here."""
    office: str
    """What it is called everywhere, as names are printed."""
    keys: tuple[str, ...] = ()
    """Its public keys, old and new, as texts; one without keys is only reached by way of another."""
    via: str = ""
    """The name of the peer that takes messages there."""
    relay: bool = False
    """Whether it may bring messages for other offices than this one."""
    read: tuple[str, ...] = ()
    """The mailboxes of this office it may take messages out of; one that ends with * stands for all that begin so."""
    ca: str = ""
    """The file of the certificates that vouch for it, where they are not those of `Exchange.ca`."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """With whom an office exchanges messages, and all limits of that."""

    peers: tuple[Peer, ...] = ()
    key: str = ""
    """The file of this office's own key; beside the store where it is left out."""
    ca: str = ""
    """The file of the certificates that vouch for other offices; the system's where it is left out."""
    skew_seconds: float = 300.0
    """How far the clocks of two offices may be apart."""
    frame_bytes: int = 32 * MIB
    """The largest frame, as it comes and as it is when unpacked."""
    frame_letters: int = 1_024
    """Messages of one frame."""
    read_seconds: float = 30.0
    """How long a frame may take to arrive."""
    at_once: int = 4
    """Frames of one peer that are worked on at the same time."""
    half_bytes: int = 8 * 1_024 * MIB
    """Room for bodies of which only a part has arrived."""
    half_seconds: float = 86_400.0
    """How long such a part is kept after its last piece."""
    answer_within: float = 40.0
    """How long to wait for the answer to one frame."""
    compress: bool = True
    """Pack frames that become smaller by it."""

    # What nobody has to set.
    calls_each: int = 128
    """Calls of one peer that wait for something to take."""
    readers: int = 64
    """Frames that arrive at the same time, from anybody."""
    readers_each: int = 16
    """The same, from one address."""
    piece_bytes: int = MIB
    """How much of a large body goes in one piece."""
    aim_bytes: int = MIB
    """A frame that weighs so much is full."""
    connect_seconds: float = 5.0
    """How long to wait for a connection."""
    upload_seconds: float = 20.0
    """How long one walk goes on bringing a large body; the next one goes on from there."""


def may_read(peer: Peer, mailbox: str) -> bool:
    """Say whether a peer may take messages out of a mailbox of this office."""
    return any(
        mailbox.startswith(pattern[:-1]) if pattern.endswith("*") else mailbox == pattern for pattern in peer.read
    )
