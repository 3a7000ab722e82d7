from __future__ import annotations

from itertools import count

import pytest

from posthouse.transport.smtp.mx import DeadEnd, Mx, exchangers, literal, mixed

OWN = frozenset({"post.example"})


def no_chance() -> float:
    return 0.5


def test_the_nearest_is_tried_first() -> None:
    records = [Mx(20, "b.example."), Mx(10, "A.example."), Mx(30, "c.example.")]
    assert exchangers("two.example", records, own=OWN, chance=no_chance) == ["a.example", "b.example", "c.example"]


def test_equals_are_mixed() -> None:
    numbers = count()
    records = [Mx(10, "a.example."), Mx(10, "b.example.")]
    assert exchangers("x.example", records, own=OWN, chance=lambda: -next(numbers)) == ["b.example", "a.example"]


def test_without_records_the_domain_is_the_host() -> None:
    assert exchangers("two.example", [], own=OWN, chance=no_chance) == ["two.example"]


def test_a_domain_may_take_no_mail() -> None:
    """RFC 7505"""
    assert exchangers("two.example", [Mx(0, ".")], own=OWN, chance=no_chance) == DeadEnd(
        "two.example takes no mail", "5.1.10"
    )


def test_hosts_no_nearer_than_this_one_are_left_out() -> None:
    """RFC 5321, section 5.1"""
    records = [Mx(10, "a.example."), Mx(20, "post.example."), Mx(20, "b.example."), Mx(30, "c.example.")]
    assert exchangers("two.example", records, own=OWN, chance=no_chance) == ["a.example"]


def test_mail_that_comes_back_here_is_stopped() -> None:
    found = exchangers("two.example", [Mx(10, "post.example.")], own=OWN, chance=no_chance)
    assert isinstance(found, DeadEnd)
    assert found.status == "5.4.6"


def test_nobody_sends_a_mail_on_an_endless_round() -> None:
    records = [Mx(number, f"h{number}.example.") for number in range(100)]
    assert len(exchangers("two.example", records, own=OWN, chance=no_chance)) == 10


@pytest.mark.parametrize(
    ("domain", "address"),
    [("[127.0.0.1]", "127.0.0.1"), ("[ipv6:::1]", "::1"), ("[ipv6:x]", None), ("two.example", None)],
)
def test_a_domain_in_brackets_is_an_address(domain: str, address: str | None) -> None:
    assert literal(domain) == address


def test_addresses_of_both_kinds_take_turns() -> None:
    assert mixed(["1.1.1.1", "::1", "2.2.2.2", "::2", "3.3.3.3"], chance=no_chance) == [
        "::1", "1.1.1.1", "::2", "2.2.2.2", "3.3.3.3",
    ]  # fmt: skip
