"""`python -m bench [NAME]`: run all measurements, one file of them, or the one that gives a figure."""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Sequence
from typing import Final

import click
import uvloop
from rich.console import Console
from rich.table import Table

from bench import (
    accept,
    audit,
    backlog,
    desk,
    expiry,
    flow,
    gated,
    idle,
    machine,
    mail,
    match,
    offices,
    smtp,
    smtp_gated,
    smtp_out,
    web,
)
from bench.figure import BARS, Contest, Figure, Missing
from bench.plan import Plan, read_plan

FILES: Final = {
    "accept": accept.CONTESTS,
    "gated": gated.CONTESTS,
    "flow": flow.CONTESTS,
    "idle": idle.CONTESTS,
    "backlog": backlog.CONTESTS,
    "offices": offices.CONTESTS,
    "mail": mail.CONTESTS,
    "smtp_out": smtp_out.CONTESTS,
    "web": web.CONTESTS,
    "smtp": smtp.CONTESTS,
    "smtp_gated": smtp_gated.CONTESTS,
    "match": match.CONTESTS,
    "desk": desk.CONTESTS,
    "expiry": expiry.CONTESTS,
    "audit": audit.CONTESTS,
}


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def main(name: str | None, *, as_json: bool) -> None:
    """Measure ours and the peers; NAME is one of the files (accept, flow, mail, smtp and so on) or a figure."""
    plan = read_plan()
    before = machine.load()
    # What a peer's client warns of is not ours to mend.
    warnings.simplefilter("ignore")
    results = uvloop.run(_measure(choose(name), plan))
    figures = [result for result in results if isinstance(result, Figure)]
    head = (
        f"{machine.describe()}; load {before} before, {machine.load()} after; {plan.scale.name} run, seed {plan.seed}"
    )
    if as_json:
        click.echo(json.dumps({"machine": head, "figures": {each.name: each._asdict() for each in figures}}, indent=2))
        return
    # A table that is cut off to fit a file or a pipe says nothing.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    console.print(head, highlight=False, soft_wrap=True)
    console.print(_table(figures))
    for missing in dict.fromkeys(result for result in results if isinstance(result, Missing)):
        console.print(f"{missing.who} is not on this machine: {missing.advice}", highlight=False, markup=False)
    for figure in figures:
        click.echo(f"figure {figure.name} {_number(figure.value)}")


def choose(name: str | None) -> Sequence[Contest]:
    """Give the measurements a name stands for."""
    everything = [contest for contests in FILES.values() for contest in contests]
    if not name:
        return everything
    chosen = FILES.get(name.removeprefix("bench/").removesuffix(".py")) or [
        contest for contest in everything if name in contest.figures
    ]
    if not chosen:
        known = ", ".join([*FILES, *(figure for contest in everything for figure in contest.figures)])
        raise click.BadParameter(f"expected one of {known}, found {name}", param_hint="NAME")
    return chosen


async def _measure(contests: Sequence[Contest], plan: Plan) -> list[Figure | Missing]:
    results: list[Figure | Missing] = []
    for contest in contests:
        results += await contest.measure(plan)
        # Connections of a peer that end late must not disturb the next measurement.
        await asyncio.sleep(0)
    return results


def _table(figures: Sequence[Figure]) -> Table:
    table = Table("figure", "who", box=None, pad_edge=False)
    for column in ("median", "least", "most", "bar", ""):
        table.add_column(column, justify="right")
    table.add_column("what")
    for figure in figures:
        bar = BARS.get(figure.name)
        numbers = [_number(value) for value in (figure.value, figure.least, figure.most)]
        held = "" if bar is None else "held" if bar.is_held(figure.value) else "missed"
        table.add_row(figure.name, figure.who, *numbers, "" if bar is None else str(bar), held, figure.note)
    return table


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


if __name__ == "__main__":
    main()
