"""What programs read: the names of the fields stay, and errors are documents too."""

from __future__ import annotations

import pytest

from tests.scenario.cli.command import Terminal

MESSAGE = {
    "id", "kind", "from", "to", "reply_to", "correlation", "priority", "created", "expires", "keep", "content_type",
    "traceparent", "lane", "attributes", "size",
}  # fmt: skip


def test_a_message_with_all_it_says(terminal: Terminal) -> None:
    sent = terminal.run(
        "send", "orders", "two loaves", "--type", "request.order", "--sender", "ada", "--reply-to", "ada",
        "--correlation", "c-1", "--priority", "7", "--also", "copies", "--blind", "auditor", "--lane", "morning",
        "--expires", "1h", "--attribute", "amount:int32=5", "--attribute", "note=rye",
        "--attribute", "price:real64=2.5", "--attribute", "at:instant=2026-05-01T08:00:00Z",
        "--attribute", 'sizes:list=[1, "two", {"int32": 3}]', "--attribute", "seal:opaque=AAE=", "--key", "k-1",
        "--json",
    )  # fmt: skip
    assert sent.document.keys() == {"status", "id"}
    assert sent.document["status"] == "accepted"

    (entry,) = terminal.run("queue", "list", "orders", "--json").documents
    assert entry.keys() == {
        "entry", "message", "box", "work", "kind", "state", "priority", "correlation", "size", "arrived", "attempt",
        "failures", "next", "expires", "holder",
    }  # fmt: skip

    read = terminal.run("read", "orders", "--reply-to", "c-1", "--json").document
    assert read.keys() == MESSAGE | {"attempt", "leased_until", "text"}
    assert (read["id"], read["kind"], read["from"], read["to"]) == (
        sent.document["id"], "request.order", "ada", ["orders", "copies"],
    )  # fmt: skip
    assert (read["priority"], read["lane"], read["attempt"], read["text"]) == (7, "morning", 1, "two loaves")
    assert read["attributes"] == {
        "amount": {"int32": 5},
        "note": {"text": "rye"},
        "price": {"real64": 2.5},
        "at": {"instant": "2026-05-01T08:00:00Z"},
        "sizes": {"list": [{"int64": 1}, {"text": "two"}, {"int32": 3}]},
        "seal": {"opaque": "AAE="},
    }
    assert terminal.run("read", "auditor", "--json").document["id"] == read["id"]

    story = terminal.run("trace", read["id"][:-4], "--body", "--json").document
    assert story.keys() == MESSAGE | {"envelope", "accepted", "trace", "text"}
    assert story["envelope"].keys() == {"from", "to", "blind", "principal", "key", "not_before"}
    assert (story["envelope"]["blind"], story["envelope"]["key"]) == (["auditor"], "k-1")
    assert story["trace"][0]["happened"] == "accepted"
    assert all(step.keys() == {"at", "happened", "place", "detail"} for step in story["trace"])

    (box,) = terminal.run("queue", "list", "--json").documents
    assert box == {"box": "copies", "messages": 1, "bytes": 10}


def test_documents_of_operators(terminal: Terminal) -> None:
    boxes = terminal.run("mailbox", "set", "a", "--max-bytes", "5", "--json")
    named = {"mailbox", "messages", "bytes", "max_messages", "max_bytes", "closed"}
    assert boxes.document.keys() == named | {"removed"}
    (listed,) = terminal.run("mailbox", "list", "--json").documents
    assert listed.keys() == named
    status = terminal.run("status", "--json").document
    assert status.keys() == {
        "office", "version", "process", "started", "accepted", "queued", "dead", "aside", "waiting", "store",
        "destinations", "addresses", "mail", "domains", "store_path", "running",
    }  # fmt: skip
    assert (status["running"], status["process"], status["store"]) == (False, None, "ok")
    assert terminal.run("status", "--field", "queued").text == "0\n"
    settings = terminal.run("settings", "--json", "--set", "log.level=error").document
    assert settings.keys() == {"file", "settings"}
    assert settings["settings"]["log.level"] == {"value": "error", "source": "flag", "place": "--set"}
    assert settings["settings"]["keys.days"] == {"value": 7.0, "source": "default", "place": None}
    assert terminal.run("verify", "--json").document == {"faults": []}
    assert terminal.run("backup", "copy", "--json").document.keys() == {"folder", "bytes"}
    restored = terminal.run("restore", "copy", "--store", "b.db", "--json")
    assert restored.document.keys() == {"store", "bytes"}
    assert terminal.run("dead", "redrive", "--all", "--json").document == {"redriven": 0}
    assert terminal.run("dead", "drop", "--all", "--json").document == {"dropped": 0}
    assert terminal.run("aside", "resend", "--all", "--json").document == {"resent": 0}


