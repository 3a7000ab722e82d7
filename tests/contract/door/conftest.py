"""Every scenario runs once with each door."""

from __future__ import annotations

import pytest

from tests.contract.door.neighbour import ADAPTERS, Opening


@pytest.fixture(params=list(ADAPTERS))
def opening(request: pytest.FixtureRequest) -> Opening:
    chosen: Opening = ADAPTERS[request.param]
    return chosen
