"""Who was who when: the editions of a book with their activations, asked at an instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from typing import Final

from posthouse.message.case import Activation, Edition
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.snapshot import Snapshot


def activation_at(activations: Iterable[Activation], at: int) -> Activation | None:
    """Give the activation that counts at an instant: the newest that has come, the last written of several at once."""
    counting: Activation | None = None
    for activation in activations:
        if activation.at <= at and (counting is None or activation.at >= counting.at):
            counting = activation
    return counting


def edition_at(editions: Iterable[Edition], activations: Iterable[Activation], *, at: int) -> Edition | None:
    """Give the edition in force at an instant; None before the first, and where the book was ended."""
    activation = activation_at(activations, at)
    if activation is None:
        return None
    return next((edition for edition in editions if edition.number == activation.number), None)


class Chronicle:
    """The snapshots of an organisation over time; each edition is read once, when it is first asked for."""

    def __init__(self, editions: Iterable[Edition], activations: Sequence[Activation], *, zone: tzinfo = UTC) -> None:
        self._editions: Final = {edition.number: edition for edition in editions}
        self._activations: Final = tuple(activations)
        self._zone: Final = zone
        self._snapshots: Final[dict[int, Snapshot]] = {}

    def at(self, instant: int) -> Snapshot | None:
        """Give the snapshot in force at an instant; UnreadableText where its text has faults."""
        edition = edition_at(self._editions.values(), self._activations, at=instant)
        return None if edition is None else self.of(edition.number)

    def of(self, number: int) -> Snapshot | None:
        """Give the snapshot of one edition, in force or not; None where there is none of that number."""
        edition = self._editions.get(number)
        if edition is None:
            return None
        known = self._snapshots.get(number)
        if known is None:
            known = Snapshot(parse_directory(edition.text), edition=number, zone=self._zone)
            self._snapshots[number] = known
        return known
