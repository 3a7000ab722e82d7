"""Every mail of the corpora is read, and read as `email` reads it, but for what DIFFERENCES explains."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec
import pytest

from posthouse.message import features
from posthouse.message.features import MailFeatures, features_of_mail
from posthouse.message.form.mail.part import read_structure
from tests.scenario.mail.corpus import Said, even, paths, read_with_email

COUNTED_WITH: Final = (3, 11)
"""The counts are those of this Python; another one may differ from itself."""

CONTROLS: Final = re.compile("[\x80-\x9f]")


class Case(NamedTuple):
    """One field that two readers read differently."""

    field: str
    ours: object
    theirs: object
    raw: bytes

    def header(self) -> str:
        """Give the raw lines of the field."""
        names = {"sender": "from", "reply_to": "reply-to"}
        name = names.get(self.field, self.field).encode()
        found = re.findall(rb"(?im)^%s[ \t]*:.*(?:\r?\n[ \t].*)*" % name, self.raw)
        return b"\n".join(found).decode("latin-1")


class Difference(NamedTuple):
    """A kind of difference: who is right and why, and how often it is met."""

    fields: frozenset[str]
    right: str
    reason: str
    applies: Callable[[Case], bool]
    times: int


PEOPLE: Final = frozenset({"sender", "to", "cc", "reply_to"})
HEADING: Final = PEOPLE | {"subject"}


DIFFERENCES: Final = {
    "raw bytes in a header": Difference(
        HEADING,
        "ours",
        "a header of raw bytes is read as UTF-8, as the charset of the mail or as Western European; `email` "
        "gives U+FFFD",
        lambda case: not case.header().isascii(),
        50,
    ),
    "a comment for a name": Difference(
        PEOPLE,
        "ours",
        "`someone@one.example (Some One)` was the usual form before RFC 822 and still is written; mail "
        "programs show it",
        lambda case: "(" in case.header() and "()" not in case.header() and _same_addresses(case),
        335,
    ),
    "an encoded word beside other letters": Difference(
        HEADING,
        "ours",
        "an encoded word stands alone by the standard; programs write it inside words and quotes, and mail "
        "programs decode it",
        lambda case: "=?" in case.header(),
        10,
    ),
    "a charset that is wider than its name": Difference(
        frozenset({"subject", "text"}),
        "ours",
        "windows-1252 is called iso-8859-1 (WHATWG Encoding does the same); its quotes and dashes are no "
        "control characters",
        # One of the controls is a blank to Python, and evened out.
        lambda case: CONTROLS.search(str(case.theirs)) is not None or "…" in str(case.ours),
        39,
    ),
    "text without a charset": Difference(
        frozenset({"text"}),
        "ours",
        "text that claims no charset, or ASCII, and is neither, is read as UTF-8 or Western European; "
        "`email` gives U+FFFD",
        lambda case: "\ufffd" in str(case.theirs),
        108,
    ),
    "no address at all": Difference(
        PEOPLE,
        "neither",
        "what is no address stands as it is, with the blanks and colons people wrote; `email` cuts it, or quotes it",
        lambda case: len(case.theirs) >= len(case.ours) and not _is_address(case),  # type: ignore[arg-type]
        60,
    ),
    "half of the day, or a zone in other words": Difference(
        frozenset({"date"}),
        "ours",
        "`PM`, `GMT+1` and zones of Europe are read; `email` leaves them out",
        lambda case: re.search(r"(?i)[ap]m|gmt ?\+|[A-Z]{3,}|[0-9]{5}$", case.header()[5:]) is not None,
        16,
    ),
    "an address that is not quite one": Difference(
        PEOPLE,
        "ours",
        "a dot behind the domain, a name behind the brackets, a name that looks like an address: read; "
        "`email` gives `<>`",
        lambda case: len(str(case.ours)) > 2,
        9,
    ),
    "an empty address": Difference(
        PEOPLE, "ours", '`"" <>` names nobody; `email` gives an address `<>`', lambda case: case.ours == [], 8
    ),
    "a blank before the colon": Difference(
        frozenset({"subject", "text"}),
        "ours",
        "`Subject : …` is a field in the old syntax (RFC 5322, section 4.5); for `email` the body begins there",
        lambda case: re.search(rb"(?m)^Subject[ \t]+:", case.raw) is not None,
        1,
    ),
    "a multipart without its parts": Difference(
        frozenset({"attachments", "text"}),
        "neither",
        "where no part is found the attachments are unknown and the text is all there is; `email` gives one "
        "opaque part",
        lambda case: any(
            part.is_leaf and part.content_type.startswith("multipart/") for part in read_structure(case.raw).parts
        ),
        24,
    ),
    "files in a text": Difference(
        frozenset({"attachments", "text"}),
        "ours",
        "a uuencoded file in a text is an attachment, as mail programs show it, and no text; `email` does "
        "not look for it",
        lambda case: re.search(rb"(?m)^begin [0-7]{3} ", case.raw) is not None,
        8,
    ),
    "a mail attached in base64": Difference(
        frozenset({"attachments", "text"}),
        "ours",
        "forbidden by RFC 2046, section 5.2.1, and sent all the same; it is decoded and read",
        lambda case: re.search(rb"(?i)message/rfc822", case.raw) is not None and b"base64" in case.raw,
        6,
    ),
    "damaged base64": Difference(
        frozenset({"attachments"}),
        "ours",
        "what can be decoded is decoded; `email` gives the encoded text where the number of its digits is odd",
        lambda case: b"base64" in case.raw and _differ_in(case, 2),
        3,
    ),
    "an encoding nobody knows": Difference(
        frozenset({"attachments"}),
        "ours",
        "its decoded size is unknown; `email` gives the size of what is encoded",
        lambda case: _differ_in(case, 2) and b"x-gzip64" in case.raw,
        1,
    ),
    "a name in other words": Difference(
        frozenset({"attachments"}),
        "ours",
        "names with blanks, backslashes, encoded words or raw bytes are read as they are meant",
        lambda case: _differ_in(case, 0),
        4,
    ),
    "parts where `email` sees none": Difference(
        frozenset({"attachments", "text"}),
        "ours",
        "a boundary that is used twice, or followed by other words or blanks on its line, is one (RFC 2046, "
        "section 5.1.1)",
        lambda case: re.search(rb"(?i)boundary", case.raw) is not None,
        8,
    ),
}


def _same_addresses(case: Case) -> bool:
    assert isinstance(case.ours, list)
    assert isinstance(case.theirs, list)
    return [address for _, address in case.ours] == [address for _, address in case.theirs]


def _is_address(case: Case) -> bool:
    assert isinstance(case.ours, list)
    return all(re.fullmatch(r"[^\s@:\"]+@[^\s@:]+", address) for _, address in case.ours if case.ours)


def _differ_in(case: Case, place: int) -> bool:
    """Say whether the attachments differ in their names (0) or sizes (2) only."""
    if not isinstance(case.ours, list) or not isinstance(case.theirs, list) or len(case.ours) != len(case.theirs):
        return False
    pairs = zip(case.ours, case.theirs, strict=True)
    return all(mine[:place] + mine[place + 1 :] == other[:place] + other[place + 1 :] for mine, other in pairs)


def compare(raw: bytes) -> list[Case]:
    ours, theirs = features_of_mail(raw), read_with_email(raw)
    return [Case(field, mine, other, raw) for field, mine, other in _pairs(ours, theirs) if mine != other]


def _pairs(ours: MailFeatures, theirs: Said) -> list[tuple[str, object, object]]:
    people = {"sender": "from", "to": "to", "cc": "cc", "reply_to": "reply-to"}
    pairs: list[tuple[str, object, object]] = [
        ("subject", None if ours.subject is None else even(ours.subject), theirs.subject),
        ("date", (ours.date, ours.zone), theirs.date),
    ]
    for field, name in people.items():
        mine = [(even(each.name), each.address) for each in getattr(ours, field)]
        pairs.append((field, mine, theirs.addresses[name]))
    files = None
    if ours.attachments is not None:
        files = [
            (each.name, each.content_type, None if each.content_type.startswith("message/") else each.size)
            for each in ours.attachments
        ]
    pairs.append(("attachments", files, theirs.files))
    if theirs.text is not None:
        pairs.append(("text", None if ours.text is None else even(ours.text), theirs.text))
    return pairs


def explain(case: Case) -> str | None:
    return next((name for name, each in DIFFERENCES.items() if case.field in each.fields and each.applies(case)), None)


@pytest.mark.timeout(300)
def test_every_mail_is_read_as_python_reads_it() -> None:
    met: Counter[str] = Counter()
    unexplained: dict[str, list[str]] = defaultdict(list)
    read = 0
    for path in paths():
        raw = path.read_bytes()
        read += 1
        for case in compare(raw):
            name = explain(case)
            if name is None:
                unexplained[case.field].append(f"{path.name}: {case.ours!r:.200} and not {case.theirs!r:.200}")
            else:
                met[name] += 1
    assert not unexplained, "\n".join(line for lines in unexplained.values() for line in lines)
    assert read > 6_000
    if sys.version_info[:2] == COUNTED_WITH:
        assert dict(met) == {name: each.times for name, each in DIFFERENCES.items()}


def test_every_file_of_the_corpora_is_read_and_kept() -> None:
    decode = msgspec.msgpack.Decoder(MailFeatures).decode
    for path in paths():
        raw = path.read_bytes()
        found = features_of_mail(raw)
        assert decode(features.encode(found)) == found
        _check_offsets(raw)


def _check_offsets(raw: bytes) -> None:
    """Nothing is copied: the parts tile the mail, and one in another lies inside it."""
    parts = read_structure(raw).parts
    for part, after in pairwise(parts):
        assert 0 <= part.start <= part.body <= part.end <= len(raw)
        assert after.start >= part.body if after.depth > part.depth else after.start >= part.end
    for part in parts:
        for field in part.fields:
            assert part.start <= field.start < field.end <= part.body
            assert raw[field.start : field.end].lower().startswith(field.name.encode())
