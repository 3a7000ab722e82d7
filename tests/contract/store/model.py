"""What a store must do, said as plainly as possible: a list of places, walked through from the front each time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

import msgspec

from posthouse.message.changes import Changes, Entry, Filter, Letter, Settle, Setup, Take
from posthouse.message.trace import Step

Refusal = Literal["duplicate", "full", "stale"]


@dataclass(eq=False)
class Place:
    """An entry in a queue, or of a dead letter."""

    number: int
    entry: Entry
    letter: Letter
    arrived: int
    state: str = "waiting"
    token: int = 0
    attempt: int = 0
    failures: int = 0
    pause: int = 0
    until: int = 0
    holder: str = ""

    @property
    def next_at(self) -> int | None:
        if self.state == "leased":
            return self.until
        instants = [self.entry.not_before if self.state == "held" else self.pause or None, self.entry.expires]
        return min((instant for instant in instants if instant is not None), default=None)


@dataclass
class Model:
    """The whole store; numbers are the model's own."""

    letters: dict[UUID, Letter] = field(default_factory=dict)
    traces: dict[UUID, list[Step]] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    dead: dict[int, tuple[Place, int, str]] = field(default_factory=dict)
    asides: dict[int, tuple[Letter, str]] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[int, UUID]] = field(default_factory=dict)
    version: int = 0
    setups: dict[str, Setup] = field(default_factory=dict)
    last: int = 0

    def commit(self, group: list[Changes]) -> list[list[Refusal] | list[Place]]:
        """Give for each change why it may be refused, or the places taken as they then are."""
        answers: list[list[Refusal] | list[Place]] = []
        for changes in group:
            refusals = self.refusals(changes)
            if not refusals:
                self.carry_out(changes)
            answers.append(refusals)
        for position, changes in enumerate(group):
            if not answers[position] and changes.take is not None:
                answers[position] = self.take(changes.take)
        return answers

    def refusals(self, changes: Changes) -> list[Refusal]:
        ids = [post.letter.id for post in changes.posts]
        if self.first_under_key(changes) or len(set(ids)) < len(ids) or any(one in self.letters for one in ids):
            return ["duplicate"]
        stale = changes.register not in (None, self.version)
        for numbers, known in (
            ([settle.entry for settle in changes.settles], {place.number for place in self.places}),
            ([redrive.dead for redrive in changes.redrives], set(self.dead)),
            ([resend.aside for resend in changes.resends], set(self.asides)),
        ):
            stale = stale or len(set(numbers)) < len(numbers) or not set(numbers) <= known
        stale = stale or not all(self.can(settle) for settle in changes.settles)
        refusals: list[Refusal] = ["full"] if self.is_full(changes) else []
        return [*refusals, "stale"] if stale else refusals

    def first_under_key(self, changes: Changes) -> UUID | None:
        if changes.key is None or not changes.posts:
            return None
        until, first = self.keys.get((changes.key.principal, changes.key.key), (0, None))
        return first if changes.posts[0].letter.accepted < until else None

    def can(self, settle: Settle) -> bool:
        place = self.place(settle.entry)
        if place is None or place.token != settle.token:
            return False
        match settle.act:
            case "renew":
                return place.state == "leased"
            case "wake":
                return place.state == "held" or (place.state == "waiting" and place.pause > 0)
            case "back" | "retry":
                return place.state != "held"
            case _:
                return True

    def is_full(self, changes: Changes) -> bool:
        leaving = {settle.entry for settle in changes.settles if settle.act in ("done", "bury")}
        entries = [place.entry for place in self.places if place.number not in leaving]
        entries += [entry for post in changes.posts for entry in post.entries]
        entries += [entry for resend in changes.resends for entry in resend.entries]
        back = [redrive.dead for redrive in changes.redrives if not redrive.drop]
        entries += [self.dead[number][0].entry for number in back if number in self.dead]
        for room in changes.rooms:
            sizes = [entry.size for entry in entries if entry.box == room.box]
            if room.max_messages is not None and len(sizes) > room.max_messages:
                return True
            if room.max_bytes is not None and sum(sizes) > room.max_bytes:
                return True
        return False

    def carry_out(self, changes: Changes) -> None:
        for post in changes.posts:
            self.letters[post.letter.id] = post.letter
            self.traces[post.letter.id] = [post.letter.step]
            if post.aside is not None:
                self.asides[self.next_number()] = (post.letter, post.aside)
            for entry in post.entries:
                self.add(entry, post.letter, post.letter.accepted)
        for settle in changes.settles:
            self.settle(settle)
        for redrive in changes.redrives:
            place, _, _ = self.dead.pop(redrive.dead)
            happened: Literal["purged", "redriven"] = "purged" if redrive.drop else "redriven"
            self.traces[place.letter.id].append(Step(redrive.now, happened, place.entry.box))
            if not redrive.drop:
                entry = msgspec.structs.replace(place.entry, expires=None, not_before=None)
                self.add(entry, place.letter, redrive.now)
        for resend in changes.resends:
            letter, _ = self.asides.pop(resend.aside)
            self.traces[letter.id].append(resend.step)
            for entry in resend.entries:
                self.add(entry, letter, resend.step.at)
        for setup in changes.setups:
            self.setups[setup.mailbox] = setup
            if setup.removed:
                del self.setups[setup.mailbox]
        self.version += bool(changes.setups)
        if changes.key is not None and changes.posts:
            self.keys[changes.key.principal, changes.key.key] = (changes.key.until, changes.posts[0].letter.id)

    def settle(self, settle: Settle) -> None:
        place = self.place(settle.entry)
        assert place is not None
        if settle.step is not None:
            self.traces[place.letter.id].append(settle.step)
        if settle.act == "renew":
            place.until = settle.at
            return
        if settle.act in ("done", "bury"):
            self.places.remove(place)
            if settle.act == "bury":
                self.dead[self.next_number()] = (place, settle.at, settle.reason)
            return
        if place.state == "held":
            self.places.remove(place)
            place.number = self.next_number()
            self.places.append(place)
        place.state, place.holder, place.token = "waiting", "", place.token + 1
        place.pause = settle.at if settle.act == "retry" else 0
        place.failures += settle.act == "retry"
        place.attempt = max(place.attempt - (settle.act == "back"), 0)

    def take(self, take: Take) -> list[Place]:
        setup = self.setups.get(take.box.removeprefix("#")) if take.box.startswith("#") else None
        chosen: list[Place] = []
        if setup is not None and setup.closed:
            return chosen
        while len(chosen) < take.limit and (best := self.best(take, chosen)) is not None:
            chosen.append(best)
        for place in chosen:
            place.state, place.holder, place.until, place.pause = "leased", take.holder, take.until, 0
            place.token += 1
            place.attempt += 1
        return [replace(place) for place in chosen]

    def best(self, take: Take, chosen: list[Place]) -> Place | None:
        """Give the best of what stands first in its lane and can be leased."""
        firsts: dict[tuple[int, int], Place] = {}
        for place in self.places:
            entry = place.entry
            expired = entry.expires is not None and entry.expires <= take.now and place.state == "waiting"
            counts = place.state != "held" and not expired and place not in chosen
            if counts and entry.box == take.box and _matches(entry, take.filter):
                firsts.setdefault((entry.lane, entry.priority), place)
        free = [place for place in firsts.values() if place.state == "waiting" and place.pause <= take.now]
        return min(free, key=lambda place: (-place.entry.priority, place.number), default=None)

    def add(self, entry: Entry, letter: Letter, arrived: int) -> None:
        held = entry.not_before is not None and entry.not_before > arrived
        state = "held" if held else "waiting"
        self.places.append(Place(self.next_number(), entry, letter, arrived, state))

    def place(self, number: int) -> Place | None:
        return next((place for place in self.places if place.number == number), None)

    def next_number(self) -> int:
        self.last += 1
        return self.last


def _matches(entry: Entry, chosen: Filter) -> bool:
    return chosen.kind in (None, entry.kind) and chosen.correlation in (None, entry.correlation)
