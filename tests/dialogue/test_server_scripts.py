"""Every script of `server/`, played against the dialogue without a socket, in one piece and byte by byte, and against
a door that listens."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from posthouse.testing.certificate import make_certificate
from tests.dialogue.player import Bare, Wire, play
from tests.dialogue.script import Script, scripts

SCRIPTS = scripts("server")


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Give what a door shows and what its client believes."""
    made = make_certificate(tmp_path_factory.mktemp("tls"), "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    return context, ssl.create_default_context(cafile=str(Path(made.certificate)))


@pytest.mark.parametrize("piece", [None, 1, 7], ids=["whole", "by-1", "by-7"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_the_dialogue_says_so(script: Script, piece: int | None) -> None:
    if piece is not None and script.name in {"starttls_injection", "pipelining_data"}:
        pytest.skip("what comes too early is known by coming together with what it must wait for")
    peer = Bare(script, piece=piece)
    await peer.begin()
    await play(script, peer)
    assert peer.given == script.given


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_a_door_says_so(script: Script, contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    peer = Wire(script, *contexts)
    try:
        await peer.begin()
        await play(script, peer)
    finally:
        await peer.end()
    assert peer.given == script.given
