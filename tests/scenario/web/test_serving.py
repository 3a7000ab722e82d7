"""`posthouse serve` over HTTP as anybody would start it: TLS, settings read anew, ends, and no secret anywhere."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from posthouse.server.certificate import Certificate
from posthouse.server.settings import HttpSettings
from tests.scenario.cli.command import Terminal, ended, line_of
from tests.scenario.web.certificates import write_certificate

TLS = "[http]\ntls_certificate = 'office.pem'\ntls_key = 'office.key'\n"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory(prefix="web-") as folder:
        opened = Terminal(Path(folder))
        try:
            yield opened
        finally:
            opened.end()


def serve(terminal: Terminal, *arguments: str, **variables: str) -> tuple[subprocess.Popen[bytes], str]:
    process = terminal.start("serve", *arguments, variables=variables)
    assert line_of(process).startswith(b"The office is open")
    return process, line_of(process).decode().removeprefix("It answers at ").strip()


def name_shown(url: str) -> str:
    """Give the name in the certificate an office shows."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = url.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain, context.wrap_socket(plain) as secure:
        shown = secure.getpeercert(binary_form=True) or b""
    return "second" if b"second" in shown else "first" if b"first" in shown else ""


def test_tls_and_a_certificate_that_changes_while_connections_go_on(terminal: Terminal) -> None:
    write_certificate(terminal.folder, "first")
    (terminal.folder / "posthouse.toml").write_text(TLS)
    _, url = serve(terminal)
    assert url.startswith("https://127.0.0.1:")
    trusted = ssl.create_default_context(cafile=str(terminal.folder / "office.pem"))
    with httpx.Client(base_url=url, verify=trusted, trust_env=False) as client:
        assert client.get("/health").json()["well"] is True
        assert name_shown(url) == "first"
        write_certificate(terminal.folder, "second")
        ran = terminal.run("reload")
        assert (ran.code, ran.text) == (0, "in force now: no setting changed; certificates are read anew\n")
        assert name_shown(url) == "second"
        (terminal.folder / "office.key").write_text("no key at all")
        ran = terminal.run("reload", "--json")
        assert (ran.code, ran.document["changed"], len(ran.document["faults"])) == (2, [], 1)
        assert "no key at all" not in ran.text + ran.err
        assert name_shown(url) == "second"
        # The connection of the beginning is still the same one.
        assert client.get("/health").status_code == 200
    settings = HttpSettings(
        tls_certificate=str(terminal.folder / "office.pem"), tls_key=str(terminal.folder / "office.key")
    )
    write_certificate(terminal.folder, "third")
    assert Certificate(settings).context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_settings_are_read_again(terminal: Terminal) -> None:
    file = terminal.folder / "posthouse.toml"
    office, url = serve(terminal, "--set", "http.burst_seconds=1")
    with httpx.Client(base_url=url, trust_env=False) as client:
        assert client.get("/openapi.json").status_code == 200
        file.write_text("[http]\nstranger_requests = 1\nburst_seconds = 99\n[lease]\nusual = '5s'\n")
        done = terminal.run("reload", "--json").document
        assert done == {"changed": ["http.stranger_requests"], "later": ["lease.usual"], "faults": []}
        assert 429 in [client.get("/openapi.json").status_code for _ in range(3)]
        assert terminal.run("reload", "--json").document["later"] == ["lease.usual"]
        file.write_text("[http]\nstranger_requests = 0\n[lgo]\nlevel = 'x'\n")
        assert terminal.run("reload").code == 2
        (terminal.folder / "empty.toml").write_text("")
        ran = terminal.run("reload", "--json", "--config", "empty.toml")
        assert (ran.code, len(ran.document["faults"])) == (2, 2)
        assert 429 in [client.get("/openapi.json").status_code for _ in range(3)]
        file.write_text("[log]\nlevel = 'debug'\n")
        office.send_signal(signal.SIGHUP)
        while "settings.reloaded" not in (line := office.stderr.readline().decode()) or "log.level" not in line:  # type: ignore[union-attr] # it is a pipe
            assert line
        client.get("/openapi.json")
    assert "http.answered" in ended(office, signal.SIGTERM).err


