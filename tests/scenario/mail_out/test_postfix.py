"""Postfix behind the office, as the relay everything goes to."""

from __future__ import annotations

import pytest

from posthouse.testing import postfix
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import BOB, CAROL, lived, post
from tests.scenario.mail_out.recorder import recorder

# With everything Postfix would add by itself.
MAIL = (
    b"From: ann@one.example\r\nTo: bob@two.example\r\nDate: Mon, 5 Jan 2026 08:00:00 +0100\r\n"
    b"Message-ID: <1@one.example>\r\nSubject: flour\r\n\r\n\xff .\r\n.\r\n..\r\n"
)

pytestmark = [
    pytest.mark.service("postfix"),
    pytest.mark.skipif(postfix.find() is not None, reason=postfix.find() or ""),
]


async def test_what_is_handed_to_postfix_leaves_it_as_it_was(opened: Opened) -> None:
    async with (
        recorder() as world,
        postfix.running({
            "relayhost": f"[127.0.0.1]:{world.port}", "mydestination": "", "mynetworks": "127.0.0.0/8",
            "default_transport": "smtp", "smtp_host_lookup": "native",
        }) as relay,
        opened(("*", f"smtp://{relay.host}:{relay.port}")) as office,
    ):  # fmt: skip
        identities = [await post(office, MAIL, to=[BOB, CAROL]) for _ in range(5)]
        mails = await world.got(5)
        for mail in mails:
            assert mail.content.endswith(MAIL)
            addresses = {recipient.split(" ")[0] for recipient in mail.recipients}
            assert addresses == {"<bob@two.example>", "<carol@two.example>"}
            assert mail.content.count(b"Received:") == 2, "one of this office, one of Postfix"
        for identity in identities:
            await lived(office, identity, "forwarded")
