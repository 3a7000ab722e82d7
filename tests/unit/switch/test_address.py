from __future__ import annotations

import msgspec

from posthouse.message.changes import Setup
from posthouse.message.journey import Journey, Target
from posthouse.message.name import LOCAL, parse_office
from posthouse.message.passage import Facts, Limits
from posthouse.message.verdict import Verdict
from posthouse.switch.address import address, box_of
from posthouse.testing.journey import facts, journey

EAST = msgspec.structs.replace(facts(), here=frozenset({LOCAL, parse_office("local:east")}))


def targets_of(*recipients: str, blind: tuple[str, ...] = (), known: Facts = EAST) -> tuple[Target, ...]:
    passage = address([journey(recipients=recipients, blind=blind)], known)
    (after,) = passage.going
    assert after.luggage.verdict.action == "pass"
    return after.luggage.targets


def refusal_of(*recipients: str, known: Facts = EAST) -> Verdict:
    passage = address([journey(recipients=recipients)], known)
    assert passage.going == passage.waiting == ()
    (after,) = passage.stopped
    assert after.luggage.targets == ()
    return after.luggage.verdict


def code_of(*recipients: str, known: Facts = EAST) -> str:
    return refusal_of(*recipients, known=known).reasons[0].code


def test_a_mailbox_of_this_office_is_taken_from() -> None:
    """A-047, A-053"""
    assert targets_of("bob") == (Target("#bob", "take", ("local:#bob",)),)
    assert targets_of("local:east#bob") == (Target("#bob", "take", ("local:east#bob",)),)


def test_an_office_elsewhere_is_delivered_to() -> None:
    """A-047"""
    assert targets_of("local:west#bob") == (Target("local:west", "deliver", ("local:west#bob",)),)


def test_every_place_is_gone_to_once() -> None:
    targets = targets_of("local:west#a", "bob", "local:west#b", "local:east#bob", blind=("local:west#c", "bob"))
    assert targets == (
        Target("local:west", "deliver", ("local:west#a", "local:west#b", "local:west#c")),
        Target("#bob", "take", ("local:#bob", "local:east#bob")),
    )


def test_blind_recipients_are_gone_to_as_well() -> None:
    assert [target.box for target in targets_of("bob", blind=("carol",))] == ["#bob", "#carol"]


def test_a_malformed_name_is_refused_with_its_place() -> None:
    verdict = refusal_of("bob", "not a name")
    assert verdict.reasons[0].code == "name.malformed"
    assert not verdict.temporary
    assert "column 4" in verdict.text


def test_a_protocol_without_a_door_is_refused() -> None:
    assert code_of("http://post.example:8025/main#bob") == "protocol.unknown"


def test_a_closed_mailbox_is_refused_for_now() -> None:
    verdict = refusal_of("bob", known=facts(Setup(mailbox="bob", closed=True)))
    assert (verdict.reasons[0].code, verdict.temporary) == ("mailbox.closed", True)


def test_an_open_mailbox_with_settings_is_no_different() -> None:
    assert targets_of("bob", known=facts(Setup(mailbox="bob", max_messages=1)))


def test_only_listed_mailboxes_exist_where_that_is_asked_for() -> None:
    """A-060"""
    listed = facts(Setup(mailbox="bob"), limits=Limits(listed_only=True))
    assert targets_of("bob", known=listed)
    assert code_of("carol", known=listed) == "mailbox.unknown"
    assert not refusal_of("carol", known=listed).temporary
    assert targets_of("local:west#carol", known=listed), "other offices know their own mailboxes"


def test_one_recipient_that_cannot_be_reached_stops_the_whole_message() -> None:
    assert code_of("bob", "http://post.example:8025/main#bob") == "protocol.unknown"


def test_a_batch_is_divided() -> None:
    batch = [journey(recipients=("not a name",)), journey(), journey(recipients=())]
    passage = address(batch, EAST)
    assert len(passage.stopped) == 1
    going: list[Journey] = list(passage.going)
    assert [len(each.luggage.targets) for each in going] == [1, 0]


def test_the_box_of_a_mailbox_cannot_be_that_of_an_office() -> None:
    assert box_of("local:west") == "#local:west"
