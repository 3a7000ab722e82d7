"""How much a run measures, and where it works: from the environment, read once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple


class Size(NamedTuple):
    """How full a filled store is."""

    journal: int
    queued: int
    mailboxes: int
    senders: int = 1_000
    """As many lanes as there are in a mailbox at most."""


class Scale(NamedTuple):
    """How much work one run is."""

    name: str
    filled: Size
    rounds: int
    batches: int
    """Batches of 64 that each of the 64 senders hands in during one round."""
    lone: int
    """Messages of the lone sender in one round; there are ten times as many rounds of it."""
    flow: int
    """Messages that each of the 16 producers sends in one round."""
    takes: int
    """Takes of one sort from each backlog."""
    mails: int
    """Mails of one round by SMTP."""
    large_mb: int
    """Megabytes of one large mail."""
    dockets: int
    """Gated messages on the filled desk, and records of the audit."""


SCALES: Final = {
    "quick": Scale(
        "quick",
        Size(4_000, 2_000, 500),
        rounds=1,
        batches=1,
        lone=5,
        flow=64,
        takes=10,
        mails=40,
        large_mb=1,
        dockets=2_000,
    ),
    "short": Scale(
        "short",
        Size(200_000, 50_000, 10_000),
        rounds=3,
        batches=6,
        lone=20,
        flow=1_024,
        takes=200,
        mails=2_000,
        large_mb=10,
        dockets=1_000_000,
    ),
    "full": Scale(
        "full",
        Size(10_000_000, 1_000_000, 100_000),
        rounds=5,
        batches=25,
        lone=100,
        flow=4_096,
        takes=1_000,
        mails=6_000,
        large_mb=50,
        dockets=1_000_000,
    ),
}


class Plan(NamedTuple):
    """What is the same for all figures of one run."""

    scale: Scale
    seed: int
    cache: Path
    """Where filled stores are kept from one run to the next."""

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Give a folder on the disk of the cache, gone afterwards."""
        self.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="run-") as folder:
            yield Path(folder)


def read_plan(environment: Mapping[str, str] = os.environ) -> Plan:
    """Read FULL, QUICK, SEED and the place of the cache."""
    name = "full" if environment.get("FULL") else "quick" if environment.get("QUICK") else "short"
    home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Plan(SCALES[name], int(environment.get("SEED") or "20260101"), Path(home) / "posthouse-bench")
