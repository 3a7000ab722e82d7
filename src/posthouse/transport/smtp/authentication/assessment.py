"""All checks of one mail, one after the other; runs in a thread, and imports what only an office that checks needs."""

from __future__ import annotations

import ipaddress
from typing import Final, NamedTuple

from posthouse.message.features import features_of_mail
from posthouse.transport.smtp.authentication.dmarc import Proof, check_dmarc
from posthouse.transport.smtp.authentication.lookup import Questions
from posthouse.transport.smtp.authentication.signature import Bodies, Signed, check_arc, check_dkim
from posthouse.transport.smtp.authentication.spf import check_spf, domain_of_spf

# Whoever comes from there is no stranger, and stands between us and the one who is.
_INSIDE: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
        "::1/128", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip


class Case(NamedTuple):
    """What is known of a mail."""

    mail: bytes
    is_whole: bool
    """False where the mail is longer than what is here of it: nobody can say whether its signatures hold."""
    client: str
    helo: str
    sender: str | None


def is_outside(client: str) -> bool:
    """Say whether an address is one that SPF can say anything about."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return False
    return not any(address in network for network in _INSIDE)


def assess(case: Case, questions: Questions) -> dict[str, str]:
    """Give the results, each under its name; what was not asked, or cannot be told, is left out."""
    header, body = _halves(case.mail)
    spf = check_spf(case.client, case.sender, helo=case.helo, questions=questions) if is_outside(case.client) else None
    signed, arc = _signatures(header, body, questions) if case.is_whole else (None, None)
    proof = Proof(
        spf,
        domain_of_spf(case.sender, case.helo),
        None if signed is None else signed.result,
        () if signed is None else signed.domains,
    )
    authors = [author.address for author in features_of_mail(header).sender]
    dmarc = check_dmarc(authors, proof, questions=questions)
    results = {
        "spf": spf, "dkim": proof.dkim, "arc": arc, "dmarc": dmarc.result,
        "dmarc.policy": dmarc.wanted or None,
    }  # fmt: skip
    return {name: result for name, result in results.items() if result is not None}


def _signatures(header: bytes, body: bytes, questions: Questions) -> tuple[Signed, str]:
    bodies = Bodies(body)
    return check_dkim(header, bodies, questions=questions), check_arc(header, bodies, questions=questions)


def _halves(mail: bytes) -> tuple[bytes, bytes]:
    """Give the header with the empty line behind it, and the body."""
    if mail.startswith(b"\r\n"):
        return b"\r\n", mail[2:]
    end = mail.find(b"\r\n\r\n")
    return (mail + b"\r\n\r\n", b"") if end < 0 else (mail[: end + 4], mail[end + 4 :])
