"""Whether the domain a mail shows as its author's stands behind it, and what it wants done if not (RFC 7489)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from posthouse.transport.smtp.authentication.lookup import Questions, ascii_domain
from posthouse.transport.smtp.names import NamesUnavailable

_POLICIES: Final = frozenset({"none", "quarantine", "reject"})


class Proof(NamedTuple):
    """What SPF and DKIM say, as far as DMARC asks."""

    spf: str | None
    """None where SPF was not asked."""
    spf_domain: str
    dkim: str | None
    dkim_domains: Sequence[str]


class Policy(NamedTuple):
    """What a domain publishes about its mail."""

    wanted: str
    """What is to happen to mail that fails: none, quarantine or reject."""
    is_dkim_strict: bool
    is_spf_strict: bool


class Found(NamedTuple):
    """A result and the policy that goes with it; none where it cannot be told."""

    result: str | None
    wanted: str = ""


def check_dmarc(authors: Sequence[str], proof: Proof, *, questions: Questions) -> Found:
    """Say whether one of the proofs is for the domain of the authors, given as addresses."""
    try:
        domains = {ascii_domain(author.rpartition("@")[2]) for author in authors if "@" in author}
    except UnicodeError:
        return Found("permerror")
    if len(domains) != 1 or "." not in (domain := domains.pop()):
        return Found("permerror")
    try:
        policy = _policy(domain, questions)
    except NamesUnavailable:
        return Found("temperror")
    if policy is None:
        return Found("none")
    if proof.spf == "pass" and _is_aligned(proof.spf_domain, domain, strict=policy.is_spf_strict):
        return Found("pass", policy.wanted)
    if any(_is_aligned(one, domain, strict=policy.is_dkim_strict) for one in proof.dkim_domains):
        return Found("pass", policy.wanted)
    if "temperror" in {proof.spf, proof.dkim}:
        return Found("temperror", policy.wanted)
    # One proof that nobody asked for may have been the good one.
    return Found(None if proof.spf is None or proof.dkim is None else "fail", policy.wanted)


def organisation_of(domain: str) -> str:
    """Give the domain under a public suffix to which a domain belongs."""
    labels = domain.split(".")
    # A suffix nobody has listed is one label long.
    suffix = _suffix_of()(domain) or labels[-1]
    return ".".join(labels[-(suffix.count(".") + 2) :])


@functools.cache
def _suffix_of() -> Callable[[str], str | None]:
    # The list is large, and only a mail without a policy of its very own domain needs it.
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415

    listed = PublicSuffixList(accept_unknown=False)

    def suffix_of(domain: str) -> str | None:
        suffix: str | None = listed.publicsuffix(domain)
        return suffix

    return suffix_of


def _is_aligned(one: str, author: str, *, strict: bool) -> bool:
    return one == author or (not strict and organisation_of(one) == organisation_of(author))


def _policy(domain: str, questions: Questions) -> Policy | None:
    tags = _record(domain, questions)
    wish = "p"
    if tags is None and (above := organisation_of(domain)) != domain:
        tags = _record(above, questions)
        wish = "sp"
    if tags is None:
        return None
    wanted = tags.get(wish, tags.get("p", "")).lower()
    if wanted not in _POLICIES or tags.get("p", "").lower() not in _POLICIES:
        # RFC 7489, section 6.6.3: who wants reports means it, and is taken to ask for nothing.
        if "rua" not in tags:
            return None
        wanted = "none"
    return Policy(wanted, tags.get("adkim", "r").lower() == "s", tags.get("aspf", "r").lower() == "s")


def _record(domain: str, questions: Questions) -> Mapping[str, str] | None:
    """Give the one policy a domain publishes; several are none."""
    records = [tags for text in questions.texts(f"_dmarc.{domain}") if (tags := _tags(text)) is not None]
    return records[0] if len(records) == 1 else None


def _tags(text: bytes) -> Mapping[str, str] | None:
    pairs = [part.partition("=") for part in text.decode("ascii", "replace").split(";")]
    tags = [(name.strip(), value.strip()) for name, mark, value in pairs if mark]
    return dict(reversed(tags)) if tags and tags[0] == ("v", "DMARC1") else None
