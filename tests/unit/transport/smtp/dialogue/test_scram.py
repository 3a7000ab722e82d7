"""SCRAM-SHA-256 against the example of RFC 7677, and keys as they are kept."""

from __future__ import annotations

import base64

import pytest

from posthouse.transport.smtp.dialogue.scram import Exchange, Keys, is_password, make_keys, prepare, read_keys

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FINAL = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="


def exchange() -> Exchange:
    begun = Exchange(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    challenge = begun.challenge(make_keys("pencil", SALT), NONCE)
    assert challenge == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    return begun


def test_the_example_of_the_standard() -> None:
    assert exchange().user == "user"
    assert exchange().verify(FINAL.encode()) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize(
    "final",
    [
        FINAL.replace("dHzb", "dHzc"),
        FINAL.replace("biws", "eSws"),
        FINAL.replace("NEkqO%", "NEkqO&"),
        FINAL[:-8],
        "",
        "e=other-error",
    ],
)
def test_whatever_is_not_the_proof_is_refused(final: str) -> None:
    assert exchange().verify(final.encode()) is None


@pytest.mark.parametrize(
    "first", [b"", b"n=user,r=abc", b"p=tls-unique,,n=user,r=abc", b"n,a=ben,n=ada,r=abc", b"n,,n=,r=abc", b"\xff"]
)
def test_what_begins_no_exchange_is_refused(first: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Exchange(first)


def test_names_are_unescaped_and_may_be_said_twice() -> None:
    assert Exchange(b"y,a=a=2Cb=3D,n=a=2Cb=3D,r=abc").user == "a,b="


def test_keys_are_read_as_they_are_written() -> None:
    keys = make_keys("rye bread", SALT)
    assert read_keys(str(keys)) == keys
    assert is_password(keys, "rye bread")
    assert not is_password(keys, "white bread")


@pytest.mark.parametrize(
    "text", ["", "rye bread", "SCRAM-SHA-1$4096:W22Z$W22Z:W22Z", str(Keys(0, SALT, b"x" * 32, b"y" * 32)), "{SSHA}x"]
)
def test_what_are_no_keys_is_refused(text: str) -> None:
    assert read_keys(text) is None


def test_one_name_has_one_form() -> None:
    assert prepare("I\u00adX") == "IX"
    assert prepare("\u2168") == "IX"
    assert prepare("\u00aa") == "a"
    for text in ("\u0007", "\u0627\u0031", "\ue000"):
        with pytest.raises(ValueError, match=r"."):
            prepare(text)
