"""The workload of policy rules: mails as records, words of a corpus by their frequency, rules of the fixed mix.

Words and mails come from an archive of mails that CORPUS names (a tar file, as the SpamAssassin corpus is given out),
else from generated text whose words are as unequally frequent as those of a language.
"""

from __future__ import annotations

import os
import random
import re
import tarfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final, Literal, NamedTuple

from posthouse.matching.predicate.node import (
    And,
    Compare,
    InList,
    Number,
    Part,
    Predicate,
    Quantified,
    Search,
    Texts,
    Under,
)
from posthouse.matching.value.record import Context, Recipient, Record
from posthouse.message.features import Address, Attachment, MailFeatures, features_of_mail

VERSION: Final = 1
Mix = Literal["rare", "frequent"]
_WORD: Final = re.compile(r"[^\W\d_]{3,20}")
_ONSETS: Final = "b c d f g h k l m n p r s t v w st tr pl gr"
_SYLLABLES: Final = [onset + vowel for onset in _ONSETS.split() for vowel in ("a", "e", "i", "o", "u", "ea")]
_ROLES: Final = tuple(f"Role {number}" for number in range(200))


class House:
    """A company of 5,000 in which every role reports to the one with half its number."""

    def roles_of(self, address: str) -> tuple[str, ...]:
        """Give one role to each address here."""
        return (_ROLES[sum(address.encode()) % 200],) if address.endswith(".example") else ()

    def above(self, role: str) -> tuple[str, ...]:
        """Give the way up."""
        number, way = int(role[5:]), [role]
        while number > 0:
            number //= 2
            way.append(_ROLES[number])
        return tuple(way)

    def levels_between(self, lower: str, upper: str) -> int | None:
        """Say nothing."""
        return None if lower == upper else 1

    def location_of(self, address: str) -> str | None:
        """Say nothing."""
        return address or None

    def is_external(self, address: str) -> bool:
        """Say who is of this company."""
        return not address.endswith(".example")


class Corpus(NamedTuple):
    """Mails, and their words from the commonest to the rarest."""

    source: str
    records: tuple[Record, ...]
    texts: tuple[tuple[str, ...], ...]
    """The words of each mail, in order."""
    ranked: tuple[str, ...]
    domains: tuple[str, ...]


