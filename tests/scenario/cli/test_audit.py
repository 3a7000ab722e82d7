"""The audit on the command line: proved, shown, exported, erased, and what was done to it found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import apsw
import pytest

from posthouse.message.changes import Changes
from posthouse.store.sqlite.store import SqliteStore
from posthouse.testing.gated import audited
from tests.scenario.cli.command import Ran, Terminal

RECORDS = 12


async def record(path: Path, *subjects: str) -> None:
    store = await SqliteStore.open(path)
    await store.commit([Changes(audits=(audited(subject),)) for subject in subjects])
    await store.close()


@pytest.fixture
def office(terminal: Terminal) -> Terminal:
    """A folder with an office in which something was recorded."""
    assert terminal.run("send", "ada", "hello").code == 0
    asyncio.run(record(store_of(terminal), *(f"case {number % 3}" for number in range(RECORDS))))
    return terminal


def store_of(terminal: Terminal) -> Path:
    (path,) = terminal.folder.glob("*.db")
    return path


def tamper(terminal: Terminal, statement: str) -> None:
    connection = apsw.Connection(str(store_of(terminal)))
    connection.execute(statement).fetchall()
    connection.close()


def exported(terminal: Terminal, name: str, *options: str) -> Ran:
    ran = terminal.run("audit", "export", "--output", name, *options)
    assert ran.code == 0, ran.err
    return ran


# G-18
def test_what_is_recorded_is_shown_and_proved(office: Terminal) -> None:
    shown = office.run("audit", "show", "--subject", "case 1", "--json")
    assert [line["number"] for line in shown.documents] == [2, 5, 8, 11]
    assert shown.documents[0]["says"] == {"who": "ada"}
    assert "case.opened" in office.run("audit", "show", "--limit", "2").text
    assert office.run("audit", "show", "--subject", "nothing").code == 3
    proof = office.run("audit", "verify", "--json")
    assert proof.code == 0, proof.err
    assert (proof.document["records"], proof.document["flaw"]) == (RECORDS, None)


def test_an_export_is_proved_without_the_office(office: Terminal) -> None:
    exported(office, "all.jsonl")
    exported(office, "later.jsonl", "--after", "5")
    assert exported_numbers(office, "later.jsonl") == list(range(6, RECORDS + 1))
    for name in ("all.jsonl", "later.jsonl"):
        proof = office.run("audit", "verify", name, "--store", "nowhere.db", "--json")
        assert proof.code == 0, proof.err
        assert (proof.document["records"], proof.document["sealed"]) == (RECORDS, RECORDS)
        (key,) = proof.document["keys"]
        assert office.run("audit", "verify", name, "--trust", key).code == 0
    other = "ed25519:" + "A" * 43 + "="
    distrusted = office.run("audit", "verify", "all.jsonl", "--trust", other, "--json")
    assert (distrusted.code, distrusted.document["flaw"]["ill"]) == (1, "seal")
    again = office.run("audit", "export", "--output", "all.jsonl")
    assert again.code == 2
    assert office.run("audit", "export").out.splitlines()[1:] == lines_of(office, "all.jsonl")[1:]


def test_a_changed_export_names_its_first_bad_record(office: Terminal) -> None:
    exported(office, "all.jsonl")
    lines = lines_of(office, "all.jsonl")
    for changed, number in (
        ([line.replace(b'"number":4', b'"number":9') for line in lines], 4),
        ([line.replace(b'"subject":"case 2"', b'"subject":"case 7"') for line in lines], 3),
        ([*lines[:6], *lines[7:]], 6),
        ([*lines[:6], lines[7], lines[6], *lines[8:]], 6),
        ([line for line in lines if b'"number":12,' not in line or b"seal" in line], RECORDS),
    ):
        (office.folder / "bad.jsonl").write_bytes(b"\n".join(changed) + b"\n")
        proof = office.run("audit", "verify", "bad.jsonl", "--json")
        assert (proof.code, proof.document["flaw"]["record"]) == (1, number), proof.document
    for text in (b"", b"{}\n", b"not json\n", lines[1]):
        (office.folder / "bad.jsonl").write_bytes(text)
        ran = office.run("audit", "verify", "bad.jsonl", "--json")
        assert (ran.code, ran.error["code"]) == (2, "audit.unreadable")
    assert office.run("audit", "verify", "missing.jsonl").code == 2


def test_what_was_cut_off_is_found_by_its_seal_and_by_an_older_export(office: Terminal) -> None:
    exported(office, "all.jsonl")
    assert office.run("audit", "verify", "--against", "all.jsonl").code == 0
    tamper(office, "DELETE FROM audit WHERE number > 9")
    cut = office.run("audit", "verify", "--json").document["flaw"]
    assert (cut["record"], cut["ill"]) == (10, "cut off")
    tamper(office, "DELETE FROM seal")
    assert office.run("audit", "verify").code == 0
    cut = office.run("audit", "verify", "--against", "all.jsonl", "--json").document["flaw"]
    assert (cut["record"], cut["ill"]) == (10, "cut off")


def test_what_was_written_anew_is_found_by_an_older_export(office: Terminal) -> None:
    exported(office, "all.jsonl")
    tamper(office, "DELETE FROM audit WHERE number > 5")
    tamper(office, "DELETE FROM seal")
    asyncio.run(record(store_of(office), *["case 9"] * 10))
    assert office.run("audit", "verify").code == 0
    found = office.run("audit", "verify", "--against", "all.jsonl", "--json").document["flaw"]
    assert (found["record"], found["ill"]) == (6, "changed")


def test_what_is_erased_can_still_be_proved(office: Terminal) -> None:
    exported(office, "all.jsonl")
    erased = office.run("audit", "erase", "case 1", "--reason", "the law", "--json")
    assert (erased.code, erased.document["records"]) == (0, 4)
    proof = office.run("audit", "verify", "--against", "all.jsonl", "--json")
    assert (proof.code, proof.document["records"]) == (0, RECORDS + 1)
    exported(office, "after.jsonl")
    assert office.run("audit", "verify", "after.jsonl").code == 0
    whole = [json.loads(line) for line in lines_of(office, "after.jsonl")[1:]]
    gone = [line["number"] for line in whole if line["line"] == "record" and line["payload"] is None]
    assert gone == [2, 5, 8, 11]
    last = office.run("audit", "show", "--after", str(RECORDS), "--json").document
    assert (last["act"], last["subject"], last["says"]) == (
        "audit.erased", "case 1", {"records": 4, "reason": "the law"}
    )  # fmt: skip


def lines_of(terminal: Terminal, name: str) -> list[bytes]:
    return (terminal.folder / name).read_bytes().splitlines()


def exported_numbers(terminal: Terminal, name: str) -> list[int]:
    lines = map(json.loads, lines_of(terminal, name))
    return [line["number"] for line in lines if line["line"] == "record"]
