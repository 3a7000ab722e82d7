"""`posthouse peer`: the offices this one exchanges messages with, and the key by which they know it."""

from __future__ import annotations

import time
from typing import Any, Final

import click

from posthouse.cli.desk import Desk, at_desk
from posthouse.cli.ending import misuse, warn
from posthouse.cli.listing import Listing
from posthouse.message.peer import Peer
from posthouse.server.assemble import following_public_key, greet_peer, own_public_key, switch_keys
from posthouse.server.settings import terms_of

_SHOWN: Final = 20


@click.group(cls=Listing)
def peer() -> None:
    """List the offices messages are exchanged with, try them, show the key they know this one by.

    Peers stand in the settings, below [peers]: a name of your choice, and the line that `posthouse peer key` prints
    there. A new line counts once the office is started again.
    """


@peer.command()
@click.option("--new", is_flag=True, help="Make the key that is to follow, and print it; the one in use stays.")
@click.option("--switch", is_flag=True, help="Use the key made with --new from the next start of the office on.")
@at_desk
def key(desk: Desk, *, new: bool, switch: bool) -> None:
    """Print the name and the public key of this office: the line others list it by.

    The key is made when it is first asked for. To change it: print the one to follow with --new, have every peer add
    it to its line, then --switch, start the office again, and have the old one taken out there.
    """
    if new and switch:
        raise misuse("one of --new and --switch: the others have to list the new key in between")
    exchange = terms_of(desk.settings).exchange
    if switch:
        public = switch_keys(desk.path, exchange)
        if public is None:
            raise misuse("there is no key to switch to: make one with --new")
    else:
        public = (following_public_key if new else own_public_key)(desk.path, exchange)
    name = desk.settings.office.name
    if name.startswith("local:"):
        warn(f"{name} is no name that others can list: set office.name, such as http://post.example:8025/main")
    if desk.as_json:
        desk.printer.document({"office": name, "key": public})
    else:
        desk.printer.line(f"{name} {public}")


@peer.command("list")
@at_desk
def list_(desk: Desk) -> None:
    """List the peers."""
    peers = terms_of(desk.settings).exchange.peers
    if desk.as_json:
        desk.printer.documents([_row(each) for each in peers])
        return
    desk.printer.table(
        ("peer", "office", "keys", "besides"),
        [
            (each.name, each.office, " ".join(text[8 : 8 + _SHOWN] + "..." for text in each.keys), _besides(each))
            for each in peers
        ],
        empty="no peers: list them below [peers] in the settings",
    )


@peer.command()
@click.argument("name", metavar="PEER")
@at_desk
def test(desk: Desk, name: str) -> None:
    """Try to reach a peer: whether it answers, knows this office, and is the one that is listed.

    Nothing is sent but a greeting. The office itself need not run.
    """
    terms = terms_of(desk.settings)
    known = {each.name: each for each in terms.exchange.peers}
    if name not in known:
        raise misuse(f"expected one of {', '.join(known) or 'no peers at all'}, found {name}")
    if known[name].via:
        raise misuse(f"{name} is reached by way of {known[name].via}: try that one")
    begun = time.monotonic()
    ahead = desk.run(greet_peer(desk.path, terms, name=name))
    taken = time.monotonic() - begun
    if desk.as_json:
        desk.printer.document({"peer": name, "office": known[name].office, "seconds": taken, "clock_ahead": ahead})
    else:
        desk.printer.line(f"{name}: {known[name].office} answers, {_clock(ahead)}")


def _clock(ahead: float) -> str:
    if abs(ahead) < 1:
        return "and its clock says what the clock here says"
    return f"and its clock is {abs(ahead):.0f} s {'ahead' if ahead > 0 else 'behind'}"


# `Any`: the members of a JSON object.
def _row(peer: Peer) -> dict[str, Any]:
    return {
        "peer": peer.name, "office": peer.office, "keys": list(peer.keys), "via": peer.via or None,
        "relay": peer.relay, "ca": peer.ca or None,
    }  # fmt: skip


def _besides(peer: Peer) -> str:
    words = [f"via {peer.via}"] if peer.via else []
    words += ["relay"] if peer.relay else []
    words += [f"ca {peer.ca}"] if peer.ca else []
    return ", ".join(words)
