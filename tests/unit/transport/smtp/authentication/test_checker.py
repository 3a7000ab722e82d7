"""A mail is checked beside the loop, within its time, and taken whatever happens."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from posthouse.message.arrival import Arrival
from posthouse.testing.lookup import FakeLookup
from posthouse.transport.smtp.authentication.checker import Checker
from posthouse.transport.smtp.authentication.lookup import Answer, Kind, Lookup

MAIL = b"From: cleo@mill.example\r\nAuthentication-Results: mx.bakery.example; dmarc=pass\r\n\r\nTwo sacks.\r\n"
ZONE = {
    ("mill.example", "TXT"): [b"v=spf1 ip4:192.0.2.1 -all"],
    ("_dmarc.mill.example", "TXT"): [b"v=DMARC1; p=quarantine"],
}
LATE = dict.fromkeys(("spf", "dkim", "dmarc", "arc"), "temperror")


@contextmanager
def checker(lookup: Lookup, seconds: float = 30.0) -> Iterator[Checker]:
    made = Checker(lookup, seconds=seconds)
    try:
        yield made
    finally:
        made.close()


def come(client: str, user: str = "") -> Arrival:
    return Arrival(client=client, helo="out.mill.example", protocol="ESMTP", user=user)


@pytest.mark.parametrize(
    ("client", "results"),
    [
        ("192.0.2.1", {"spf": "pass", "dkim": "none", "arc": "none", "dmarc": "pass", "dmarc.policy": "quarantine"}),
        ("192.0.2.9", {"spf": "fail", "dkim": "none", "arc": "none", "dmarc": "fail", "dmarc.policy": "quarantine"}),
        # Whoever stands between is no stranger: nobody can say where the mail came from before.
        ("127.0.0.1", {"dkim": "none", "arc": "none", "dmarc.policy": "quarantine"}),
        ("10.1.2.3", {"dkim": "none", "arc": "none", "dmarc.policy": "quarantine"}),
        ("unix", {"dkim": "none", "arc": "none", "dmarc.policy": "quarantine"}),
    ],
)
async def test_what_a_mail_claims_of_itself_counts_for_nothing(client: str, results: dict[str, str]) -> None:
    with checker(FakeLookup(ZONE)) as checking:
        assert await checking.check(MAIL, come(client), sender="cleo@mill.example", whole=True) == results


async def test_those_who_signed_in_are_not_asked() -> None:
    dns = FakeLookup(ZONE)
    with checker(dns) as checking:
        assert await checking.check(MAIL, come("192.0.2.9", "ada"), sender="cleo@mill.example", whole=True) == {}
    assert dns.asked == []


async def test_of_the_beginning_of_a_mail_no_signature_is_judged() -> None:
    with checker(FakeLookup(ZONE)) as checking:
        passed = await checking.check(MAIL, come("192.0.2.1"), sender="cleo@mill.example", whole=False)
        failed = await checking.check(MAIL, come("192.0.2.9"), sender="cleo@mill.example", whole=False)
    assert passed == {"spf": "pass", "dmarc": "pass", "dmarc.policy": "quarantine"}
    assert failed == {"spf": "fail", "dmarc.policy": "quarantine"}


@pytest.mark.parametrize("mail", [b"", b"\r\n", b"x", b"\r\n\r\n", b"From: a@b.example", bytes(range(256)) * 9])
async def test_any_bytes_have_results(mail: bytes) -> None:
    with checker(FakeLookup({})) as checking:
        results = await checking.check(mail, come("192.0.2.1"), sender=None, whole=True)
    assert set(results) == {"spf", "dkim", "arc", "dmarc"}


async def test_a_mail_is_not_kept_waiting_for_the_dns() -> None:
    class Stuck:
        going = threading.Event()

        def ask(self, name: str, kind: Kind, *, seconds: float) -> Sequence[Answer]:
            del name, kind, seconds
            self.going.wait(20)
            return []

    with checker(Stuck(), seconds=0.05) as checking:
        assert await checking.check(MAIL, come("192.0.2.1"), sender="cleo@mill.example", whole=True) == LATE
        Stuck.going.set()


async def test_a_mail_is_taken_where_a_check_breaks() -> None:
    class Broken:
        def ask(self, name: str, kind: Kind, *, seconds: float) -> Sequence[Answer]:
            raise ZeroDivisionError(name, kind, seconds)

    with checker(Broken()) as checking:
        results = await checking.check(MAIL, come("127.0.0.1"), sender="cleo@mill.example", whole=True)
    assert results == LATE


def test_nothing_is_loaded_before_the_first_mail() -> None:
    code = (
        "import sys; import posthouse.server.assemble; import posthouse.transport.smtp.authentication.checker;"
        "print(*sorted({'dkim', 'spf', 'publicsuffixlist', 'dns', 'nacl'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "\n"
