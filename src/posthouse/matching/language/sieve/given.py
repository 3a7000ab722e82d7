"""Checks a script against the forms of its commands and tests: arguments, tags, extensions, order."""

from __future__ import annotations

from typing import Final

import msgspec

from posthouse.matching.language.reader import Reader, Stumble, Token, describe, nearest_word
from posthouse.matching.language.sieve.form import (
    COMMANDS,
    COMPARATORS,
    EXTENSIONS,
    FOREIGN_COMMANDS,
    FOREIGN_TESTS,
    RELATIONS,
    TESTS,
    Form,
    Kind,
)
from posthouse.matching.language.sieve.script import Argument, Command, Given, Quantity, Tag, Test, Texts

_KINDS: Final = {"text": "a text", "texts": "a text or a list of texts", "number": "a number"}
_WORDS_OF_PLACES: Final = {
    "header": ("names of headers", "what they are compared with"),
    "address": ("names of headers", "what the addresses are compared with"),
    "envelope": ("from or to", "what the addresses are compared with"),
    "date": ("the name of a header", "a part of the date, such as hour", "what it is compared with"),
    "currentdate": ("a part of the date, such as hour", "what it is compared with"),
    "set": ("the name of a variable", "its value"),
}
_SYNONYMS: Final = {
    "elseif": "elsif", "elif": "elsif", "otherwise": "else", "move": "fileinto", "forward": "redirect",
    "delete": "discard", "drop": "discard", "bounce": "reject", "and": "allof", "or": "anyof", "all": "allof",
    "any": "anyof", "exit": "stop", "end": "stop", "subject": "header", "from": "address", "to": "address",
    ":equals": ":is", ":equal": ":is", ":contain": ":contains", ":match": ":matches", ":larger": ":over",
    ":smaller": ":under", ":greater": ":over", ":less": ":under", ":local": ":localpart",
}  # fmt: skip


_OPERATORS: Final = {
    "&": "allof (…) joins tests", "|": "anyof (…) joins tests", "!": "not stands before a test",
    ">": "did you mean :over?", "<": "did you mean :under?", "=": "did you mean :is?",
}  # fmt: skip


