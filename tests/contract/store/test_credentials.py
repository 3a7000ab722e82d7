"""Credentials are issued once, revoked once and never forgotten; the pulse is the last one written."""

from __future__ import annotations

import msgspec

from posthouse.message.changes import DONE, Changes
from posthouse.message.credential import Credential, Issue, Revoke
from posthouse.testing.build import START
from tests.contract.store.desk import Desk, scenario


def issue(name: str) -> Issue:
    known = Credential(id=name, name=f"the {name}", scopes=("read *", "administer"), created=START, expires=START + 9)
    return Issue(credential=known, digest=name.encode() * 4)


async def issued(desk: Desk) -> list[str]:
    return [known.credential.id for known in await desk.store.credentials.issued()]


@scenario
async def test_a_new_store_has_none(desk: Desk) -> None:
    assert await desk.store.credentials.issued() == []
    assert await desk.store.journal.pulse() is None


@scenario
async def test_what_was_issued_is_there_by_pages(desk: Desk) -> None:
    assert await desk.change(issues=(issue("b"), issue("a"))) == DONE
    assert await desk.change(issues=(issue("c"),)) == DONE
    assert await desk.store.credentials.issued() == [issue("a"), issue("b"), issue("c")]
    assert await desk.store.credentials.issued(after="a", limit=1) == [issue("b")]


@scenario
async def test_an_id_is_issued_once(desk: Desk) -> None:
    assert await desk.change(issues=(issue("a"),)) == DONE
    assert (await desk.change(issues=(issue("b"), issue("a")))).status == "stale"
    assert (await desk.change(issues=(issue("c"), issue("c")))).status == "stale"
    outcomes = await desk.store.commit([Changes(issues=(issue("d"),))] * 2)
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    assert await issued(desk) == ["a", "d"]


@scenario
async def test_a_credential_is_revoked_once_and_stays_to_be_seen(desk: Desk) -> None:
    await desk.change(issues=(issue("a"), issue("b")))
    assert await desk.change(revokes=(Revoke(id="a", at=START + 1),)) == DONE
    assert (await desk.change(revokes=(Revoke(id="a", at=START + 2),))).status == "stale"
    assert (await desk.change(revokes=(Revoke(id="x", at=START + 2),))).status == "stale"
    assert (await desk.change(revokes=(Revoke(id="b", at=1), Revoke(id="b", at=2)))).status == "stale"
    assert (await desk.change(issues=(issue("a"),))).status == "stale"
    first, second = await desk.store.credentials.issued()
    assert first.credential == msgspec.structs.replace(issue("a").credential, revoked=START + 1)
    assert second == issue("b")


@scenario
async def test_a_change_refused_for_another_reason_issues_nothing(desk: Desk) -> None:
    await desk.put(1)
    assert (await desk.change(issues=(issue("a"),), posts=(desk.post(1),))).status == "duplicate"
    assert await issued(desk) == []


@scenario
async def test_the_last_pulse_is_kept(desk: Desk) -> None:
    for instant in (START, START + 5):
        assert await desk.change(pulse=instant) == DONE
        assert await desk.store.journal.pulse() == instant
