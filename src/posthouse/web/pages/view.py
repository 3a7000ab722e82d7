"""What the status page shows, made of what was seen: pure, so that it can be tested without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeVar

from posthouse.office.calls import Destination
from posthouse.office.meter import Meter
from posthouse.store.ports import Aside, Dead, Depth
from posthouse.web.look import Look
from posthouse.web.pages import wording

ROWS: Final = 12
_WIDTH: Final = 240
_HEIGHT: Final = 40

Row = TypeVar("Row")


class Station(NamedTuple):
    """One station of the route in the picture."""

    title: str
    figure: str
    says: str
    kind: Literal["door", "stage", "store", "queue", "end", "trouble"]


class Line(NamedTuple):
    """A row of the table of queues."""

    name: str
    what: Literal["mailbox", "line"]
    messages: str
    size: str
    share: float
    """Of the deepest, in hundredths."""


class Way(NamedTuple):
    """A row of the table of other offices."""

    name: str
    state: str
    failures: int
    next_try: str
    fault: str


class Letter(NamedTuple):
    """A row of the table of dead letters, or of what was set aside."""

    number: int
    message: str
    box: str
    kind: str
    when: str
    stamp: str
    attempts: int
    reason: str


class Page(NamedTuple):
    """Rows of a table with where they stand in it."""

    rows: list[object]
    number: int
    last: int
    total: int


class View(NamedTuple):
    """Everything the page shows."""

    office: str
    version: str
    up: str
    addresses: str
    mail: str
    """Where mail comes in."""
    store: str
    is_well: bool
    stations: list[Station]
    troubles: list[Station]
    came: str
    """The points of the line that shows what came in during the last minute."""
    went: str
    peak: str
    lines: Page
    ways: list[Way]
    dead: Page
    dead_total: str
    asides: Page
    aside_total: str


def view_of(look: Look, meter: Meter, *, now: int, queues: int = 1, dead: int = 1, asides: int = 1) -> View:
    """Make the view of a look; the numbers are those of the pages of its tables."""
    status = look.status
    came, went = meter.history("accepted"), _added(meter.history("done"), meter.history("dropped"))
    peak = max(1, *came, *went)
    deepest = look.boxes[0].messages if look.boxes else 1
    return View(
        office=status.office,
        version=status.version,
        up=wording.span((now - status.started) / 1_000_000),
        addresses=", ".join(status.addresses),
        mail=", ".join(at for all_at in status.mail.values() for at in all_at),
        store=status.store,
        is_well=status.store == "ok",
        stations=_stations(look, meter),
        troubles=_troubles(look, meter),
        came=_points(came, peak),
        went=_points(went, peak),
        peak=wording.rate(peak),
        lines=_page([_line(box, deepest) for box in look.boxes], queues),
        ways=[_way(one, now) for one in status.destinations],
        dead=_page([_dead(one, now) for one in look.dead], dead, total=status.dead),
        dead_total=wording.count(status.dead),
        asides=_page([_aside(one, now) for one in look.asides], asides, total=status.aside),
        aside_total=wording.count(status.aside),
    )


def _stations(look: Look, meter: Meter) -> list[Station]:
    status = look.status
    total = meter.totals
    stations = [Station("came in", wording.rate(meter.rate("accepted")), _since(total["accepted"]), "door")]
    for passed in meter.passed():
        says = f"{wording.count(passed.stopped)} stopped" if passed.stopped else _since(passed.entered)
        stations.append(Station(passed.name, wording.rate(meter.rate(f"stage {passed.name}")), says, "stage"))
    commits = meter.commit_seconds
    number = sum(commits.counts)
    mean = f"{commits.total / number * 1000:.1f} ms each" if number else "none yet"
    waiting = f"{wording.count(status.waiting)} takers wait"
    return [
        *stations,
        Station("commits", wording.count(number), mean, "store"),
        Station("waiting", wording.count(status.queued), waiting, "queue"),
        Station("taken", wording.rate(meter.rate("taken")), _since(total["taken"]), "end"),
        Station("sent on", wording.rate(meter.rate("carried")), _since(total["carried"]), "end"),
    ]


def _troubles(look: Look, meter: Meter) -> list[Station]:
    retried = Station("retried", wording.rate(meter.rate("retried")), _since(meter.totals["retried"]), "trouble")
    dead = Station("dead letters", wording.count(look.status.dead), "given up", "trouble")
    aside = Station("set aside", wording.count(look.status.aside), "met a bug", "trouble")
    return [retried, dead, aside]


def _since(total: int) -> str:
    return f"{wording.count(total)} in all"


def _line(box: Depth, deepest: int) -> Line:
    here = box.box.startswith("#")
    return Line(
        name=box.box.removeprefix("#"),
        what="mailbox" if here else "line",
        messages=wording.count(box.messages),
        size=wording.size(box.bytes),
        share=round(100 * box.messages / max(1, deepest), 1),
    )


def _way(one: Destination, now: int) -> Way:
    waits = one.next_try is not None and one.next_try > now
    next_try = f"in {wording.span(((one.next_try or now) - now) / 1_000_000)}" if waits else "now"
    return Way(one.name, one.state, one.failures, next_try if one.failures else "", one.last_fault)


def _dead(one: Dead, now: int) -> Letter:
    when, stamp = wording.ago(one.at, now), wording.stamp(one.at)
    return Letter(
        one.number, str(one.message), one.box.removeprefix("#"), one.kind, when, stamp, one.attempts, one.reason
    )


def _aside(one: Aside, now: int) -> Letter:
    return Letter(one.number, str(one.message), "", "", wording.ago(one.at, now), wording.stamp(one.at), 0, one.reason)


def _page(rows: Sequence[object], number: int, *, total: int | None = None) -> Page:
    last = max(1, -(-len(rows) // ROWS))
    number = min(max(1, number), last)
    return Page(list(rows[(number - 1) * ROWS : number * ROWS]), number, last, len(rows) if total is None else total)


def _points(history: Sequence[int], peak: int) -> str:
    step = _WIDTH / max(1, len(history) - 1)
    return " ".join(f"{place * step:.1f},{_HEIGHT - one / peak * _HEIGHT:.1f}" for place, one in enumerate(history))


def _added(first: Sequence[int], second: Sequence[int]) -> list[int]:
    return [one + other for one, other in zip(first, second, strict=True)]
