"""The lines of peers: what they may say, and what is told of those that say something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from posthouse.message.peer import Peer
from posthouse.server.settings import terms_of
from posthouse.server.sources import SettingsFault, in_environment, in_file, settle
from posthouse.testing.key import a_key

KEY, NEXT = str(a_key(1).public), str(a_key(2).public)
HERE = Path("folder/posthouse.toml")
NAME = '[office]\nname = "http://post.example:8025/main"\n[peers]\n'


def peers_in(text: str) -> tuple[Peer, ...]:
    given, faults = in_file((NAME + text).encode(), HERE)
    return terms_of(settle(given, faults=faults).settings).exchange.peers


def faults_in(text: str, *, head: str = NAME) -> list[str]:
    given, faults = in_file((head + text).encode(), HERE)
    with pytest.raises(ExceptionGroup) as raised:
        settle(given, faults=faults)
    group: ExceptionGroup[SettingsFault] = raised.value
    return [str(fault) for fault in group.exceptions]


def test_a_line_says_all_there_is_to_know() -> None:
    text = f"""
        north = "http://north.example/n {KEY} {NEXT} ca=certs/north.pem relay"
        far = "https://far.example:9/f  via=north"
    """
    assert peers_in(text) == (
        Peer(
            name="north", office="http://north.example:8025/n", keys=(KEY, NEXT), ca="folder/certs/north.pem",
            relay=True,
        ),
        Peer(name="far", office="https://far.example:9/f", via="north"),
    )  # fmt: skip


def test_a_variable_is_a_line_too() -> None:
    given, ignored = in_environment({
        "POSTHOUSE_PEERS_NORTH_SEA": f"http://north.example/n {KEY} ca=/certs.pem",
        "POSTHOUSE_OFFICE_NAME": "http://post.example/main",
    })  # fmt: skip
    assert not ignored
    (peer,) = terms_of(settle(given).settings).exchange.peers
    assert (peer.name, peer.ca) == ("north_sea", "/certs.pem")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('""', "the office: "),
        ('"http://north.example/n"', "expected either the keys"),
        (f'"http://north.example/n {KEY} via=south"', "expected either the keys"),
        (f'"smtp:north.example {KEY}"', "begins with http:// or https://"),
        ('"http://north.example/n ed25519:AAAA"', "a key: expected ed25519: and 44 letters"),
        (f'"http://north.example/n {KEY} relays"', "found 'relays'"),
        (f'"http://north.example/n {KEY} ca="', "found 'ca='"),
        (f'"http://north.example/n {" ".join([KEY] * 9)}"', "at most 8 keys"),
        (f'"http://north.example/n {KEY} {"x" * 5000}"', "at most 4,096 characters"),
        ("7", "found 7"),
        ("true", "found true"),
    ],
)
def test_a_line_that_says_something_else_is_told(line: str, says: str) -> None:
    (fault,) = faults_in(f"north = {line}")
    assert fault.startswith("folder/posthouse.toml:4: expected peers.north to be the name of an office")
    assert says in fault


def test_a_peer_is_called_something_plain() -> None:
    for name in ("North", '"north sea"', '"a.b"', '""', "x" * 65):
        assert "expected a name in peers of small letters" in " ".join(
            faults_in(f'{name} = "http://n.example/n {KEY}"')
        ) or name == '""'  # fmt: skip


def test_what_is_wrong_between_lines_is_told_at_once() -> None:
    told = faults_in(f"""
        own = "http://post.example:8025/main {KEY}"
        north = "http://north.example/n {KEY}"
        twice = "http://north.example:8025/n {KEY}"
        lost = "http://lost.example/l via=nobody"
        a = "http://a.example/a via=b"
        b = "http://b.example/b via=a"
    """)
    assert [fault.split(" ", 1)[1] for fault in told] == [
        "expected peers.own to be another office than this one, found http://post.example:8025/main",
        "expected peers.twice to be each office once, found http://north.example:8025/n, which is north as well",
        "expected peers.lost to be a way by a peer that is listed, found via=nobody",
        "expected peers.a to be a way that does not lead in a circle, found via=b",
        "expected peers.b to be a way that does not lead in a circle, found via=a",
    ]


def test_an_office_with_peers_needs_a_name_they_can_list() -> None:
    (fault,) = faults_in(f'north = "http://north.example/n {KEY}"', head="[peers]\n")
    assert 'expected office.name to be one that peers can list, found "local:"' in fault
