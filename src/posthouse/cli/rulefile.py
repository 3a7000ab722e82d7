"""Files of rules as commands read them: text, faults with their place, and the lists of words that stand beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from posthouse.cli.content import standard_input
from posthouse.errors import PosthouseError
from posthouse.matching.language.reader import MAX_TEXT, Problem, UnreadableText
from posthouse.matching.language.rule.parse import parse_rules
from posthouse.matching.language.rule.rule import RuleFile, WordSource
from posthouse.matching.value.wordlist import MAX_WORD, MAX_WORDS, Lists, WordList

MAX_BYTES: Final = 4 * MAX_TEXT
MAX_LIST: Final = 256 << 20
"""Bytes of one file of words."""
STANDARD_INPUT: Final = "-"


class UnreadableFile(PosthouseError):
    """A file of rules or of words that is no text, is too large, or is no file."""

    code: ClassVar[str] = "file.unreadable"
    public: ClassVar[str] = "A file cannot be read."


class FaultyRules(PosthouseError):
    """A file of rules with faults, where a command needs one without; `posthouse rules check` shows them."""

    code: ClassVar[str] = "rules.faulty"
    public: ClassVar[str] = "The rules have faults."


class RuleText(msgspec.Struct, frozen=True):
    """One file of rules, read."""

    name: str
    """As it was named."""
    text: str
    file: RuleFile | None
    """None where it has faults."""
    problems: tuple[Problem, ...] = ()
    lists: Lists = {}
    list_faults: tuple[tuple[WordSource, str], ...] = ()
    """Lists whose file cannot be read, and why."""

    @property
    def is_sound(self) -> bool:
        """Say whether it can be used."""
        return self.file is not None and not self.list_faults

    def beside(self, name: str) -> bytes:
        """Read a file that the rules name, which stands relative to them."""
        return read_limited(_beside(self.name, name), MAX_BYTES)


def read_rules(name: str) -> RuleText:
    """Read a file of rules, `-` for standard input, with the lists it names."""
    text = decode(read_limited(name, MAX_BYTES), name)
    try:
        file = parse_rules(text)
    except UnreadableText as unreadable:
        return RuleText(name, text, None, unreadable.problems)
    lists, faults = _read_lists(name, file.words)
    return RuleText(name, text, file, lists=lists, list_faults=faults)


def read_sound_rules(name: str) -> tuple[RuleText, RuleFile]:
    """Read a file of rules, or raise what is wrong with it."""
    read = read_rules(name)
    if read.file is None:
        first = read.problems[0]
        more = len(read.problems) - 1
        raise FaultyRules(
            f"expected {first.expected}, found {first.found}" + (f"; and {more} more" if more else ""),
            where=f"{name}, line {first.line}",
            column=first.column,
            hint=first.hint or "posthouse rules check shows all faults",
        )
    if read.list_faults:
        source, why = read.list_faults[0]
        raise FaultyRules(why, where=f'{name}, words "{source.name}"')
    return read, read.file


def _read_lists(name: str, sources: Iterable[WordSource]) -> tuple[Lists, tuple[tuple[WordSource, str], ...]]:
    lists: dict[str, WordList] = {}
    faults = []
    for source in sources:
        try:
            words = source.words if source.file is None else read_words(_beside(name, source.file))
        except PosthouseError as fault:
            faults.append((source, str(fault)))
        except OSError as fault:
            faults.append((source, f"{source.file}: {(fault.strerror or str(fault)).lower()}"))
        else:
            lists[source.name] = WordList(words)
    return lists, tuple(faults)


def read_words(path: str) -> tuple[str, ...]:
    """Read a file of words, one to a line; blanks around a word and empty lines do not count."""
    text = decode(read_limited(path, MAX_LIST), path)
    words = []
    for number, line in enumerate(text.split("\n"), 1):
        word = line.strip()
        if len(word) > MAX_WORD:
            raise UnreadableFile(
                f"expected a word of at most {MAX_WORD:,} characters, found {len(word):,}",
                where=f"{path}, line {number}",
                hint="one word stands in each line",
            )
        if word:
            words.append(word)
        if len(words) > MAX_WORDS:
            raise UnreadableFile(f"expected at most {MAX_WORDS:,} words, found more", where=path)
    if not words:
        raise UnreadableFile("expected a word at least, found none", where=path)
    return tuple(words)


def _beside(name: str, other: str) -> str:
    return other if name == STANDARD_INPUT else str(Path(name).parent / other)


def read_limited(name: str, limit: int) -> bytes:
    """Read a whole file, `-` for standard input, that has at most so many bytes."""
    if name == STANDARD_INPUT:
        with standard_input() as stream:
            pieces, size = [], 0
            while size <= limit and (piece := stream.read(1 << 20)):
                pieces.append(piece)
                size += len(piece)
            data = b"".join(pieces)
    else:
        path = Path(name)
        # A pipe or a device has no end that could be waited for.
        if path.exists() and not path.is_file():
            raise UnreadableFile("expected a file, found something else", where=name)
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    if len(data) > limit:
        raise UnreadableFile(f"expected at most {limit:,} bytes, found more", where=shown_name(name))
    return data


def decode(data: bytes, name: str) -> str:
    """Give the text of a file in UTF-8, line ends made one, or say where it is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        column = len(data[data.rfind(b"\n", 0, fault.start) + 1 : fault.start].decode(errors="replace")) + 1
        raise UnreadableFile(
            f"expected text in UTF-8, found the byte {data[fault.start]:#04x}",
            where=f"{shown_name(name)}, line {line}",
            column=column,
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def shown_name(name: str) -> str:
    """Give the name of a file for a person."""
    return "standard input" if name == STANDARD_INPUT else name


# `Any`: the members of a JSON object.
def problem_document(problem: Problem) -> dict[str, Any]:
    """Give a fault as the member of a document."""
    return msgspec.structs.asdict(problem)
