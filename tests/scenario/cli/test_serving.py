"""An office that runs, and many processes that use it: signals, crashes, output that fails."""

from __future__ import annotations

import contextlib
import os
import signal
import smtplib
import socket
import subprocess
from pathlib import Path

import pytest

from tests.scenario.cli.command import DEADLINE_S, POSTHOUSE, Terminal, ended, line_of


def test_commands_of_several_processes_use_the_office_that_runs(terminal: Terminal) -> None:
    office = terminal.serve()
    status = terminal.run("status", "--wait", "10s", "--json").document
    assert (status["running"], status["process"]) == (True, office.pid)

    senders = [terminal.start("send", "orders", f"order {number}", "--unordered") for number in range(6)]
    assert [sender.wait(DEADLINE_S) for sender in senders] == [0] * 6
    readers = [terminal.start("read", "orders", "--wait", "20s") for _ in range(6)]
    read = [reader.communicate(timeout=DEADLINE_S)[0] for reader in readers]
    assert sorted(read) == [f"order {number}".encode() for number in range(6)]

    terminal.run("send", "orders", "for later")
    assert ended(office, signal.SIGTERM).code == 0
    assert not (terminal.folder / "office.db.sock").exists()
    assert terminal.run("read", "orders").text == "for later"


def test_an_office_that_is_killed_loses_nothing(terminal: Terminal) -> None:
    office = terminal.serve()
    terminal.run("send", "orders", "one")
    assert ended(office, signal.SIGKILL).code == -signal.SIGKILL
    terminal.serve()
    terminal.run("send", "orders", "two")
    assert terminal.run("read", "orders", "--count", "3").text == "one\ntwo\n"


def test_an_office_runs_once(terminal: Terminal) -> None:
    office = terminal.serve()
    second = terminal.run("serve")
    assert second.code == 5
    assert second.err.startswith(f"posthouse: office.db: the office is already running, as process {office.pid} (")
    assert terminal.run("serve", "--json").error["code"] == "office.running"
    assert ended(office, signal.SIGINT).code == 0


def test_the_log_is_lines_of_json_with_fixed_events(terminal: Terminal) -> None:
    office = terminal.start("serve", "--json")
    assert line_of(office).startswith(b'{"event":"ready","store":"office.db","socket":"office.db.sock","process":')
    said = type(terminal.run("status"))(0, ended(office, signal.SIGTERM).err.encode(), "").documents
    assert [line["event"] for line in said] == ["office.ready", "office.stopping", "office.stopped"]
    assert all({"event", "level", "timestamp"} <= line.keys() for line in said)


def test_restore_waits_for_no_running_office(terminal: Terminal) -> None:
    terminal.run("send", "orders", "one")
    terminal.serve()
    assert terminal.run("backup", "copy").code == 0
    assert terminal.run("restore", "copy", "--force").code == 5


def test_the_reader_who_follows_ends_by_control_c(terminal: Terminal) -> None:
    terminal.serve()
    reader = terminal.start("read", "news", "--follow")
    for text in ("one", "two\n", "three"):
        terminal.run("send", "news", text)
        assert line_of(reader) == f"{text.strip()}\n".encode()
    stopped = ended(reader, signal.SIGINT)
    assert (stopped.code, stopped.err.strip()) == (130, "")
    assert terminal.run("read", "news").code == 3


def test_a_reader_who_is_terminated_keeps_nothing(terminal: Terminal) -> None:
    terminal.run("send", "news", "one")
    reader = terminal.start("read", "news", "--follow")
    assert line_of(reader) == b"one\n"
    assert ended(reader, signal.SIGTERM).code == 143


def test_a_message_that_cannot_be_written_goes_back(terminal: Terminal) -> None:
    terminal.run("send", "news", "precious")
    with Path("/dev/full").open("wb") as full:
        reader = terminal.start("read", "news", stdout=full)
        _, said = reader.communicate(timeout=DEADLINE_S)
    assert (reader.returncode, said) == (1, b"posthouse: no space left on device\n")
    assert terminal.run("read", "news", "--json").document["attempt"] == 1


def test_a_message_into_a_broken_pipe_goes_back(terminal: Terminal) -> None:
    terminal.run("send", "news", "precious")
    coming, going = os.pipe()
    os.close(coming)
    with os.fdopen(going, "wb") as broken:
        reader = terminal.start("read", "news", stdout=broken)
        _, said = reader.communicate(timeout=DEADLINE_S)
    assert (reader.returncode, said) == (141, b"")
    assert terminal.run("read", "news").text == "precious"


@pytest.mark.parametrize(
    ("typed", "code"), [("read news >&-", 1), ("read news --json >&-", 1), ("send news - <&-", 1), ("bogus 2>&-", 2)]
)
def test_a_stream_that_the_shell_closed_is_no_place_for_messages(typed: str, code: int, terminal: Terminal) -> None:
    terminal.run("send", "news", "precious")
    assert subprocess.run(["bash", "-c", f"{POSTHOUSE} {typed}"], cwd=terminal.folder, check=False).returncode == code
    assert terminal.run("read", "news", "--count", "5").text == "precious\n"


