"""What one group of changes finds in the queue and brings into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from posthouse.message.changes import Changes, Entry


class Present(NamedTuple):
    """A queue entry as it stands before the group."""

    seq: int
    token: int
    state: int
    front: int
    box: int
    lane: int
    priority: int
    kind: str
    message: int
    attempt: int
    failures: int
    size: int
    ready_at: int
    expires: int | None
    work: int
    correlation: str | None
    arrived: int
    next_at: int | None


def added_by(change: Changes) -> list[Entry]:
    """Give the entries a change brings, redriven ones apart."""
    brought = [post.entries for post in change.posts]
    brought += [resend.entries for resend in change.resends]
    brought += [onward.entries for onward in change.onwards]
    return [entry for entries in brought for entry in entries]


def boxes_of(changes: Sequence[Changes]) -> set[str]:
    """Give the boxes that most changes speak of: those of new messages and of takes."""
    boxes = {entry.box for change in changes for post in change.posts for entry in post.entries}
    boxes.update(change.take.box for change in changes if change.take is not None)
    return boxes
