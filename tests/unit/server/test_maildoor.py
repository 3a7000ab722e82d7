"""The lines of mail doors, and what settings say that cannot be."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from posthouse.message.maildoor import MailDoor, MailTerms
from posthouse.server.certificate import CertificateFault, mail_context
from posthouse.server.maildoor import DOMAINS, DOOR, HOSTNAME, door_of
from posthouse.testing.certificate import make_certificate


def test_a_line_says_everything_about_a_door() -> None:
    line = "smtp [::1]:587 tls=required auth=required relay=10.1.2.3/8,unix xclient=127.0.0.1 size=1MiB"
    door = door_of("submission", line)
    assert door == MailDoor(
        name="submission", speech="smtp", listen="[::1]:587", tls="required", auth="required",
        relay=("10.0.0.0/8", "unix"), front_ends=("127.0.0.1/32",), mail_bytes=1_048_576,
    )  # fmt: skip
    assert door_of("submission", DOOR.read(line)) == door


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("", "smtp, lmtp or milter"),
        ("smtp", "where to listen"),
        ("imap 127.0.0.1:143", "smtp, lmtp or milter"),
        ("smtp 127.0.0.1", "expected an address"),
        ("smtp 127.0.0.1:99999", "expected an address"),
        ("smtp unix:", "a path"),
        (f"lmtp unix:/{'x' * 200}", "at most 107 bytes"),
        ("smtp 127.0.0.1:25 tls=maybe", "tls=none"),
        ("smtp 127.0.0.1:25 auth=offered", "plain connection"),
        ("smtp 127.0.0.1:25 relay=everybody", "networks"),
        ("smtp 0.0.0.0:25 relay=0.0.0.0/0", "everybody"),
        ("smtp [::]:25 xclient=::/0", "everybody"),
        ("smtp 127.0.0.1:25 size=large", "a size"),
        ("smtp 127.0.0.1:25 fast", "tls=none"),
        ("milter 127.0.0.1:25 tls=starttls", "nothing behind"),
        (f"smtp 127.0.0.1:25 relay={','.join(['::1'] * 65)}", "at most 64"),
        ("smtp " * 1_000, "at most 4,096"),
    ],
)
def test_a_line_that_cannot_be_says_why(line: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        door_of("mx", line)


def test_a_socket_counts_from_the_folder_of_the_settings() -> None:
    assert DOOR.placed is not None
    assert (
        DOOR.placed("lmtp unix:lmtp.sock relay=unix", Path("/etc/post")) == "lmtp unix:/etc/post/lmtp.sock relay=unix"
    )
    assert DOOR.placed("lmtp unix:/run/lmtp.sock", Path("/etc/post")) == "lmtp unix:/run/lmtp.sock"


def test_domains_have_one_spelling() -> None:
    assert DOMAINS.read("Bakery.Example, flour.example bakery.example") == "bakery.example flour.example"
    assert DOMAINS.read(["BÜCHER.example"]) == "bücher.example"
    assert DOMAINS.read("") == ""
    for wrong in ("bakery..example", "[127.0.0.1]", 5, ["a", 1]):
        with pytest.raises(ValueError, match=r"."):
            DOMAINS.read(wrong)
    assert HOSTNAME.read("MX.bakery.example") == "mx.bakery.example"


def test_a_door_with_tls_needs_a_certificate(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, "localhost")
    door = door_of("mx", "smtp 127.0.0.1:25 tls=starttls")
    assert mail_context(MailTerms()) is None
    with pytest.raises(CertificateFault, match=r"doors\.mx"):
        mail_context(MailTerms(doors=(door,)))
    with pytest.raises(CertificateFault, match=r"mail\.tls_key"):
        mail_context(MailTerms(tls_certificate=made.certificate))
    with pytest.raises(CertificateFault, match=r"mail\.tls_certificate"):
        mail_context(MailTerms(tls_certificate=made.key, tls_key=made.key))
    context = mail_context(MailTerms(doors=(door,), tls_certificate=made.certificate, tls_key=made.key))
    assert isinstance(context, ssl.SSLContext)
