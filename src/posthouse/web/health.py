"""`GET /health`: whether the office is well, found by a real write and a real read."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency

from posthouse.office.calls import Examine
from posthouse.office.permit import Permit
from posthouse.web.front import Front


class HealthReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the office is."""

    well: bool
    office: str
    faults: list[str]
    """What is wrong; who shows no key that administers the office is told less."""
    write_ms: float | None = None
    read_ms: float | None = None


@get("/health", summary="Say whether the office is well", tags=["Looking after the office"])
async def health(front: NamedDependency[Front], visitor: NamedDependency[Permit | None]) -> Response[HealthReport]:
    """Write something, read it back, and say how that went: 200 where the office is well, else 503 with the reasons."""
    found = await front.office.answer(Examine())
    faults = list(found.faults)
    if faults and not (visitor is not None and visitor.administers):
        faults = ["the office cannot store messages now; its log and a key that administers it say more"]
    if front.closing.is_set():
        faults.append("the office is closing")
    well = not faults
    report = HealthReport(
        well=well,
        office=str(front.name),
        faults=faults,
        write_ms=round(found.write_seconds * 1000, 3) if well else None,
        read_ms=round(found.read_seconds * 1000, 3) if well else None,
    )
    return Response(report, status_code=200 if well else 503, headers={"cache-control": "no-store"})
