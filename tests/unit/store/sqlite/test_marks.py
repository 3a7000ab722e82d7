"""What enters its lane gets the right front mark, whatever enters with it in one group."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from posthouse.message.changes import Changes, Settle
from posthouse.store.sqlite.checking import verify
from posthouse.store.sqlite.lanes import BEHIND, FIRST_OF_KIND, HEAD, Newcomers
from posthouse.testing.build import SECOND, START, entry, post
from tests.unit.store.sqlite.office import holds, opened

KINDS = ("mail", "notice")


def test_the_first_of_a_lane_may_be_its_head_and_the_first_of_a_kind_the_first_of_it() -> None:
    newcomers = Newcomers()
    marks = [newcomers.mark(1, 7, priority=5, kind=kind) for kind in ("mail", "mail", "notice", "event", "notice")]
    assert marks == [HEAD, BEHIND, FIRST_OF_KIND, FIRST_OF_KIND, BEHIND]


@pytest.mark.parametrize(("box", "lane", "priority"), [(2, 7, 5), (1, 8, 5), (1, 7, 6)])
def test_another_box_lane_or_priority_is_another_queue(box: int, lane: int, priority: int) -> None:
    newcomers = Newcomers()
    newcomers.mark(1, 7, priority=5, kind="mail")
    assert newcomers.mark(box, lane, priority=priority, kind="mail") == HEAD


@pytest.mark.parametrize("there", [(), ("mail",), ("notice",), ("mail", "notice")], ids=" ".join)
@pytest.mark.parametrize(("held", "first", "second"), list(itertools.product(KINDS, repeat=3)))
async def test_what_wakes_between_two_arrivals_is_marked_like_them(
    tmp_path: Path, there: tuple[str, ...], held: str, first: str, second: str
) -> None:
    async with opened(tmp_path / "office.db") as store:
        waits = entry(kind=held, not_before=START + SECOND)
        await store.commit([Changes(posts=(post(1, waits),))])
        (queued,) = await store.queue.entries("#inbox", limit=1)
        await store.commit([Changes(posts=(post(number, entry(kind=kind)),)) for number, kind in enumerate(there, 2)])
        wakes = Settle(act="wake", entry=queued.entry, token=queued.token, at=START + SECOND)
        outcomes = await store.commit(
            [
                Changes(posts=(post(10, entry(kind=first)),)),
                Changes(settles=(wakes,)),
                Changes(posts=(post(11, entry(kind=second)),)),
            ]
        )
        assert {outcome.status for outcome in outcomes} == {"done"}
        assert await holds(store) == [*range(2, 2 + len(there)), 10, 1, 11]
        assert await verify(store, repair=False) == []


async def test_what_a_lane_carries_comes_out_as_it_went_in(tmp_path: Path) -> None:
    async with opened(tmp_path / "office.db") as store:
        luggage = [b"", b"\x00", b"two\xff", b"", b"x" * 5_000]
        going = [
            Changes(posts=(post(number, entry("resume:later", correlation='"a\\b" ü', luggage=carried)),))
            for number, carried in enumerate(luggage, 1)
        ]
        await store.commit(going)
        rows = await store.between_commits(
            lambda connection: connection.execute("SELECT luggage, correlation FROM entry ORDER BY seq").fetchall()
        )
        assert rows == [(carried, '"a\\b" ü') for carried in luggage]
