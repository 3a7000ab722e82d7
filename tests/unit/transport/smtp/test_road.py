from __future__ import annotations

import pytest

from posthouse.message.mailroute import Routes
from posthouse.testing.clock import FakeClock
from posthouse.transport.smtp.mx import DeadEnd, Mx
from posthouse.transport.smtp.names import NamesUnavailable, NoSuchName
from posthouse.transport.smtp.road import Road, Roads
from posthouse.transport.smtp.sts import Policies, allows, read_policy, read_record

POLICY = "version: STSv1\r\nmode: enforce\r\nmx: *.two.example\r\nmx: other.example\r\nmax_age: 86400\r\n"


class Told:
    """See `Names`: what a test says the DNS says."""

    def __init__(self, **answers: object) -> None:
        self.mx: dict[str, list[Mx]] = {}
        self.hosts: dict[str, list[str]] = {}
        self.txt: dict[str, list[str]] = {}
        self.silent: set[str] = set()
        self.asked: list[str] = []
        self.__dict__.update(answers)

    async def exchangers(self, domain: str) -> list[Mx]:
        self._hear(domain)
        if domain not in self.mx and domain not in self.hosts:
            raise NoSuchName(f"there is no domain {domain}")
        return self.mx.get(domain, [])

    async def addresses(self, host: str) -> list[str]:
        self._hear(host)
        return self.hosts.get(host, [])

    async def texts(self, name: str) -> list[str]:
        self._hear(name)
        return self.txt.get(name, [])

    def _hear(self, name: str) -> None:
        self.asked.append(name)
        if name in self.silent:
            raise NamesUnavailable(f"{name}: no answer")


