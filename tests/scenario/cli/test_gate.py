"""The desk on the command line: what is held, decided, taken back, filed, told, from the first rule to the last."""

from __future__ import annotations

import json

from tests.scenario.cli.command import Terminal

RULES = """\
rule "large orders"
IF message.text contains "sacks"
THEN gate to "Sales" within 2 days because "an order above the limit"
"""
LEGAL = """\
rule "secrets"
IF message.text contains "secret"
THEN gate to "Legal" because "it says secret"
"""
ORGANISATION = """\
domains = ["bakery.example"]
office_administrator = "Director"
postmaster = "Director"

[role."Director"]
holders = ["zoe@bakery.example"]

[role."Sales"]
reports_to = "Director"
holders = ["ada@bakery.example"]

[role."Legal"]
holders = ["zoe@bakery.example"]

[user."zoe@bakery.example"]

[user."ada@bakery.example"]
"""
POLICY = 'zone = "Europe/Copenhagen"\nundo = "1 hour"\n'
AT_ONCE = 'undo = "0 seconds"\n'


def set_up(terminal: Terminal, *, rules: str = RULES, policy: str = POLICY) -> None:
    for name, text in (("rules", rules), ("company", ORGANISATION), ("policy", policy)):
        (terminal.folder / name).write_text(text)
    assert terminal.run("organisation", "import", "company", "--activate").code == 0
    assert terminal.run("rules", "write", "rules", "--activate").code == 0
    assert terminal.run("policy", "write", "policy", "--activate").code == 0


def order(terminal: Terminal, text: str = "please send 100 sacks") -> str:
    sent = terminal.run("send", "ada", text, "--sender", "ben", "--type", "request.order", "--json")
    identity: str = sent.document["id"]
    return identity


# G-119, G-121, G-122, G-123, G-125, G-138, G-182
def test_a_message_is_held_looked_at_and_released(terminal: Terminal) -> None:
    set_up(terminal, policy=AT_ONCE)
    message = order(terminal)
    assert terminal.run("read", "ada").code == 3, "nothing goes to its recipient while it is held"

    (held,) = terminal.run("gate", "list", "--json").documents
    assert (held["gatekeeper"], held["status"], held["reason"], held["sender"], held["message"]) == (
        "Sales", "gated", "an order above the limit", "ben", message,
    )  # fmt: skip
    table = terminal.run("gate", COLUMNS="80").text
    assert max(map(len, table.splitlines())) <= 80
    assert all(word in table for word in ("ben", "gated", "in 2 days", "inbox"))
    (count,) = terminal.run("gate", "counts", "--json").documents
    assert count == {"gatekeeper": "Sales", "folder": "inbox", "count": 1}

    shown = terminal.run("gate", "show", message[:20], "--body")
    assert all(word in shown.text for word in ("automatic review on", "stop 1 of 1", "please send 100 sacks"))
    (seen,) = terminal.run("gate", "list", "--json").documents
    assert seen["status"] == "reviewed", "to open it decides nothing"

    released = terminal.run("gate", "release", held["case"], "--comment", "a good customer", "--json")
    assert released.code == 0, released.err
    assert (released.document["status"], released.document["case"]) == ("done", held["case"])
    again = terminal.run("gate", "release", held["case"], "--as", "Sales")
    assert again.code == 1
    assert "already" in again.err
    assert terminal.run("read", "ada", "--wait", "30s").text == "please send 100 sacks"
    assert terminal.run("gate", "counts").code == 3

    story = terminal.run("case", held["case"])
    assert all(word in story.text for word in ("large orders", "a good customer", "release by", "Where it stopped"))
    told = terminal.run("case", message, "--json").document
    assert (told["open"], told["outcome"], told["reviews"][0]["action"]) == (False, "released", "release")


# G-183
def test_a_decision_is_taken_back(terminal: Terminal) -> None:
    set_up(terminal)
    order(terminal)
    (held,) = terminal.run("gate", "list", "--json").documents
    deleted = terminal.run("gate", "delete", held["case"])
    assert "takes it back" in deleted.text
    assert terminal.run("gate", "undo", held["case"]).code == 0
    (back,) = terminal.run("gate", "list", "--json").documents
    assert (back["open"], back["status"]) == (True, "gated")