def read_corpus(seed: int, count: int) -> Corpus:
    """Give the mails of the archive of CORPUS, or of the archive beside the project, or generated ones."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "spamassassin.tar.xz"
    archive = Path(os.environ.get("CORPUS") or beside)
    if archive.is_file():
        mails = [features_of_mail(mail) for mail in _mails_in(archive, count)]
        source = archive.name
    else:
        mails = _generate(random.Random(f"posthouse mail {VERSION} {seed}"), count)
        source = "generated text"
    context = Context(
        now=1_767_225_600_000_000,
        organisation=House(),
        office_statistics={"queue_length": 40, "gated.1h": 3, "load": 0.5},
    )
    records = tuple(_record(mail, context) for mail in mails)
    texts = tuple(tuple(_WORD.findall((mail.text or "").lower())) for mail in mails)
    counts = Counter(word for text in texts for word in text)
    domains = Counter(address.address.rpartition("@")[2] for mail in mails for address in (*mail.sender, *mail.to))
    ranked = tuple(word for word, _ in counts.most_common())
    return Corpus(source, records, tuple(text for text in texts if len(text) > 3), ranked, tuple(domains))


def draw_rules(corpus: Corpus, count: int, *, mix: Mix, seed: int) -> tuple[Predicate, ...]:
    """Give rules of the fixed mix, their words rare or as frequent as they are."""
    return tuple(_Rules(corpus, mix, random.Random(f"posthouse rules {VERSION} {seed} {mix} {count}")).draw(count))


class _Rules:
    def __init__(self, corpus: Corpus, mix: Mix, chance: random.Random) -> None:
        self._corpus = corpus
        self._mix = mix
        self._chance = chance

    def draw(self, count: int) -> list[Predicate]:
        makers = (self._phrase, self._pattern, self._domains, self._size, self._role, self._figure)
        return [self._chance.choices(makers, (40, 20, 15, 10, 10, 5))[0]() for _ in range(count)]

    def _words(self, count: int) -> list[str]:
        """Give words that stand beside each other somewhere, or rare ones."""
        if self._mix == "frequent":
            text = self._chance.choice(self._corpus.texts)
            start = self._chance.randrange(len(text) - count + 1)
            return list(text[start : start + count])
        # Ranks 2,000 to 50,000, or as far as there are words.
        rare = self._corpus.ranked[min(2_000, len(self._corpus.ranked) // 2) : 50_000]
        return self._chance.choices(rare, k=count)

    def _text(self, sign: Literal["contains", "word"] = "word", count: int = 1) -> Search:
        return Search(sign, Part("message.text"), Texts((" ".join(self._words(count)),)))

    def _phrase(self) -> Predicate:
        part = self._chance.choice(
            (Part("subject"), Part("subject"), Part("header", "x-mailer"), Part("header", "list-id"))
        )
        head = [Search("word", part, Texts((word,))) for word in self._words(self._chance.randint(1, 2))]
        return And((*head, self._text("contains", self._chance.randint(2, 3))))

    def _pattern(self) -> Predicate:
        words = [word for _ in range(self._chance.randint(3, 8)) for word in self._words(1)]
        if self._chance.random() < 0.5:
            pattern = rf"\b{words[0]}\b.{{0,{self._chance.randint(5, 30)}}}\b{words[1]}\b"
        else:
            pattern = f"{words[0]} ({'|'.join(words[1:])}) [a-z]{{2,{self._chance.randint(4, 12)}}}"
        return Search("matches", Part("message.text"), Texts((pattern,)))

    def _domains(self) -> Predicate:
        names = [f"{word}.example" for word in self._words(1) for _ in range(1)]
        many = self._chance.randint(5, 500)
        names += [f"{self._chance.choice(_SYLLABLES)}{self._chance.randrange(10**6)}.example" for _ in range(many - 2)]
        if self._mix == "frequent" or self._chance.random() < 0.02:
            names.append(self._chance.choice(self._corpus.domains))
        if self._chance.random() < 0.5:
            return InList(Part("sender.domain"), Texts(tuple(names)))
        return Quantified("recipient", "any", InList(Part("recipient.domain"), Texts(tuple(names))))

    def _size(self) -> Predicate:
        if self._chance.random() < 0.5:
            return And(
                (Compare(">", Part("message.size"), Number(self._chance.choice((10, 50, 500)) * 1_000)), self._text())
            )
        return And((Compare(">=", Part("attachment.count"), Number(self._chance.randint(1, 4))), self._text()))

    def _role(self) -> Predicate:
        names = Texts((self._chance.choice(_ROLES),))
        return And((Under(Part("sender.role"), names), self._text()))

    def _figure(self) -> Predicate:
        name = self._chance.choice(("queue_length", "gated.1h", "load"))
        return Compare(">", Part("office.stat", name), Number(self._chance.randint(100, 10_000)))


# --- mails ------------------------------------------------------------------------------------------------------------


def _record(mail: MailFeatures, context: Context) -> Record:
    return Record(
        kind="mail",
        size=len(mail.text or "") + 2_000 + sum(attachment.size or 0 for attachment in mail.attachments or ()),
        content_type="message/rfc822",
        sender=mail.sender[0].address if mail.sender else None,
        recipients=tuple(Recipient(address.address) for address in mail.to),
        mail=mail,
        context=context,
    )


def _generate(chance: random.Random, count: int) -> list[MailFeatures]:
    words = list(dict.fromkeys("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(80_000)))
    # Zipf: the word of rank n is as frequent as one part in n.
    shares = list(accumulate(1 / (rank + 2) for rank in range(len(words))))

    def text(length: int) -> str:
        return " ".join(words[bisect_left(shares, chance.random() * shares[-1])] for _ in range(length))

    def address() -> Address:
        return Address(text(2).title(), f"{text(1)}@{text(1)}.example")

    mails = []
    for _ in range(count):
        attachments = tuple(
            Attachment(f"{text(1)}.pdf", "application/pdf", chance.randint(1_000, 900_000))
            for _ in range(chance.choice((0, 0, 0, 1, 2)))
        )
        mails.append(
            MailFeatures(
                headers=tuple((name, text(4)) for name in _HEADERS),
                sender=(address(),),
                to=tuple(address() for _ in range(chance.choice((1, 1, 2)))),
                subject=text(6),
                text=text(int(chance.lognormvariate(5.4, 0.7))),
                attachments=attachments,
            )
        )
    return mails


_HEADERS: Final = (
    "received",
    "received",
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "x-mailer",
    "list-id",
)


def _mails_in(archive: Path, count: int) -> Iterator[bytes]:
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() and member.size < 200_000 else None
            if file is not None and count > 0:
                # A line of an mbox is no header.
                yield re.sub(rb"\AFrom .*\n", b"", file.read())
                count -= 1
