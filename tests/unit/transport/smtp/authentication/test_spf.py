"""SPF on answers a test gives."""

from __future__ import annotations

import pytest

from posthouse.testing.lookup import FakeLookup, Zone, questions
from posthouse.transport.smtp.authentication.lookup import Questions
from posthouse.transport.smtp.authentication.spf import check_spf, domain_of_spf
from posthouse.transport.smtp.mx import Mx

CLIENT = "192.0.2.1"


def spf(record: bytes, more: Zone | None = None) -> Zone:
    return {("mill.example", "TXT"): [b"unrelated", record], **(more or {})}


@pytest.mark.parametrize(
    ("zone", "result"),
    [
        (spf(b"v=spf1 ip4:192.0.2.0/24 -all"), "pass"),
        (spf(b"v=spf1 ip4:198.51.100.1 -all"), "fail"),
        (spf(b"v=spf1 ip4:198.51.100.1 ~all"), "softfail"),
        (spf(b"v=spf1 ip4:198.51.100.1 ?all"), "neutral"),
        (spf(b"v=spf1 -all exp=why.mill.example"), "fail"),
        (spf(b"v=spf10 -all"), "none"),
        ({}, "none"),
        (spf(b"v=spf1 nonsense -all"), "permerror"),
        (spf(b"v=spf1 ip4:192.0.2.300 -all"), "permerror"),
        (spf(b"v=spf1 a:host.example -all", {("host.example", "A"): ["192.0.2.1"]}), "pass"),
        (spf(b"v=spf1 mx -all", {
            ("mill.example", "MX"): [Mx(10, "mx.example.")], ("mx.example", "A"): [CLIENT],
        }), "pass"),
        (spf(b"v=spf1 ptr:mill.example -all", {
            ("1.2.0.192.in-addr.arpa", "PTR"): ["out.mill.example."], ("out.mill.example", "A"): [CLIENT],
        }), "pass"),
        (spf(b"v=spf1 include:other.example -all", {("other.example", "TXT"): [b"v=spf1 ip4:192.0.2.1 -all"]}), "pass"),
        (spf(b"v=spf1 redirect=other.example", {("other.example", "TXT"): [b"v=spf1 -all"]}), "fail"),
        (spf(b"v=spf1 include:nowhere.example -all"), "permerror"),
        (spf(b"v=spf1 exists:%{i}._x.example -all", {("192.0.2.1._x.example", "A"): ["127.0.0.2"]}), "pass"),
        ({("mill.example", "TXT"): [b"v=spf1 +all", b"v=spf1 -all"]}, "permerror"),
        ({("mill.example", "TXT"): [b"v=spf1 \xff\xfe -all"]}, "permerror"),
        ({("mill.example", "TXT"): "broken"}, "temperror"),
        (spf(b"v=spf1 a:host.example -all", {("host.example", "A"): "broken"}), "temperror"),
    ],
)  # fmt: skip
def test_what_a_record_says(zone: Zone, result: str) -> None:
    assert check_spf(CLIENT, "cleo@mill.example", helo="mill.example", questions=questions(zone)) == result


def test_answers_that_are_none_are_counted() -> None:
    """RFC 7208, section 4.6.4: two may be void."""
    two = spf(b"v=spf1 a:a.example a:b.example ip4:192.0.2.1 -all")
    three = spf(b"v=spf1 a:a.example a:b.example a:c.example ip4:192.0.2.1 -all")
    assert check_spf(CLIENT, "cleo@mill.example", helo="x", questions=questions(two)) == "pass"
    assert check_spf(CLIENT, "cleo@mill.example", helo="x", questions=questions(three)) == "permerror"


def test_records_that_lead_in_circles_end() -> None:
    dns = FakeLookup({("mill.example", "TXT"): [b"v=spf1 include:mill.example -all"]})
    asked = Questions(dns, lambda: 0.0, deadline=1.0)
    assert check_spf(CLIENT, "cleo@mill.example", helo="x", questions=asked) == "permerror"
    assert len(dns.asked) == 1


def test_eleven_includes_are_too_many() -> None:
    zone: dict[tuple[str, str], list[bytes]] = {
        (f"d{number}.example", "TXT"): [b"v=spf1 include:d%d.example ?all" % (number + 1)] for number in range(20)
    }
    assert check_spf(CLIENT, "cleo@d0.example", helo="x", questions=questions(zone)) == "permerror"


def test_a_mail_without_sender_is_answered_for_by_its_helo() -> None:
    zone = {("out.mill.example", "TXT"): [b"v=spf1 ip4:192.0.2.1 -all"]}
    assert check_spf(CLIENT, None, helo="out.mill.example", questions=questions(zone)) == "pass"
    assert domain_of_spf(None, "out.mill.example") == "out.mill.example"


def test_ipv6_has_records_of_its_own() -> None:
    zone = spf(b"v=spf1 a:host.example ip6:2001:db8::/32 -all", {("host.example", "A"): ["192.0.2.1"]})
    assert check_spf("2001:db8::1", "cleo@mill.example", helo="x", questions=questions(zone)) == "pass"
    assert check_spf("2001:db9::1", "cleo@mill.example", helo="x", questions=questions(zone)) == "fail"


@pytest.mark.parametrize(
    "sender",
    ["cleo@[192.0.2.1]", "cleo@localhost", "cleo@", "@", "a b@c d", "cleo@" + "x" * 70 + ".example", "\0@\0.x"],
)
def test_a_sender_without_a_domain_has_no_record(sender: str) -> None:
    assert check_spf(CLIENT, sender, helo="[192.0.2.1]", questions=questions({})) == "none"


def test_a_domain_in_other_letters_is_asked_for_in_those_of_the_dns() -> None:
    zone = {("xn--mhle-0ra.example", "TXT"): [b"v=spf1 ip4:192.0.2.1 -all"]}
    assert check_spf(CLIENT, "cleo@mühle.example", helo="x", questions=questions(zone)) == "pass"


@pytest.mark.parametrize(
    "record",
    [
        b"v=spf1 " + b" " * 8_000, b"v=spf1 " + b"a " * 4_000, b"v=spf1 exists:" + b"%{l}" * 1_900, b"v=spf1 %",
        b"v=spf1 " + b"a=" * 4_000, b"v=spf1 exp=" + b"%{p}" * 500 + b" -all", b"v=spf1 a:" + b"." * 8_000,
        b"v=spf1 ip6:" + b":" * 8_000, b"v=spf1 include:%{s9999999999r}.example", bytes(8_000),
        b"v=spf1 " + b"-" * 8_000,
    ],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_a_hostile_record_is_some_result_soon(record: bytes) -> None:
    zone = {("mill.example", "TXT"): [record]}
    result = check_spf(CLIENT, f"{'x' * 60}@mill.example", helo="x", questions=questions(zone))
    assert result in {"none", "permerror", "neutral", "fail"}
