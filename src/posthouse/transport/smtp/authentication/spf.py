"""Whether the host that brought a mail may send for the domain of its sender (RFC 7208)."""

from __future__ import annotations

from typing import Any, Final, cast

import spf

from posthouse.transport.smtp.authentication.lookup import Kind, Questions, ascii_domain
from posthouse.transport.smtp.mx import Mx
from posthouse.transport.smtp.names import NamesUnavailable

_RESULTS: Final = frozenset({"pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"})
_MOST_VOID: Final = 2


# `Any`: the library knows no types.
class _Query(spf.query):  # type: ignore[misc]
    """The library's reading of a record, with our questions in place of its own."""

    void_lookups: int

    def __init__(self, client: str, sender: str, *, helo: str, questions: Questions) -> None:
        super().__init__(client, sender, helo, receiver="unknown", strict=True)
        self._questions = questions

    def dns(self, name: Any, qtype: str, *_rest: Any, ignore_void: bool = False) -> list[Any]:
        if qtype == "SPF":
            # A kind of record that RFC 7208 gave up.
            return []
        try:
            answers = self._questions.ask(str(name), cast("Kind", qtype))
        except NamesUnavailable as fault:
            raise spf.TempError("DNS: no answer") from fault
        if not answers and not ignore_void:
            self.void_lookups += 1
            if self.void_lookups > _MOST_VOID:
                raise spf.PermError(f"Void lookup limit of {_MOST_VOID} exceeded")
        return [_as_library(answer) for answer in answers]

    def get_explanation(self, spec: str) -> None:
        # Nobody is told it, so it is not asked for.
        del spec


def _as_library(answer: bytes | str | Mx) -> Any:
    match answer:
        case bytes():
            return (answer,)
        case Mx(preference, host):
            return (preference, host.rstrip("."))
        case _:
            return answer.rstrip(".")


def check_spf(client: str, sender: str | None, *, helo: str, questions: Questions) -> str:
    """Give the result for a mail from this address; a mail without sender is answered for by the name in HELO."""
    try:
        local, _, domain = (sender or f"postmaster@{helo}").rpartition("@")
        plain = ascii_domain(domain)
        if "." not in plain or plain.startswith("["):
            return "none"
        result = _Query(
            client, f"{local or 'postmaster'}@{plain}", helo=helo or "unknown", questions=questions
        ).check()[0]
    except UnicodeError:
        return "none"
    except Exception:  # noqa: BLE001 - the library meets what strangers publish; what it stumbles on is no good record
        return "permerror"
    return result if result in _RESULTS else "permerror"


def domain_of_spf(sender: str | None, helo: str) -> str:
    """Give the domain that SPF answers for."""
    try:
        return ascii_domain((sender or f"postmaster@{helo}").rpartition("@")[2])
    except UnicodeError:
        return ""
