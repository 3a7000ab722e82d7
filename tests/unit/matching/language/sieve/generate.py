"""Scripts and mails by chance, of few words, so that they meet."""

from __future__ import annotations

import random

REQUIRE = (
    "fileinto", "envelope", "body", "relational", "regex", "date", "variables", "copy", "comparator-i;ascii-numeric",
)  # fmt: skip
_HEADERS = ("Subject", "X-Level", "X-Tag", "List-Id")
_WORDS = ("alpha", "Alpha", "beta", "ALPHABET", "7", "10", "007", "10x", "", "a", "ber", "be*a", "grün", "*", "a b")
_WILDCARDS = ("*", "?lpha", "alpha*", "*bet*", "a?pha", "\\\\*", "*\\\\**", "", "1?", "gr*n", "be\\\\*a")
_EXPRESSIONS = (
    "^alpha",
    "bet(a)?$",
    "[[:digit:]]+",
    "^[^a-z]*$",
    "a.*b",
    "(al|be)[a-z]{2,}",
    "x$",
    "[.*]a$",
    "^$",
    "lph+a",
)
_ADDRESSES = ("ann@alpha.example", "Bob@beta.example", "cat@ALPHA.example", "dan@gamma.example")
_ENDS = ("ann", "bob", "alpha.example", "Beta.Example", "cat", "example", *_ADDRESSES)
_FOLDERS = ("one", "two", "three", "four")


