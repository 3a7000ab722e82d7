"""A rule file as data: rules with their conditions, actions, examples and comments; nothing here decides or acts."""

from __future__ import annotations

from typing import Literal, Self

import msgspec

from posthouse.matching.predicate.node import Constant, Moment, Part, Predicate

OnUnknown = Literal["match", "no match", "gate"]
Checkpoint = Literal["submit", "relay", "deliver", "reprocess", "expiry"]
ActionName = Literal["gate", "return", "delete", "copy", "forward", "release", "defer", "notify", "review", "file"]
Expected = Literal["match", "no match", "unknown"]
Reach = Literal["message", "recipient"]
Telling = Literal["no", "yes", "with reason"]


class Note(msgspec.Struct, frozen=True):
    """One comment: the element it stands before, or behind on the same line."""

    anchor: str
    text: str
    is_trailing: bool = False


class Action(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One action with its arguments, as they were written."""

    name: ActionName
    to: tuple[str, ...] = ()
    """Gatekeepers, recipients or the mailbag, as the action takes them."""
    saying: str | None = None
    """What the one who gets it is told."""
    because: str | None = None
    """The reason that is kept with it."""
    within: int | None = None
    """Microseconds within which a gatekeeper decides."""
    until: Moment | None = None
    """A time of day or an instant up to which it is put off."""
    after: int | None = None
    """Microseconds by which it is put off."""
    is_immediate: bool = False
    """It does not wait for what becomes of a gated message."""


class Fact(msgspec.Struct, frozen=True):
    """What an example says of its message: the values of one part."""

    part: Part
    values: tuple[Constant, ...]


class Example(msgspec.Struct, frozen=True):
    """A message and what the rule has to say of it."""

    expected: Expected
    title: str | None = None
    file: str | None = None
    """A mail in a file; what the facts say is said beside it."""
    facts: tuple[Fact, ...] = ()


class Rule(msgspec.Struct, frozen=True, kw_only=True, tag="rule"):
    """One rule as it was written; its version, its author and its place in a rule base are kept by the rule base."""

    name: str
    condition: Predicate
    actions: tuple[Action, ...]
    reason: str | None = None
    policy: str | None = None
    """The communication policy it carries out."""
    owner: str | None = None
    is_enabled: bool = True
    checkpoints: tuple[Checkpoint, ...] = ()
    """Where it applies; nothing means where the rule base applies rules that say nothing."""
    scope: Reach = "message"
    """Whether a hit concerns the whole message, or only the recipients it is true of."""
    priority: int | None = None
    on_unknown: OnUnknown | None = None
    """What an unknown condition means; nothing means what its action means by itself."""
    tell_sender: Telling | None = None
    """Whether the sender of what it gates hears that it waits; nothing means what the policy of the office says."""
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    sample: float | None = None
    """The percentage of messages it is applied to."""
    examples: tuple[Example, ...] = ()
    notes: tuple[Note, ...] = ()

    def with_notes(self, notes: tuple[Note, ...]) -> Self:
        """Give the rule with these comments."""
        return msgspec.structs.replace(self, notes=notes)


class WordSource(msgspec.Struct, frozen=True, tag="words"):
    """A named list of words: in a file that the caller reads, or written out."""

    name: str
    file: str | None = None
    words: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def with_notes(self, notes: tuple[Note, ...]) -> Self:
        """Give the list with these comments."""
        return msgspec.structs.replace(self, notes=notes)


class RuleFile(msgspec.Struct, frozen=True):
    """A whole text: rules and named lists in the order written."""

    items: tuple[Rule | WordSource, ...] = ()
    notes: tuple[Note, ...] = ()
    """The comments behind the last item."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules alone."""
        return tuple(item for item in self.items if isinstance(item, Rule))

    @property
    def words(self) -> tuple[WordSource, ...]:
        """The named lists alone."""
        return tuple(item for item in self.items if isinstance(item, WordSource))
