"""DKIM and ARC, on mails that are signed here and keys a test publishes."""

from __future__ import annotations

import base64
import functools

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from posthouse.testing.lookup import Zone, questions
from posthouse.transport.smtp.authentication import signature
from posthouse.transport.smtp.authentication.signature import Bodies, Signed, check_arc, check_dkim

HEADER = b"From: Cleo <cleo@mill.example>\r\nTo: ada@bakery.example\r\nSubject: flour\r\n\r\n"
BODY = b"Two  sacks. \r\n\r\nBy Monday.\t\r\n\r\n\r\n"
MAIL = HEADER + BODY
GOOD = Signed("pass", ("mill.example",))


@functools.cache
def rsa_key(bits: int = 2_048) -> tuple[bytes, bytes]:
    """Give a private key as PEM, and its record."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=bits)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return pem, b"v=DKIM1; k=rsa; p=" + base64.b64encode(public)


@functools.cache
def ed25519_key() -> tuple[bytes, bytes]:
    key = ed25519.Ed25519PrivateKey.generate()
    raw = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    secret = base64.b64encode(key.private_bytes_raw())
    return secret, b"v=DKIM1; k=ed25519; p=" + base64.b64encode(key.public_key().public_bytes(*raw))


def zone(record: bytes, selector: str = "s1", domain: str = "mill.example") -> Zone:
    return {(f"{selector}._domainkey.{domain}", "TXT"): [record]}


def signed(mail: bytes = MAIL, **how: object) -> bytes:
    """Give a mail with a signature of mill.example on top."""
    said: dict[str, object] = {
        "canonicalize": (b"relaxed", b"relaxed"),
        "include_headers": [b"from", b"subject"],
        **how,
    }
    key = said.pop("key", rsa_key()[0])
    made: bytes = dkim.DKIM(mail, **said.pop("maker", {})).sign(b"s1", b"mill.example", key, **said)  # type: ignore[arg-type]
    return made + mail


def looked_at(mail: bytes, answers: Zone) -> Signed:
    end = mail.index(b"\r\n\r\n") + 4
    return check_dkim(mail[:end], Bodies(mail[end:]), questions=questions(answers))


@pytest.mark.parametrize("form", [(one, two) for one in (b"simple", b"relaxed") for two in (b"simple", b"relaxed")])
def test_a_good_signature_passes_in_every_form(form: tuple[bytes, bytes]) -> None:
    assert looked_at(signed(canonicalize=form), zone(rsa_key()[1])) == GOOD
    assert looked_at(signed(HEADER, canonicalize=form), zone(rsa_key()[1])) == GOOD


def test_ed25519_passes() -> None:
    mail = signed(key=ed25519_key()[0], signature_algorithm=b"ed25519-sha256")
    assert looked_at(mail, zone(ed25519_key()[1])) == GOOD
    assert looked_at(mail.replace(b"flour", b"wheat"), zone(ed25519_key()[1])) == Signed("fail")


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        (b"By Monday.", b"By Friday.", "fail"),
        (b"Subject: flour", b"Subject: wheat", "fail"),
        (b"From: Cleo", b"From: eve@mill.example\r\nFrom: Cleo", "fail"),
        (b"Two  sacks.", b"Two sacks.", "pass"),
        (b"To: ada", b"To: ben", "pass"),
        (b"a=rsa-sha256", b"a=rsa-sha1", "permerror"),
        (b"a=rsa-sha256", b"a=ed25519-sha256", "permerror"),
        (b"v=1;", b"v=2;", "permerror"),
        (b"d=mill.example", b"d=(mill.example)", "permerror"),
        (b"c=relaxed/relaxed", b"c=relaxed/odd", "permerror"),
        (b"q=dns/txt;", b"x=1000000000;", "permerror"),
    ],
)
def test_what_becomes_of_a_signature(old: bytes, new: bytes, result: str) -> None:
    mail = signed()
    assert old in mail
    assert looked_at(mail.replace(old, new, 1), zone(rsa_key()[1])).result == result


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ({}, "permerror"),
        ({("s1._domainkey.mill.example", "TXT"): "broken"}, "temperror"),
        (zone(b"v=DKIM1; p="), "permerror"),
        (zone(b"v=DKIM1; p=!!!!"), "permerror"),
        (zone(b"v=DKIM1; k=ed25519; p=AAAA"), "permerror"),
        (zone(b"\xff" * 300), "permerror"),
        (zone(b"v=DKIM1; k=rsa; p=" + base64.b64encode(bytes(6_000))), "permerror"),
    ],
)
def test_a_key_that_is_none(answers: Zone, result: str) -> None:
    assert looked_at(signed(), answers) == Signed(result)


def test_a_key_beside_other_texts_is_found() -> None:
    answers = {("s1._domainkey.mill.example", "TXT"): [b"some word", rsa_key()[1]]}
    assert looked_at(signed(), answers) == GOOD


def der(tag: int, content: bytes) -> bytes:
    length = len(content)
    return bytes([tag, 0x82]) + length.to_bytes(2, "big") + content


def record_of(modulus: int, exponent: int) -> bytes:
    """Publish a key no library would make."""
    numbers = b"".join(der(2, n.to_bytes(n.bit_length() // 8 + 1, "big")) for n in (modulus, exponent))
    algorithm = bytes.fromhex("300d06092a864886f70d0101010500")
    return b"p=" + base64.b64encode(der(0x30, algorithm + der(3, b"\0" + der(0x30, numbers))))


@pytest.mark.parametrize(
    ("bits", "exponent_bits", "result"),
    [
        # Another key: read, and found not to be the one.
        (2_048, 17, "fail"),
        # A key of 512 bits can be found out by anybody.
        (512, 17, "permerror"),
        # These take seconds for each signature.
        (2_048, 2_000, "permerror"),
        (16_384, 17, "permerror"),
    ],
)
def test_a_key_has_a_sound_size(bits: int, exponent_bits: int, result: str) -> None:
    record = record_of(2 ** (bits - 1) + 1, 2 ** (exponent_bits - 1) + 1)
    assert looked_at(signed(), zone(record)) == Signed(result)


def test_the_smallest_key_passes() -> None:
    assert looked_at(signed(key=rsa_key(1_024)[0]), zone(rsa_key(1_024)[1])) == GOOD


def test_a_signature_that_leaves_out_the_author_is_none() -> None:
    """RFC 6376, section 5.4: From must be signed."""
    mail = signed().replace(b"h=from : subject", b"h=subject", 1)
    assert b"h=subject" in mail
    assert looked_at(mail, zone(rsa_key()[1])).result == "permerror"


def test_what_is_added_behind_a_signed_length_is_not_the_signers() -> None:
    mail = signed(length=True)
    assert looked_at(mail, zone(rsa_key()[1])) == GOOD
    assert looked_at(mail + b"Buy now!\r\n", zone(rsa_key()[1])) == Signed("neutral")


def test_one_good_signature_is_enough() -> None:
    mail = b"DKIM-Signature: v=1; nonsense\r\n" + signed()
    assert looked_at(mail, zone(rsa_key()[1])) == GOOD
    many = b"DKIM-Signature: v=1; nonsense\r\n" * signature.MAX_SIGNATURES + signed()
    assert looked_at(many, zone(rsa_key()[1])).result == "permerror"


def test_a_mail_nobody_signed() -> None:
    assert looked_at(MAIL, {}) == Signed("none")
    assert looked_at(b"Subject: dkim-signature: x\r\n\r\n", {}) == Signed("none")


@pytest.mark.parametrize(
    "field",
    [
        b"DKIM-Signature:" + b" " * 100_000 + b"x",
        b"DKIM-Signature: v=1; b=" + b"\r\n " * 5_000 + b"x",
        b"DKIM-Signature: v=1; b=" + b"A " * 8_000 + b"!",
        b"DKIM-Signature: " + b"h=" + b"a:" * 100_000,
        b"DKIM-Signature: v=1; a=rsa-sha256; d=mill.example; s=s1; bh=AAAA; b=AAAA; l=99999; h=from" + b":x" * 4_000,
        b"DKIM-Signature: " + b"v=1; a=rsa-sha256; d=\xff.example; s=\xfe; bh=A; b=AAAA; h=from",
        b"x: y\r\n" * 5_000 + b"DKIM-Signature: v=1",
        b" folded\r\nDKIM-Signature: v=1",
        b"no field at all\r\nDKIM-Signature: v=1",
    ],
)
@pytest.mark.timeout(20)
def test_a_hostile_header_is_no_signature_soon(field: bytes) -> None:
    assert looked_at(field + b"\r\n" + MAIL, zone(rsa_key()[1])).result in {"permerror", "fail"}


def sealed(mail: bytes, domain: bytes = b"list.example", result: bytes = b"none") -> bytes:
    """Give a mail with one more link of its chain."""
    told = b"Authentication-Results: " + domain + b"; dkim=pass; arc=" + result + b"\r\n"
    made = dkim.ARC(told + mail, timeout=0).sign(
        b"s1", domain, rsa_key()[0], domain, include_headers=[b"from", b"subject"],
    )  # fmt: skip
    return b"".join(made) + mail


def chained(mail: bytes, answers: Zone) -> str:
    end = mail.index(b"\r\n\r\n") + 4
    return check_arc(mail[:end], Bodies(mail[end:]), questions=questions(answers))


LIST_ZONE = zone(rsa_key()[1], domain="list.example")


def test_a_chain_that_holds() -> None:
    assert chained(MAIL, {}) == "none"
    assert chained(sealed(MAIL), LIST_ZONE) == "pass"


def test_a_chain_of_two() -> None:
    both = {**LIST_ZONE, **zone(rsa_key()[1], domain="second.example")}
    twice = sealed(sealed(MAIL), b"second.example", b"pass")
    assert twice.count(b"ARC-Seal:") == 2
    assert chained(twice, both) == "pass"
    assert chained(twice, LIST_ZONE) == "fail"
    assert chained(twice, {**both, ("s1._domainkey.list.example", "TXT"): "broken"}) == "temperror"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"By Monday.", b"By Friday."),
        (b"Subject: flour", b"Subject: wheat"),
        (b"dkim=pass", b"dkim=fail"),
        (b"cv=none", b"cv=fail"),
        (b"ARC-Seal: i=1", b"ARC-Seal: i=9999999999"),
        (b"ARC-Message-Signature:", b"X-Was:"),
        (b"ARC-Message-Signature: i=1;", b"ARC-Message-Signature: i =1 ;"),
    ],
)
def test_a_broken_chain_fails(old: bytes, new: bytes) -> None:
    mail = sealed(MAIL)
    assert old in mail
    assert chained(mail.replace(old, new), LIST_ZONE) == "fail"
