"""Reading mail: all features of mails of about 8 KB, beside what the standard library and the fastest library give."""

from __future__ import annotations

import email
import gc
import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.headerregistry import AddressHeader, DateHeader
from email.message import EmailMessage
from email.policy import SMTP, default
from email.utils import format_datetime
from importlib.metadata import version
from typing import Final

import fast_mail_parser

from bench.figure import OURS, Contender, Contest, Results, Round, Stopwatch, compete
from bench.plan import Plan
from posthouse.message.features import features_of_mail

_COUNT: Final = 500
_TEXT: Final = 5_600
_SAYING: Final = (
    "the office sends a letter and nobody waits for an answer while horses stand ready at the inn across the road "
    "where travellers ask which way leads over the hill before night falls and rain begins größer façade naïve"
)
_WORDS: Final = _SAYING.split()
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)


def mails(seed: int) -> Iterator[bytes]:
    """Give mails of about 8 KB: half of them text, a third with HTML beside it, the others with an attached file."""
    chance = random.Random(f"posthouse mail 1 {seed}")
    for number in range(_COUNT):
        mail = EmailMessage(policy=SMTP.clone(cte_type="8bit"))
        _write_head(mail, chance, number)
        kind = chance.random()
        if kind < 0.5:
            mail.set_content(_prose(chance, _TEXT))
        elif kind < 0.83:
            mail.set_content(_prose(chance, _TEXT // 4))
            mail.add_alternative(_page(chance, _TEXT // 5), subtype="html")
        else:
            mail.set_content(_prose(chance, _TEXT // 4))
            name = f"{chance.choice(_WORDS)}-{number}.pdf"
            mail.add_attachment(chance.randbytes(_TEXT // 2), maintype="application", subtype="pdf", filename=name)
        yield bytes(mail)


def _write_head(mail: EmailMessage, chance: random.Random, number: int) -> None:
    written = format_datetime(_EPOCH + timedelta(seconds=chance.randrange(10**7)))
    for hop in range(chance.randint(3, 6)):
        mail["Received"] = (
            f"from relay-{hop}.example ([192.0.2.{chance.randrange(255)}]) by mx-{hop}.example (Post) "
            f"with ESMTPS id {chance.randbytes(8).hex()} for <someone@office.example>; {written}"
        )
    mail["DKIM-Signature"] = f"v=1; a=rsa-sha256; d=example; s=one; h=from:to:subject; b={chance.randbytes(128).hex()}"
    mail["From"] = f'"{_prose(chance, 12).title().strip()}" <sender-{number}@one.example>'
    mail["To"] = ", ".join(f"person-{chance.randrange(99)}@two.example" for _ in range(chance.randint(1, 4)))
    if chance.random() < 0.5:
        mail["Cc"] = f"Archive <archive-{number}@office.example>"
    mail["Subject"] = _prose(chance, 40).strip()
    mail["Date"] = written
    mail["Message-ID"] = f"<{chance.randbytes(12).hex()}@one.example>"
    for name in ("User-Agent", "X-Spam-Status", "List-Id", "Precedence", "X-Mailer", "Thread-Topic", "Organization"):
        mail[name] = " ".join(chance.choices(_WORDS[:20], k=4))


def _prose(chance: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += " ".join(chance.choices(_WORDS, k=min(11, max(1, size // 6)))) + "\n"
    return text if size > 100 else text.replace("\n", " ")


def _page(chance: random.Random, size: int) -> str:
    rows = "".join(
        f'<tr><td style="padding:4px"><b>{line}</b></td><td><a href="https://office.example/{number}">more</a></td></tr>\n'
        for number, line in enumerate(_prose(chance, size).splitlines())
    )
    return f"<html><head><title>Letter</title></head><body><table>{rows}</table></body></html>"


def _with_standard_library(raw: bytes) -> object:
    """Find the same with `email`, as far as it goes: it knows no text of HTML."""
    mail = email.message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    headers = [(name.lower(), str(value)) for name, value in mail.items()]
    people = [mail[name].addresses for name in ("from", "to", "cc") if isinstance(mail[name], AddressHeader)]
    date = mail["date"].datetime if isinstance(mail["date"], DateHeader) else None
    texts: list[str] = []
    files: list[tuple[str | None, int, bytes]] = []
    for part in mail.walk():
        if part.get_content_maintype() == "text":
            texts.append(part.get_content())
        elif not part.is_multipart():
            content = part.get_content()
            files.append((part.get_filename(), len(content), hashlib.sha256(content).digest()))
    return headers, people, date, texts, files


def _reading(read: Callable[[bytes], object], written: Sequence[bytes]) -> Round:
    async def measure() -> float:
        watch = Stopwatch()
        for raw in written:
            read(raw)
        # Reading is work of the processor alone: what else runs on the machine does not belong to the figure.
        return len(written) / watch.processor()

    return measure


async def measure_parse(plan: Plan) -> Results:
    """All of them over and over, each reader in turn."""
    written = list(mails(plan.seed))
    gc.collect()
    gc.freeze()
    mean = sum(map(len, written)) // len(written)
    contenders = [
        Contender("mail_parse_per_s", OURS, _reading(features_of_mail, written * 4), f"all features, {mean} bytes"),
        Contender(
            "mail_parse_email_per_s",
            "email",
            _reading(_with_standard_library, written[::5]),
            "headers, addresses, texts, hashes; no text of HTML",
        ),
        Contender(
            "mail_parse_bare_per_s",
            f"fast-mail-parser {version('fast-mail-parser')}",
            _reading(fast_mail_parser.parse_email, written * 4),
            "strings and bodies only",
        ),
    ]
    figures = await compete(contenders, 5 * plan.scale.rounds)
    gc.unfreeze()
    return figures


CONTESTS: Final = (Contest(("mail_parse_per_s",), measure_parse),)
