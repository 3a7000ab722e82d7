"""An office of another process that programs reach over the network: run by the tests that kill it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

# This file is run as a program, and finds its neighbours beside the folder of all tests.
sys.path.insert(0, str(Path(__file__).parents[3]))

from posthouse.server.assemble import open_house
from tests.scenario.office.listener import listening
from tests.scenario.office.ways import QUICK


async def main(path: Path, port: int) -> None:
    async with open_house(path, QUICK, socket=False) as house, listening(house, port=port) as url:
        print(url, flush=True)  # noqa: T201 - what the test reads
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