# G-120, G-124, G-136, G-137, G-152
def test_many_are_filed_and_their_mailbag_is_run(terminal: Terminal) -> None:
    set_up(terminal, policy=AT_ONCE)
    for number in range(3):
        order(terminal, f"{number} sacks")
    made = terminal.run("mailbag", "add", "later", "--function", "delete", "--every", "1 month on 31", "--json")
    assert (made.document["gatekeeper"], made.document["rhythm"]["every"]) == ("Sales", "months")
    cases = [one["case"] for one in terminal.run("gate", "list", "--json").documents]
    filed = terminal.run("gate", "file", *cases, "--in", "later", "--json")
    assert [one["status"] for one in filed.documents] == ["done"] * 3
    assert len(terminal.run("gate", "list", "--folder", "later", "--json").documents) == 3
    assert terminal.run("mailbag", "remove", "later", "--as", "Sales").code != 0, "it is not empty"
    (bag,) = terminal.run("mailbag", "--json").documents
    assert bag["messages"] == 3
    assert "3 messages" in terminal.run("mailbag", "run", "later", "--as", "Sales").err
    ran = terminal.run("mailbag", "run", "later", "--as", "Sales", "--yes", "--json")
    assert ran.document["count"] == 3
    assert terminal.run("gate", "list", "--as", "Sales", "--json").documents == []
    assert terminal.run("mailbag", "remove", "later", "--as", "Sales").code == 0


# G-129, G-130, G-132
def test_a_role_is_asked_for_where_there_are_several(terminal: Terminal) -> None:
    set_up(terminal, rules=RULES + LEGAL, policy=AT_ONCE)
    order(terminal)
    order(terminal, "a secret")
    asked = terminal.run("gate", "list")
    assert asked.code == 2
    assert "--as ROLE" in asked.err
    (held,) = terminal.run("gate", "list", "--as", "Legal", "--json").documents
    forwarded = terminal.run("gate", "forward", held["case"], "--as", "Legal", "--to", "Director", "--saying", "look")
    assert forwarded.code == 0, forwarded.err
    director = terminal.run("gate", "show", held["case"], "--as", "Director")
    assert "look" in director.text, "what is asked shows to whom it is asked"
    everything = terminal.run("gate", "list", "--all-roles", "--json").documents
    assert {one["gatekeeper"] for one in everything} == {"Sales", "Director"}
    missing = terminal.run("gate", "show", "0000", "--as", "Legal", "--json")
    assert (missing.code, missing.error["code"]) == (3, "case.unknown")


# G-223
def test_a_message_is_recalled_and_returned(terminal: Terminal) -> None:
    set_up(terminal, policy=AT_ONCE)
    message = order(terminal)
    assert terminal.run("gate", "recall", message, "--reason", "a mistake").code == 0
    assert terminal.run("gate", "list", "--as", "Sales", "--json").documents == []
    assert terminal.run("read", "ada").code == 3
    other = order(terminal)
    (held,) = terminal.run("gate", "list", "--json").documents
    assert held["message"] == other
    assert terminal.run("gate", "return", held["case"], "--saying", "too much").code == 0
    assert terminal.run("case", held["case"], "--json").document["outcome"] == "returned"


# G-126, G-191
def test_a_message_is_claimed_noted_and_held(terminal: Terminal) -> None:
    set_up(terminal)
    order(terminal)
    (held,) = terminal.run("gate", "list", "--json").documents
    case = held["case"]
    assert terminal.run("gate", "claim", case).code == 0
    assert terminal.run("gate", "claim", case, "--let-go").code == 0
    assert terminal.run("gate", "note", case).code == 2
    assert terminal.run("gate", "note", case, "--comment", "asked", "--review-on", "2030-01-05").code == 0
    (dated,) = terminal.run("gate", "list", "--json").documents
    assert dated["expires"] == "2030-01-04T23:00:00Z", "a day begins at midnight in the office"
    assert "2030-01-05 00:00" in terminal.run("gate", "show", case).text
    assert terminal.run("gate", "hold", case, "--reason", "a lawsuit").code == 0
    assert "legal hold" in terminal.run("case", case).text
    assert terminal.run("gate", "delete", case).code != 0
    assert terminal.run("gate", "hold", case, "--lift").code == 0


