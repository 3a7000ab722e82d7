"""Reads and writes the actions of a rule: which words each takes stands in one table."""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from posthouse.matching.language.reader import Reader, nearest_word
from posthouse.matching.language.rule.literal import (
    print_duration,
    print_moment,
    print_text,
    read_moment,
    read_number,
    read_text,
)
from posthouse.matching.language.rule.rule import Action, ActionName

MAX_PEOPLE: Final = 1_000


class Form(msgspec.Struct, frozen=True):
    """What an action takes."""

    before: str = ""
    """The word before whom it concerns; empty where none stands there."""
    has_people: bool = False
    is_single: bool = False
    """It takes one and no more."""
    words: tuple[str, ...] = ("because",)
    """What may stand behind."""
    needs: tuple[str, ...] = ()
    """One of these has to stand there."""


FORMS: Final[dict[ActionName, Form]] = {
    "gate": Form("to", has_people=True, words=("within", "because")),
    "return": Form(words=("saying", "because")),
    "delete": Form(),
    "copy": Form("to", has_people=True, words=("immediately", "because")),
    "forward": Form("to", has_people=True, is_single=True, words=("saying", "because")),
    "release": Form(),
    "defer": Form(words=("until", "for", "because"), needs=("until", "for")),
    "notify": Form(has_people=True, words=("saying", "immediately", "because")),
    "review": Form(),
    "file": Form("in", has_people=True, is_single=True),
}
_EXAMPLES: Final = {
    "gate": 'gate to "Compliance"', "copy": 'copy to "audit@example.com"', "forward": 'forward to "desk@example.com"',
    "notify": 'notify "postmaster"', "file": 'file in "month end"', "defer": "defer until 20:00 or defer for 2 hours",
}  # fmt: skip
_SYNONYMS: Final = {
    "reject": "return", "bounce": "return", "drop": "delete", "discard": "delete", "hold": "gate", "quarantine": "gate",
    "block": "gate", "bcc": "copy", "cc": "copy", "redirect": "forward", "deliver": "release", "accept": "release",
    "allow": "release", "pass": "release", "keep": "release", "delay": "defer", "move": "file", "fileinto": "file",
    "alert": "notify", "tell": "notify",
}  # fmt: skip
_ALL_WORDS: Final = tuple(dict.fromkeys(word for form in FORMS.values() for word in form.words))


class ActionReader:
    """Reads one action; the reader's token stands at its name."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader

    def stands(self) -> bool:
        """Say whether an action comes next."""
        return self._reader.token.kind == "word" and self._reader.token.text.lower() in FORMS

    def read(self) -> Action:
        """Read an action with its arguments."""
        reader = self._reader
        if not self.stands():
            names = get_args(ActionName)
            word = reader.token.text if reader.token.kind == "word" else ""
            meant = _SYNONYMS.get(word.lower())
            hint = f"did you mean {meant}?" if meant else nearest_word(word, names)
            reader.stumble("an action: " + ", ".join(names[:-1]) + f" or {names[-1]}", hint=hint)
        token = reader.take()
        name: ActionName = token.text.lower()  # type: ignore[assignment]  # it stands in the table
        form = FORMS[name]
        action = Action(name=name, to=self._read_people(name, form))
        said: set[str] = set()
        while (argument := self._next_word(name, form, said)) is not None:
            said.add(argument)
            action = self._read_argument(action, argument)
        if form.needs and not said.intersection(form.needs):
            reader.note(f"{' or '.join(form.needs)} behind {name}", hint=f"as in {_EXAMPLES[name]}")
        return action

    def _read_people(self, name: str, form: Form) -> tuple[str, ...]:
        if not form.has_people:
            return ()
        reader = self._reader
        if form.before and not reader.accept(form.before):
            reader.stumble(f"{form.before} behind {name}", hint=f"as in {_EXAMPLES[name]}")
        people: list[str] = []
        while True:
            if reader.token.kind != "text":
                word = reader.token.text[:40]
                hint = f'write "{word}"' if reader.token.kind == "word" else f"as in {_EXAMPLES[name]}"
                reader.stumble("a name in quotes", hint=hint)
            start = reader.token
            person = read_text(reader.take().text)
            if not person or person in people:
                found = "the same a second time" if person else "an empty one"
                reader.note("a name", found=found, at=start.start, length=start.end - start.start)
            people.append(person)
            if form.is_single or not reader.accept(","):
                break
        if len(people) > MAX_PEOPLE:
            reader.note(f"at most {MAX_PEOPLE} names", found=f"{len(people)}")
        return tuple(people)

    def _next_word(self, name: str, form: Form, said: set[str]) -> str | None:
        reader = self._reader
        word = reader.token.text.lower()
        if word not in _ALL_WORDS or reader.token.kind != "word":
            return None
        if word not in form.words:
            allowed = ", ".join(form.words)
            reader.stumble(f"AND and another action, or the end of the rule, as {name} takes {allowed} alone")
        if word in said or (word in form.needs and said.intersection(form.needs)):
            reader.note(f"{word} once" if word in said else f"{' or '.join(form.needs)}, not both")
        return word

    def _read_argument(self, action: Action, word: str) -> Action:
        reader = self._reader
        reader.take()
        replace = msgspec.structs.replace
        if word == "immediately":
            return replace(action, is_immediate=True)
        if word in ("saying", "because"):
            if reader.token.kind != "text":
                reader.stumble(f"a text in quotes behind {word}")
            text = read_text(reader.take().text)
            return replace(action, saying=text) if word == "saying" else replace(action, because=text)
        if word == "until":
            if reader.token.kind not in ("time", "instant"):
                reader.stumble("a time of day such as 20:00, or a time such as 2026-01-31T20:00:00Z")
            return replace(action, until=read_moment(reader))
        duration = self._read_duration()
        return replace(action, within=duration) if word == "within" else replace(action, after=duration)

    def _read_duration(self) -> int:
        reader = self._reader
        if reader.token.kind != "number":
            reader.stumble("a length of time, such as 2 days")
        start = reader.token
        number = read_number(reader)
        if number.type != "duration":
            reader.note(
                "a length of time, such as 2 days", found=start.text, at=start.start, hint="say minutes, hours or days"
            )
        elif number.value == 0:
            reader.note("a length of time that is not zero", found="0", at=start.start)
        return int(number.value)


def print_action(action: Action) -> str:
    """Write an action."""
    form = FORMS[action.name]
    pieces: list[str] = [action.name]
    if form.has_people:
        people = ", ".join(map(print_text, action.to))
        pieces.append(f"{form.before} {people}" if form.before else people)
    if action.until is not None:
        pieces.append(f"until {print_moment(action.until)}")
    if action.after is not None:
        pieces.append(f"for {print_duration(action.after)}")
    if action.within is not None:
        pieces.append(f"within {print_duration(action.within)}")
    if action.saying is not None:
        pieces.append(f"saying {print_text(action.saying)}")
    if action.is_immediate:
        pieces.append("immediately")
    if action.because is not None:
        pieces.append(f"because {print_text(action.because)}")
    return " ".join(pieces)
