from __future__ import annotations

from collections.abc import Sequence

import pytest

from posthouse.transport.inprocess import NameTaken, Street
from posthouse.transport.ports import Outgoing, Result


async def letterbox(batch: Sequence[Outgoing]) -> list[Result]:
    return [Result("delivered")] * len(batch)


def test_two_offices_of_one_process_do_not_share_a_name() -> None:
    street = Street()
    street.move_in("east", letterbox)
    with pytest.raises(NameTaken, match="east"):
        street.move_in("east", letterbox)
    street.move_in("west", letterbox)
    street.move_out("east")
    assert street.letterbox("east") is None
    street.move_in("east", letterbox)
    assert street.letterbox("east") is letterbox