def test_a_list_into_a_broken_pipe_ends_quietly(terminal: Terminal) -> None:
    coming, going = os.pipe()
    os.close(coming)
    with os.fdopen(going, "wb") as broken:
        lister = terminal.start("settings", stdout=broken)
        _, said = lister.communicate(timeout=DEADLINE_S)
    assert (lister.returncode, said) == (141, b"")


def test_large_bodies_go_through_files_and_pipes(terminal: Terminal) -> None:
    body = os.urandom(300_000)
    (terminal.folder / "photo.png").write_bytes(body)
    terminal.serve()
    terminal.run("send", "photos", "--file", "photo.png")
    terminal.run("send", "photos", "-", text=body)
    first = terminal.run("read", "photos", "--out", "copy.png", "--json").document
    assert (first["content_type"], first["size"], first["file"]) == ("image/png", 300_000, "copy.png")
    assert (terminal.folder / "copy.png").read_bytes() == body
    assert terminal.run("read", "photos").out == body


def test_a_body_goes_into_a_pipe_or_through_a_link_and_neither_is_replaced(terminal: Terminal) -> None:
    terminal.run("send", "news", "one")
    terminal.run("send", "news", "two")
    pipe, target, link = terminal.folder / "pipe", terminal.folder / "target", terminal.folder / "link"
    os.mkfifo(pipe)
    link.symlink_to(target)
    reader = terminal.start("read", "news", "--out", str(pipe))
    assert pipe.read_bytes() == b"one"
    assert reader.wait(DEADLINE_S) == 0
    assert pipe.is_fifo()
    assert terminal.run("read", "news", "--out", str(link)).code == 0
    assert (link.is_symlink(), target.read_bytes()) == (True, b"two")


def test_a_message_kept_in_memory_goes_with_the_office(terminal: Terminal) -> None:
    office = terminal.serve()
    assert terminal.run("send", "ticks", "now", "--memory").code == 0
    assert terminal.run("read", "ticks", "--keep").text == "now"
    ended(office, signal.SIGTERM)
    assert terminal.run("read", "ticks").code == 3


def told_by(demo: subprocess.Popen[bytes]) -> list[str]:
    """Give what the demo says when it opens."""
    told = [line_of(demo).decode()]
    while told[-1] and not told[-1].startswith("Ctrl-C"):
        told.append(line_of(demo).decode())
    return told


def test_the_demo_takes_mail_where_it_can(terminal: Terminal) -> None:
    with socket.socket() as other:
        # Whoever has the port already does as well.
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", 2525))
            other.listen()
        demo = terminal.start("run")
        assert "It takes no mail: port 2525 is not free.\n" in told_by(demo)
        assert ended(demo, signal.SIGINT).code == 0


def test_status_names_the_doors_for_mail(terminal: Terminal) -> None:
    terminal.serve("--set", "doors.in=smtp 127.0.0.1:0", "--set", "mail.domains=bakery.example")
    status = terminal.run("status", "--json").document
    (address,) = status["mail"]["in"]
    assert address.startswith("127.0.0.1:")
    assert status["domains"] == ["bakery.example"]
    told = terminal.run("status").text
    assert f"mail comes in at  {address} (in)\n" in told
    assert "mail for          bakery.example\n" in told


def test_the_demo_is_there_and_answers(terminal: Terminal) -> None:
    demo = terminal.start("run", "--set", "doors.in=smtp 127.0.0.1:0", "--set", "mail.domains=bakery.example")
    told = told_by(demo)
    assert told[0] == f"The demo office is open: posthouse-demo/office.db (process {demo.pid}).\n"
    tries = [line.strip() for line in told if line.startswith("  ")]
    assert len(tries) == 4
    (mail,) = (line for line in told if line.startswith("It takes mail for bakery.example at 127.0.0.1:"))
    with smtplib.SMTP("127.0.0.1", int(mail.rpartition(":")[2])) as client:
        client.sendmail("cleo@mill.example", ["ada@bakery.example"], "Subject: flour\r\n\r\nTwo sacks.\r\n")
    read = terminal.run("read", "ada@bakery.example", "--store", "posthouse-demo/office.db")
    assert read.text == "Subject: flour\r\n\r\nTwo sacks.\r\n"
    wrote = [subprocess.check_output(["bash", "-c", line], cwd=terminal.folder, timeout=DEADLINE_S) for line in tries]
    assert wrote[2] == b"is anybody there?"
    assert b"Board Secretary/" in wrote[3]
    again = terminal.run("run")
    assert (again.code, again.out) == (5, b"")
    assert "posthouse-demo/office.db: the office is already running" in again.err
    assert ended(demo, signal.SIGINT).code == 0
    assert terminal.run("status", "--store", "posthouse-demo/office.db", "--field", "queued").text == "3\n"
