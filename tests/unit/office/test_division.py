from __future__ import annotations

from posthouse.message.answer import Answer
from posthouse.message.envelope import Envelope
from posthouse.message.features import Features
from posthouse.message.journey import Journey, Luggage, Target, unpack
from posthouse.office.division import Ending, end
from posthouse.office.terms import SECOND, Patience
from posthouse.route import END
from posthouse.testing.build import START
from posthouse.testing.journey import message
from posthouse.transport.ports import Result, result_of

BOX = "smtp:two.example"
BOB, CAROL, DAVE = (f"smtp:{name}@two.example" for name in ("bob", "carol", "dave"))
PATIENCE = Patience(first_pause=1.0, growth=2.0, longest_pause=8.0, deferral=60.0, give_up_after=3_600.0)


def journey(**luggage: object) -> Journey:
    envelope = Envelope(recipients=(BOB, CAROL, DAVE))
    bare = Luggage(envelope=envelope, features=Features(2, None, 3, 0, START), stage=END)
    return Journey(message(), bare).carrying(targets=(Target(BOX, "deliver", envelope.recipients),), **luggage)


def ended(result: Result, *, after: float = 0.0, given: Journey | None = None) -> Ending:
    now = START + int(after * SECOND)
    return end(given or journey(), result, arrived=START, now=now, patience=PATIENCE, chance=0.5)


def said(**statuses: str) -> Result:
    names = {"bob": BOB, "carol": CAROL, "dave": DAVE}
    # A test says the status as the door would.
    return result_of([Answer(names[name], status, f"{name} said so") for name, status in statuses.items()])  # type: ignore[arg-type]


def test_what_a_door_says_of_all_holds_for_all() -> None:
    assert ended(Result("delivered")).event == "delivered"
    assert ended(Result("unreachable", "nobody")) == Ending("unreachable", "nobody", ())
    assert ended(Result("refused", "no")).event == "refused"


def test_one_fate_for_all_needs_no_division() -> None:
    assert ended(said(bob="delivered", carol="delivered", dave="delivered")).event == "delivered"
    refused = ended(said(bob="refused", carol="refused", dave="refused"))
    assert (refused.event, len(refused.answers), refused.onward) == ("refused", 3, None)


def test_each_fate_has_its_entry_and_what_is_delivered_none() -> None:
    ending = ended(said(bob="delivered", carol="deferred", dave="refused"))
    assert ending.event == "divided"
    assert ending.onward is not None
    later, over = ending.onward.entries
    assert later.not_before == START + 60 * SECOND
    carol = unpack(message(), later.luggage).luggage
    assert (carol.targets[0].recipients, carol.since, carol.tries, carol.answers) == ((CAROL,), START, 1, ())
    assert over.not_before is None
    dave = unpack(message(), over.luggage).luggage
    assert dave.targets[0].recipients == (DAVE,)
    assert [answer.reason for answer in dave.answers] == ["dave said so"]
    assert ending.onward.step.happened == "divided"


def test_what_is_put_off_waits_longer_each_time() -> None:
    waits = []
    for tries in range(4):
        ending = ended(Result("deferred", "later"), given=journey(tries=tries))
        assert ending.onward is not None
        (entry,) = ending.onward.entries
        assert entry.not_before is not None
        waits.append((entry.not_before - START) // SECOND)
        assert ending.onward.step.happened == "retry"
    assert waits == [60, 60, 60, 60], "no pause is longer than the longest, or than the first where that is longer"


def test_what_is_put_off_too_long_is_given_up_from_its_first_try() -> None:
    ending = ended(Result("deferred", "451 later"), after=3_000, given=journey(since=START - 1_000 * SECOND))
    assert ending.event == "refused"
    assert ending.answers[0].reason == "not delivered in the time given: 451 later"
    assert ending.answers[0].code == "4.4.7"


def test_an_earlier_division_does_not_begin_the_time_anew() -> None:
    ending = ended(said(bob="delivered", carol="deferred", dave="deferred"), given=journey(since=START - 5, tries=3))
    assert ending.onward is not None
    (entry,) = ending.onward.entries
    assert unpack(message(), entry.luggage).luggage.since == START - 5
