"""The line of a webhook in the settings: read, checked, and written without its secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from posthouse.message.webhook import Webhook
from posthouse.server.hooking import WEBHOOK, hook_of


def test_a_line_says_all_of_a_webhook() -> None:
    line = "http://127.0.0.1:9000/in secret=/run/crm events=case.gated,case.r* inside=127.0.0.1/32,10.0.0.0/8"
    hook = hook_of("crm", line)
    assert hook == Webhook(
        name="crm", url="http://127.0.0.1:9000/in", secret_file="/run/crm", events=("case.gated", "case.r*"),
        inside=("127.0.0.1/32", "10.0.0.0/8"),
    )  # fmt: skip
    assert str(hook.place) == "webhook://127.0.0.1:9000/crm"


def test_the_file_of_the_secret_counts_from_the_settings() -> None:
    assert WEBHOOK.placed is not None
    placed = WEBHOOK.placed("https://crm.example/x secret=crm.secret", Path("/etc/posthouse"))
    assert placed == "https://crm.example/x secret=/etc/posthouse/crm.secret"


@pytest.mark.parametrize(
    "line",
    [
        "", "https://crm.example", "ftp://crm.example secret=x", "https://u:p@crm.example secret=x",
        "http://crm.example secret=x", "https:// secret=x", "https://crm.example:0 secret=x",
        "https://crm.example:99999 secret=x", "https://crm.example secret=x events=mail.sent",
        "https://crm.example secret=x inside=everywhere", "https://crm.example secret=x more",
        "https://crm.example/#part secret=x", "https://-bad-.example secret=x", "https://crm.example secret=",
    ],
)  # fmt: skip
def test_what_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"expected|host"):
        hook_of("crm", line)


def test_a_webhook_wants_what_it_names() -> None:
    hook = hook_of("crm", "https://crm.example secret=x events=case.gated,case.*")
    assert hook.wants("case.closed")
    only = hook_of("crm", "https://crm.example secret=x events=case.gated")
    assert (only.wants("case.gated"), only.wants("case.closed")) == (True, False)
    assert hook_of("crm", "https://crm.example secret=x").wants("case.closed")
