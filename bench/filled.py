"""The filled store: made once from a seed, kept in the cache, and copied for every use so that runs do not spoil it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Final

from bench import workloads
from bench.filling import fill
from bench.plan import Plan, Size
from posthouse.errors import PosthouseError
from posthouse.store.queries import migrations
from posthouse.store.sqlite.rows import JOURNAL_COLUMNS, Arrival

_BYTES_PER_MESSAGE: Final = 1_000


class DiskTooSmall(PosthouseError):
    """The filled store does not fit."""


def filled_copy(plan: Plan, folder: Path, *, size: Size | None = None) -> Path:
    """Give a filled store of one's own in a folder; the one it is copied from is made where there is none."""
    size = size or plan.scale.filled
    kept = plan.cache / f"{filled_name(size, plan.seed)}.db"
    if not kept.exists():
        _forget_older(kept)
        _check_disk(plan.cache, 2 * size.journal * _BYTES_PER_MESSAGE)
        part = kept.with_suffix(".part")
        part.unlink(missing_ok=True)
        fill(part, plan.seed, size=size)
        part.rename(kept)
    _check_disk(plan.cache, size.journal * _BYTES_PER_MESSAGE)
    copy = folder / "filled.db"
    # `cp` shares the blocks where the file system can; Python's own copy never does.
    subprocess.run(["cp", "--reflink=auto", kept, copy], check=True)
    return copy


def filled_name(size: Size, seed: int) -> str:
    """Name a filled store after all it depends on: its size and seed, the workload, and the tables of the store."""
    tables = [*migrations("posthouse.store.sqlite.schema"), JOURNAL_COLUMNS, *Arrival.__struct_fields__]
    digest = hashlib.blake2b("\0".join(tables).encode(), digest_size=6).hexdigest()
    return f"filled-v{workloads.VERSION}-seed{seed}-{'-'.join(map(str, size))}-{digest}"


def _forget_older(kept: Path) -> None:
    """Remove what this store replaces: the same one, written for other tables or another version of the workload."""
    _, _, wanted = kept.stem.rpartition("-seed")
    for older in kept.parent.glob("filled-v*-seed*.db"):
        if older.stem.rpartition("-seed")[2].rpartition("-")[0] == wanted.rpartition("-")[0]:
            older.unlink()


def _check_disk(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + 1_000_000_000:
        raise DiskTooSmall(
            f"the filled store needs {needed / 1e9:.1f} GB, found {free / 1e9:.1f} GB free",
            where=str(folder),
            hint="set XDG_CACHE_HOME to a larger disk, or leave out FULL=1",
        )
