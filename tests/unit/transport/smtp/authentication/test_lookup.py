"""What a mail may ask of the DNS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import pytest

from posthouse.testing.lookup import FakeLookup
from posthouse.transport.smtp.authentication import lookup
from posthouse.transport.smtp.authentication.lookup import DnsLookup, Questions
from posthouse.transport.smtp.mx import Mx
from posthouse.transport.smtp.names import NamesUnavailable


def test_a_question_is_asked_once() -> None:
    dns = FakeLookup({("mill.example", "TXT"): [b"one"], ("broken.example", "A"): "broken"})
    asked = Questions(dns, lambda: 0.0, deadline=1.0)
    assert asked.texts("Mill.Example.") == asked.texts("mill.example") == [b"one"]
    for _ in range(2):
        with pytest.raises(NamesUnavailable):
            asked.ask("broken.example", "A")
    assert dns.asked == [("mill.example", "TXT"), ("broken.example", "A")]


@pytest.mark.parametrize(
    "name", ["", ".", "a..b", "x" * 64, "a." * 200, "a\\.b", "a b", "ü" * 80, "a\0.b\n", '"x"', "@"]
)
def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    dns = FakeLookup({})
    assert list(Questions(dns, lambda: 0.0, deadline=1.0).ask(name, "A")) == []
    assert all("\n" not in asked and " " not in asked for asked, _ in dns.asked)
    assert len(dns.asked) <= (name == "a\0.b\n")


def test_time_and_number_are_bounded() -> None:
    dns = FakeLookup({})
    now = [0.0]
    asked = Questions(dns, lambda: now[0], deadline=1.0)
    for number in range(lookup.MAX_QUESTIONS):
        asked.ask(f"d{number}.example", "A")
    with pytest.raises(NamesUnavailable):
        asked.ask("more.example", "A")
    late = Questions(dns, lambda: 2.0, deadline=1.0)
    with pytest.raises(NamesUnavailable):
        late.ask("d1.example", "A")
    assert len(dns.asked) == lookup.MAX_QUESTIONS


def test_answers_are_bounded() -> None:
    dns = FakeLookup({("mill.example", "TXT"): [b"x" * (lookup.MAX_TEXT + 1), *([b"y"] * 500)]})
    texts = Questions(dns, lambda: 0.0, deadline=1.0).texts("mill.example")
    assert texts == [b"y"] * (lookup.MAX_ANSWERS - 1)


ZONE = {
    ("mill.example.", "TXT"): ['"v=spf1 " "-all"', '"\\255\\000"'],
    ("mill.example.", "A"): ["192.0.2.1"],
    ("mill.example.", "AAAA"): ["2001:db8::1"],
    ("mill.example.", "MX"): ["10 mx.mill.example."],
    ("1.2.0.192.in-addr.arpa.", "PTR"): ["mill.example."],
}


@pytest.fixture
def server() -> Iterator[tuple[DnsLookup, list[str]]]:
    """Give what asks a name server of this test, and the questions that server has heard."""
    heard: list[str] = []

    def serve() -> None:
        while True:
            asked, client = listening.recvfrom(4_096)
            if not asked:
                return
            question = dns.message.from_wire(asked)
            name, kind = question.question[0].name.to_text(), dns.rdatatype.to_text(question.question[0].rdtype)
            heard.append(f"{name} {kind}")
            reply = dns.message.make_response(question)
            reply.flags |= dns.flags.RA
            if name == "garbage.example.":
                listening.sendto(asked[:2] + b"\xff" * 40, client)
                continue
            if name == "broken.example.":
                reply.set_rcode(dns.rcode.SERVFAIL)
            elif (name, kind) in ZONE:
                reply.answer.append(dns.rrset.from_text(name, 300, "IN", kind, *ZONE[name, kind]))
            elif name != "mill.example.":
                reply.set_rcode(dns.rcode.NXDOMAIN)
            listening.sendto(reply.to_wire(), client)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        serving = threading.Thread(target=serve)
        serving.start()
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers = ["127.0.0.1"]
        resolver.port = listening.getsockname()[1]
        resolver.cache = dns.resolver.LRUCache(100)
        yield DnsLookup(resolver), heard
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", listening.getsockname())
        serving.join()


def test_the_dns_is_asked_and_read(server: tuple[DnsLookup, list[str]]) -> None:
    lookup, heard = server
    for _ in range(2):
        assert set(lookup.ask("mill.example", "TXT", seconds=5)) == {b"v=spf1 -all", b"\xff\0"}
    assert heard == ["mill.example. TXT"], "it remembers"
    assert lookup.ask("mill.example", "A", seconds=5) == ["192.0.2.1"]
    assert lookup.ask("mill.example", "AAAA", seconds=5) == ["2001:db8::1"]
    assert lookup.ask("mill.example", "MX", seconds=5) == [Mx(10, "mx.mill.example.")]
    assert lookup.ask("1.2.0.192.in-addr.arpa", "PTR", seconds=5) == ["mill.example."]
    assert lookup.ask("mill.example", "PTR", seconds=5) == []
    assert lookup.ask("nowhere.example", "TXT", seconds=5) == []


@pytest.mark.parametrize("name", ["broken.example", "garbage.example"])
def test_a_server_that_gives_no_answer_is_told_from_one_that_says_no(
    server: tuple[DnsLookup, list[str]], name: str
) -> None:
    with pytest.raises(NamesUnavailable):
        server[0].ask(name, "TXT", seconds=0.3)
