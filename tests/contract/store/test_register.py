"""The mailboxes with settings of their own, and decisions that rest on them."""

from __future__ import annotations

from posthouse.message.changes import DONE, Changes, Register, Setup
from posthouse.testing.build import entry
from tests.contract.store.desk import Desk, scenario


@scenario
async def test_a_new_store_has_no_settings(desk: Desk) -> None:
    assert await desk.store.register() == Register(version=0, setups={})


@scenario
async def test_settings_are_kept_as_written_under_a_new_version(desk: Desk) -> None:
    setups = (Setup(mailbox="inbox", max_messages=5), Setup(mailbox="other", closed=True, max_bytes=7))
    await desk.change(setups=setups)
    assert await desk.store.register() == Register(version=1, setups={"inbox": setups[0], "other": setups[1]})
    await desk.set_up(Setup(mailbox="inbox"))
    register = await desk.store.register()
    assert (register.version, register.setups["inbox"]) == (2, Setup(mailbox="inbox"))


@scenario
async def test_removed_settings_are_gone_and_the_mailbox_keeps_its_content(desk: Desk) -> None:
    await desk.put(1)
    await desk.set_up(Setup(mailbox="inbox", closed=True))
    await desk.set_up(Setup(mailbox="inbox", removed=True))
    assert await desk.store.register() == Register(version=2, setups={})
    assert await desk.takes() == [1]


@scenario
async def test_removing_what_was_not_there_makes_a_new_version_too(desk: Desk) -> None:
    await desk.set_up(Setup(mailbox="inbox", removed=True))
    assert await desk.store.register() == Register(version=1, setups={})


@scenario
async def test_a_decision_on_an_old_version_is_stale(desk: Desk) -> None:
    assert await desk.change(posts=(desk.post(1),), register=0) == DONE
    await desk.set_up(Setup(mailbox="inbox"))
    assert (await desk.change(posts=(desk.post(2),), register=0)).status == "stale"
    assert (await desk.change(posts=(desk.post(2),), register=2)).status == "stale"
    assert await desk.change(posts=(desk.post(2),), register=1) == DONE
    assert await desk.holds() == [1, 2]


@scenario
async def test_the_version_rises_between_the_changes_of_one_call(desk: Desk) -> None:
    setup = Setup(mailbox="inbox")
    outcomes = await desk.store.commit([Changes(setups=(setup,), register=0)] * 2)
    assert [outcome.status for outcome in outcomes] == ["done", "stale"]
    assert (await desk.store.register()).version == 1


@scenario
async def test_a_register_once_given_does_not_change(desk: Desk) -> None:
    await desk.set_up(Setup(mailbox="inbox"))
    register = await desk.store.register()
    await desk.set_up(Setup(mailbox="other"))
    assert register == Register(version=1, setups={"inbox": Setup(mailbox="inbox")})


@scenario
async def test_a_refused_change_sets_nothing_up(desk: Desk) -> None:
    await desk.put(1)
    outcome = await desk.change(setups=(Setup(mailbox="inbox", closed=True),), posts=(desk.post(1, entry()),))
    assert outcome.status == "duplicate"
    assert (await desk.store.register()).version == 0