class Web:
    """What a test says stands on the web."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fetched = 0

    async def fetch(self, _domain: str) -> str:
        self.fetched += 1
        return self.text


def roads(told: Told, *, web: Web | None = None, clock: FakeClock | None = None, route: str = "mx") -> Roads:
    clock = clock or FakeClock()
    policies = Policies(clock, told, fetch=web.fetch) if web is not None else None
    return Roads(clock, told, routes=Routes([("*", route)]), policies=policies, own={"post.example"})


async def places(of: Roads, domain: str) -> list[str]:
    road = await of.find(domain)
    assert isinstance(road, Road)
    return [str(address.place) async for address in of.addresses(road)]


async def test_the_road_leads_over_all_hosts_and_their_addresses() -> None:
    told = Told(
        mx={"two.example": [Mx(10, "a.example."), Mx(20, "b.example.")]},
        hosts={"a.example": ["192.0.2.1", "2001:db8::1"], "b.example": ["192.0.2.2"]},
    )
    assert await places(roads(told), "two.example") == [
        "a.example[2001:db8::1]:25", "a.example[192.0.2.1]:25", "b.example[192.0.2.2]:25",
    ]  # fmt: skip


async def test_a_domain_without_mx_is_its_own_host() -> None:
    assert await places(roads(Told(hosts={"two.example": ["192.0.2.1"]})), "two.example") == [
        "two.example[192.0.2.1]:25"
    ]


async def test_an_unknown_domain_is_a_dead_end() -> None:
    assert isinstance(await roads(Told()).find("two.example"), DeadEnd)


async def test_a_silent_dns_is_no_dead_end() -> None:
    with pytest.raises(NamesUnavailable):
        await roads(Told(silent={"two.example"})).find("two.example")


async def test_one_host_that_cannot_be_looked_up_leaves_the_others() -> None:
    told = Told(
        mx={"two.example": [Mx(10, "a.example."), Mx(20, "b.example.")]}, hosts={"b.example": ["192.0.2.2"]},
        silent={"a.example"},
    )  # fmt: skip
    of = roads(told)
    road = await of.find("two.example")
    assert isinstance(road, Road)
    addresses = of.addresses(road)
    assert str((await anext(addresses)).place) == "b.example[192.0.2.2]:25"
    with pytest.raises(NamesUnavailable):
        await anext(addresses)


async def test_a_route_asks_the_dns_for_one_host_only() -> None:
    told = Told(hosts={"relay.example": ["192.0.2.9"]})
    assert await places(roads(told, route="smtp://relay.example:2525"), "two.example") == [
        "relay.example[192.0.2.9]:2525"
    ]
    assert told.asked == ["relay.example"]


async def test_an_address_needs_no_dns() -> None:
    told = Told()
    assert await places(roads(told), "[192.0.2.1]") == ["192.0.2.1:25"]
    assert told.asked == []


async def test_a_policy_that_is_enforced_chooses_the_hosts_and_encrypts() -> None:
    told = Told(
        mx={"two.example": [Mx(10, "evil.example."), Mx(20, "mx.two.example.")]},
        txt={"_mta-sts.two.example": ["v=STSv1; id=2026;"]},
    )
    road = await roads(told, web=Web(POLICY)).find("two.example")
    assert isinstance(road, Road)
    assert (road.hosts, road.encryption) == (("mx.two.example",), "must")


async def test_a_policy_no_host_keeps_lets_nothing_through_for_now() -> None:
    told = Told(mx={"two.example": [Mx(10, "evil.example.")]}, txt={"_mta-sts.two.example": ["v=STSv1; id=1;"]})
    with pytest.raises(NamesUnavailable, match="allows none"):
        await roads(told, web=Web(POLICY)).find("two.example")


async def test_a_policy_is_kept_as_long_as_it_says_even_where_the_dns_falls_silent() -> None:
    told = Told(mx={"two.example": [Mx(10, "mx.two.example.")]}, txt={"_mta-sts.two.example": ["v=STSv1; id=1;"]})
    web, clock = Web(POLICY), FakeClock()
    of = roads(told, web=web, clock=clock)
    for _ in range(3):
        await of.find("two.example")
    told.txt.clear()
    road = await of.find("two.example")
    assert isinstance(road, Road)
    assert (road.encryption, web.fetched) == ("must", 1)
    clock.advance(90_000)
    road = await of.find("two.example")
    assert isinstance(road, Road)
    assert road.encryption == "may"


async def test_a_new_policy_is_fetched_and_a_broken_one_not_asked_for_all_the_time() -> None:
    told = Told(mx={"two.example": [Mx(10, "mx.two.example.")]}, txt={"_mta-sts.two.example": ["v=STSv1; id=1;"]})
    web = Web(POLICY)
    of = roads(told, web=web)
    await of.find("two.example")
    told.txt["_mta-sts.two.example"] = ["v=STSv1; id=2;"]
    web.text = "broken"
    for _ in range(3):
        road = await of.find("two.example")
        assert isinstance(road, Road)
        assert road.encryption == "must", "the old one holds"
    assert web.fetched == 2


@pytest.mark.parametrize(
    "text",
    ["", "version: STSv2\nmode: enforce\nmx: a\nmax_age: 1", "version: STSv1\nmode: enforce\nmax_age: 1",
     "version: STSv1\nmode: enforce\nmx: a\nmax_age: x", "version: STSv1\nmx: a\nmax_age: 1"],
)  # fmt: skip
def test_what_is_no_policy_counts_as_none(text: str) -> None:
    assert read_policy(text) is None


def test_a_star_stands_for_one_label() -> None:
    policy = read_policy(POLICY)
    assert policy is not None
    assert allows(policy, "MX.two.example.")
    assert allows(policy, "other.example")
    assert not allows(policy, "a.b.two.example")
    assert not allows(policy, "two.example")


def test_two_records_are_none() -> None:
    assert read_record(["v=STSv1; id=1;", "v=STSv1; id=2;"]) is None
    assert read_record(["v=spf1 -all", "v=STSv1; id=20260101T000000"]) == "20260101T000000"
