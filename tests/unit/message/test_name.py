"""Names: every form, every fault with its column, and the laws of reading and printing."""

from __future__ import annotations

import pickle
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posthouse.message.name import (
    DEFAULTS,
    LOCAL,
    Defaults,
    MailboxName,
    MalformedName,
    OfficeName,
    Url,
    parse_mailbox,
    parse_office,
    short,
)

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "names.md"


def rows(pattern: str) -> list[tuple[str, ...]]:
    return re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE)


FORMS = rows(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| .+ \|$")
FAULTS = rows(r"^\| `([^`]+)` \| (\d+) \| (.+) \|$")


def name_or_fault(text: str) -> MailboxName | MalformedName:
    try:
        return parse_mailbox(text)
    except MalformedName as error:
        return error


def url_or_fault(text: str) -> Url | MalformedName:
    try:
        return Url.parse(text)
    except MalformedName as error:
        return error


def is_plain_fault(text: str, error: MalformedName) -> bool:
    return 1 <= error.column <= len(text) + 1 and error.text == text and str(error).isprintable()


def fault_of(text: str) -> MalformedName:
    with pytest.raises(MalformedName) as caught:
        parse_mailbox(text)
    return caught.value


# The page


@pytest.mark.parametrize(("written", "canonical", "shortest"), FORMS)
def test_form_on_the_page(written: str, canonical: str, shortest: str) -> None:
    name = parse_mailbox(written)
    assert (str(name), short(name)) == (canonical, shortest)


@pytest.mark.parametrize(("written", "column", "reason"), FAULTS)
def test_fault_on_the_page(written: str, column: str, reason: str) -> None:
    error = fault_of(written)
    assert (error.column, error.reason) == (int(column), reason)


def test_page_has_its_tables() -> None:
    assert len(FORMS) >= 20
    assert len(FAULTS) >= 32


# Values


@pytest.mark.parametrize(
    ("written", "office", "mailbox"),
    [
        ("orders", LOCAL, "orders"),
        ("local:billing#a%2Fb", OfficeName("local", "", None, "billing"), "a/b"),
        ("https://host:1/a%23b#c%23d", OfficeName("https", "host", 1, "a#b"), "c#d"),
        ("[::FFFF:192.0.2.1]#x", OfficeName("http", "::ffff:192.0.2.1", 8025, "main"), "x"),
        ("192.0.2.1/#x", OfficeName("http", "192.0.2.1", 8025, "main"), "x"),
        ("host#http://x", OfficeName("http", "host", 8025, "main"), "http://x"),
        ("e\u0301te\u0301", LOCAL, "\u00e9t\u00e9"),
        ("e%CC%81", LOCAL, "\u00e9"),
        ("हिन्दी", LOCAL, "हिन्दी"),
        ("...", LOCAL, "..."),
        ("SMTP:A@B.example", OfficeName("smtp", "b.example", None, ""), "A@b.example"),
        ("a#b@x.example", OfficeName("smtp", "x.example", None, ""), "a#b@x.example"),
        ("..a..@x.example", OfficeName("smtp", "x.example", None, ""), "..a..@x.example"),
        (r'"a\"@#:/"@x.example', OfficeName("smtp", "x.example", None, ""), r'"a\"@#:/"@x.example'),
        ('""@x.example', OfficeName("smtp", "x.example", None, ""), '""@x.example'),
        ("a%20@x.example", OfficeName("smtp", "x.example", None, ""), "a%20@x.example"),
        ("ann@[192.0.2.1]", OfficeName("smtp", "[192.0.2.1]", None, ""), "ann@[192.0.2.1]"),
        ("/c=xx/o=y/@gw.example", OfficeName("smtp", "gw.example", None, ""), "/c=xx/o=y/@gw.example"),
        (
            "postmaster@_dmarc.x.example",
            OfficeName("smtp", "_dmarc.x.example", None, ""),
            "postmaster@_dmarc.x.example",
        ),
    ],
)
def test_read(written: str, office: OfficeName, mailbox: str) -> None:
    assert parse_mailbox(written) == MailboxName(office, mailbox)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("host", "http://host:8025/main"),
        ("host:9000/", "http://host:9000/main"),
        ("HTTPS://host/a%20b", "https://host:8026/a%20b"),
        ("local:", "local:"),
        ("LOCAL:billing", "local:billing"),
        ("smtp:X.example", "smtp:x.example"),
        ("[::1]:9000", "http://[::1]:9000/main"),
    ],
)
def test_read_office(written: str, canonical: str) -> None:
    office = parse_office(written)
    assert str(office) == canonical
    assert parse_office(canonical) == office