def test_the_doctor_finds_what_an_office_needs(terminal: Terminal) -> None:
    ran = terminal.run("doctor", "--json")
    assert ran.document.keys() == {"healthy", "findings"}
    assert (ran.code, ran.document["healthy"]) == (0, True)
    findings = {finding["name"]: finding for finding in ran.document["findings"]}
    assert {"Python", "apsw", "uvloop", "open files", "Java 17", "chromium", "smtp-source", "pyspark",
            "psycopg", "nats-py", "compiled engine", "file system", "free room", "writing",
            "store"} <= findings.keys()  # fmt: skip
    assert all(finding["remedy"] for finding in findings.values() if finding["state"] == "missing")
    assert "SQLite 3." in findings["apsw"]["found"]
    assert terminal.run("doctor").code == 0


def test_the_doctor_sees_a_file_that_is_no_store(terminal: Terminal) -> None:
    (terminal.folder / "office.db").write_text("a diary")
    findings = {finding["name"]: finding for finding in terminal.run("doctor", "--json").document["findings"]}
    assert (findings["store"]["state"], findings["store"]["found"]) == ("warning", "office.db is no store of an office")


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (("status",), 5, "office.missing"),
        (("send", "a b", "x"), 4, "message.refused"),
        (("send", "a", "x", "--set", "log.level=x"), 2, "settings.fault"),
        (("sned",), 2, "usage"),
        (("send",), 2, "usage"),
        (("send", "--document", "nowhere"), 1, "system"),
    ],
)
def test_errors_are_documents(arguments: tuple[str, ...], code: int, name: str, terminal: Terminal) -> None:
    ran = terminal.run(*arguments, "--json")
    told = ran.err.splitlines()[-1]
    assert (ran.code, ran.out) == (code, b"")
    error = type(ran)(ran.code, ran.out, told).error
    assert error.keys() == {"code", "what", "where", "hint", "exit"}
    assert (error["code"], error["exit"]) == (name, code)


def test_all_faults_of_the_settings_are_told(terminal: Terminal) -> None:
    (terminal.folder / "posthouse.toml").write_text("[log]\nlevel = 'x'\nform = 'y'\n")
    ran = terminal.run("settings", "--json")
    assert ran.error["where"] == "posthouse.toml:2"
    assert [more["where"] for more in ran.error["more"]] == ["posthouse.toml:3"]
    assert len(terminal.run("settings").err.splitlines()) == 2


def test_bodies_that_are_no_text_are_base64(terminal: Terminal) -> None:
    terminal.run("send", "a", "-", text=b"\xff\x00")
    read = terminal.run("read", "a", "--json").document
    assert (read["content_type"], read["base64"], "text" in read) == ("application/octet-stream", "/wA=", False)


def test_a_batch_answers_each_line(terminal: Terminal) -> None:
    terminal.run("mailbox", "set", "small", "--max-messages", "1")
    lines = [
        '{"to": "orders", "text": "one", "kind": "event"}',
        '{"to": "orders", "txt": "misspelt"}',
        "",
        '{"to": ["orders", "small"], "text": "two"}',
        '{"to": "small", "text": "three"}',
        "no JSON",
        '{"to": "orders", "text": "the last one has no line end"}',
    ]
    ran = terminal.run("send", "--batch", "--json", text="\n".join(lines))
    assert ran.code == 1
    assert [(answer["line"], answer["status"]) for answer in ran.documents] == [
        (1, "accepted"), (2, "malformed"), (4, "accepted"), (5, "refused"), (6, "malformed"), (7, "accepted"),
    ]  # fmt: skip
    assert all(answer.keys() == {"line", "status", "id", "code", "reason"} for answer in ran.documents)
    read = terminal.run("read", "orders", "--count", "9", "--json").documents
    assert [message["text"] for message in read] == ["one", "two", "the last one has no line end"]


def test_a_batch_of_many(terminal: Terminal) -> None:
    lines = "".join(f'{{"to": "orders", "text": "{number}"}}\n' for number in range(3_000))
    ran = terminal.run("send", "--batch", text=lines)
    assert (ran.code, len(ran.out.splitlines())) == (0, 3_000)
    assert ran.err.splitlines()[-1] == "posthouse: 3,000 messages sent"
    read = terminal.run("read", "orders", "--count", "3000")
    assert read.text == "".join(f"{number}\n" for number in range(3_000))
