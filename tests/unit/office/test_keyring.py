"""Keys are made once, known by their hash, and end when they are revoked or their time is over."""

from __future__ import annotations

import pytest

from posthouse.office.calls import CreateCredential, Issued, ListCredentials, RevokeCredential
from posthouse.office.keyring import CredentialRefused, CredentialUnknown, Keyring
from posthouse.office.mailbox import BadRequest
from posthouse.office.permit import MalformedScope
from posthouse.store.memory.store import MemoryStore
from posthouse.testing.clock import FakeClock


class Ring:
    """A keyring over a store in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.keyring = Keyring(self.clock, self.store)

    async def create(self, *scopes: str, expires_in: float | None = None, name: str = "till") -> Issued:
        chosen = list(scopes or ("read orders",))
        return await self.keyring.create(CreateCredential(name=name, scopes=chosen, expires_in=expires_in))

    def refusal(self, key: str) -> str:
        with pytest.raises(CredentialRefused) as raised:
            self.keyring.recognise(key)
        return raised.value.what


async def test_a_key_is_recognised_also_after_a_restart() -> None:
    ring = Ring()
    issued = await ring.create("send as ada", "read orders*")
    again = Keyring(ring.clock, ring.store)
    await again.load()
    for keyring in (ring.keyring, again):
        permit = keyring.recognise(issued.key)
        assert permit.principal == f"key {issued.credential.id}"
        assert (permit.name, list(map(str, permit.scopes))) == ("till", ["send as ada", "read orders*"])
        assert keyring.stands(permit)


async def test_the_key_itself_is_kept_nowhere() -> None:
    ring = Ring()
    issued = await ring.create()
    (kept,) = await ring.store.credentials.issued()
    assert issued.key not in repr(kept)
    assert issued.key.split("_")[2].encode() not in kept.digest
    assert await ring.keyring.listed(ListCredentials()) == [issued.credential]


async def test_wrong_keys_are_refused() -> None:
    ring = Ring()
    key = (await ring.create()).key
    last = "b" if key.endswith("a") else "a"
    for wrong in ("", "x", key[:-1], key + "a", key[:-1] + last, key.upper(), "ph_" + "a" * 10 + key[13:], "é" * 100):
        assert ring.refusal(wrong) == "the key is not known here"


async def test_a_key_ends_when_it_is_revoked() -> None:
    ring = Ring()
    issued = await ring.create()
    permit = ring.keyring.recognise(issued.key)
    ended = await ring.keyring.revoke(RevokeCredential(id=issued.credential.id))
    assert ended.revoked == ring.clock.now()
    assert ring.refusal(issued.key) == "the key was revoked"
    assert not ring.keyring.stands(permit)
    for name in (issued.credential.id, "nobody"):
        with pytest.raises(CredentialUnknown):
            await ring.keyring.revoke(RevokeCredential(id=name))


async def test_a_key_ends_when_its_time_is_over() -> None:
    ring = Ring()
    issued = await ring.create(expires_in=60)
    permit = ring.keyring.recognise(issued.key)
    ring.clock.advance(60)
    assert ring.refusal(issued.key) == "the key has expired"
    assert not ring.keyring.stands(permit)


async def test_what_cannot_be_a_credential_is_refused() -> None:
    ring = Ring()
    with pytest.raises(MalformedScope):
        await ring.create("read everything please")
    for wrong in ({"name": ""}, {"name": "a\nb"}, {"name": "x" * 101}, {"expires_in": -1.0}, {"expires_in": 1e12}):
        with pytest.raises(BadRequest):
            await ring.create(**wrong)
    with pytest.raises(BadRequest):
        await ring.create(*["administer"] * 51)
    assert await ring.store.credentials.issued() == []


# G-197
async def test_keys_that_are_made_and_revoked_are_on_record() -> None:
    ring = Ring()
    issued = await ring.keyring.create(CreateCredential(name="robot", scopes=["audit"], by="ben"))
    await ring.keyring.revoke(RevokeCredential(id=issued.credential.id, by="carl"))
    lines = await ring.store.gate.audit.lines()
    subject = f"key {issued.credential.id}"
    assert [(line.act, line.actor, line.subject) for line in lines] == [
        ("key.created", "ben", subject),
        ("key.revoked", "carl", subject),
    ]
    payloads = [line.payload or b"" for line in lines]
    assert b"audit" in payloads[0]
    assert not any(issued.key.encode() in payload for payload in payloads)
