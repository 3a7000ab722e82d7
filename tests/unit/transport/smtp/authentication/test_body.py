"""The hash of a body agrees with the library's own, and takes a time that grows with the body alone."""

from __future__ import annotations

import hashlib

import pytest
from dkim.canonicalization import Relaxed, Simple
from hypothesis import given, settings
from hypothesis import strategies as st

from posthouse.transport.smtp.authentication.body import hash_relaxed, hash_simple

LINES = st.lists(st.text(" \tab", max_size=6).map(str.encode), max_size=8).map(
    lambda lines: b"".join(x + b"\r\n" for x in lines)
)


@settings(max_examples=200)
@given(LINES)
def test_both_forms_agree_with_the_library(body: bytes) -> None:
    for ours, theirs in ((hash_simple, Simple), (hash_relaxed, Relaxed)):
        plain = theirs.canonicalize_body(body)
        assert ours(body) == (hashlib.sha256(plain).digest(), len(plain))


def test_pieces_are_put_together() -> None:
    body = b"".join(b"line  %d \r\n" % number for number in range(50_000))
    plain = Relaxed.canonicalize_body(body)
    assert hash_relaxed(body) == (hashlib.sha256(plain).digest(), len(plain))
    assert hash_simple(body) == (hashlib.sha256(body).digest(), len(body))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "body", [b" " * 3_000_000 + b"x", b"\r\n" * 3_000_000 + b"x", b"x" * 3_000_000 + b"\r\n" * 999_999]
)
def test_white_space_costs_no_more_than_letters(body: bytes) -> None:
    assert hash_relaxed(body).length <= len(body) + 2
    assert hash_simple(body).length <= len(body) + 2
