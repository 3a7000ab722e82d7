"""All faults of an input told as one error, for who can be told one only."""

from __future__ import annotations

from posthouse.errors import as_one
from posthouse.office.mailbox import BadRequest


def test_one_fault_is_itself() -> None:
    fault = BadRequest("expected a name")
    assert as_one(ExceptionGroup("", [fault])) is fault


def test_many_faults_are_told_together() -> None:
    faults = [BadRequest("expected a name", where="line 1", hint="write one"), BadRequest("expected less", where="x")]
    one = as_one(ExceptionGroup("", [ExceptionGroup("", faults[:1]), faults[1]]))
    assert isinstance(one, BadRequest)
    assert str(one) == "line 1: expected a name; x: expected less (write one)"


def test_a_bug_among_them_stays_a_bug() -> None:
    assert as_one(ExceptionGroup("", [BadRequest("expected a name"), KeyError("x")])) is None
