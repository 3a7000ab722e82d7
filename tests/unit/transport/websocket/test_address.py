from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.transport.websocket.address import MalformedAddress, read_address


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://127.0.0.1:8025", "ws://127.0.0.1:8025/link"),
        ("http://localhost:8025/", "ws://localhost:8025/link"),
        ("https://office.example", "wss://office.example/link"),
        ("https://office.example/post/", "wss://office.example/post/link"),
        ("wss://office.example/post/link", "wss://office.example/post/link"),
        ("ws://[::1]:8025", "ws://[::1]:8025/link"),
    ],
)
def test_an_address_is_where_the_office_listens(given: str, expected: str) -> None:
    assert read_address(given, key="k", plain=False).url == expected


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("office.example", "begins with https"),
        ("alice:secret@office.example", "begins with https"),
        ("https://alice:secret@office.example", "no user"),
        ("https://", "a host"),
        ("https://office.example?key=secret", "ends with its path"),
        ("https://office.example#secret", "ends with its path"),
        ("https://office.example:port", "cannot be read"),
        ("https://office example", "without blanks"),
        ("https://größe.example", "ASCII"),
        ("https://" + "x" * 3000, "up to 2000"),
        ("http://office.example", "in the clear"),
        ("http://127.0.0.1.example", "in the clear"),
    ],
)
def test_what_cannot_be_an_address_is_told_without_its_secrets(given: str, why: str) -> None:
    with pytest.raises(MalformedAddress, match=why) as told:
        read_address(given, key="k", plain=False)
    assert "secret" not in str(told.value)


def test_a_key_goes_in_the_clear_where_that_is_meant_and_nothing_does_without_a_key() -> None:
    assert read_address("http://office.example", key="k", plain=True).url == "ws://office.example/link"
    assert read_address("http://office.example", key=None, plain=False).url == "ws://office.example/link"


@pytest.mark.parametrize("key", ["", "a b", "a\nX-More: b", "ü", "k" * 3000])
def test_what_cannot_be_a_key_is_not_told(key: str) -> None:
    with pytest.raises(MalformedAddress) as told:
        read_address("https://office.example", key=key, plain=False)
    assert not key or key not in str(told.value)


def test_an_address_does_not_show_its_key() -> None:
    address = read_address("https://office.example", key="hush", plain=False)
    assert "hush" not in repr(address)
    assert "hush" not in str(address)


@given(st.text(max_size=60), st.text(max_size=20))
def test_anything_is_an_address_or_told(url: str, key: str) -> None:
    try:
        address = read_address(url, key=key, plain=False)
    except MalformedAddress:
        return
    assert address.url.startswith(("ws://", "wss://"))
