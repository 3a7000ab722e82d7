"""Names of roles made of titles: one that several units or managers have becomes several roles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from posthouse.organisation.directory import key_of
from posthouse.organisation.form.fault import MAX_NAME

_MAX_PIECE: Final = 80


class Titled(msgspec.Struct, frozen=True, gc=False):
    """Somebody's title, with what tells it apart from the same title elsewhere."""

    title: str
    """Nothing where there is no role to be named."""
    unit: str
    manager: str
    """Some word that is the same for all who have the same manager."""
    manager_name: str


def name_roles(people: Sequence[Titled], taken: Iterable[str]) -> list[str]:
    """Give the name of each one's role; `taken` are names that stand for other roles."""
    names = [""] * len(people)
    used = {key_of(name) for name in taken}
    by_title: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(people):
        if one.title:
            by_title[key_of(one.title)].append(number)
    for numbers in by_title.values():
        for name, several in _told_apart(people, numbers):
            free = _free(name, used)
            for number in several:
                names[number] = free
    return names


def _told_apart(people: Sequence[Titled], numbers: list[int]) -> Iterable[tuple[str, list[int]]]:
    """Give the roles of one title, each with those who have it."""
    title = people[numbers[0]].title[:_MAX_PIECE]
    if len({(key_of(people[number].unit), people[number].manager) for number in numbers}) == 1:
        yield title, numbers
        return
    by_unit: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        by_unit[key_of(people[number].unit)].append(number)
    for several in by_unit.values():
        unit = people[several[0]].unit[:_MAX_PIECE]
        name = f"{title}, {unit}" if unit else title
        by_manager: dict[str, list[int]] = defaultdict(list)
        for number in several:
            by_manager[people[number].manager].append(number)
        for same in by_manager.values():
            under = people[same[0]].manager_name[:_MAX_PIECE]
            yield (f"{name}, under {under}" if under and len(by_manager) > 1 else name), same


def _free(name: str, used: set[str]) -> str:
    """Give the name, with a number behind it where another role has it."""
    number, free = 1, name[:MAX_NAME]
    while key_of(free) in used:
        number += 1
        free = f"{name[: MAX_NAME - 10]} {number}"
    used.add(key_of(free))
    return free
