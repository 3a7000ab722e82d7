"""Buckets fill by themselves, and no faster than they may."""

from __future__ import annotations

import pytest

from posthouse.web.bucket import Bucket, Buckets, Rate, client_of, draw

RATE = Rate(10.0, 20.0)


def test_a_burst_is_let_through_and_then_the_rate() -> None:
    bucket: Bucket | None = None
    for _ in range(20):
        bucket, wait = draw(bucket, RATE, now=5.0)
        assert wait == 0
    bucket, wait = draw(bucket, RATE, now=5.0)
    assert wait == pytest.approx(0.1)
    bucket, wait = draw(bucket, RATE, now=5.1)
    assert wait == pytest.approx(0.0, abs=1e-9)
    assert draw(bucket, RATE, now=1_000.0)[0].left == 19


def test_clients_do_not_pay_for_each_other() -> None:
    buckets = Buckets()
    rate = Rate(1.0, 1.0)
    assert buckets.draw("a", rate, now=0.0) == 0
    assert buckets.draw("a", rate, now=0.0) > 0
    assert buckets.draw("b", rate, now=0.0) == 0


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
    ],
)
def test_a_network_counts_as_one_client(address: str, client: str) -> None:
    assert client_of(address) == client