class Checker:
    """Notes what is wrong with commands and tests, one at a time, and sorts their arguments."""

    def __init__(self, reader: Reader) -> None:
        self._reader: Final = reader
        self.extensions: Final[set[str]] = set()

    def trust(self, name: str) -> None:
        """Take everything for required once a require could not be read: its own fault is told already."""
        if name.lower() == "require":
            self.extensions.update(EXTENSIONS, ("subaddress", "index", "imap4flags", "comparator-i;unicode-casemap"))

    # --- names --------------------------------------------------------------------------------------------------------

    def is_command(self, word: str) -> bool:
        """Say whether this is the name of a command."""
        return word.lower() in COMMANDS or word.lower() in FOREIGN_COMMANDS

    def has_block(self, name: str) -> bool:
        """Say whether a command is followed by a block."""
        return name in COMMANDS and COMMANDS[name].has_block

    def check_behind(self, name: str, arguments: list[Argument]) -> None:
        """Stumble where something stands behind the arguments that cannot stand there."""
        reader, token = self._reader, self._reader.token
        if token.kind == "unended":
            reader.stumble("a line with a single . behind this text", hint="nothing else stands in the line of text:")
        if token.kind == "odd":
            reader.stumble("a whole number, perhaps with K, M or G", hint="such as 100K")
        if token.kind == "operator":
            reader.stumble("a test or a tag", hint=_OPERATORS.get(token.text[0]))
        if token.kind == "bare" or (token.kind == "word" and self._wants_text(name, arguments)):
            reader.stumble("a text in quotes", hint=f'write "{token.text.strip("<>")[:40]}"')
        form = COMMANDS.get(name) or TESTS.get(name)
        word = token.text.lower()
        known = word in COMMANDS or word in FOREIGN_COMMANDS or word in TESTS or word in FOREIGN_TESTS
        if token.kind == "word" and form is not None and form.tests == "none" and not known:
            hint = "allof (…) and anyof (…) join tests" if word in ("and", "or") else None
            hint = "a block, { … }, stands behind a test" if word in ("then", "do") else hint
            hint = "the unit stands at the number, such as 5M" if name == "size" else hint
            reader.stumble(f"nothing more behind {name}", hint=hint)

    def _wants_text(self, name: str, arguments: list[Argument]) -> bool:
        """Say whether a text stands there where a word stands."""
        form = COMMANDS.get(name) or TESTS.get(name)
        if form is None or form.tests != "none":
            return False
        if self.is_command(self._reader.token.text) and self._reader.begins_line():
            return False
        tags = [argument for argument in arguments if isinstance(argument, Tag)]
        taken = sum(1 for tag in tags if tag.name in form.tags and form.tags[tag.name].takes)
        return len(arguments) - len(tags) - taken < len(form.positional)

    def is_command_behind(self, name: str) -> bool:
        """Say whether the next word is a command, so that a sign before it is missing."""
        form = COMMANDS.get(name) or TESTS.get(name)
        word = self._reader.token.text
        if form is not None and form.tests != "none":
            return self.is_command(word) and self._reader.begins_line()
        return self.is_command(word)

    def check_single(self, name: str) -> None:
        """Note that parentheses are missing where tests are joined."""
        form = TESTS.get(name)
        if form is not None and form.tests == "many":
            self._reader.note(f"tests in parentheses behind {name}")

    def check_parentheses(self, name: str) -> None:
        """Note parentheses where one test stands without them."""
        form = COMMANDS.get(name) or TESTS.get(name)
        if form is not None and form.tests == "one":
            self._reader.note(
                f"one test behind {name}", hint="parentheses belong to anyof (…) and allof (…), which join tests"
            )

    def check_command_name(self, token: Token) -> None:
        """Note a word that is no command, and stumble: what it takes is not known."""
        name = token.text.lower()
        if name in COMMANDS or name in FOREIGN_COMMANDS:
            return
        hint = _hint(name, (*COMMANDS, *FOREIGN_COMMANDS))
        if name in TESTS or name in FOREIGN_TESTS:
            hint = f"{name} is a test: if {name} … {{ … }}"
        self._stumble("a command, such as if, fileinto or stop", token, hint)

    def check_test_name(self, token: Token) -> None:
        """Note a word that is no test, and stumble."""
        name = token.text.lower()
        if name in TESTS or name in FOREIGN_TESTS:
            return
        hint = _hint(name, (*TESTS, *FOREIGN_TESTS))
        if self.is_command(name):
            hint = f"{name} is a command and stands in a block, {{ … }}"
        self._stumble("a test, such as header, address or size", token, hint)

    def _stumble(self, expected: str, token: Token, hint: str | None) -> None:
        self._reader.note(expected, found=describe(token), at=token.start, hint=hint, length=len(token.text))
        raise Stumble

    # --- arguments ----------------------------------------------------------------------------------------------------

    def check_command(self, command: Command, length: int) -> Command:
        """Give a command with its arguments sorted; what is wrong with them is noted."""
        form = COMMANDS.get(command.name)
        if form is None:
            return command
        given = self._given(command, form, length)
        if command.name == "require":
            self.extensions.update(name.lower() for name in given.texts(0)) if given.positional else None
        if form.has_block and command.block is None:
            self._reader.note("{ and a block", found=";", at=command.at, length=length)
        elif not form.has_block and command.block is not None:
            self._reader.note(";", found="a block", at=command.at, length=length, hint=f"{command.name} has no block")
        return msgspec.structs.replace(command, given=given)

    def check_test(self, test: Test, length: int) -> Test:
        """Give a test with its arguments sorted; what is wrong with them is noted."""
        form = TESTS.get(test.name)
        return test if form is None else msgspec.structs.replace(test, given=self._given(test, form, length))

    def _given(self, call: Command | Test, form: Form, length: int) -> Given:
        note = self._reader.note
        if form.needs and form.needs not in self.extensions:
            note(f'require "{form.needs}" at the beginning', found="none", at=call.at, length=length)
        tags, positional = self._sort(call, form)
        if len(positional) != len(form.positional):
            self._note_count(call, form, positional, length)
        for wanted, argument in zip(form.positional, positional, strict=False):
            self._check_kind(argument, wanted)
        if form.must and not any(tag in tags for tag in form.must):
            note(" or ".join(form.must), found="none", at=call.at, length=length)
        expected = {"none": 0, "one": 1}.get(form.tests)
        if expected is not None and len(call.tests) != expected:
            found = f"{len(call.tests)}" if call.tests else "none"
            hint = "anyof (…) and allof (…) join several tests" if len(call.tests) > 1 else None
            hint = hint if expected else "tests in parentheses are divided by commas"
            note(
                "one test" if expected else f"no test behind {call.name}",
                found=found,
                at=call.tests[0].at if call.tests else call.at,
                length=length,
                hint=hint,
            )
        elif expected is None and not call.tests:
            note(f"tests in parentheses behind {call.name}", found="none", at=call.at, length=length)
        self._check_match(tags)
        return Given(tags, tuple(positional))

    def _note_count(self, call: Command | Test, form: Form, found: list[Argument], length: int) -> None:
        if len(found) > len(form.positional):
            extra = found[len(form.positional)]
            hint = (
                'several texts stand in brackets: ["…", "…"]' if isinstance(extra, Texts) and form.positional else None
            )
            self._reader.note(f"nothing more behind {call.name}", found="another argument", at=extra.at, hint=hint)
            return
        names = _WORDS_OF_PLACES.get(call.name, ())
        place = len(found)
        what = names[place] if place < len(names) else _KINDS[form.positional[place]]
        self._reader.note(f"{what} behind {call.name}", found="none", at=call.at, length=length)

    def _sort(self, call: Command | Test, form: Form) -> tuple[dict[str, Argument | None], list[Argument]]:
        tags: dict[str, Argument | None] = {}
        groups: dict[str, str] = {}
        positional: list[Argument] = []
        waiting = list(reversed(call.arguments))
        while waiting:
            argument = waiting.pop()
            if not isinstance(argument, Tag):
                positional.append(argument)
                continue
            tag = form.tags.get(argument.name)
            if tag is None:
                at_hand = [name for name, one in form.tags.items() if not one.needs or one.needs in self.extensions]
                known = ", ".join(at_hand) or "no tag"
                hint = _hint(argument.name, tuple(form.tags))
                self._note_tag(argument, f"{known} behind {call.name}", hint)
                continue
            if tag.needs and tag.needs not in self.extensions:
                self._note_tag(argument, f'require "{tag.needs}" at the beginning', None, found="none")
            earlier = groups.setdefault(tag.group or argument.name, argument.name)
            if earlier != argument.name:
                self._note_tag(argument, f"one of {earlier} and {argument.name}", None, found="both")
            elif argument.name in tags:
                self._note_tag(argument, f"{argument.name} once", None, found="it twice")
            taken: Argument | None = None
            if tag.takes:
                if not waiting or isinstance(waiting[-1], Tag):
                    self._note_tag(argument, f"{_KINDS[tag.takes]} behind {argument.name}", None, found="none")
                else:
                    taken = waiting.pop()
                    self._check_kind(taken, tag.takes)
            tags[argument.name] = taken
        return tags, positional

    def _note_tag(self, tag: Tag, expected: str, hint: str | None, found: str | None = None) -> None:
        self._reader.note(expected, found=found or f'"{tag.name[:40]}"', at=tag.at, hint=hint, length=len(tag.name))

    def _check_kind(self, argument: Argument, wanted: Kind) -> None:
        if isinstance(argument, Quantity):
            if wanted != "number":
                self._reader.note(_KINDS[wanted], found="a number", at=argument.at)
        elif isinstance(argument, Texts):
            if wanted == "number":
                self._reader.note("a number", found="a text", at=argument.at, hint="without quotes, such as 100K")
            elif wanted == "text" and argument.is_list:
                self._reader.note("a single text", found="a list", at=argument.at)

    def _check_match(self, tags: dict[str, Argument | None]) -> None:
        for tag in (":count", ":value"):
            relation = tags.get(tag)
            if isinstance(relation, Texts) and relation.values[0].lower() not in RELATIONS:
                hint = _hint(relation.values[0], RELATIONS)
                self._reader.note(" or ".join(map('"{}"'.format, RELATIONS)), found=f'"{relation.values[0][:40]}"',
                                  at=relation.at, hint=hint)  # fmt: skip
        comparator = tags.get(":comparator")
        if isinstance(comparator, Texts):
            name = comparator.values[0]
            if name not in COMPARATORS:
                self._reader.note(" or ".join(COMPARATORS), found=f'"{name[:40]}"', at=comparator.at,
                                  hint=nearest_word(name, COMPARATORS))  # fmt: skip
            elif name not in COMPARATORS[:2] and f"comparator-{name}" not in self.extensions:
                self._reader.note(f'require "comparator-{name}" at the beginning', found="none", at=comparator.at)

    # --- order --------------------------------------------------------------------------------------------------------

    def check_order(self, commands: tuple[Command, ...], *, is_top: bool) -> None:
        """Note an elsif or else without its if, and a require that does not stand at the beginning."""
        before = "require"
        for command in commands:
            length = len(command.name)
            if command.name in ("elsif", "else") and before not in ("if", "elsif", ""):
                hint = "else ends the branches" if before == "else" else None
                self._reader.note(f"if before {command.name}", found=before if before != "require" else "none",
                                  at=command.at, hint=hint, length=length)  # fmt: skip
            if command.name == "require" and (before not in ("require", "") or not is_top):
                self._reader.note("require before all other commands", found="it later", at=command.at, length=length)
            before = command.name


def _hint(word: str, known: tuple[str, ...]) -> str | None:
    meant = _SYNONYMS.get(word.lower())
    return f"did you mean {meant}?" if meant in known else nearest_word(word, known)
