"""The house's own form: what is read is printed so that it reads the same, and every fault has its place."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.language.reader import MAX_PROBLEMS, UnreadableText
from posthouse.organisation.directory import Absence, Directory, Group, Role, Unit, User
from posthouse.organisation.form.fault import Faults
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.form.print import print_directory
from posthouse.organisation.form.scan import scan
from tests.unit.organisation.company import TEXT

NAMES = ("Clerk", "Head of Sales", "Straße", 'Zoë "Z" O\'Neil', "back\\slash", "# no comment", "a=b", "[x]", "名前")
_DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))
_TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  the zone is given beside them


@st.composite
def absences(draw: st.DrawFn) -> Absence:
    first, last = draw(st.none() | _DAYS | _TIMES), draw(st.none() | _DAYS | _TIMES)
    absence = Absence(first, last, draw(st.sampled_from(("", *NAMES))))
    begin, end = absence.span(UTC)
    if (begin is None and end is None) or (begin is not None and end is not None and begin >= end):
        return Absence(date(2026, 1, 1), None, absence.reason)
    return absence


@st.composite
def directories(draw: st.DrawFn) -> Directory:
    """Give an organisation in which everything named is there and nothing runs in circles."""

    def some(names: list[str]) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.sampled_from(names), unique=True, max_size=12))) if names else ()

    def one(names: list[str]) -> str:
        return draw(st.sampled_from(["", *names]))

    people = [f"p{number}@alpha.example" for number in range(draw(st.integers(0, 6)))]
    units = list(some(list(NAMES)))
    roles = list(some(list(NAMES)))
    groups = [f"g{number}@alpha.example" for number in range(draw(st.integers(0, 3)))]
    text = st.sampled_from(("", *NAMES))
    return Directory(
        domains=some(["alpha.example", "*.beta.example"]),
        office_administrator=one(roles),
        postmaster=one(roles),
        units=tuple(Unit(name, one(units[:at]), draw(text)) for at, name in enumerate(units)),
        roles=tuple(
            Role(name, one(roles[:at]), one(units), some(people), some(people + roles[:at]), draw(text))
            for at, name in enumerate(roles)
        ),
        users=tuple(
            User(who, draw(text), (f"x{who}",) * draw(st.integers(0, 1)), draw(text),
                 tuple(draw(st.lists(absences(), max_size=4))), draw(st.booleans()))
            for who in people
        ),
        groups=tuple(
            Group(who, draw(text), (f"x{who}",) * draw(st.integers(0, 1)),
                  some([*people, *groups[:at], "eve@far.example"]), some(roles))
            for at, who in enumerate(groups)
        ),
    )  # fmt: skip


@given(directories())
def test_what_is_printed_reads_the_same_and_prints_the_same(directory: Directory) -> None:
    text = print_directory(directory)
    assert parse_directory(text) == directory
    assert print_directory(parse_directory(text)) == text


def in_toml(text: str) -> dict[str, dict[str, object]]:
    found = tomllib.loads(text)
    head = {key: value for key, value in found.items() if not isinstance(value, dict)}
    return {" ": head, **{f"{kind} {name}": values for kind, several in found.items() if isinstance(several, dict)
                          for name, values in several.items()}}  # fmt: skip


def in_house(text: str) -> dict[str, dict[str, object]]:
    faults = Faults(text)
    tables = scan(text, faults)
    faults.finish()
    return {f"{table.kind} {table.name}": dict(table.values) for table in tables}


@given(directories())
def test_what_is_printed_is_toml_and_means_the_same_in_it(directory: Directory) -> None:
    text = print_directory(directory)
    assert in_toml(text) == in_house(text)


def test_other_ways_of_writing_toml_mean_the_same_too() -> None:
    text = """\
        domains=['alpha.example' , # ours
            "\\u0062eta.example", ]   # and theirs
        [ role . 'A "B"' ]  # quoted
        holders = [
            "ann@alpha.example", # she
        ]
        [role.Clerk]
        [role."C\\tD"]
        [user."ann@alpha.example"]
        absences = [ { from = 2026-01-01, until = 2026-02-01 12:00:00+01:00 }, {reason='x', until=2026-01-01}, ]
        disabled = false
        name = "caf\\u00e9 \\U0001F600"
    """
    assert in_toml(text) == in_house(text)
    assert in_house(text.replace("\n", "\r\n")) == in_house(text)


PIECES = st.sampled_from((
    "[", "]", "{", "}", '"', "'", "=", ",", "#", "\n", ".", "\\", "x", "role", '[role."x"]\n', "name = ", "[[", '"a"',
    "2026-01-01", "2026-13-01", "true", "\x00", "\u202e", "é", " ", '"""', "\\u00e9", 'a = "b"\n', "\r", "1",
))  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_or_told_with_places_and_what_is_read_is_toml(text: str) -> None:
    try:
        found = in_house(text)
    except UnreadableText as unreadable:
        lines = text.split("\n")
        for problem in unreadable.problems:
            assert 1 <= problem.line <= len(lines)
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        return
    # The comments of a book may hold what TOML refuses in one, and a table in braces may go over several lines.
    if not any(odd in text for odd in ("\x00", "\r", "{", "[role")):
        assert in_toml(text) == found


