"""What says a member twice is found out, however it is spelt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.reading import Repetition, refuse_repetition


class Members(list[Any]):
    """The members of an object, some of them maybe twice."""


TEXTS = st.text(max_size=6) | st.sampled_from(['":', '"', ":", "a", '\\":', "\u0022:"])
VALUES = st.recursive(
    TEXTS | st.integers(-(2**70), 2**70) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(TEXTS, inner), max_size=4).map(Members),
    max_leaves=8,
)


def write(value: Any, spelling: tuple[str, str], *, escaped: bool) -> str:
    comma, colon = spelling
    if isinstance(value, Members):
        inner = [
            json.dumps(name, ensure_ascii=escaped) + colon + write(each, spelling, escaped=escaped)
            for name, each in value
        ]
        return "{" + comma.join(inner) + "}"
    if isinstance(value, list):
        return "[" + comma.join(write(each, spelling, escaped=escaped) for each in value) + "]"
    return json.dumps(value, ensure_ascii=escaped)


def repeats(value: Any) -> bool:
    if isinstance(value, Members):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(repeats(each) for _, each in value)
    return isinstance(value, list) and any(map(repeats, value))


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), (",\n", "\t:")]), st.booleans())
def test_what_says_a_member_twice_is_refused_and_nothing_else(
    value: Any, spelling: tuple[str, str], escaped: bool
) -> None:
    document = write(value, spelling, escaped=escaped).encode("utf-8", "surrogatepass")
    try:
        document.decode()
    except UnicodeDecodeError:
        return
    if repeats(value):
        with pytest.raises(Repetition):
            refuse_repetition(document)
    else:
        refuse_repetition(document)


@pytest.mark.parametrize(
    "document",
    [
        rb'{"a":1,"a":2,"z":"\u0022:"}',
        rb'{"a" :1,"a":2}',
        rb'{"a":1,"\u0061":2}',
        b'{"a":{"b":[{"c":1,"c":1}]}}',
        b'[{"a":1},{"a":1,"a":1}]',
    ],
)
def test_a_repetition_cannot_be_hidden(document: bytes) -> None:
    with pytest.raises(Repetition):
        refuse_repetition(document)
