"""The certificate of the office: TLS 1.2 or newer; new files are taken up while connections go on."""

from __future__ import annotations

import ssl
from typing import ClassVar

from posthouse.errors import PosthouseError
from posthouse.message.maildoor import MailTerms
from posthouse.server.settings import HttpSettings


class CertificateFault(PosthouseError):
    """The certificate or its key cannot be used."""

    code: ClassVar[str] = "tls.fault"
    public: ClassVar[str] = "The office is not set up correctly."


class Certificate:
    """What the listener shows to whoever connects."""

    def __init__(self, settings: HttpSettings) -> None:
        self.context = _context(settings.tls_certificate, settings.tls_key, group="http")
        self.context.set_alpn_protocols(["http/1.1"])

    def renew(self, settings: HttpSettings) -> None:
        """Take up new files, for connections that are made from now on; where they are no good, nothing changes."""
        _context(settings.tls_certificate, settings.tls_key, group="http")
        self.context.load_cert_chain(settings.tls_certificate, settings.tls_key, password=_no_password)


def certificate_of(settings: HttpSettings) -> Certificate | None:
    """Give the certificate where there is one; `CertificateFault` where only half of it is named or it is no good."""
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        missing = "http.tls_key" if settings.tls_certificate else "http.tls_certificate"
        raise CertificateFault("expected a certificate and its key, found only one of them", hint=f"give {missing} too")
    return Certificate(settings) if settings.tls_certificate else None


def mail_context(terms: MailTerms) -> ssl.SSLContext | None:
    """Give what doors for mail show; `CertificateFault` where one needs it and there is none, or it is no good."""
    if terms.tls_certificate and terms.tls_key:
        return _context(terms.tls_certificate, terms.tls_key, group="mail")
    if terms.tls_certificate or terms.tls_key:
        missing = "mail.tls_key" if terms.tls_certificate else "mail.tls_certificate"
        raise CertificateFault("expected a certificate and its key, found only one of them", hint=f"give {missing} too")
    for door in terms.doors:
        if door.tls != "none":
            raise CertificateFault(
                "expected a certificate, as the door offers TLS, found none", where=f"doors.{door.name}",
                hint="give mail.tls_certificate and mail.tls_key",
            )  # fmt: skip
    return None


def renew_mail(context: ssl.SSLContext | None, terms: MailTerms) -> None:
    """Take up new files of the same names at the doors for mail; where they are no good, nothing changes."""
    if context is not None:
        _context(terms.tls_certificate, terms.tls_key, group="mail")
        context.load_cert_chain(terms.tls_certificate, terms.tls_key, password=_no_password)


def _context(certificate: str, key: str, *, group: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as fault:
        raise CertificateFault(
            f"expected a certificate and the key that belongs to it, found something else: {fault.reason or fault}",
            where=f"{certificate} and {key}",
            hint=f"both are PEM; the key has no passphrase; see {group}.tls_certificate and {group}.tls_key",
        ) from None
    except (OSError, ValueError) as fault:
        raise CertificateFault(
            f"the certificate or its key cannot be read: {getattr(fault, 'strerror', None) or fault}",
            where=f"{certificate} and {key}",
            hint=f"see {group}.tls_certificate and {group}.tls_key",
        ) from None
    return context


def _no_password() -> str:
    # Else OpenSSL asks for it at the terminal, and the office waits for ever.
    raise ValueError("the key has a passphrase")