def _faults() -> list[list[str]]:
    blocks = (Path(__file__).parent / "faults.txt").read_text(encoding="utf-8").split("\n\n")[1:]
    return [block.strip().split("\n") for block in blocks]


@pytest.mark.parametrize(("old", "new", "told"), _faults())
def test_each_fault_is_told(old: str, new: str, told: str) -> None:
    old, new = (text.replace("\\n", "\n").replace("\\u202e", "\u202e") for text in (old, new))
    assert old in TEXT
    with pytest.raises(UnreadableText) as raised:
        parse_directory(TEXT.replace(old, new, 1))
    problems = [str(problem) for problem in raised.value.problems]
    assert len(problems) == 1, problems
    assert told in problems[0]


def test_all_faults_are_told_at_once_in_their_order() -> None:
    text = 'domains = "x"\n[role."A"]\nreports_to = B\nholders = ["ann@@x"]\n[rol."C"]\nnonsense\n'
    with pytest.raises(UnreadableText) as raised:
        parse_directory(text)
    assert [problem.line for problem in raised.value.problems] == [1, 3, 4, 5, 7]


def test_of_very_many_faults_the_first_hundred_are_told() -> None:
    with pytest.raises(UnreadableText) as raised:
        parse_directory("x = y\n" * 10_000)
    assert len(raised.value.problems) == MAX_PROBLEMS


@pytest.mark.parametrize("text", ["x" * ((16 << 20) + 1), f'[role."{"x" * 256}"]', "a = " + "[" * 1_000])
def test_sizes_have_limits(text: str) -> None:
    with pytest.raises(UnreadableText, match="at most"):
        parse_directory(text)


def test_reporting_has_a_depth() -> None:
    text = "".join(f'[role."{at}"]\nreports_to = "{at + 1}"\n' for at in range(120)) + '[role."120"]'
    with pytest.raises(UnreadableText, match="less than 100 above each other, found 120"):
        parse_directory(text)


def test_a_long_circle_is_cut_where_it_is_told() -> None:
    text = "".join(f'[role."{at}"]\nreports_to = "{(at + 1) % 50}"\n' for at in range(50))
    with pytest.raises(UnreadableText, match=r'"0" → "1" .* → 32 more → "0"'):
        parse_directory(text)


def test_an_empty_text_is_an_organisation_of_nobody() -> None:
    assert parse_directory("") == parse_directory("\ufeff# nobody yet\n") == Directory()


def test_a_day_belongs_to_the_absence() -> None:
    begin, end = Absence(date(2026, 7, 1), date(2026, 7, 1)).span(UTC)
    assert begin is not None
    assert end is not None
    assert end - begin == timedelta(days=1) // timedelta(microseconds=1)
    assert msgspec.structs.replace(Absence(), last=date(9999, 12, 31)).span(UTC) == (None, None)


def test_of_many_names_the_one_that_was_meant_is_found() -> None:
    rooms = "".join(f'[role."Clerk of room {at}"]\n' for at in range(2_000))
    with pytest.raises(UnreadableText, match=r"did you mean Clerk of room 1234\?"):
        parse_directory(f'{rooms}[role."Baker"]\nreports_to = "Clrk of room 1234"\n')
