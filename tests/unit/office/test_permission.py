"""What each scope permits, call by call, cell by cell."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest

from posthouse.message.case import Mailbag
from posthouse.message.changes import Setup
from posthouse.message.envelope import Envelope
from posthouse.message.message import Body
from posthouse.message.name import parse_office
from posthouse.office import calls, deskcalls
from posthouse.office.calls import Call, Handed, Slip, Story
from posthouse.office.permission import RULES, permits, permits_story
from posthouse.office.permit import MalformedScope, Permit, Scope, parse_scope
from posthouse.store.gateports import DocketFilter

HERE = parse_office("http://post.example:8025/main")
BODY = Body("0" * 64, 9)


def permit(*scopes: str) -> Permit:
    return Permit(principal="key a", credential="a", name="a", scopes=tuple(map(parse_scope, scopes)))


def put(*senders: str | None) -> calls.Put:
    return calls.Put(parcels=[Handed(b"", b"", (), Envelope(sender=sender, recipients=("x",))) for sender in senders])


def settle(*boxes: str, office: str = "") -> calls.SettleTaken:
    slips = [
        Slip(message=UUID(int=1), entry=1, token=1, box=box, failures=0, arrived=0, passing=False, office=office)
        for box in boxes
    ]
    return calls.SettleTaken(slips=slips, event="acknowledged")


SEND, READ, ALL = permit("send as ada*"), permit("read orders*"), permit("administer")

# What is asked, and whether it is permitted to: one who sends as ada*, one who reads orders*, one who administers.
CELLS: Final[list[tuple[Call[Any], tuple[bool, bool, bool]]]] = [
    (put("ada"), (True, False, True)),
    (put("ada", "ada.lovelace", "http://post.example:8025/main#ada", "local:#ada"), (True, False, True)),
    (put("ada", "ben"), (False, False, True)),
    (put(None), (False, False, True)),
    (put("http://elsewhere.example:8025/main#ada"), (False, False, True)),
    (put("a name that is none"), (False, False, True)),
    (put(), (True, False, True)),
    (calls.TakeNext(mailbox="orders"), (False, True, True)),
    (calls.TakeNext(mailbox="orders.late"), (False, True, True)),
    (calls.TakeNext(mailbox="http://post.example:8025/main#orders"), (False, True, True)),
    (calls.TakeNext(mailbox="http://elsewhere.example:8025/main#orders"), (False, False, True)),
    (calls.TakeNext(mailbox="order"), (False, False, True)),
    (calls.AwaitArrival(mailbox="orders"), (False, True, True)),
    (calls.AwaitArrival(mailbox="ada"), (False, False, True)),
    (settle("#orders", "#orders2"), (False, True, True)),
    (settle("#orders", "#ada"), (False, False, True)),
    (settle("http://elsewhere.example:8025/main"), (False, False, True)),
    (settle("#orders", office="http://elsewhere.example:8025/main"), (False, False, True)),
    (settle(), (False, True, True)),
    (calls.BeginBody(), (True, False, True)),
    (calls.AddToBody(number=1, piece=b""), (True, False, True)),
    (calls.EndBody(number=1), (True, False, True)),
    (calls.AbandonBody(number=1), (True, False, True)),
    (calls.ReadBody(body=BODY, start=0), (False, True, True)),
    (calls.ListMailboxes(), (False, False, True)),
    (calls.ListSetups(), (False, False, True)),
    (calls.HoldPlace(place="smtp:mill.example"), (False, False, True)),
    (calls.ListHeld(), (False, False, True)),
    (calls.FlushPlace(place="smtp:mill.example"), (False, False, True)),
    (calls.SetUp(setup=Setup(mailbox="orders")), (False, False, True)),
    (calls.ListQueue(box="#orders"), (False, True, True)),
    (calls.ListQueue(box="#ada"), (False, False, True)),
    (calls.ListQueue(box="orders"), (False, False, True)),
    (calls.ListDead(box="#orders"), (False, True, True)),
    (calls.ListDead(), (False, False, True)),
    (calls.RedriveDead(box="#orders"), (False, False, True)),
    (calls.ListAside(), (False, False, True)),
    (calls.ResendAside(), (False, False, True)),
    (calls.Lookup(prefix="0"), (False, False, True)),
    (calls.Tell(message=UUID(int=1)), (False, False, True)),
    (calls.AskStatus(), (False, False, True)),
    (calls.Examine(), (True, True, True)),
    (calls.CreateCredential(name="a", scopes=["administer"]), (False, False, True)),
    (calls.ListCredentials(), (False, False, True)),
    (calls.RevokeCredential(id="a"), (False, False, True)),
    (calls.Reload(), (False, False, False)),
    (calls.Backup(folder="x"), (False, False, False)),
    (calls.Verify(), (False, False, False)),
]


DESK_KINDS: Final = {
    "send": SEND,
    "review": permit("review Legal"),
    "rules": permit("write rules"),
    "organisation": permit("edit organisation"),
    "audit": permit("audit"),
    "administer": ALL,
    "role": Permit(
        principal="account ada",
        credential="account ada",
        name="ada",
        scopes=(),
        address="ada@bakery.example",
        roles=("Legal",),
    ),
}
"""Permits of every kind; `role` is a person who may do what the organisation says and nothing else."""

CASE = UUID(int=1)
LEGAL = ("review", "role")
SOME = ("review", "rules", "organisation", "audit", "administer", "role")
EVERYBODY = tuple(DESK_KINDS)


def legal(call: type[Call[Any]], **fields: Any) -> Call[Any]:
    return call(gatekeeper="Legal", **fields)


def sales(call: type[Call[Any]], **fields: Any) -> Call[Any]:
    return call(gatekeeper="Sales", **fields)


def bag(role: str) -> Call[Any]:
    return deskcalls.WriteMailbag(mailbag=Mailbag(id="", gatekeeper=role, name="later"))


# What is asked of the desk, and of which kind the permits are that reach it.
DESK_CELLS: Final[list[tuple[Call[Any], tuple[str, ...]]]] = [
    (deskcalls.ListDockets(), (*LEGAL, "audit")),
    (deskcalls.ListDockets(chosen=DocketFilter(gatekeeper="Legal")), (*LEGAL, "audit")),
    (deskcalls.ListDockets(chosen=DocketFilter(gatekeeper="Sales")), ("audit",)),
    (deskcalls.CountDockets(), (*LEGAL, "audit")),
    (deskcalls.CountDockets(gatekeeper="Sales"), ("audit",)),
    (deskcalls.TellCase(case=CASE), EVERYBODY),
    (deskcalls.TellCase(case=CASE, gatekeeper="Legal"), (*LEGAL, "audit")),
    (deskcalls.TellCase(case=CASE, gatekeeper="Sales"), ("audit",)),
    (deskcalls.FindCases(prefix="0"), EVERYBODY),
    (legal(deskcalls.OpenDocket, case=CASE, turn=1), LEGAL),
    (sales(deskcalls.OpenDocket, case=CASE, turn=1), ()),
    (legal(deskcalls.Decide, decisions=[]), LEGAL),
    (sales(deskcalls.Decide, decisions=[]), ()),
    (legal(deskcalls.Undo, case=CASE, turn=1), LEGAL),
    (sales(deskcalls.Undo, case=CASE, turn=1), ()),
    (legal(deskcalls.Claim, case=CASE, turn=1), LEGAL),
    (sales(deskcalls.Claim, case=CASE, turn=1), ()),
    (legal(deskcalls.Edit, case=CASE, turn=1, text=""), LEGAL),
    (sales(deskcalls.Edit, case=CASE, turn=1, text=""), ()),
    (legal(deskcalls.Annotate, case=CASE, turn=1), LEGAL),
    (sales(deskcalls.Annotate, case=CASE, turn=1), ()),
    (deskcalls.HoldCase(case=CASE), ("audit",)),
    (deskcalls.Recall(message=CASE), EVERYBODY),
    (legal(deskcalls.SkipStop, case=CASE), ("administer",)),
    (deskcalls.ListMailbags(), (*LEGAL, "audit")),
    (deskcalls.ListMailbags(gatekeeper="Sales"), ("audit",)),
    (bag("Legal"), LEGAL),
    (bag("Sales"), ()),
    (legal(deskcalls.RemoveMailbag, id="x"), LEGAL),
    (legal(deskcalls.RunMailbag, id="x"), LEGAL),
    (sales(deskcalls.RunMailbag, id="x"), ()),
    (deskcalls.ListBooks(), SOME),
    (deskcalls.ListEditions(book="rules"), ("rules", "audit")),
    (deskcalls.ListEditions(book="rules of Legal"), (*LEGAL, "rules", "audit")),
    (deskcalls.ListEditions(book="organisation"), ("rules", "organisation", "audit")),
    (deskcalls.ListEditions(book="policy"), SOME),
    (deskcalls.ReadEdition(book="words swearing"), ("rules", "audit")),
    (deskcalls.ReadEdition(book="rules of Sales"), ("rules", "audit")),
    (deskcalls.ListActivations(book="policy"), SOME),
    (deskcalls.WriteEdition(book="rules", text=""), ("rules",)),
    (deskcalls.WriteEdition(book="rules of Legal", text=""), LEGAL),
    (deskcalls.WriteEdition(book="rules of Sales", text=""), ()),
    (deskcalls.WriteEdition(book="organisation", text=""), ("organisation",)),
    (deskcalls.WriteEdition(book="policy", text=""), ("administer",)),
    (deskcalls.WriteEdition(book="words swearing", text=""), ("rules",)),
    (deskcalls.Activate(book="rules", number=1), ("rules",)),
    (deskcalls.Activate(book="policy", number=1), ("administer",)),
    (deskcalls.ListAudit(), ("audit",)),
    (deskcalls.ListSeals(), ("audit",)),
    (deskcalls.EraseAudit(subject="x"), ("administer",)),
    (deskcalls.ListAccounts(), ("administer",)),
    (deskcalls.WriteAccount(name="ada", password="x" * 12), ("administer", "role")),
    (deskcalls.WriteAccount(name="ada", scopes=["audit"]), ("administer",)),
    (deskcalls.WriteAccount(name="ada", password="x" * 12, scopes=["audit"]), ("administer",)),
    (deskcalls.WriteAccount(name="ben", password="x" * 12), ("administer",)),
    (deskcalls.HearCases(), EVERYBODY),
    (deskcalls.ConfirmClock(), ("administer",)),
]


# G-138, G-197
@pytest.mark.parametrize(("call", "expected"), DESK_CELLS, ids=lambda value: type(value).__name__)
def test_each_call_of_the_desk(call: Call[Any], expected: tuple[str, ...]) -> None:
    assert {kind for kind, one in DESK_KINDS.items() if permits(one, call, office=HERE) is None} == set(expected)


# G-197
def test_a_pattern_of_roles_covers_what_it_says() -> None:
    call = deskcalls.ListDockets(chosen=DocketFilter(gatekeeper="Head of Sales"))
    assert permits(permit("review Head of *"), call, office=HERE) is None
    assert permits(permit("review Head"), call, office=HERE) is not None
    assert permits(permit("review *"), call, office=HERE) is None


@pytest.mark.parametrize(("call", "expected"), CELLS, ids=lambda value: type(value).__name__)
def test_each_call(call: Call[Any], expected: tuple[bool, bool, bool]) -> None:
    assert tuple(permits(one, call, office=HERE) is None for one in (SEND, READ, ALL)) == expected


def test_every_call_has_a_rule_and_a_cell() -> None:
    assert set(RULES) == set(calls.REPLIES) | set(deskcalls.DESK_REPLIES)
    assert set(calls.REPLIES) == {type(call) for call, _ in CELLS}
    assert set(deskcalls.DESK_REPLIES) == {type(call) for call, _ in DESK_CELLS}


def test_a_refusal_says_which_scope_is_missing() -> None:
    refusal = permits(READ, calls.TakeNext(mailbox="ovens"), office=HERE)
    assert refusal is not None
    assert (refusal.what, refusal.hint) == (
        "the key does not permit to read ovens",
        "that needs a key with the scope `read ovens`",
    )


def test_only_a_star_alone_covers_everything() -> None:
    everything = permit("send as *")
    assert permits(everything, put(None, "ben", "http://elsewhere.example:8025/main#ada"), office=HERE) is None
    assert permits(permit("send as http*"), put("http://elsewhere.example:8025/main#ada"), office=HERE) is not None
    elsewhere = permit("send as http://elsewhere.example:8025/main#a*")
    assert permits(elsewhere, put("http://elsewhere.example:8025/main#ada"), office=HERE) is None
    assert permits(elsewhere, put("ada"), office=HERE) is not None


def test_nothing_but_a_star_is_special_in_a_pattern() -> None:
    assert permits(permit("read a.c"), calls.TakeNext(mailbox="abc"), office=HERE) is not None
    assert permits(permit("read *b*"), calls.TakeNext(mailbox="abc"), office=HERE) is None
    assert permits(permit(f"read {'a*' * 40}b"), calls.TakeNext(mailbox="a" * 200), office=HERE) is not None


@pytest.mark.parametrize(
    ("scopes", "principal", "seen"),
    [
        (("read orders",), "key b", True),
        (("read ovens",), "key b", False),
        (("send as ada",), "key a", True),
        (("administer",), "key b", True),
    ],
)
def test_a_story_is_for_its_sender_and_its_readers(scopes: tuple[str, ...], principal: str, seen: bool) -> None:
    envelope = Envelope(sender="ada", recipients=("orders", "copies"), blind=("ovens",), principal=principal)
    story = Story(head=b"", body=b"", sections=(), envelope=envelope, accepted=0, steps=[])
    assert (permits_story(permit(*scopes), story, office=HERE) is None) is seen


@pytest.mark.parametrize(
    "text",
    [
        "send as ada",
        "read orders*",
        "administer",
        "read http://a.example:8025/main#x",
        "review Head of Sales",
        "review *",
        "write rules",
        "edit organisation",
        "audit",
    ],
)
def test_a_scope_is_printed_as_it_was_read(text: str) -> None:
    assert str(parse_scope(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "send ada",
        "read",
        "read a b",
        "administer x",
        "write x",
        "read a\nb",
        "read " + "x" * 200,
        "review",
        "review ",
        "audit x",
        "write",
        "review a\x00b",
        "edit  organisation",
    ],
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(MalformedScope):
        parse_scope(text)


def test_scopes_are_values() -> None:
    assert parse_scope(" send as  ada ") == Scope("send", "ada")


def test_what_was_taken_elsewhere_is_settled_by_whoever_may_read_there() -> None:
    there = "http://elsewhere.example:8025/main"
    reader = permit(f"read {there}#orders")
    assert permits(reader, calls.TakeNext(mailbox=f"{there}#orders"), office=HERE) is None
    assert permits(reader, settle("#orders", office=there), office=HERE) is None
    assert permits(reader, settle("#orders"), office=HERE) is not None
    assert permits(reader, settle("#ovens", office=there), office=HERE) is not None
