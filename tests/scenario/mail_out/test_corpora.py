"""Every mail of the corpora leaves as it was put in, byte for byte, behind one line."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from posthouse.client import Draft
from tests.scenario.mail.corpus import paths
from tests.scenario.mail_out.conftest import Opened
from tests.scenario.mail_out.letters import ANN, BOB, route, without_trace
from tests.scenario.mail_out.recorder import recorder

_LINE_END = re.compile(rb"\r\n|\r|\n")


def as_sent(raw: bytes) -> bytes:
    """Give a mail from a file as a mail program would send it: its lines end with CR LF."""
    lines = raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw
    sent = _LINE_END.sub(b"\r\n", lines)
    return sent if sent.endswith(b"\r\n") or not sent else sent + b"\r\n"


@pytest.mark.timeout(300)
async def test_every_mail_of_the_corpora_leaves_as_it_came(opened: Opened) -> None:
    mails = [sent for path in paths() if (sent := as_sent(path.read_bytes()))]
    async with recorder() as server, opened(route(server), hops=1_000) as office:
        for start in range(0, len(mails), 200):
            batch = [
                Draft(to=(BOB,), body=body, kind="mail", content_type="message/rfc822", sender=ANN, ordered=False)
                for body in mails[start : start + 200]
            ]
            receipts = await office.put_many(batch)
            assert {receipt.status for receipt in receipts} == {"accepted"}
        got = await server.got(len(mails))
    assert Counter(without_trace(mail.content) for mail in got) == Counter(mails)
