"""What another process does with the office: run by `ways.child`, told what by its arguments."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from posthouse.client.office import Office
from posthouse.office.terms import Patience, Terms

TERMS = Terms(patience=Patience(first_pause=0.05, longest_pause=0.2), lease_seconds=20.0)


async def main(path: Path, task: str, *words: str) -> None:
    async with Office.open(path, terms=TERMS) as office:
        match task:
            case "hold":
                print("open", flush=True)  # noqa: T201 - what the test reads
            case "take":
                delivery = await office.take(words[0], wait=None)
                assert delivery is not None
                print(delivery.message.id, delivery.attempt, flush=True)  # noqa: T201 - the same
            case "put":
                for number in range(int(words[1])):
                    await office.put(words[0], str(number), sender="another")
                print("put", flush=True)  # noqa: T201 - the same
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
