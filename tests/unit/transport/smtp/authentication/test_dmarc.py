"""DMARC: whose domain it is, what it asks for, and what is near enough to it."""

from __future__ import annotations

import pytest

from posthouse.testing.lookup import Zone, questions
from posthouse.transport.smtp.authentication.dmarc import Found, Proof, check_dmarc, organisation_of


def zone(record: bytes, domain: str = "mill.example") -> Zone:
    return {(f"_dmarc.{domain}", "TXT"): [b"unrelated", record]}


REJECT = zone(b"v=DMARC1; p=reject")
STRICT = zone(b"v=DMARC1; p=reject; adkim=s; aspf=s")
NOTHING = Proof("fail", "mill.example", "none", ())


def by_spf(domain: str) -> Proof:
    return Proof("pass", domain, "none", ())


def by_dkim(*domains: str) -> Proof:
    return Proof("fail", "elsewhere.example", "pass", domains)


@pytest.mark.parametrize(
    ("proof", "answers", "result"),
    [
        (by_spf("mill.example"), REJECT, "pass"),
        (by_spf("bounce.mill.example"), REJECT, "pass"),
        (by_spf("bounce.mill.example"), STRICT, "fail"),
        (by_spf("mill.example"), STRICT, "pass"),
        (by_spf("elsewhere.example"), REJECT, "fail"),
        (by_spf("notmill.example"), REJECT, "fail"),
        (by_dkim("mill.example"), REJECT, "pass"),
        (by_dkim("elsewhere.example", "news.mill.example"), REJECT, "pass"),
        (by_dkim("news.mill.example"), STRICT, "fail"),
        (by_dkim("example"), REJECT, "fail"),
        (NOTHING, REJECT, "fail"),
        (NOTHING, {}, "none"),
        (Proof("temperror", "mill.example", "none", ()), REJECT, "temperror"),
        (Proof("fail", "mill.example", "temperror", ()), REJECT, "temperror"),
        (Proof("temperror", "x.example", "pass", ("mill.example",)), REJECT, "pass"),
        (NOTHING, {("_dmarc.mill.example", "TXT"): "broken"}, "temperror"),
        (NOTHING, {("_dmarc.mill.example", "TXT"): [b"v=DMARC1; p=reject"] * 2}, "none"),
        (NOTHING, zone(b"p=reject; v=DMARC1"), "none"),
        (NOTHING, zone(b"v=DMARC1; p=\xff\xfe"), "none"),
        (Proof(None, "", "none", ()), REJECT, None),
        (Proof(None, "", "pass", ("mill.example",)), REJECT, "pass"),
        (Proof("pass", "mill.example", None, ()), REJECT, "pass"),
        (Proof("fail", "mill.example", None, ()), REJECT, None),
    ],
)
def test_a_proof_has_to_be_for_the_author(proof: Proof, answers: Zone, result: str | None) -> None:
    assert check_dmarc(["cleo@mill.example"], proof, questions=questions(answers)).result == result


@pytest.mark.parametrize(
    ("record", "own", "below"),
    [
        (b"v=DMARC1; p=reject", "reject", "reject"),
        (b"v=DMARC1; p=none; sp=quarantine", "none", "quarantine"),
        (b"v=DMARC1;p=Reject;sp=none;", "reject", "none"),
        (b"v=DMARC1; p=odd; rua=mailto:d@mill.example", "none", "none"),
        (b"v=DMARC1; p=odd", "", ""),
        (b"v=DMARC1; rua=mailto:d@mill.example", "none", "none"),
    ],
)
def test_a_domain_speaks_for_those_below_it(record: bytes, own: str, below: str) -> None:
    for author, wanted in (("cleo@mill.example", own), ("cleo@deep.news.mill.example", below)):
        found = check_dmarc([author], NOTHING, questions=questions(zone(record)))
        assert found == (Found("fail", wanted) if wanted else Found("none"))


def test_a_policy_of_ones_own_goes_before() -> None:
    answers = {**zone(b"v=DMARC1; p=reject"), **zone(b"v=DMARC1; p=none", "news.mill.example")}
    assert check_dmarc(["c@news.mill.example"], NOTHING, questions=questions(answers)).wanted == "none"


@pytest.mark.parametrize(
    "authors", [[], ["nobody"], ["a@mill.example", "b@bakery.example"], ["a@localhost"], ["a@" + "ü" * 90 + ".example"]]
)
def test_a_mail_needs_one_domain_of_its_author(authors: list[str]) -> None:
    assert check_dmarc(authors, NOTHING, questions=questions(REJECT)) == Found("permerror")


def test_authors_of_one_domain_are_one() -> None:
    assert check_dmarc(["a@mill.example", "b@Mill.Example"], NOTHING, questions=questions(REJECT)).result == "fail"


@pytest.mark.parametrize(
    ("domain", "organisation"),
    [
        ("a.b.mill.example", "mill.example"),
        ("mill.example", "mill.example"),
        ("example", "example"),
        ("www.mill.co.uk", "mill.co.uk"),
        ("co.uk", "co.uk"),
        ("a.b.mill.com", "mill.com"),
        ("x.y.city.kawasaki.jp", "city.kawasaki.jp"),
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        # These became suffixes after 2019.
        ("www.mill.workers.dev", "mill.workers.dev"),
        ("www.mill.pages.dev", "mill.pages.dev"),
        ("a.b.xn--mller-kva.co.uk", "xn--mller-kva.co.uk"),
    ],
)
def test_organisations(domain: str, organisation: str) -> None:
    assert organisation_of(domain) == organisation
