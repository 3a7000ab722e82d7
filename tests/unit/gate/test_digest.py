"""The digest of a gatekeeper."""

from __future__ import annotations

from collections import Counter

from posthouse.gate.calendar import Span
from posthouse.gate.digest import DAY, Handled, expiring, handled, wants_digests, written
from posthouse.gate.policy import DEFAULT, read_policy
from posthouse.gate.record import record
from posthouse.testing.build import START
from posthouse.testing.gated import docket


# G-177
def test_it_tells_what_expires_and_what_was_handled_by_which_rule() -> None:
    soon = [docket(1, expires=START + 5, subject="late"), docket(2, expires=START + 4, subject="soon")]
    counts = Counter({Handled("reviewer", "released", "rule known"): 3, Handled("another", "deleted", "rule x"): 9})
    digest = written("Reviewer", soon=soon, counts=counts)
    assert digest is not None
    subject, text = digest
    assert subject == "Reviewer: 2 expire soon, 3 handled"
    assert text.index("soon from alice") < text.index("late from alice")
    assert "3 released by rule known" in text
    assert "deleted" not in text
    assert written("Reviewer", soon=[], counts=Counter()) is None


# G-177
def test_only_what_expires_within_a_day_counts() -> None:
    rows = [docket(number, expires=at) for number, at in enumerate((START + DAY, START + DAY + 1, None), 1)]
    assert expiring([*rows, docket(4, folder="bag", expires=START)], now=START) == rows[:1]


# G-177
def test_what_a_person_did_was_not_handled_by_itself() -> None:
    for by, found in (("rules", Handled("g1", "released", "rule r")), ("person", None)):
        entry = record("case.released", "c", at=START, actor="rules of g1", by=by, gatekeeper="g1", rule="r")
        assert handled(entry.act, entry.payload, actor=entry.actor) == found
    assert handled("case.gated", b"\x80", actor="rules") is None


# G-177
def test_the_policy_says_who_gets_one() -> None:
    assert not wants_digests(DEFAULT)
    policy = read_policy('digest_hour = 6\n[gatekeeper."g1"]\ndigest = "daily"\n')
    assert wants_digests(policy)
    assert (policy.digest_hour, policy.habits("G1").digest, policy.habits("g2").digest) == (6, "daily", "off")


# G-172
def test_how_long_the_desk_sleeps_at_most_is_a_setting() -> None:
    assert Span(60, "seconds") == DEFAULT.wake
    assert read_policy('wake = "5 seconds"').wake == Span(5, "seconds")
