"""Large bodies piece by piece: across restarts, from several peers, with too much of everything."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from posthouse.message.message import Body
from posthouse.message.peer import Exchange
from posthouse.testing.build import START
from posthouse.testing.clock import FakeClock
from posthouse.transport.http.arrival import Arrivals
from posthouse.transport.http.cargo import Piece
from tests.unit.transport.http.speech import Shelf

DATA = bytes(range(250)) * 4
BODY = Body(hashlib.sha256(DATA).hexdigest(), len(DATA))


async def arrivals(folder: Path, shelf: Shelf | None = None, **bounds: Any) -> Arrivals:
    made = Arrivals(folder, shelf or Shelf(), bounds=Exchange(**bounds), body_bytes=10_000, clock=FakeClock())
    await made.open()
    return made


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_a_body_is_whole_after_its_last_piece(tmp_path: Path) -> None:
    shelf = Shelf()
    here = await arrivals(tmp_path, shelf)
    assert (await here.add("east", Piece(BODY, 0))).have == 0
    for start in range(0, 1000, 250):
        assert not shelf.bodies
        answer = await here.add("east", Piece(BODY, start, DATA[start : start + 250]))
        assert (answer.verdict, answer.have) == ("taken", start + 250)
    assert shelf.bodies == {BODY: DATA}
    assert (await here.add("east", Piece(BODY, 0))).have == 1000
    assert not names(tmp_path)


async def test_a_piece_out_of_place_is_left_and_the_place_is_told(tmp_path: Path) -> None:
    here = await arrivals(tmp_path)
    await here.add("east", Piece(BODY, 0, DATA[:100]))
    for start in (0, 50, 200):
        assert (await here.add("east", Piece(BODY, start, b"x" * 10))).have == 100


async def test_a_body_goes_on_after_a_restart(tmp_path: Path) -> None:
    await (await arrivals(tmp_path)).add("east", Piece(BODY, 0, DATA[:600]))
    (tmp_path / "something else").write_bytes(b"")
    shelf = Shelf()
    here = await arrivals(tmp_path, shelf)
    assert (await here.add("east", Piece(BODY, 0))).have == 600
    assert (await here.add("east", Piece(BODY, 600, DATA[600:]))).have == 1000
    assert shelf.bodies == {BODY: DATA}


async def test_what_became_another_body_begins_again(tmp_path: Path) -> None:
    shelf = Shelf()
    here = await arrivals(tmp_path, shelf)
    await here.add("east", Piece(BODY, 0, b"x" * 500))
    answer = await here.add("east", Piece(BODY, 500, DATA[500:]))
    assert (answer.have, bool(answer.reason)) == (0, True)
    assert not shelf.bodies
    assert (await here.add("east", Piece(BODY, 0, DATA))).have == 1000


async def test_peers_do_not_meet_in_a_body(tmp_path: Path) -> None:
    here = await arrivals(tmp_path)
    await here.add("east", Piece(BODY, 0, b"x" * 500))
    assert (await here.add("north", Piece(BODY, 0))).have == 0
    assert (await here.add("north", Piece(BODY, 0, DATA))).have == 1000


async def test_a_body_that_is_too_large_is_refused_at_once(tmp_path: Path) -> None:
    here = await arrivals(tmp_path)
    answer = await here.add("east", Piece(Body("0" * 64, 10_001), 0))
    assert answer.verdict == "refused"
    assert not names(tmp_path)


async def test_the_room_for_halves_is_limited(tmp_path: Path) -> None:
    here = await arrivals(tmp_path, half_bytes=1_500)
    await here.add("east", Piece(BODY, 0, b"x"))
    other = Body("1" * 64, 600)
    answer = await here.add("east", Piece(other, 0, b"y"))
    assert (answer.verdict, answer.pause) == ("busy", 30.0)
    (half,) = names(tmp_path)
    os.utime(tmp_path / half, (0, START / 1_000_000 - 90_000))
    assert (await here.add("east", Piece(other, 0, b"y"))).verdict == "taken", "the old half made room"
    assert [name.split("-")[1] for name in names(tmp_path)] == [other.sha256]


async def test_an_empty_body_needs_no_piece(tmp_path: Path) -> None:
    shelf = Shelf()
    here = await arrivals(tmp_path, shelf)
    empty = Body(hashlib.sha256().hexdigest(), 0)
    assert (await here.add("east", Piece(empty, 0))).verdict == "taken"
    assert shelf.bodies == {empty: b""}


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_same_pieces_at_once_are_kept_once(tmp_path: Path, seed: int) -> None:
    shelf = Shelf()
    here = await arrivals(tmp_path / str(seed), shelf)
    pieces = [Piece(BODY, start, DATA[start : start + 250]) for start in range(0, 1000, 250)]
    for piece in pieces:
        answers = await asyncio.gather(*(here.add("east", piece) for _ in range(4)))
        assert {answer.have for answer in answers} == {piece.start + 250}
    assert shelf.bodies == {BODY: DATA}
