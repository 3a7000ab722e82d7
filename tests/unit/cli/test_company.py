"""The company of the demo: its people and its rules are in order, and fit each other."""

from __future__ import annotations

from importlib import resources

import pytest

from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.printer import print_rules
from posthouse.matching.language.rule.rule import Rule, WordSource
from posthouse.matching.trial.example import try_examples
from posthouse.matching.value.wordlist import WordList
from posthouse.organisation.appointment import check_roles
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.form.print import print_directory
from posthouse.organisation.snapshot import Snapshot

FOLDER = resources.files("posthouse.cli.company")
RULES_TEXT = FOLDER.joinpath("house.rules").read_text(encoding="utf-8")
PEOPLE_TEXT = FOLDER.joinpath("organisation.toml").read_text(encoding="utf-8")
RULES = parse_rules(RULES_TEXT)
COMPANY = Snapshot(parse_directory(PEOPLE_TEXT))


def test_forty_people_work_there() -> None:
    assert len(COMPANY.users) == 40
    assert {unit.name for unit in COMPANY.directory.units} == {
        "Bakery", "Board", "Sales", "Legal", "Compliance", "Research", "Support",
    }  # fmt: skip
    assert PEOPLE_TEXT.endswith(f"\n\n{print_directory(COMPANY.directory)}")


def test_its_rules_are_written_in_the_one_form() -> None:
    assert len(RULES.rules) == 12
    assert print_rules(RULES) == RULES_TEXT


def no_file(name: str) -> bytes:
    raise FileNotFoundError(name)


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.name)
def test_each_rule_has_a_reason_and_says_what_its_examples_say(rule: Rule) -> None:
    lists = {item.name: WordList(item.words) for item in RULES.items if isinstance(item, WordSource)}
    assert rule.reason
    assert {example.expected for example in rule.examples} >= {"match", "no match"}
    assert all(trial.holds for trial in try_examples(rule, lists=lists, read_file=no_file))


# G-24, G-234
def test_every_gatekeeper_and_owner_it_names_is_there() -> None:
    gatekeepers = [
        name for rule in RULES.rules for action in rule.actions if action.name == "gate" for name in action.to
    ]
    owners = [rule.owner for rule in RULES.rules if rule.owner is not None]
    assert gatekeepers
    assert check_roles(COMPANY, [*gatekeepers, *owners]) == ()


def test_one_role_is_vacant_and_one_account_disabled() -> None:
    assert [role.name for role in COMPANY.directory.roles if not role.holders] == ["Records Officer"]
    assert sum(user.is_disabled for user in COMPANY.directory.users) == 1
