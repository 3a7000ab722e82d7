"""What the reviewers of the crash tests mean to do with each message, and where it has to be in the end."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

RED, BLUE, SENDER = "red", "blue", "ann"

ORGANISATION: Final = """\
domains = ["bakery.example"]
office_administrator = "Director"
postmaster = "Director"

[role."Director"]
holders = ["zoe@bakery.example"]

[role."Sales"]
reports_to = "Director"
holders = ["ada@bakery.example"]

[role."Legal"]
holders = ["zoe@bakery.example"]

[role."Robot"]
holders = ["zoe@bakery.example"]

[user."zoe@bakery.example"]

[user."ada@bakery.example"]
"""
RULES: Final = """\
RULE "orders"
IF message.text contains "sacks"
THEN gate to "Sales" because "an order"

RULE "secrets"
IF message.text contains "secret"
THEN gate to "Legal" because "a secret"

RULE "machines"
IF message.text contains "machine"
THEN gate to "Robot" within 1 second because "nobody has to look"
"""
RULES_OF_ROBOT: Final = """\
RULE "good"
IF message.text contains "good"
THEN release

RULE "bad"
IF message.text contains "bad"
THEN return because "it is bad"
"""


class Deed(NamedTuple):
    """One thing a reviewer does."""

    role: str
    """The gatekeeper before whom the message lies by then."""
    act: str
    to: str = ""
    comes_back: bool = False


class Plan(NamedTuple):
    """What is done with a message, and what there is in the end: how often it lies where, and how its case ended."""

    text: str
    deeds: tuple[Deed, ...]
    outcome: str | None
    """None where it was not gated; empty where it still lies before somebody."""
    red: int = 0
    blue: int = 0
    returned: int = 0


_RELEASE: Final = Deed("Sales", "release")
PLANS: Final = MappingProxyType({
    "free": Plan("bread", (), None, 1, 1),
    "open": Plan("sacks", (), ""),
    "release": Plan("sacks", (_RELEASE,), "released", 1, 1),
    "return": Plan("sacks", (Deed("Sales", "return"),), "returned", returned=1),
    "delete": Plan("sacks", (Deed("Sales", "delete"),), "deleted"),
    "recall": Plan("sacks", (Deed("Sales", "recall"),), "recalled", returned=1),
    "forward": Plan("sacks", (Deed("Sales", "forward", "Director"), Deed("Director", "release")), "released", 1, 1),
    "come back": Plan(
        "sacks", (Deed("Sales", "forward", "Director", comes_back=True), Deed("Director", "release"), _RELEASE),
        "released", 1, 1,
    ),
    "chain": Plan("sacks secret", (_RELEASE, Deed("Legal", "release")), "released", 1, 1),
    "disagree": Plan("sacks secret", (_RELEASE, Deed("Legal", "return")), "returned", returned=1),
    "file": Plan("sacks", (Deed("Sales", "file", "later"), _RELEASE), "released", 1, 1),
    "edit": Plan("sacks", (Deed("Sales", "edit"), _RELEASE), "released", 1, 1),
    "divide": Plan("sacks", (Deed("Sales", "release", RED), Deed("Sales", "delete")), "deleted", 1, 0),
    "good machine": Plan("good machine", (), "released", 1, 1),
    "bad machine": Plan("bad machine", (), "returned", returned=1),
})  # fmt: skip
