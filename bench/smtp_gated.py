"""Mail by SMTP with 1,000 rules in force, of which none fires, beside the same office without rules, in turns."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench import policy
from bench.figure import OURS, Contest, Missing, Results, figure_of
from bench.gated import organisation, rules_of
from bench.plan import Plan
from bench.smtp import office, round_of
from posthouse.office.calls import ListMailboxes
from posthouse.office.deskcalls import Activate, WriteEdition
from posthouse.server.assemble import reach_house
from posthouse.testing import postfix

_MAILS: Final = {"quick": 60, "short": 600, "full": 6_000}
_ROUNDS: Final = 3
"""Times the rounds of other figures: what is compared is close together."""


async def share(plan: Plan) -> Results:
    """Accept the same mails with rules and without, in turns; each round gives one share."""
    if postfix.program("smtp-source") is None:
        return [Missing("smtp-source", "install the package postfix")]
    async with AsyncExitStack() as opened:
        folders = [Path(opened.enter_context(TemporaryDirectory(prefix="posthouse-bench-"))) for _ in range(2)]
        plain, ruled = [await opened.enter_async_context(office(folder)) for folder in folders]
        await _rule(folders[1] / "office.db", plan)
        rounds = [round_of(plan, each.port, kept=True) for each in (plain, ruled)]
        rates: list[list[float]] = [[], []]
        for number in range(plan.scale.rounds * _ROUNDS):
            # Who is first in a round changes: the disk is busier after the one before.
            for which in (0, 1) if number % 2 else (1, 0):
                rates[which].append(await rounds[which]())
        boxes = [await _boxes(folder / "office.db") for folder in folders]
    assert boxes[0] == boxes[1], f"a rule fires, and the figure is about mail of which none speaks: {boxes}"
    shares = [with_rules / without for without, with_rules in zip(*rates, strict=True)]
    return [
        figure_of("gate_share_of_smtp_accept", OURS, values=shares, note="1,000 rules, none fires"),
        figure_of("gate_smtp_accept_per_s", OURS, values=rates[1], note="with rules"),
        figure_of("gate_smtp_accept_without_per_s", OURS, values=rates[0], note="without"),
    ]


async def _rule(store: Path, plan: Plan) -> None:
    """Put the rules in force."""
    corpus = policy.read_corpus(plan.seed, _MAILS[plan.scale.name])
    link = await reach_house(store)
    for book, text in (("organisation", organisation(plan.seed)), ("rules", rules_of(corpus, plan.seed))):
        written = await link.answer(WriteEdition(book=book, text=text, by="bench"))
        assert written.edition is not None, written.faults[:3]
        await link.answer(Activate(book=book, number=1, by="bench"))
    await link.close()


async def _boxes(store: Path) -> dict[str, int]:
    """Give how much lies in each box."""
    link = await reach_house(store)
    depths = await link.answer(ListMailboxes())
    await link.close()
    return {depth.box: depth.messages for depth in depths}


CONTESTS: Final = (Contest(("gate_share_of_smtp_accept",), share),)
