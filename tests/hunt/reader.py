"""Bytes that become a mail, which is read."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP

from tests.unit.message.form.mail.test_hunt import SCRAP_WORDS, is_read

target = is_read


def seeds() -> Iterator[bytes]:
    """Give what the hunt begins with: mails as people write them, and what makes mails odd."""
    yield from SCRAP_WORDS
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["Subject"] = '"Ada, Müller" <ada@bakery.example>', "Zwölf Brötchen " * 8
    mail["Date"] = "Mon, 5 Jan 2026 08:00:00 +0100"
    mail.set_content("Zwölf, bitte.\n", cte="quoted-printable")
    yield mail.as_bytes()
    mail.add_alternative("<p>Zw&ouml;lf, <b>bitte</b>.</p><!-- nobody sees this -->", subtype="html")
    mail.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="größe.bin")
    yield mail.as_bytes()
    around = EmailMessage(policy=SMTP)
    around.add_attachment(mail)
    yield around.as_bytes()
    yield b"From: x\nContent-Type: text/plain\n\nbegin 644 x.bin\n#AAEC\n`\nend\n"
    yield b"Content-Type: multipart/signed; boundary=b; protocol=application/pgp-signature\n\n--b\n\nx\n--b--\n"
