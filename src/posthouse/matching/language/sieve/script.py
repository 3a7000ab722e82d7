"""A Sieve script as data: commands, tests and their arguments, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Texts(msgspec.Struct, frozen=True):
    """A text, or a list of texts in brackets."""

    values: tuple[str, ...]
    at: int
    is_list: bool = False


class Quantity(msgspec.Struct, frozen=True):
    """A number, its unit counted in."""

    value: int
    at: int


class Tag(msgspec.Struct, frozen=True):
    """A word with a colon, such as `:contains`."""

    name: str
    """Small, with its colon."""
    at: int


Argument = Texts | Quantity | Tag


class Given(msgspec.Struct, frozen=True):
    """The arguments of a command or a test once their form is known: tags with what they take, and the others."""

    tags: dict[str, Argument | None]
    positional: tuple[Argument, ...]

    def texts(self, place: int) -> tuple[str, ...]:
        """Give the texts that stand at a place."""
        found = self.positional[place]
        return found.values if isinstance(found, Texts) else ()

    def tag_texts(self, tag: str) -> tuple[str, ...]:
        """Give the texts that a tag takes."""
        found = self.tags.get(tag)
        return found.values if isinstance(found, Texts) else ()

    def one_of(self, *tags: str) -> str | None:
        """Give the tag among these that stands there."""
        return next((tag for tag in tags if tag in self.tags), None)


NOTHING = Given({}, ())


class Test(msgspec.Struct, frozen=True):
    """One test, with the tests inside of it."""

    name: str
    at: int
    arguments: tuple[Argument, ...] = ()
    tests: tuple[Test, ...] = ()
    given: Given = NOTHING


class Command(msgspec.Struct, frozen=True):
    """One command, with its test and its block, if it has them."""

    name: str
    at: int
    arguments: tuple[Argument, ...] = ()
    tests: tuple[Test, ...] = ()
    block: tuple[Command, ...] | None = None
    given: Given = NOTHING
    title: str | None = None
    """What the comment before it says."""


class Script(msgspec.Struct, frozen=True):
    """A whole script that has no faults."""

    commands: tuple[Command, ...]
    extensions: frozenset[str]
    """What it requires."""


def commands_within(commands: tuple[Command, ...]) -> Iterator[Command]:
    """Give commands and all commands in their blocks."""
    waiting = list(reversed(commands))
    while waiting:
        command = waiting.pop()
        yield command
        waiting += reversed(command.block or ())
