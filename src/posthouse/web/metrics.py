"""`GET /metrics`: what the office has counted, in the words Prometheus collects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from litestar import Request, Response, get
from litestar.di import NamedDependency

from posthouse.office.meter import EVENTS, Meter, Spread
from posthouse.web.asgi import Scope
from posthouse.web.front import Front
from posthouse.web.look import Look
from posthouse.web.tally import Tally
from posthouse.web.viewer import check_viewer

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family

_MOST_BOXES: Final = 100


class Metric(NamedTuple):
    """One metric, as the reference lists it."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    meaning: str


METRICS: Final = (
    Metric("posthouse_office_info", "gauge", ("office", "version"), "Always 1; the labels say which office this is."),
    Metric("posthouse_messages_total", "counter", ("event",), "Messages to which this happened since the start: "
           + ", ".join(EVENTS) + "."),
    Metric("posthouse_stage_journeys_total", "counter", ("stage", "outcome"),
           "Journeys that entered a stage of the route, were stopped in it, or waited in it, since the start."),
    Metric("posthouse_journal_messages", "gauge", (), "Messages ever accepted."),
    Metric("posthouse_queued_messages", "gauge", (), "Messages that wait in any box."),
    Metric("posthouse_box_messages", "gauge", ("box",), f"Messages that wait in a box; the {_MOST_BOXES} deepest."),
    Metric("posthouse_box_bytes", "gauge", ("box",), "What those weigh."),
    Metric("posthouse_dead_letters", "gauge", (), "Dead letters."),
    Metric("posthouse_aside_messages", "gauge", (), "Messages set aside because of a bug."),
    Metric("posthouse_takers_waiting", "gauge", (), "Takers that wait for a message."),
    Metric("posthouse_store_writable", "gauge", (), "1 where the store can be written, else 0."),
    Metric("posthouse_destination_open", "gauge", ("destination",),
           "How the way to an office elsewhere is, once it failed: 1 open, 0.5 probing, 0 closed."),
    Metric("posthouse_destination_failures", "gauge", ("destination",), "Walks there in a row that met nobody."),
    Metric("posthouse_commit_seconds", "histogram", (), "How long commits to the disk took."),
    Metric("posthouse_commit_changes", "histogram", (), "How many changes one caller handed in together."),
    Metric("posthouse_http_requests_total", "counter", ("area", "method", "status"), "Requests answered over HTTP."),
    Metric("posthouse_http_request_seconds", "histogram", ("area",), "How long those took, streams to their end."),
    Metric("posthouse_http_refused_total", "counter", ("code",), "Requests turned away by their key or their rate."),
    Metric("posthouse_http_requests_under_way", "gauge", (), "Requests being answered now."),
)  # fmt: skip
"""Everything there is; docs/reference/metrics.md is written from it."""

_STATES: Final = {"open": 1.0, "probing": 0.5, "closed": 0.0}

# `Any`: a value by its labels, or the spread of a histogram by them.
Values = Mapping[tuple[str, ...], Any]


@get("/metrics", summary="Count for Prometheus", media_type="text/plain", tags=["Looking after the office"])
async def metrics(request: Request[Any, Any, Any], front: NamedDependency[Front]) -> Response[bytes]:
    """Give what was counted. Without a key where the status page is open, else with one that administers the office."""
    check_viewer(front, cast("Scope", request.scope))
    look = await front.watchman.look()
    return Response(
        written(look, meter=front.meter, tally=front.watch.tally),
        media_type="text/plain; version=0.0.4; charset=utf-8",
        headers={"cache-control": "no-store"},
    )


def written(look: Look, *, meter: Meter, tally: Tally) -> bytes:
    """Write everything down."""
    # Most offices are never asked for it, and need not carry the library.
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest  # noqa: PLC0415
    from prometheus_client.registry import Collector  # noqa: PLC0415

    class Seen(Collector):
        def collect(self) -> Iterator[Family]:
            yield from _families(_values(look, meter, tally))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Seen())
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def _values(look: Look, meter: Meter, tally: Tally) -> dict[str, Values]:
    status = look.status
    boxes = look.boxes[:_MOST_BOXES]
    return {
        "posthouse_office_info": {(status.office, status.version): 1},
        "posthouse_messages_total": {(event,): meter.totals.get(event, 0) for event in EVENTS},
        "posthouse_stage_journeys_total": {
            (passed.name, outcome): number
            for passed in meter.passed()
            for outcome, number in zip(("entered", "stopped", "waited"), passed[1:], strict=True)
        },
        "posthouse_journal_messages": {(): status.accepted},
        "posthouse_queued_messages": {(): status.queued},
        "posthouse_box_messages": {(box.box,): box.messages for box in boxes},
        "posthouse_box_bytes": {(box.box,): box.bytes for box in boxes},
        "posthouse_dead_letters": {(): status.dead},
        "posthouse_aside_messages": {(): status.aside},
        "posthouse_takers_waiting": {(): status.waiting},
        "posthouse_store_writable": {(): int(status.store == "ok")},
        "posthouse_destination_open": {(one.name,): _STATES[one.state] for one in status.destinations},
        "posthouse_destination_failures": {(one.name,): one.failures for one in status.destinations},
        "posthouse_commit_seconds": {(): meter.commit_seconds},
        "posthouse_commit_changes": {(): meter.commit_changes},
        "posthouse_http_requests_total": {
            (area, method, str(code)): number for (area, method, code), number in tally.requests.items()
        },
        "posthouse_http_request_seconds": {(area,): spread for area, spread in tally.spreads.items()},
        "posthouse_http_refused_total": {(code,): number for code, number in tally.refused.items()},
        "posthouse_http_requests_under_way": {(): tally.under_way},
    }


def _families(values: Mapping[str, Values]) -> Iterator[Family]:
    from prometheus_client import metrics_core as core  # noqa: PLC0415 - as above

    for metric in METRICS:
        labels: Sequence[str] = metric.labels
        if metric.kind == "histogram":
            histogram = core.HistogramMetricFamily(metric.name, metric.meaning, labels=labels)
            for key, spread in values[metric.name].items():
                histogram.add_metric(key, _buckets(spread), spread.total)
            yield histogram
            continue
        kind = core.CounterMetricFamily if metric.kind == "counter" else core.GaugeMetricFamily
        family = kind(metric.name, metric.meaning, labels=labels)
        for key, value in values[metric.name].items():
            family.add_metric(key, value)
        yield family


def _buckets(spread: Spread) -> list[tuple[str, float]]:
    below, buckets = 0, []
    for edge, count in zip((*map(str, spread.edges), "+Inf"), spread.counts, strict=True):
        below += count
        buckets.append((edge, float(below)))
    return buckets