@pytest.mark.parametrize(("written", "column"), [("", 1), ("host#x", 5), ("a@b", 2), ("smtp:", 6), ("local:a/b", 8)])
def test_malformed_office(written: str, column: int) -> None:
    with pytest.raises(MalformedName) as caught:
        parse_office(written)
    assert caught.value.column == column


def test_names_sort_and_serve_as_keys() -> None:
    names = [parse_mailbox(text) for text in ("host#b", "b", "ann@x.example", "host#a", "a", "local:x#a", "host:1#a")]
    assert sorted(sorted(names), key=str) == sorted(names, key=str)
    assert len({*names, *names}) == len(names)


def test_other_defaults() -> None:
    ours = Defaults(protocol="nats", office="desk", ports={"nats": 4222})
    name = parse_mailbox("host#x", ours)
    assert str(name) == "nats://host:4222/desk#x"
    assert short(name, ours) == "host#x"
    assert short(name) == "nats://host/desk#x"
    assert parse_mailbox("host#x") != name
    with pytest.raises(MalformedName, match='as "http" has no default port'):
        parse_mailbox("http://host#x", ours)


@pytest.mark.parametrize("host", ["local", "smtp"])
def test_host_called_like_a_protocol(host: str) -> None:
    name = parse_mailbox(f"http://{host}:9000#x")
    assert short(name) == f"http://{host}:9000#x"
    assert parse_mailbox(short(name)) == name
    assert short(parse_mailbox(f"{host}#x")) == f"{host}#x"


# Faults


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("", 1),
        ("a\nb", 2),
        ("ann@x.example\r\nDATA", 14),
        ('"a\x00b"@x.example', 3),
        ("ab\u202ecd", 3),
        ("http://ho\u2066st#x", 10),
        ("a\ud800", 2),
        ("a\u2028", 2),
        ("a%E2%80%AE", 2),
        ("a%E2%80%8B", 2),
        ("a\u200db", 2),
        ("a\ufe0f", 2),
        ("\u3164", 1),
        ("%ED%A0%80", 1),
        ("%F4%8F%BF%BF", 1),
        ("%C0%AF", 1),
        ("a%2", 2),
        ("%2E%2e", 1),
        ("host/..#x", 6),
        ("\uff45xample#x", 1),
        ("\u0301a#x", 1),
        ("x." + "a" * 64 + "#x", 3),
        ("\u00fc" * 60 + "#x", 1),
        (".".join(["a" * 60] * 5) + "#x", 1),
        ("1.2.3.256#x", 1),
        ("01.2.3.4#x", 1),
        ("0x7f000001#x", 1),
        ("2130706433#x", 1),
        ("host:0#x", 6),
        ("host:65536#x", 6),
        ("host:\u0661#x", 6),
        ("host:-1#x", 6),
        ("host:" + "9" * 900 + "#x", 6),
        ("a" * 33 + "://host:1#x", 1),
        ("\u017ftp://host:1#x", 1),
        ("://host#x", 1),
        ("local:a/b#x", 8),
        ("local:#a?b", 9),
        ("smtp:", 6),
        ("ann@-x.example", 5),
        ("ann@[ipv6:::g]", 11),
        ("ann@[ipv6:::1", 14),
        ("ann@[ipv6:::1]x", 15),
        ('"a\\"@x.example', 15),
        ("a" * 250 + "@x.example", 1),
        ("a" * 256, 1),
        ("host#" + "\u00e9" * 128, 6),
        ("a" * 1001, 1001),
        ("h/" + "%20" * 255 + "#" + "%20" * 77, 1000),
    ],
)
def test_malformed(written: str, column: int) -> None:
    assert fault_of(written).column == column