class Chance:
    """Draws scripts and mails; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._count = 0

    # --- mails --------------------------------------------------------------------------------------------------------

    def mail(self) -> bytes:
        draw = self.random
        lines = [f"From: {self._named(draw.choice(_ADDRESSES))}", f"To: {self._several()}"]
        if draw.random() < 0.5:
            lines.append(f"Cc: {self._several()}")
        if draw.random() < 0.7:
            day, hour = draw.randrange(1, 29), draw.randrange(24)
            lines.append(f"Date: {day} Jan {draw.choice((2025, 2026))} {hour:02d}:{draw.randrange(60):02d}:00 +0000")
        for name in _HEADERS:
            lines += [f"{name}: {self._value()}" for _ in range(draw.choice((0, 1, 1, 2)))]
        body = "\r\n".join(" ".join(draw.choices(_WORDS, k=draw.randrange(1, 4))) for _ in range(draw.randrange(4)))
        lines += ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
        return ("\r\n".join(lines) + "\r\n\r\n" + body + "\r\n" * draw.randrange(2)).encode()

    def _value(self) -> str:
        value = self.random.choice(_WORDS)
        return value if value.isascii() else "=?utf-8?q?gr=C3=BCn?="

    def _named(self, address: str) -> str:
        return self.random.choice((address, f"Some Name <{address}>", f'"Name, Quoted" <{address}>', f"<{address}>"))

    def _several(self) -> str:
        return ", ".join(
            self._named(address) for address in self.random.sample(_ADDRESSES, self.random.randrange(1, 3))
        )

    def envelope(self) -> tuple[str, str]:
        return self.random.choice(_ADDRESSES), self.random.choice(_ADDRESSES)

    # --- scripts ------------------------------------------------------------------------------------------------------

    def script(self) -> str:
        required = ", ".join(f'"{name}"' for name in REQUIRE)
        return f"require [{required}];\n" + self._block(2, self.random.randrange(2, 6))

    def _block(self, depth: int, count: int) -> str:
        return "\n".join(self._command(depth) for _ in range(count))

    def _command(self, depth: int) -> str:
        draw = self.random.random()
        if depth and draw < 0.6:
            text = f"if {self._test(2)} {{\n{self._block(depth - 1, self.random.randrange(1, 3))}\n}}"
            while self.random.random() < 0.3:
                text += f" elsif {self._test(2)} {{\n{self._block(depth - 1, 1)}\n}}"
            return text + (f" else {{\n{self._block(depth - 1, 1)}\n}}" if self.random.random() < 0.3 else "")
        if draw < 0.9:
            self._count += 1
            return f'fileinto "f{self._count}";'
        if draw < 0.93:
            self._count += 1
            return f'redirect "r{self._count}@example.com";'
        if draw < 0.96:
            return f'set "v" "{self.random.choice("xyz")}"; fileinto "v${{v}}";'
        return self.random.choice(("stop;", "discard;"))

    def _test(self, depth: int) -> str:
        draw = self.random.random()
        if depth and draw < 0.25:
            tests = ", ".join(self._test(depth - 1) for _ in range(self.random.randrange(1, 4)))
            return f"{self.random.choice(('anyof', 'allof'))} ({tests})"
        if depth and draw < 0.4:
            return f"not {self._test(depth - 1)}"
        return self.random.choice(
            (self._header, self._header, self._header, self._address, self._address, self._envelope, self._exists,
             self._size, self._body, self._date, self._counted, self._numeric, self._valued)
        )()  # fmt: skip

    def _how(self) -> tuple[str, tuple[str, ...]]:
        comparator = self.random.choice(("", "", ':comparator "i;octet" ', ':comparator "i;ascii-casemap" '))
        match, words = self.random.choice(
            (
                ("", _WORDS),
                (":is ", _WORDS),
                (":contains ", _WORDS),
                (":matches ", _WILDCARDS),
                (":regex ", _EXPRESSIONS),
            )
        )
        return f"{comparator}{match}", words

    def _listed(self, words: tuple[str, ...]) -> str:
        chosen = [f'"{word}"' for word in self.random.sample(words, min(len(words), self.random.choice((1, 1, 2, 3))))]
        return chosen[0] if len(chosen) == 1 else f"[{', '.join(chosen)}]"

    def _header(self) -> str:
        how, words = self._how()
        return f"header {how}{self._listed((*_HEADERS, 'subject', 'x-none'))} {self._listed(words)}"

    def _address(self) -> str:
        how, words = self._how()
        words = words if ":matches" in how or ":regex" in how else _ENDS
        part = self.random.choice(("", ":all ", ":localpart ", ":domain "))
        return f"address {part}{how}{self._listed(('From', 'to', 'Cc', 'Reply-To'))} {self._listed(words)}"

    def _envelope(self) -> str:
        how, words = self._how()
        if ":regex" in how:
            how = ":contains "
        words = words if ":matches" in how else _ENDS
        part = self.random.choice(("", ":all ", ":localpart ", ":domain "))
        return f"envelope {part}{how}{self._listed(('from', 'to'))} {self._listed(words)}"

    def _exists(self) -> str:
        return f"exists {self._listed((*_HEADERS, 'Cc', 'Date'))}"

    def _size(self) -> str:
        return f"size {self.random.choice((':over', ':under'))} {self.random.choice(('100', '250', '300', '1K', '0'))}"

    def _body(self) -> str:
        word = self.random.choice([word for word in _WORDS if word])
        return self.random.choice((f'body :contains "{word}"', f'body :text :contains ["{word}", "zeta"]',
                                   f'body :matches "*{word.replace("*", "")}*"'))  # fmt: skip

    def _date(self) -> str:
        relation = self.random.choice(("gt", "ge", "lt", "le", "eq", "ne"))
        part, key = self.random.choice(
            (("date", "2026-01-10"), ("year", "2026"), ("hour", "09"), ("hour", "17"), ("weekday", "3"),
             ("weekday", "0"), ("time", "12:30:00"), ("date", "2025-01-20"))
        )  # fmt: skip
        how = f':value "{relation}"' if self.random.random() < 0.8 else ":is"
        if self.random.random() < 0.1:
            return 'currentdate :value "ge" "date" "2020-01-01"'
        return f'date {how} "date" "{part}" "{key}"'

    def _counted(self) -> str:
        relation = self.random.choice(("gt", "ge", "lt", "le", "eq", "ne"))
        what = self.random.choice((f"header {self._count_how(relation)} {self._listed(_HEADERS)}",
                                   f"address {self._count_how(relation)} {self._listed(('To', 'Cc'))}"))  # fmt: skip
        return f'{what} "{self.random.randrange(4)}"'

    def _count_how(self, relation: str) -> str:
        return f':count "{relation}" :comparator "i;ascii-numeric"'

    def _numeric(self) -> str:
        relation = self.random.choice(("gt", "ge", "lt", "le", "eq", "ne"))
        key = self.random.choice(("7", "10", "0", "9", "123", "x"))
        return f'header :value "{relation}" :comparator "i;ascii-numeric" {self._listed(_HEADERS)} "{key}"'

    def _valued(self) -> str:
        return f'header :value "{self.random.choice(("eq", "ne"))}" {self._listed(_HEADERS)} {self._listed(_WORDS)}'
