from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Self

from posthouse.matching.value.record import Record

# What `native.c` gives where it is compiled.
class Lexicon:
    def __new__(cls, filed: dict[bytes, tuple[int, ...]], /) -> Self: ...
    def find(self, text: bytes, into: set[int], /) -> None: ...
    def find_start(self, text: bytes, into: set[int], /) -> None: ...
    def find_end(self, text: bytes, into: set[int], /) -> None: ...
    def find_in_each(self, texts: list[bytes], into: list[set[int]], /) -> None: ...

class Net:
    # `Any`: nested tuples that `net` makes and C takes apart, each with its type checked there.
    def __new__(
        cls,
        names: tuple[str, ...],
        fields: tuple[Any, ...],
        rows: tuple[Any, ...],
        words: list[str],
        fold: Callable[..., str],
        int32: type[int],
        /,
    ) -> Self: ...
    def find(
        self, records: Sequence[Record], beside: Sequence[AbstractSet[int] | None] | None, /
    ) -> tuple[list[int], list[int], list[tuple[int, int]], list[int]]: ...
    def candidates(self, facts: AbstractSet[int], /) -> list[int]: ...

def note(number: int, start: int, end: int, flags: int, found: tuple[list[tuple[int, ...]], set[int]], /) -> None: ...
