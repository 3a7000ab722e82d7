"""Role tests of rules, asked of a real organisation by both engines."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import msgspec
import pytest

from posthouse.matching.engine.indexed.plan import compile_plan
from posthouse.matching.engine.indexed.sweep import match
from posthouse.matching.engine.single.evaluate import evaluate, evaluate_batch
from posthouse.matching.language.rule.parse import parse_condition
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Truth
from posthouse.matching.value.record import Context, Recipient, Record
from posthouse.organisation.snapshot import Snapshot
from posthouse.testing.predicate import draw_predicate
from tests.unit.organisation.company import COMPANY

OUTSIDER = "eve@far.example"
CONDITIONS: Mapping[str, str] = {
    "role": 'sender.role is "Clerk"',
    "not role": 'sender.role is not "Clerk"',
    "in": 'sender.role in ("Clerk", "auditor")',
    "under": 'sender.role is or under "VP"',
    "not under": 'NOT sender.role is or under "VP"',
    "above": 'sender.under is "CEO"',
    "none": "sender.role is empty",
    "some": "sender.role is not empty",
    "to": 'any recipient (recipient.role is "CEO")',
    "to under": 'all recipients (recipient.role is or under "Manager")',
    "to none": "any recipient (recipient.role is empty)",
    "three": "levels_between = 3",
    "up": "levels_between >= 2",
    "not two": "levels_between != 2",
    "outside": "any recipient (recipient.external is true)",
    "from outside": "sender.external is true",
    "Oslo": 'sender.location is "Oslo"',
    "not Oslo": 'sender.location is not "Oslo"',
}
CASES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("clerk", ("ceo",), "role, in, under, above, some, to, three, up, not two, Oslo"),
    ("manager", ("ceo",), "not role, under, above, some, to, up, Oslo"),
    ("vp", ("ceo",), "not role, in, under, above, some, to, not two, not Oslo"),
    ("ceo", ("clerk",), "not role, not under, above, some, to under, not two, Oslo"),
    ("CLERK", ("chief",), "role, in, under, above, some, to, three, up, not two, Oslo"),
    ("clerk", ("sales",), "role, in, under, above, some, to under, not two, Oslo"),
    ("clerk", ("friends",), "role, in, under, above, some, to under, not two, outside, Oslo"),
    (OUTSIDER, ("ceo",), "not role, not under, none, to, not two, from outside"),
    ("clerk", (OUTSIDER,), "role, in, under, above, some, to none, not two, outside, Oslo"),
    ("clerk", (OUTSIDER, "ceo"), "role, in, under, above, some, to, to none, three, up, outside, not two, Oslo"),
    (OUTSIDER, (OUTSIDER,), "not role, not under, none, to none, not two, outside, from outside"),
)


def record(sender: str, recipients: tuple[str, ...], organisation: Snapshot | None = COMPANY) -> Record:
    def full(name: str) -> str:
        return name if "@" in name else f"{name}@alpha.example"

    return Record(
        sender=full(sender),
        recipients=tuple(Recipient(full(recipient)) for recipient in recipients),
        context=Context(organisation=organisation),
    )


def truths(name: str) -> dict[tuple[str, tuple[str, ...]], Truth]:
    """Give what the indexed engine says of a condition, with all others beside it in one plan."""
    plan = compile_plan([parse_condition(text) for text in CONDITIONS.values()])
    hits = match(plan, tuple(record(sender, to) for sender, to, _ in CASES))
    found = dict.fromkeys(((sender, to) for sender, to, _ in CASES), FALSE)
    for row, predicate, truth in zip(hits.row, hits.predicate, hits.truth, strict=True):
        if predicate == list(CONDITIONS).index(name):
            found[CASES[row][0], CASES[row][1]] = truth
    return found


# G-20, G-21, G-22, G-23, G-25, G-27
@pytest.mark.parametrize("name", CONDITIONS)
def test_role_tests_say_of_each_case_what_they_mean(name: str) -> None:
    indexed = truths(name)
    for sender, recipients, holding in CASES:
        truth = evaluate(parse_condition(CONDITIONS[name]), record(sender, recipients)).truth
        assert (truth is TRUE) == (name in holding.split(", ")), (sender, recipients, truth)
        assert indexed[sender, recipients] is truth, (sender, recipients)


# G-20
def test_a_rule_for_a_role_finds_whoever_holds_it_now() -> None:
    to_the_ceo = parse_condition('any recipient (recipient.role is "CEO")')
    found = evaluate(to_the_ceo, record("clerk", ("second", "ceo", OUTSIDER)))
    assert found.truth is TRUE
    assert found.recipients == (1,)


# G-25
@pytest.mark.parametrize("name", CONDITIONS)
def test_without_an_organisation_role_tests_are_unknown_and_no_error(name: str) -> None:
    assert evaluate(parse_condition(CONDITIONS[name]), record("clerk", ("ceo",), None)).truth is UNKNOWN


# G-26
def test_what_changes_in_the_organisation_changes_the_truth() -> None:
    plan = compile_plan([parse_condition('sender.role is "Clerk"')])
    directory = COMPANY.directory
    emptied = tuple(msgspec.structs.replace(role, holders=()) for role in directory.roles)
    other = Snapshot(msgspec.structs.replace(directory, roles=emptied))
    for organisation, count in ((COMPANY, 1), (other, 0), (COMPANY, 1)):
        assert len(match(plan, (record("clerk", ("ceo",), organisation),)).row) == count


@pytest.mark.parametrize("seed", range(20))
def test_both_engines_agree_on_whatever_is_asked(seed: int) -> None:
    chance = Random(seed)
    names = [*COMPANY.users, *COMPANY.groups, *COMPANY.owners, OUTSIDER, "orders"]
    records = tuple(
        record(chance.choice(names), tuple(chance.choice(names) for _ in range(chance.randint(0, 3)))) for _ in range(8)
    )
    roles = [role.name for role in COMPANY.directory.roles]
    asked = [
        parse_condition(f'{who}.{what} {sign} "{chance.choice(roles)}"')
        for who in ("sender", "recipient")
        for what in ("role", "under")
        for sign in ("is", "is not", "is or under")
    ]
    predicates = (*asked, *(draw_predicate(chance) for _ in range(30)))
    assert match(compile_plan(predicates), records) == evaluate_batch(predicates, records)