def test_longest() -> None:
    for text in ("a" * 255, "%20" * 255, "host#" + "\u00e9" * 127, "host:065535#x"):
        assert parse_mailbox(str(parse_mailbox(text))) == parse_mailbox(text)


def test_error_tells_place_reason_and_nothing_more() -> None:
    error = fault_of("http://host:99999/x#y")
    assert str(error) == 'name "http://host:99999/x#y", column 13: expected a port from 1 to 65535, found 99999'
    assert (error.code, error.permanent, error.text) == ("name.malformed", True, "http://host:99999/x#y")
    assert "99999" not in error.public
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.text, again.column, again.reason) == (str(error), error.text, 13, error.reason)


@pytest.mark.parametrize(
    "text", ["z" * 100_000, "\x1b" * 500, "host:" + "9" * 900 + "#x", '"' + "\\" * 900, "\ufe0f" * 99]
)
def test_error_is_short_and_printable(text: str) -> None:
    said = str(fault_of(text))
    assert said.isprintable()
    assert "\ufe0f" not in said
    assert len(said) < 250


def test_second_reading_is_remembered() -> None:
    assert parse_mailbox("http://host/main#remembered") is parse_mailbox("http://host/main#remembered")
    long = "host#" + "x" * 200
    assert parse_mailbox(long) == parse_mailbox(long)


# Laws

shown = st.characters(
    exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"),
    exclude_characters="\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0))),
)
words = (
    st.text(shown | st.sampled_from("abz09._-~+/:@#%? \u00e9\u05d0\u0e01\u0301"), min_size=1, max_size=12)
    .map(lambda word: unicodedata.normalize("NFC", word))
    .filter(lambda word: word not in (".", ".."))
)
labels = st.from_regex(
    r"[a-z0-9_]([a-z0-9_-]{0,8}[a-z])?|[\u00df-\u00f6\u03b1-\u03c9\u05d0-\u05ea\u4e00-\u4eff]{1,6}", fullmatch=True
)
domains = st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "example"]))
hosts = domains | st.ip_addresses().map(
    lambda address: f"::ffff:{mapped}" if (mapped := getattr(address, "ipv4_mapped", None)) else str(address)
)
ports = st.just(8025) | st.integers(1, 65535)
protocols = st.sampled_from(["http", "https", "nats", "ftp", "x+y-z.1"])
remote_offices = st.builds(
    OfficeName,
    protocols,
    hosts | st.sampled_from(["local", "smtp", "http"]),
    ports,
    words | st.just("main"),
)
local_offices = st.builds(OfficeName, st.just("local"), st.just(""), st.none(), st.just("") | words)
offices = remote_offices | local_offices | domains.map(lambda domain: OfficeName("smtp", domain, None, ""))
dot_atoms = st.from_regex(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~\u00a1-\u024f\u4e00-\u9fff-]{1,20}", fullmatch=True)
quoted_strings = st.from_regex(r'"([ !#-\[\]-~\u00a1-\u024f]|\\[ -~]){0,12}"', fullmatch=True)
addresses = st.builds(
    lambda local, domain: MailboxName(OfficeName("smtp", domain, None, ""), f"{local}@{domain}"),
    dot_atoms | quoted_strings,
    domains | st.ip_addresses(v=4).map(lambda address: f"[{address}]"),
)
names = st.builds(MailboxName, remote_offices | local_offices, words) | addresses
defaults = st.builds(
    Defaults,
    protocols,
    st.just("main") | words,
    st.dictionaries(protocols, ports),
)


@given(names)
def test_printing_is_undone_by_reading(name: MailboxName) -> None:
    assert parse_mailbox(str(name)) == name
    assert str(parse_mailbox(str(name))) == str(name)


@given(names, defaults)
def test_canonical_form_needs_no_defaults(name: MailboxName, ours: Defaults) -> None:
    assert parse_mailbox(str(name), ours) == name


