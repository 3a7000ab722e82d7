"""When something happens to an entry by itself: it is due, its pause or lease ends, it expires."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from posthouse.store.memory.row import Row

_SWEEP_FROM: Final = 64

# (instant, number of the row, number of this appointment, row): an appointment holds while it is the row's last one.
_Appointment = tuple[int, int, int, Row]


class Timetable:
    """The rows with a `next_at`, earliest first."""

    def __init__(self) -> None:
        self._appointments: list[_Appointment] = []
        self._last = 0
        self._rows = 0

    def set(self, row: Row, at: int | None) -> None:
        """Set the row's `next_at`; None where nothing happens by itself, or it is gone."""
        self._rows += (at is not None) - (row.next_at is not None)
        row.next_at = at
        self._last += 1
        row.timer = self._last
        if at is not None:
            heappush(self._appointments, (at, row.number, self._last, row))
        if len(self._appointments) > 2 * self._rows + _SWEEP_FROM:
            self._appointments = [one for one in self._appointments if _holds(one)]
            heapify(self._appointments)

    def due(self, now: int, limit: int) -> list[Row]:
        found: list[_Appointment] = []
        while self._appointments and self._appointments[0][0] <= now and len(found) < limit:
            appointment = heappop(self._appointments)
            if _holds(appointment):
                found.append(appointment)
        for appointment in found:
            heappush(self._appointments, appointment)
        return [row for *_, row in found]

    def next_due(self) -> int | None:
        while self._appointments and not _holds(self._appointments[0]):
            heappop(self._appointments)
        return self._appointments[0][0] if self._appointments else None


def _holds(appointment: _Appointment) -> bool:
    _, _, timer, row = appointment
    return row.timer == timer
