"""An office on a file whose mail goes to servers of the test's own."""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from posthouse.client import Office
from posthouse.message.mailing import Mailing
from posthouse.office.terms import Patience, Terms

NAME = "post.example"
QUICK = Patience(first_pause=0.05, growth=1.0, longest_pause=0.05, deferral=0.05, give_up_after=30.0)
Opened = Callable[..., AbstractAsyncContextManager[Office]]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def open_office(
        *routes: tuple[str, str], patience: Patience = QUICK, **mailing: object
    ) -> AsyncIterator[Office]:
        # A test names the terms it changes.
        given = Mailing(name=NAME, routes=routes, mta_sts=False, **mailing)  # type: ignore[arg-type]
        terms = Terms(mailing=given, patience=patience)
        async with Office.open(tmp_path / "office.db", terms=terms) as office:
            yield office

    return open_office


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with a key and a certificate of its own for localhost and 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    written = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + written.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
