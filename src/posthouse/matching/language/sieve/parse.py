"""Reads a Sieve script by the grammar of RFC 5228 and the forms of its commands; all its faults are told at once."""

from __future__ import annotations

import contextlib
import re
from typing import Final

from posthouse.matching.language.reader import END, Lexicon, Reader, Stumble, Token, nearest_word
from posthouse.matching.language.sieve.given import Checker
from posthouse.matching.language.sieve.script import Argument, Command, Quantity, Script, Tag, Test, Texts

LEXICON: Final = Lexicon(
    (
        ("multiline", r"[Tt][Ee][Xx][Tt]:[ \t]*(?:\#[^\n]*)?\n(?:(?!\.\n|\.\Z)[^\n]*\n)*\.(?:\n|\Z)"),
        ("unended", r"[Tt][Ee][Xx][Tt]:"),
        ("remark", r"/\*[\s\S]*|//[^\n]*|--[^\n]*"),
        ("text", r'"(?:[^"\\]|\\[\s\S])*"'),
        ("tag", r":[A-Za-z_]\w*"),
        ("number", r"\d+[KMGkmg]?(?!\w)"),
        # Addresses and folders that lack their quotes: one fault each, and not one for every sign.
        ("bare", r"<?[\w.+/-]*@[\w.+/@-]*>?|[A-Za-z_]\w*(?:[./-][\w./-]*)+"),
        ("odd", r"-?\d[\w.]*"),
        ("operator", r"&&?|\|\|?|!=?|[<>=]=?"),
        ("word", r"[A-Za-z_]\w*"),
        ("sign", r"[(){}\[\],;]"),
    ),
    comment=r"\#[^\n]*|/\*[\s\S]*?\*/",
)
MAX_DEPTH: Final = 50
"""Blocks and tests inside each other; RFC 5228 asks for 15."""
MAX_COMMANDS: Final = 100_000
MAX_NUMBER: Final = 2**63 - 1
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_TITLE: Final = re.compile(r"rule:\s*\[(.+?)\]|Rulename:\s*([^|]+)", re.IGNORECASE)
_MAX_TITLE: Final = 100
_UNREAD: Final = Command("", 0)
"""Stands where a command could not be read, so that what follows is not told to lack it."""


def parse_sieve(text: str) -> tuple[Script, Reader]:
    """Read a script, or raise UnreadableText with all its faults; the reader knows the places in the text."""
    reader = Reader(text, LEXICON)
    checker = Checker(reader)
    parsed = _ScriptReader(reader, checker).read()
    script = Script(parsed, frozenset(checker.extensions))
    reader.finish()
    return script, reader


