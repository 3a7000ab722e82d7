"""What holds for every way to the mailboxes of other offices is tried on all of them."""

from __future__ import annotations

import pytest

from tests.contract.errand.neighbours import ADAPTERS, Opening


@pytest.fixture(params=list(ADAPTERS))
def opening(request: pytest.FixtureRequest) -> Opening:
    chosen: Opening = ADAPTERS[request.param]
    return chosen
