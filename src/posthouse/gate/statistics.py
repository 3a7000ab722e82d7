"""Running figures of an office, for rules to ask: counts over sliding windows, levels as they were last read.

A window is made of sixty steps; what lies in the steps that ended within the window counts, and what has happened in
the present one. To count costs the same however much was counted. Until a window was watched for its whole length
nobody knows what it holds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

SECOND: Final = 1_000_000
STEPS: Final = 60
WINDOWS: Final[Mapping[str, int]] = {"1m": 60, "10m": 600, "1h": 3_600, "24h": 86_400}
"""Seconds by the name of a window."""
COUNTERS: Final = ("received", "delivered", "gated", "returned", "deleted", "failed", "bytes_in", "bytes_out")
LEVELS: Final = ("queue_length", "oldest_queued", "store_use", "waiting")
"""What is read now and then; `waiting.ROLE` says how many cases wait for one gatekeeper."""
TIMES: Final = ("processing_ms", "processing_p95_ms")
"""How long messages took to be decided and written: on average, and what all but one in twenty stayed below."""
_EDGES: Final = tuple(round(1.5**power) for power in range(1, 41))
"""Milliseconds, hundredfold: where spans of time are told apart."""
_SPENT: Final = len(COUNTERS)
_TIMED: Final = _SPENT + 1
_FIRST_SPAN: Final = _TIMED + 1
_WIDTH: Final = _FIRST_SPAN + len(_EDGES) + 1
_OF: Final = {counter: place for place, counter in enumerate(COUNTERS)}
NAMES: Final = frozenset({
    *(f"{name}.{window}" for name in (*COUNTERS, *TIMES) for window in WINDOWS), *LEVELS,
})  # fmt: skip


def is_known(name: str) -> bool:
    """Say whether there is an office figure of this name."""
    return name in NAMES or name.startswith("waiting.")


class _Window:
    """Sums over the last steps, of several counters at once."""

    def __init__(self, seconds: int) -> None:
        self.seconds: Final = seconds
        self.step: Final = seconds // STEPS
        self.sums: Final = [0] * _WIDTH
        self._slots: Final[list[list[int] | None]] = [None] * STEPS
        self._at = 0

    def add(self, second: int, counts: list[int]) -> None:
        """Add what was counted in one second."""
        self.advance(second)
        slot = self._slots[self._at % STEPS]
        if slot is None:
            self._slots[self._at % STEPS] = list(counts)
        else:
            for place, count in enumerate(counts):
                slot[place] += count
        for place, count in enumerate(counts):
            self.sums[place] += count

    def advance(self, second: int) -> None:
        """Forget the steps that lie before the window now."""
        at = second // self.step
        if at <= self._at:
            return
        for passed in range(max(self._at + 1, at - STEPS + 1), at + 1):
            slot = self._slots[passed % STEPS]
            if slot is not None:
                self._slots[passed % STEPS] = None
                for place, count in enumerate(slot):
                    self.sums[place] -= count
        self._at = at


class Statistics:
    """What one office has counted; used on the event loop only."""

    def __init__(self, now: int, *, senders: int = 10_000) -> None:
        self._started: Final = now // SECOND
        self._second = self._started
        self._present = [0] * _WIDTH
        self._is_counted = False
        self._windows: Final = {name: _Window(seconds) for name, seconds in WINDOWS.items()}
        self._levels: dict[str, float] = {}
        self.senders: Final = Senders(now, most=senders)

    def count(self, counter: str, number: int = 1, *, at: int) -> None:
        """Count something that has happened."""
        self._tick(at)
        self._present[_OF[counter]] += number
        self._is_counted = True

    def took(self, microseconds: int, *, at: int, number: int = 1) -> None:
        """Note how long so many messages took each."""
        self._tick(at)
        self._present[_SPENT] += microseconds * number
        self._present[_TIMED] += number
        self._present[_FIRST_SPAN + _span(microseconds)] += number
        self._is_counted = True

    def set_levels(self, levels: Mapping[str, float]) -> None:
        """Note what was read just now."""
        self._levels = dict(levels)

    def figure(self, name: str, *, now: int, more: Mapping[str, int] | None = None) -> int | float | None:
        """Give a figure, or None where it is not known; `more` is what is not counted yet."""
        if (level := self._levels.get(name)) is not None:
            return level
        if name.startswith("waiting."):
            # A gatekeeper before whom nothing lies is not told of.
            return 0 if "waiting" in self._levels else None
        counter, _, window = name.rpartition(".")
        watched = self._windows.get(window)
        if watched is None or now // SECOND - self._started < watched.seconds:
            return None
        self._tick(now)
        watched.advance(self._second)
        if counter in _OF:
            place = _OF[counter]
            return watched.sums[place] + self._present[place] + (more.get(counter, 0) if more else 0)
        return self._time(watched, counter)

    def _time(self, window: _Window, name: str) -> float | None:
        number = window.sums[_TIMED] + self._present[_TIMED]
        if name not in TIMES or not number:
            return None
        if name == "processing_ms":
            return round((window.sums[_SPENT] + self._present[_SPENT]) / number / 1_000, 2)
        rest = number - number // 20
        for span in range(len(_EDGES) + 1):
            rest -= window.sums[_FIRST_SPAN + span] + self._present[_FIRST_SPAN + span]
            if rest <= 0:
                return _EDGES[min(span, len(_EDGES) - 1)] / 100
        return None

    def _tick(self, at: int) -> None:
        """Put what was counted in a second that is over into the windows."""
        second = at // SECOND
        if second <= self._second:
            return
        if self._is_counted:
            for window in self._windows.values():
                window.add(self._second, self._present)
            self._present = [0] * _WIDTH
            self._is_counted = False
        self._second = second


def _span(microseconds: int) -> int:
    hundredths = microseconds // 10
    low, high = 0, len(_EDGES)
    while low < high:
        middle = (low + high) // 2
        if _EDGES[middle] < hundredths:
            low = middle + 1
        else:
            high = middle
    return low


# --- senders ----------------------------------------------------------------------------------------------------------

SENDER_STEPS: Final = 12
SENDER_COUNTERS: Final = ("messages", "recipients")
_SENDER_OF: Final = {counter: place for place, counter in enumerate(SENDER_COUNTERS)}


class _Sender(msgspec.Struct, gc=False):
    """What one sender has sent: for each window a ring of steps for each counter."""

    since: int
    """From which second on nothing of it is missing."""
    seen: int
    rings: list[list[int]]
    sums: list[int]
    steps: list[int]


class Senders:
    """What each sender has sent; those not heard of for longest are forgotten, and then nobody knows."""

    def __init__(self, now: int, *, most: int) -> None:
        self._most: Final = most
        self._complete = now // SECOND
        """From which second on nobody was forgotten who had sent since."""
        self._known: Final[dict[str, _Sender]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def count(self, sender: str, recipients: int, *, at: int) -> None:
        """Count one message."""
        second = at // SECOND
        known = self._known.pop(sender, None)
        if known is None:
            known = _new_sender(self._complete, second)
            if len(self._known) >= self._most:
                self._forget()
        self._known[sender] = known
        known.seen = second
        _advance(known, second)
        for number in range(len(WINDOWS)):
            for place, count in enumerate((1, recipients)):
                row = 2 * number + place
                known.rings[row][known.steps[number] % SENDER_STEPS] += count
                known.sums[row] += count

    def figure(self, sender: str, name: str, *, now: int, more: Mapping[str, int] | None = None) -> int | None:
        """Give a figure of a sender such as `messages.1h`, or None where it is not known."""
        counter, _, window = name.rpartition(".")
        if window not in WINDOWS or counter not in _SENDER_OF:
            return None
        second, known = now // SECOND, self._known.get(sender)
        since = self._complete if known is None else known.since
        if second - since < WINDOWS[window]:
            return None
        added = more.get(counter, 0) if more else 0
        if known is None:
            return added
        _advance(known, second)
        return known.sums[2 * _WINDOW_OF[window] + _SENDER_OF[counter]] + added

    def _forget(self) -> None:
        name = next(iter(self._known))
        self._complete = max(self._complete, self._known.pop(name).seen)


_STEP_OF: Final = tuple(seconds // SENDER_STEPS for seconds in WINDOWS.values())
_WINDOW_OF: Final = {window: number for number, window in enumerate(WINDOWS)}


def _new_sender(since: int, second: int) -> _Sender:
    rows = 2 * len(WINDOWS)
    rings = [[0] * SENDER_STEPS for _ in range(rows)]
    return _Sender(since, second, rings, [0] * rows, [second // step for step in _STEP_OF])


def _advance(sender: _Sender, second: int) -> None:
    for number, step in enumerate(_STEP_OF):
        at, was = second // step, sender.steps[number]
        if at <= was:
            continue
        sender.steps[number] = at
        for row in (2 * number, 2 * number + 1):
            ring = sender.rings[row]
            for passed in range(max(was + 1, at - SENDER_STEPS + 1), at + 1):
                sender.sums[row] -= ring[passed % SENDER_STEPS]
                ring[passed % SENDER_STEPS] = 0


# --- for rules --------------------------------------------------------------------------------------------------------


class OfficeFigures(Mapping[str, int | float]):
    """The figures as one message of a batch finds them: those of the messages before it are in."""

    def __init__(self, statistics: Statistics, now: int) -> None:
        self._statistics: Final = statistics
        self._now: Final = now
        self.more: Final[dict[str, int]] = {}
        """What the messages before it in the batch have changed, and is not written yet."""

    def __getitem__(self, name: str) -> int | float:
        found = self._statistics.figure(name, now=self._now, more=self.more)
        if found is None:
            raise KeyError(name)
        return found

    def is_still(self, bounds: Mapping[str, Sequence[float]], most: Mapping[str, int]) -> bool:
        """Say whether no figure reaches or passes one of its bounds, whatever of `most` is added to it."""
        for name, numbers in bounds.items():
            low = self._statistics.figure(name, now=self._now, more=self.more)
            high = self._statistics.figure(name, now=self._now, more=most)
            if low is None or high is None or low == high:
                continue
            if bisect_left(numbers, low) != bisect_right(numbers, high):
                return False
        return True

    def __iter__(self) -> Iterator[str]:
        return (name for name in NAMES if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class SenderFigures(Mapping[str, int | float]):
    """The figures of one sender as one message of a batch finds them."""

    def __init__(self, senders: Senders, sender: str, *, now: int, more: Mapping[str, int]) -> None:
        self._senders: Final = senders
        self._sender: Final = sender
        self._now: Final = now
        self._more: Final = more

    def __getitem__(self, name: str) -> int | float:
        found = self._senders.figure(self._sender, name, now=self._now, more=self._more)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for counter in SENDER_COUNTERS for window in WINDOWS if (name := f"{counter}.{window}") in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