@given(names, st.just(DEFAULTS) | defaults)
@example(MailboxName(OfficeName("http", "local", 9000, "main"), "x"), DEFAULTS)
def test_short_form_is_undone_by_reading(name: MailboxName, ours: Defaults) -> None:
    assert parse_mailbox(short(name, ours), ours) == name
    assert len(short(name, ours)) <= len(str(name))


@given(offices)
def test_office_is_undone_by_reading(office: OfficeName) -> None:
    assert parse_office(str(office)) == office


signs = st.sampled_from(
    [*'abz09.:/#@%[]"\\-_~+ \n\u00e9\u05d0\u200b\u202e\ud800\ufe0f', "://", "smtp:", "local:", "%C3%A9", "%", "host"]
)
scraps = st.lists(signs, max_size=14).map("".join)


@given(st.text(max_size=30) | scraps)
@example("h#\u0340")
@example("\u0130x#y")
@example("\u212a#\u212a")
def test_any_text_is_a_name_or_one_fault(text: str) -> None:
    name = name_or_fault(text)
    if isinstance(name, MalformedName):
        assert is_plain_fault(text, name)
        return
    assert parse_mailbox(str(name)) == name
    assert str(parse_mailbox(str(name))) == str(name)
    assert parse_mailbox(short(name)) == name


@given(st.text(max_size=30) | scraps)
def test_any_text_is_a_url_or_one_fault(text: str) -> None:
    url = url_or_fault(text)
    assert is_plain_fault(text, url) if isinstance(url, MalformedName) else Url.parse(str(url)) == url


@given(st.characters(exclude_categories=()))
def test_each_character_keeps_its_meaning_when_read_again(char: str) -> None:
    for text in (char, f"%{char}", f"x{char}#{char}", f"a@{char}.example", f"a{char}@x.example"):
        name = name_or_fault(text)
        if isinstance(name, MailboxName):
            assert parse_mailbox(str(name)) == name
            assert not UNSAFE.search(str(name))


# Urls


def test_url_tells_its_parts() -> None:
    url = Url.parse("HTTP://Host.example/am#agent:7")
    assert (url.protocol, url.host, url.port, url.file) == ("http", "host.example", 8025, "am")
    assert (url.ref, url.name) == ("agent:7", "http://host.example:8025/am")
    assert str(url) == "http://host.example:8025/am#agent:7"
    assert str(url.with_ref("a b@c")) == "http://host.example:8025/am#a%20b%40c"
    assert url.with_ref("") == Url.parse(url.name) == Url.build("http", "HOST.example", port=8025, file="am")


@pytest.mark.parametrize(
    "text", ["", "host#", "host#a@b", "smtp:x.example#a", "http://host:0/am", "a" * 1001, "host#.."]
)
def test_malformed_url(text: str) -> None:
    with pytest.raises(MalformedName):
        Url.parse(text)


@pytest.mark.parametrize(
    ("protocol", "host", "port", "file"),
    [
        ("http", "a/b", 1, "x"),
        ("http", "a#b", 1, "x"),
        ("http", "a:1", None, "x"),
        ("ht://tp", "a", 1, "x"),
        ("http", "ann@a", 1, "x"),
        ("http", "", 1, "x"),
        ("http", "a", 0, "x"),
        ("ftp", "a", None, "x"),
        ("http", "a", 1, "x\n"),
        ("http", "a", 1, ".."),
        ("http", "\ud800", 1, "x"),
        ("local", "a", None, "x"),
        ("local", "", 1, "x"),
        ("smtp", "a", None, "x"),
        ("smtp", "a", 25, ""),
    ],
)
def test_url_from_parts_that_do_not_fit(protocol: str, host: str, port: int | None, file: str) -> None:
    with pytest.raises(MalformedName):
        Url.build(protocol, host, port=port, file=file)


@given(offices, st.just("") | words)
def test_url_from_its_own_parts(office: OfficeName, ref: str) -> None:
    url = Url.build(office.protocol, office.host, port=office.port, file=office.office)
    assert url == Url(office)
    if office.protocol != "smtp":
        assert url.with_ref(ref) == Url(office, ref) == Url.parse(str(Url(office, ref)))
