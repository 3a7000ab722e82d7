"""What the scenarios of mail share: a certificate, and what its clients believe."""

from __future__ import annotations

import ssl

import pytest

from posthouse.testing.certificate import make_certificate


@pytest.fixture(scope="session")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Give what a door shows and what its client believes."""
    made = make_certificate(tmp_path_factory.mktemp("tls"), "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    return context, ssl.create_default_context(cafile=made.certificate)
