"""Offices over TLS: a certificate authority of one's own, and what is not accepted."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from posthouse.clock import SystemClock
from posthouse.message.envelope import Envelope
from posthouse.message.message import Head, compose
from posthouse.message.name import parse_office
from posthouse.message.peer import Exchange, Peer
from posthouse.testing.key import a_key
from posthouse.testing.port import free_port
from posthouse.transport.http.entrance import Inside
from posthouse.transport.http.exchange import Post
from posthouse.transport.ports import Outgoing, Result
from tests.scenario.offices.listening import listening
from tests.unit.transport.http.speech import Shelf

DAY = dt.timedelta(days=1)


class Authority:
    """Vouches for whoever it is told to."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        made = self._begun(self._name, self._key)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        made = made.add_extension(usage, critical=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def vouch(self, *names: x509.GeneralName, days: int = 1) -> tuple[str, str]:
        """Give the files of a certificate for these names, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._begun(x509.Name([]), key, days=days)
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=True)
        certificate, private = self._folder / "certificate.pem", self._folder / "key.pem"
        certificate.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return str(certificate), str(private)

    def _begun(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, days: int = 1
    ) -> x509.CertificateBuilder:  # fmt: skip
        now = dt.datetime.now(dt.UTC)
        until = now + days * DAY
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, until) - DAY)
            .not_valid_after(until)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )  # fmt: skip


async def _delivered(batch: object) -> list[Result]:
    assert isinstance(batch, list)
    return [Result("delivered")] * len(batch)


@asynccontextmanager
async def west(folder: Path, files: tuple[str, str]) -> AsyncIterator[str]:
    """Answer over TLS; gives the name of the office."""
    port = free_port()
    name = parse_office(f"https://127.0.0.1:{port}/west")
    east = Peer(name="east", office="https://127.0.0.1:1/east", keys=(str(a_key(1).public),))
    post = Post(SystemClock(), Exchange(peers=(east,)), name=name, key=a_key(2), folder=folder / "arriving")
    entrance = await post.entrance(Inside(name, _delivered, Shelf(), 1_000, lambda _: None))
    async with listening(entrance, port, ssl_certfile=files[0], ssl_keyfile=files[1]):
        yield str(name)


async def bring(name: str, **ca: str) -> Result:
    """Bring a message to west."""
    peer = Peer(name="west", office=name, keys=(str(a_key(2).public),), ca=ca.get("peer", ""))
    exchange = Exchange(peers=(peer,), ca=ca.get("everywhere", ""))
    east = parse_office("https://127.0.0.1:1/east")
    clock = SystemClock()
    door = Post(clock, exchange, name=east, key=a_key(1), folder=Path("unused")).doors()[1]
    try:
        to = f"{name}#bob"
        message = compose(Head(id=clock.new_id(), kind="mail", recipients=(to,), created=clock.now()))
        (result,) = await door.deliver(name, [Outgoing(message, Envelope(recipients=(to,)))])
        return result
    finally:
        await door.close()


HERE = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))


async def test_an_authority_of_ones_own_vouches_for_one_peer_or_for_all(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    async with west(tmp_path, authority.vouch(HERE)) as name:
        assert (await bring(name, peer=str(authority.file))).status == "delivered"
        assert (await bring(name, everywhere=str(authority.file))).status == "delivered"


async def test_nobody_else_is_believed(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path, "authority"), Authority(tmp_path, "other")
    async with west(tmp_path, authority.vouch(HERE)) as name:
        for ca in ({}, {"peer": str(other.file)}, {"everywhere": str(authority.file), "peer": str(other.file)}):
            result = await bring(name, **ca)
            assert result.status == "unreachable"
            assert "its certificate is not accepted" in result.reason


async def test_a_certificate_is_for_its_host_and_its_time(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    for files in (authority.vouch(x509.DNSName("west.example")), authority.vouch(HERE, days=-1)):
        async with west(tmp_path, files) as name:
            result = await bring(name, peer=str(authority.file))
            assert result.status == "unreachable"
            assert "its certificate is not accepted" in result.reason
