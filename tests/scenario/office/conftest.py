"""What holds for both ways to an office is tried on both."""

from __future__ import annotations

import pytest

from tests.scenario.office.ways import WAYS, Way


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = WAYS[request.param]
    return chosen
