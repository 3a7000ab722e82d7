"""An office with nothing to do: how soon it is there, and what it weighs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from bench.figure import OURS, Contest, Results, figure_of
from bench.plan import Plan
from bench.served import served

# Long enough for everything that starts late, short enough for a default run.
_SETTLED_AFTER: Final = 1.0


async def measure(plan: Plan) -> Results:
    """Start `posthouse serve` on an empty store, wait a moment, weigh it."""
    ready, resident, shared = [], [], []
    for _ in range(plan.scale.rounds):
        with plan.folder() as folder:
            async with served(folder / "office.db") as office:
                ready.append(office.ready_s)
                await asyncio.sleep(0 if plan.scale.name == "quick" else _SETTLED_AFTER)
                sizes = _sizes(office.process.pid)
                resident.append(sizes["Rss"])
                shared.append(sizes["Pss"])
    return [
        figure_of("ready_s", OURS, values=ready, note="process start to first answer"),
        figure_of("idle_mb", OURS, values=resident, note="resident"),
        figure_of("idle_own_mb", OURS, values=shared, note="resident, pages shared with others counted by share"),
    ]


async def measure_doors(plan: Plan) -> Results:
    """Weigh an office with every kind of door open."""
    resident = []
    for _ in range(plan.scale.rounds):
        with plan.folder() as folder:
            settings = {
                "http.listen": "127.0.0.1:0",
                "mail.domains": "bakery.example",
                "doors.mx": "smtp 127.0.0.1:0",
                "doors.inner": f"lmtp unix:{folder}/lmtp.sock",
                "doors.milter": "milter 127.0.0.1:0",
            }
            async with served(folder / "office.db", settings) as office:
                await asyncio.sleep(0 if plan.scale.name == "quick" else _SETTLED_AFTER)
                resident.append(_sizes(office.process.pid)["Rss"])
    return [
        figure_of("idle_doors_mb", OURS, values=resident, note="resident, with doors for HTTP, SMTP, LMTP and milter")
    ]


def _sizes(process: int) -> dict[str, float]:
    """Give what a process holds in memory, in MB of a million bytes."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(value.split()[0]) * 1024 / 1e6 for name, _, value in (line.partition(":") for line in lines)}


CONTESTS: Final = (
    Contest(("ready_s", "idle_mb", "idle_own_mb"), measure),
    Contest(("idle_doors_mb",), measure_doors),
)