def test_what_cannot_be_listened_to_is_told(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = terminal.run("serve", "--set", f"http.listen=127.0.0.1:{port}")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == (
        f"posthouse: http.listen 127.0.0.1:{port}: another program answers there already"
        " (choose another port with http.listen, or port 0, or off)"
    )
    ran = terminal.run("serve", "--set", "http.tls_certificate=office.pem", "--json")
    assert (ran.code, "http.tls_key" in ran.err) == (1, True)
    for wrong in ("8025", "host:99999", "a b:1"):
        assert terminal.run("serve", "--set", f"http.listen={wrong}").code == 2


def test_an_office_may_answer_nowhere(terminal: Terminal) -> None:
    office = terminal.start("serve", "--json", "--set", "http.listen=off")
    assert b'"http":[]' in line_of(office)
    assert terminal.run("status", "--field", "addresses").text == "[]\n"


def test_systemd_is_told(terminal: Terminal) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(terminal.folder / "notify"))
        heard.settimeout(20)
        office, url = serve(terminal, NOTIFY_SOCKET=str(terminal.folder / "notify"))
        assert heard.recv(1_000).decode() == f"READY=1\nSTATUS={url}"
        office.send_signal(signal.SIGHUP)
        assert heard.recv(1_000).decode().startswith("RELOADING=1\nMONOTONIC_USEC=")
        assert heard.recv(1_000) == b"READY=1"
        office.send_signal(signal.SIGTERM)
        assert heard.recv(1_000) == b"STOPPING=1"


def test_no_secret_reaches_log_or_answer(terminal: Terminal) -> None:
    """API keys, cookies, marks of forms, the TLS key and the office's own key, at the most talkative level."""
    write_certificate(terminal.folder, "first")
    (terminal.folder / "posthouse.toml").write_text(
        TLS + "status_open = 'no'\n[log]\nlevel = 'debug'\n[office]\nname = 'http://127.0.0.1:8025/east'\n"
        f"[peers]\nwest = 'http://127.0.0.1:9/west ed25519:{'A' * 43}='\n"
    )
    made = terminal.run("key", "create", "boss", "--administer")
    till = terminal.run("key", "create", "till", "--read", "orders")
    boss_key, till_key = made.text.strip(), till.text.strip()
    office, url = serve(terminal)
    told = [made.err, till.err]
    trusted = ssl.create_default_context(cafile=str(terminal.folder / "office.pem"))
    with httpx.Client(base_url=url, verify=trusted, trust_env=False) as client:
        bearer = {"authorization": f"Bearer {boss_key}"}
        wrong = {"authorization": f"Bearer {till_key[:-1]}!"}
        answers = [
            client.get("/metrics", headers=bearer),
            client.get("/metrics", headers={"authorization": f"Bearer {till_key}"}),
            client.get("/metrics", headers=wrong),
            client.get("/metrics", headers={"authorization": boss_key}),
            client.get(f"/health?token={boss_key}"),
            client.get(f"/{till_key}"),
            client.get("/nowhere", headers=bearer | {"cookie": "posthouse_session=x.y"}),
            client.post("/pages/sign-in", data={"key": till_key}),
            client.post("/pages/sign-in", content=boss_key, headers=bearer),
            client.get("/link", headers=bearer),
            client.post("/offices/east/frames", content=b"x" * 99, headers=bearer),
        ]
        signed = client.post("/pages/sign-in", data={"key": boss_key})
        cookie = client.cookies["posthouse_session"]
        page = client.get("/")
        mark = page.text.partition('name="mark" value="')[2].partition('"')[0]
        answers += [client.post("/pages/dead", data={"mark": f"x{mark}", "all": "1"}), client.get("/openapi.json")]
    terminal.run("key", "revoke", boss_key)
    told += [answer.text + str(answer.headers) for answer in answers]
    told += [signed.text, terminal.run("status", "--json").text, terminal.run("settings", "--json").text]
    told += [terminal.run("key", "list", "--json").text, terminal.run("reload", "--json").text]
    told.append(ended(office, signal.SIGTERM).err)
    assert len(mark) > 20
    pem = (terminal.folder / "office.key").read_text().splitlines()[1]
    own = [path.read_text().split()[-1] for path in terminal.folder.glob("*.key") if path.name != "office.key"]
    secrets = [boss_key[14:], till_key[14:-1], cookie, cookie.partition(".")[2], mark, pem, *own]
    assert len(own) == 1
    everything = "\n".join(told)
    assert "http.answered" in everything
    assert not [number for number, secret in enumerate(secrets) if secret in everything]
    kept = b"".join(
        path.read_bytes() for path in terminal.folder.glob("office.db*") if path.suffix != ".key" and path.is_file()
    )
    assert not [number for number, secret in enumerate(secrets[:2]) if secret.encode() in kept]
