"""A table of commands: each row is typed in the same folder as those before it, and must end as it says."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from tests.scenario.cli.command import Terminal

NEW = r"posthouse: a new office is made at office\.db\n"
ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\n"


class Row(NamedTuple):
    """A command, its exit code, and patterns of what it writes."""

    arguments: tuple[str, ...]
    code: int = 0
    out: str = ""
    err: str = ""
    text: str = ""


SCENES: dict[str, list[Row]] = {
    "lists without their word": [
        Row(("send", "orders", "two loaves"), out=ID, err=NEW),
        Row(("queue",), out=r"box +messages +bytes\norders +1 +10 B\n"),
        Row(("queue", "orders"), out=r"message +kind +state .*\n.* mail +waiting .*\n"),
        Row(("dead", "--limit", "3"), out="no dead letters\n"),
        Row(("aside",), out="nothing was set aside\n"),
        Row(("mailbox",), out=r"mailbox +messages .*\norders +1 .*\n"),
        Row(("mailbox", "orders"), 2, err=r"posthouse mailbox: no such command 'orders' .*\n"),
        Row(("dead", "--help"), out=r"Usage: posthouse dead \[OPTIONS\] COMMAND (.*\n)+"),
    ],
    "no office": [
        Row(("status",), 5, err=r"posthouse: office\.db: there is no office here \(name one with --store, or .*\)\n"),
        Row(("read", "orders"), 5, err=r"posthouse: office\.db: there is no office here .*\n"),
        Row(("trace", "01"), 5, err=r".*there is no office here.*\n"),
        Row(("status", "--wait", "50ms"), 5, err=r"posthouse: office\.db: no office answered within the wait\n"),
    ],
    "send and read": [
        Row(("send", "orders", "two loaves"), out=ID, err=NEW),
        Row(("send", "orders", "-"), out=ID, text="from a pipe\n"),
        Row(("send", "orders", "urgent", "--priority", "9"), out=ID),
        Row(("read", "orders"), out="urgent"),
        Row(("read", "orders", "--keep"), out="two loaves"),
        Row(("read", "orders", "-v"), out="two loaves", err=r"posthouse: [0-9a-f-]{36}: mail\n"),
        Row(("read", "orders", "--count", "5"), out="from a pipe\n"),
        Row(("read", "orders"), 3, err=r"posthouse: orders: nothing to take\n"),
        Row(("read", "orders", "--wait", "10ms"), 3, err=r"posthouse: orders: nothing to take within the wait\n"),
        Row(("read", "orders", "--type", "event"), 3, err=r"posthouse: orders: nothing of type event to take\n"),
    ],
    "keys": [
        Row(("send", "a", "one", "--key", "k"), out=ID, err=NEW),
        Row(("send", "a", "two", "--key", "k"), out=ID, err=r"posthouse: that message was accepted before; .*\n"),
        Row(("read", "a", "--count", "9"), out="one\n"),
    ],
    "quotas": [
        Row(("mailbox", "set", "a", "--max-messages", "1"), out=r"a: open, at most 1 message, .*\n", err=NEW),
        Row(("send", "a", "one"), out=ID),
        Row(("send", "a", "two"), 4, err=r"posthouse: mailbox\.full: .*\n"),
        Row(("mailbox", "set", "a", "--max-messages", "none", "--max-bytes", "1KiB"), out=r"a: open, at most 1.*\n"),
        Row(("mailbox", "close", "a"), out=r"a: closed, at most 1 KiB, holding 1 message\n"),
        Row(("send", "a", "two"), 4, err=r"posthouse: mailbox\.closed: .*\n"),
        Row(("read", "a"), 3, err=r".*nothing to take\n"),
        Row(("mailbox", "open", "a"), out=r"a: open, .*\n"),
        Row(("mailbox", "list"), out=r"mailbox +messages +bytes +quota +state\na +1 +3 B +at most 1 KiB +open\n"),
        Row(("mailbox", "remove", "a"), out=r"a: settings removed, 1 message kept\n"),
        Row(("read", "a"), out="one"),
        Row(("mailbox", "list"), out=r"no mailbox yet: the first message makes one\n"),
    ],
    "dead letters": [
        Row(("send", "a", "late", "--expires", "200ms", "--reply-to", "me"), out=ID, err=NEW),
        # The notice comes with the dead letter.
        Row(("read", "me", "--wait", "20s"), out=r"(?s).*"),
        Row(("dead", "list"), out=r"(?s)number +mailbox +kind.*1 +a +mail .*"),
        Row(("dead", "redrive"), 2, err=r"posthouse dead redrive: which ones\? .*\n"),
        Row(("dead", "redrive", "1", "--all"), 2, err=r".*numbers stand alone.*\n"),
        Row(("dead", "redrive", "--mailbox", "b"), out=r"0 dead letters put back\n"),
        Row(("dead", "redrive", "--all"), out=r"1 dead letter put back\n"),
        Row(("read", "a"), out="late"),
        Row(("dead", "drop", "--all"), out=r"0 dead letters dropped\n"),
        Row(("dead", "list"), out=r"no dead letters\n"),
    ],
    "nothing aside": [
        Row(("send", "a", "x"), out=ID, err=NEW),
        Row(("aside", "list"), out=r"nothing was set aside\n"),
        Row(("aside", "resend", "--all"), out=r"0 messages sent on\n"),
        Row(("aside", "resend"), 2, err=r".*which ones\?.*\n"),
        Row(("queue", "list"), out=r"box +messages +bytes\na +1 +1 B\n"),
        Row(("queue", "list", "a"), out=r"(?s)message +kind +state.*mail +waiting.*"),
        Row(("queue", "list", "b"), out=r"nothing waits there\n"),
        Row(("verify",), out=r"everything is in order\n"),
        Row(("trace", "ffffffff"), 3, err=r"posthouse: no message has an id that begins with ffffffff\n"),
        Row(("trace", "not-an-id"), 2, err=r"posthouse trace: expected the id of a message.*\n"),
    ],
    "backup and restore": [
        Row(("send", "a", "kept"), out=ID, err=NEW),
        Row(("backup", "copy"), out=r".* copied to copy\n"),
        Row(("backup", "copy"), 1, err=r"posthouse: .*copy.*\n"),
        Row(("read", "a"), out="kept"),
        Row(("restore", "copy"), 1, err=r"posthouse: .*a store stands there already.*\n"),
        Row(("restore", "copy", "--store", "other/office.db"), out=r".* restored to other/office\.db\n"),
        Row(("read", "a", "--store", "other/office.db"), out="kept"),
        Row(("restore", "copy", "--force"), out=r".* restored to office\.db\n"),
        Row(("read", "a"), out="kept"),
        Row(("restore", "nowhere"), 1, err=r"posthouse: nowhere.*\n"),
    ],
    "usage": [
        Row(("sned",), 2, err=r"posthouse: no such command 'sned'.*'send'.*\(posthouse --help says more\)\n"),
        Row(("--bogus",), 2, err=r"posthouse: no such option '--bogus'.*\n"),
        Row(("send",), 2, err=r"posthouse send: a mailbox is missing.*\n"),
        Row(("send", "a"), 2, err=r"posthouse send: a body is missing.*\n"),
        Row(("send", "a", "b", "--file", "/dev/null"), 2, err=r"posthouse send: the body is given twice.*\n"),
        Row(("send", "a", "b", "--batch"), 2, err=r".*--batch says everything.*\n"),
        Row(("send", "--document", "x", "--type", "event"), 2, err=r".*--type and --document do not go together.*\n"),
        Row(("send", "a", "b", "--attribute", "x"), 2, err=r".*expected name=value or name:type=value, found 'x'.*\n"),
        Row(("send", "a", "b", "--attribute", "x:int=3"), 2, err=r".*expected one of the types .*found 'int'.*\n"),
        Row(("send", "a", "b", "--attribute", "x:int32=3e"), 2, err=r".*expected a number under int32, found '3e'.*\n"),
        Row(("send", "a", "b", "--delay", "soon"), 2, err=r".*expected a duration such as .*found 'soon'.*\n"),
        Row(("send", "a", "b", "--priority", "11"), 2, err=r".*11 is not in the range.*\n"),
        Row(("read", "a b"), 2, err=r".*name \"a b\", column 2: expected.*\n"),
        Row(("read", "a", "--keep", "--follow"), 2, err=r".*--keep leaves the message where it is.*\n"),
        Row(("status", "--set", "log.levl=info"), 2, err=r"posthouse: --set: .*did you mean log\.level\?\)\n"),
        Row(("status", "--config", "no.toml"), 2, err=r"posthouse: no\.toml: expected a settings file.*\n"),
        Row(("completion", "tcsh"), 2, err=r".*'tcsh' is not one of.*\n"),
    ],
    "input": [
        Row(("send", "a", "b", "--type", "two words"), 2, err=r"(?s).*field kind: expected words joined.*"),
        Row(("send", "a", "b", "--type", "response"), 2, err=r".*field correlation: expected the id of .*\n"),
        Row(("send", "a b", "c"), 4, err=r"posthouse: name\.malformed: .*column 2.*\n"),
        Row(("send", "x@mail.example", "c"), 4, err=r"posthouse: .*\n"),
        Row(("send", "a", "--file", "nowhere.txt"), 2, err=r"posthouse send: .*'nowhere\.txt' does not exist.*\n"),
        Row(("send", "a", "b", "--memory"), 2, err=r".*no office is running.*\n"),
        Row(("send", "--document", "-"), 2, text="{", err=r"posthouse: message: .*\n"),
        Row(("send", "--document", "-"), 2, text='{"to": "a", "txt": "b"}', err=r"posthouse: message.*txt.*\n"),
        Row(("send", "--document", "-"), out=ID, text='{"to": "a", "text": "b", "attributes": {"n": 5}}'),
        Row(("read", "a"), out="b"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_commands_end_as_they_should(scene: str, terminal: Terminal) -> None:
    for row in SCENES[scene]:
        ran = terminal.run(*row.arguments, text=row.text)
        typed = " ".join(row.arguments)
        assert ran.code == row.code, f"{typed}: ended with {ran.code}: {ran.err}"
        assert re.fullmatch(row.out, ran.text), f"{typed} wrote {ran.text!r}"
        assert re.fullmatch(row.err, ran.err), f"{typed} said {ran.err!r}"
        assert "Traceback" not in ran.err
