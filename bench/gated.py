"""Accepting with rules in force: the batch senders of `accept`, and 1,000 rules of the policy mix before each message.

The rules are drawn as those of `match` are; the messages are texts of 256 bytes made of the same words, so that rules
about text have something to read, and few of them hit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import cycle
from typing import Final

import msgspec

from bench import policy, workloads
from bench.accept import Crowd, filled_office, put_aside
from bench.figure import OURS, Contender, Contest, Results, compete, figure_of
from bench.plan import Plan
from posthouse.client import Draft
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.language.rule.rule import Action, OnUnknown, Rule, RuleFile
from posthouse.matching.predicate.node import And, Compare, Number, Part, Predicate
from posthouse.office.deskcalls import Activate, WriteEdition
from posthouse.organisation.directory import Directory, Role, User
from posthouse.organisation.form.print import print_directory

RULES: Final = 1_000
_MAILS: Final = {"quick": 60, "short": 600, "full": 6_000}
_ACTIONS: Final = (
    Action(name="gate", to=("Role 1",)),
    Action(name="copy", to=("archive",)),
    Action(name="return", saying="not this way"),
    Action(name="notify", to=("auditor",)),
    Action(name="delete"),
)


class GatedCrowd(Crowd):
    """The batch senders, whose messages are texts."""

    def read(self, corpus: policy.Corpus, seed: int) -> None:
        """Put text into the messages."""
        chance = random.Random(f"posthouse gated {seed}")
        words = [word for text in corpus.texts for word in text]
        self.drafts = [[_worded(draft, words, chance) for draft in drafts] for drafts in self.drafts]


def rules_of(corpus: policy.Corpus, seed: int) -> str:
    """Give the rule book; two of five rules gate, and those fail closed."""
    predicates = policy.draw_rules(corpus, RULES, mix="rare", seed=seed)
    pairs = zip(predicates, cycle(_ACTIONS), strict=False)
    rules = (_rule(number, predicate, action) for number, (predicate, action) in enumerate(pairs))
    # The mix of `match` asks for a figure that an office does not count.
    return print_rules(RuleFile(tuple(rules))).replace("office.stat.load", "office.stat.received.1m")


def organisation(seed: int) -> str:
    """Give an organisation in which senders have roles, each reporting to that of half its number."""
    chance = random.Random(f"posthouse organisation {seed}")
    names = [f"Role {number}" for number in range(200)]
    senders = [workloads.sender(number) for number in range(workloads.SENDERS)]
    held = {name: [sender for sender in senders if chance.randrange(100) == 0] for name in names}
    roles = tuple(
        Role(name=name, reports_to=f"Role {number // 2}" if number else "", holders=tuple(held[name]))
        for number, name in enumerate(names)
    )
    return print_directory(Directory(roles=roles, users=tuple(User(address=sender) for sender in senders)))


async def measure_gated(plan: Plan) -> Results:
    """Batches of 64 by 64 senders at once, through 1,000 rules, on the filled store."""
    corpus = policy.read_corpus(plan.seed, _MAILS[plan.scale.name])
    async with filled_office(plan) as (office, _):
        crowd = GatedCrowd(office, plan)
        crowd.read(corpus, plan.seed)
        for book, text in (("organisation", organisation(plan.seed)), ("rules", rules_of(corpus, plan.seed))):
            written = await office.call(WriteEdition(book=book, text=text, by="bench"))
            assert written.edition is not None, written.faults[:3]
            await office.call(Activate(book=book, number=1, by="bench"))
        put_aside()
        contender = Contender("accept_with_rules_per_s", OURS, crowd.round, "1,000 rules, texts of 256 bytes")
        figures = await compete([contender], plan.scale.rounds)
    spent = figure_of("accept_with_rules_us", OURS, values=crowd.microseconds, note="processor time of one message")
    return [*figures, spent]


def _rule(number: int, predicate: Predicate, action: Action) -> Rule:
    # A window that was not watched for long enough is unknown: that must not gate everything at the start.
    unknown: OnUnknown | None = "no match" if isinstance(predicate, Compare) else None
    return Rule(name=f"rule {number}", condition=_fitted(predicate), actions=(action,), on_unknown=unknown)


def _fitted(predicate: Predicate) -> Predicate:
    """Give a condition as a rule book says it: sizes with their unit, bounds that are not always passed."""
    if isinstance(predicate, And):
        return And(tuple(map(_fitted, predicate.parts)))
    if isinstance(predicate, Compare) and isinstance(predicate.right, Number):
        bound = predicate.right.value
        if predicate.left == Part("message.size"):
            return msgspec.structs.replace(predicate, right=Number(bound, "size"))
        if predicate.left == Part("office.stat", "queue_length"):
            # The queue of a filled store is always long: rules of a real office would not all fire on it.
            return msgspec.structs.replace(predicate, right=Number(bound * 1_000))
    return predicate


def _worded(draft: Draft, words: Sequence[str], chance: random.Random) -> Draft:
    start = chance.randrange(max(len(words) - 60, 1))
    text = " ".join(words[start : start + 60]).encode()[: workloads.BODY_BYTES]
    return msgspec.structs.replace(draft, body=text, content_type="text/plain")


CONTESTS: Final = (Contest(("accept_with_rules_per_s", "accept_with_rules_us"), measure_gated),)