# G-17, G-198, G-208
def test_editions_of_the_rules_come_and_go(terminal: Terminal) -> None:
    set_up(terminal)
    (terminal.folder / "more").write_text(RULES + LEGAL)
    assert terminal.run("rules", "write", "more", "--note", "secrets too", "--json").document == {
        "book": "rules", "edition": 2, "in_force": False, "faults": [], "warnings": [],
    }  # fmt: skip
    diff = terminal.run("rules", "diff")
    assert diff.code == 1
    assert '+rule "secrets"' in diff.text
    assert terminal.run("rules", "activate", "2").text == "rules: edition 2 is in force\n"
    assert terminal.run("rules", "diff").text == "no difference\n"
    assert terminal.run("rules", "rollback", "--json").document["edition"] == 1
    newest, oldest = terminal.run("rules", "list", "--json").documents
    assert (newest["edition"], newest["in_force"], newest["note"], oldest["in_force"]) == (
        2,
        False,
        "secrets too",
        True,
    )
    assert terminal.run("rules", "show", "2").text == RULES + LEGAL
    assert terminal.run("rules", "show", "3", "--json").code == 3

    (terminal.folder / "bad").write_text("rule nonsense")
    refused = terminal.run("rules", "write", "bad")
    assert refused.code == 2
    assert "line 1" in refused.err
    assert terminal.run("rules", "write", "more", "--trial").text == "rules: in order; nothing was written\n"
    assert len(terminal.run("rules", "list", "--json").documents) == 2
    assert terminal.run("rules", "write", "more", "--of", "Sales", "--json").document["book"] == "rules of Sales"


# G-19
def test_the_organisation_tells_who_came(terminal: Terminal) -> None:
    set_up(terminal)
    (terminal.folder / "company").write_text(ORGANISATION + '\n[user."new@bakery.example"]\n')
    assert terminal.run("organisation", "import", "company").code == 0
    diff = terminal.run("organisation", "diff")
    assert (diff.code, "new@bakery.example" in diff.text) == (1, True)
    assert terminal.run("organisation", "show").text == ORGANISATION
    assert terminal.run("policy", "show").text == POLICY
    assert terminal.run("policy", "activate", "0").text == "policy: nothing is in force\n"


# G-197
def test_accounts_on_the_command_line(terminal: Terminal) -> None:
    (terminal.folder / "word").write_text("correct horse battery\n")
    added = terminal.run("user", "add", "ada", "--address", "ada@bakery.example", "--may", "audit", text="too short\n")
    assert added.code == 2
    added = terminal.run("user", "add", "ada", "--may", "audit", "--password-file", "word", "--json")
    assert added.document["scopes"] == ["audit"]
    assert terminal.run("user", "add", "ada", "--no-password").code == 2, "there is one"
    assert terminal.run("user", "change", "ada", "--address", "ada@bakery.example").code == 0
    assert terminal.run("user", "change", "ben", "--may-nothing").code == 2, "there is none"
    assert terminal.run("user", "close", "ada", "--json").document["closed"] is True
    (listed,) = terminal.run("user", "--json").documents
    assert (listed["address"], listed["scopes"], listed["closed"]) == ("ada@bakery.example", ["audit"], True)
    assert "battery" not in terminal.run("user").text


def test_keys_of_the_desk(terminal: Terminal) -> None:
    made = terminal.run(
        "key", "create", "robot", "--review", "Sales", "--review", "Head of *", "--write-rules", "--audit", "--json"
    )
    assert json.loads(made.out)["scopes"] == ["review Sales", "review Head of *", "write rules", "audit"]