class _ScriptReader:
    """Walks through a script; a command that cannot be read is skipped, and reading goes on behind it."""

    def __init__(self, reader: Reader, checker: Checker) -> None:
        self._reader: Final = reader
        self._checker: Final = checker
        self._depth = 0
        self._count = 0

    def read(self) -> tuple[Command, ...]:
        commands: list[Command] = []
        while self._reader.token.kind != END:
            commands += self._read_block_content()
            if self._reader.token.text == "}":
                self._reader.note("a command", hint="no block is open here")
                self._reader.take()
        self._checker.check_order(tuple(commands), is_top=True)
        return tuple(commands)

    def _read_block_content(self) -> list[Command]:
        reader = self._reader
        commands: list[Command] = []
        while reader.token.kind != END and reader.token.text != "}":
            self._count += 1
            if self._count > MAX_COMMANDS:
                reader.note(f"at most {MAX_COMMANDS:,} commands", found="more")
                reader.give_up()
            begin = reader.token
            try:
                commands.append(self._read_command())
            except Stumble:
                commands.append(_UNREAD)
                self._checker.trust(begin.text)
                if reader.before.kind != "remark":
                    self._skip()
        return commands

    def _skip(self) -> None:
        """Go on behind the command that could not be read, and look into its block if it has one."""
        reader = self._reader
        while reader.token.kind != END:
            sign = reader.token.text if reader.token.kind == "sign" else ""
            if sign == "}":
                return
            reader.take()
            if sign in (";", "{"):
                if sign == "{":
                    # That its end is missing has been noted then.
                    with contextlib.suppress(Stumble):
                        self._block_content()
                return

    # --- commands -----------------------------------------------------------------------------------------------------

    def _read_command(self) -> Command:
        reader = self._reader
        token = reader.token
        if token.kind != "word":
            hint = "a command ends with one ;" if token.text == ";" else None
            if token.kind == "remark":
                self._pass_remark()
            hint = "text stands behind a command, such as fileinto" if token.kind == "text" else hint
            reader.stumble("a command", hint=hint)
        title = _title_of(token)
        reader.take()
        name = token.text.lower()
        self._checker.check_command_name(token)
        arguments, tests = self._read_arguments(name)
        block = None
        if reader.token.text == "{" and reader.token.kind == "sign":
            reader.take()
            block = self._block_content()
        elif reader.token.text == ";" and reader.token.kind == "sign":
            reader.take()
        elif self._checker.has_block(name):
            hint = "a test without parentheses is one test: anyof (…) and allof (…) join several"
            hint = "did you mean elsif?" if reader.token.text.lower() == "if" else hint
            reader.stumble("{ and a block", hint=hint if reader.token.text.lower() in (",", "if") else None)
        else:
            self._expect_end(name)
        command = Command(name, token.start, arguments, tests, block, title=title)
        return self._checker.check_command(command, len(token.text))

    def _pass_remark(self) -> None:
        """Note what is no comment, and go on behind it."""
        reader = self._reader
        if reader.token.text.startswith("/*"):
            reader.note("*/ behind this comment", found="the end of the text", at=reader.token.start, length=2)
        else:
            reader.note("a command", hint="a comment begins with #")
        reader.take()
        raise Stumble

    def _expect_end(self, name: str) -> None:
        reader = self._reader
        hint = f"{name} ends with ;"
        if reader.token.kind == "word" or reader.token.text == "}" or reader.token.kind == END:
            # Only the sign is missing, and what follows can be read.
            end = reader.before.end
            reader.note(";", at=end - 1 if end else 0, hint=hint)
            return
        reader.stumble("; or an argument", hint=hint)

    def _block_content(self) -> tuple[Command, ...]:
        reader = self._reader
        opened = reader.before
        self._enter()
        commands = self._read_block_content()
        self._depth -= 1
        if reader.token.kind == END:
            reader.note("} for this block", found="the end of the text", at=opened.start)
            raise Stumble
        reader.take()
        self._checker.check_order(tuple(commands), is_top=False)
        return tuple(commands)

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._reader.note(f"at most {MAX_DEPTH} blocks and tests inside each other")
            self._reader.give_up()

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _read_arguments(self, name: str) -> tuple[tuple[Argument, ...], tuple[Test, ...]]:
        reader = self._reader
        arguments: list[Argument] = []
        while True:
            token = reader.token
            if token.kind in ("text", "multiline"):
                arguments.append(Texts((self._text(reader.take()),), token.start))
            elif token.kind == "number":
                arguments.append(self._number(reader.take()))
            elif token.kind == "tag":
                reader.take()
                arguments.append(Tag(token.text.lower(), token.start))
            elif token.text == "[" and token.kind == "sign":
                arguments.append(self._list())
            else:
                break
        self._checker.check_behind(name, arguments)
        if reader.token.kind == "word" and not self._checker.is_command_behind(name):
            self._checker.check_single(name)
            return tuple(arguments), (self._read_test(),)
        if reader.token.text == "(" and reader.token.kind == "sign":
            self._checker.check_parentheses(name)
            return tuple(arguments), self._test_list()
        return tuple(arguments), ()

    def _list(self) -> Texts:
        reader = self._reader
        start = reader.take()
        values: list[str] = []
        while True:
            if reader.token.kind not in ("text", "multiline"):
                hint = 'text stands in quotes: "…"'
                if reader.token.text == "]":
                    hint = "no comma stands behind the last text" if values else "a list is not empty"
                reader.stumble("a text in quotes", hint=hint)
            values.append(self._text(reader.take()))
            if reader.token.text == "," and reader.token.kind == "sign":
                reader.take()
            elif reader.token.text == "]" and reader.token.kind == "sign":
                reader.take()
                return Texts(tuple(values), start.start, is_list=True)
            else:
                reader.stumble(", or ]")

    def _text(self, token: Token) -> str:
        if token.kind == "multiline":
            lines = token.text.split("\n")[1:]
            while lines and lines[-1] in ("", "."):
                if lines.pop() == ".":
                    break
            return "".join(f"{line[1:] if line.startswith('..') else line}\n" for line in lines)
        return re.sub(r"\\([\s\S])", r"\1", token.text[1:-1])

    def _number(self, token: Token) -> Quantity:
        digits = token.text.rstrip("KMGkmg")
        unit = _UNITS.get(token.text[-1].lower(), 1)
        if len(digits) > 19 or int(digits) * unit > MAX_NUMBER:
            self._reader.note("a number below 2^63", found="a larger one", at=token.start, length=len(token.text))
            return Quantity(0, token.start)
        return Quantity(int(digits) * unit, token.start)

    # --- tests --------------------------------------------------------------------------------------------------------

    def _read_test(self) -> Test:
        reader = self._reader
        token = reader.token
        if token.kind != "word":
            hint = 'a list of texts stands in brackets: ["…", "…"]' if token.kind == "text" else None
            reader.stumble("a test, such as header", hint=hint)
        reader.take()
        self._checker.check_test_name(token)
        self._enter()
        arguments, tests = self._read_arguments(token.text.lower())
        self._depth -= 1
        return self._checker.check_test(Test(token.text.lower(), token.start, arguments, tests), len(token.text))

    def _test_list(self) -> tuple[Test, ...]:
        reader = self._reader
        reader.take()
        tests: list[Test] = []
        while True:
            tests.append(self._read_test())
            if reader.token.text == "," and reader.token.kind == "sign":
                reader.take()
            elif reader.token.text == ")" and reader.token.kind == "sign":
                reader.take()
                return tuple(tests)
            else:
                word = reader.token.text
                hint = nearest_word(word, ()) or (
                    "tests in a list are divided by commas" if reader.token.kind == "word" else None
                )
                reader.stumble(", or )", hint=hint)


def _title_of(token: Token) -> str | None:
    """Give the name that the comment before a command gives it: as mail programs write it, or the last line alone."""
    for comment in reversed(token.comments):
        found = _TITLE.search(comment.text)
        if found:
            return (found[1] or found[2]).strip()[:_MAX_TITLE]
    if not token.comments or token.comments[-1].is_trailing:
        return None
    text = token.comments[-1].text.removeprefix("/*").removesuffix("*/").strip()
    return text if text and "\n" not in text and len(text) <= _MAX_TITLE else None
