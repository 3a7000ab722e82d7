from __future__ import annotations

import pytest

from posthouse.message.mailroute import MX, MalformedRoute, Routes, Target, read_target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("mx", MX),
        ("smtp://relay.example", Target("server", "relay.example")),
        ("smtp://127.0.0.1:2525", Target("server", "127.0.0.1", 2525)),
        ("smtp://[::1]:2525", Target("server", "::1", 2525)),
        ("smtp+tls://relay.example:587", Target("server", "relay.example", 587, encryption="must")),
        ("smtps://relay.example", Target("server", "relay.example", 465, is_encrypted=True, encryption="must")),
        ("lmtp://store.example", Target("server", "store.example", 24, is_lmtp=True)),
        ("lmtp:/run/lmtp.sock", Target("server", path="/run/lmtp.sock", is_lmtp=True, encryption="never")),
        ("maildir:/mail/{domain}/{local}", Target("maildir", path="/mail/{domain}/{local}")),
    ],
)
def test_a_route_is_read(text: str, target: Target) -> None:
    assert read_target(text) == target


@pytest.mark.parametrize(
    "text",
    ["", "relay", "http://x", "smtp://", "smtp://x:0", "smtp://x:70000", "maildir:x", "maildir:/x/{user}", "lmtp:"],
)
def test_what_is_no_route_is_refused(text: str) -> None:
    with pytest.raises(MalformedRoute, match="expected"):
        read_target(text)


def test_the_most_exact_line_wins() -> None:
    routes = Routes([
        ("*", "smtp://all.example"), (".two.example", "smtp://below.example"), ("two.example", "smtp://exact.example"),
    ])  # fmt: skip
    assert routes.target("two.example").host == "exact.example"
    assert routes.target("a.two.example").host == "below.example"
    assert routes.target("b.a.two.example").host == "below.example"
    assert routes.target("other.example").host == "all.example"
    assert routes.target("[127.0.0.1]").host == "all.example"
    assert Routes().target("two.example") == MX
