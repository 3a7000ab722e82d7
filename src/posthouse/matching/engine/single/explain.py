"""Why a predicate is true, false or unknown for a message: every leaf with its values, reasons and places."""

from __future__ import annotations

from typing import Final

from posthouse.matching.engine.single.evaluate import asks_for_recipients, judge
from posthouse.matching.engine.single.ground import Ground
from posthouse.matching.engine.single.leaf import find_places, judge_leaf
from posthouse.matching.engine.single.term import describe, read_term
from posthouse.matching.match import TRUE, UNKNOWN, Explanation, Judged, Place, any_of
from posthouse.matching.predicate.node import (
    Compare,
    InList,
    Leaf,
    Part,
    Predicate,
    Quantified,
    Search,
    Term,
    Under,
    Words,
    children,
    leaves,
    terms,
)
from posthouse.matching.value.fold import Collation, origin
from posthouse.matching.value.record import Record
from posthouse.matching.value.wordlist import NO_LISTS, Lists, WordList, word_list

MAX_PLACES: Final = 100
"""Places told of one leaf."""
_MAX_VALUES: Final = 5
_MAX_STANDS: Final = 1_000


def explain(predicate: Predicate, record: Record, *, lists: Lists = NO_LISTS) -> Explanation:
    """Judge one predicate on one message, and say of each of its leaves what it was and why."""
    ground = Ground(record, lists)
    told = tuple(_tell(predicate, path, leaf, ground) for path, leaf in leaves(predicate))
    return Explanation(judge(predicate, ground), told)


def _tell(predicate: Predicate, path: tuple[int, ...], leaf: Leaf, ground: Ground) -> Judged:
    stands = _stands(predicate, path, ground)
    truth = any_of(judge_leaf(leaf, stand) for stand in stands)
    is_bound = any(stand.recipient is not None for stand in stands)
    recipients = None
    if is_bound or asks_for_recipients(leaf):
        everybody = range(len(ground.record.recipients))
        recipients = tuple(place for place in everybody if judge_leaf(leaf, ground.at("recipient", place)) is TRUE)
    return Judged(
        path,
        leaf,
        truth,
        recipients=recipients,
        found=_found(leaf, ground),
        why=_why(leaf, ground) if truth is UNKNOWN else "",
        places=places_of(leaf, ground) if truth is TRUE else (),
    )


def _stands(predicate: Predicate, path: tuple[int, ...], ground: Ground) -> list[Ground]:
    """Give every recipient and attachment a leaf was judged for."""
    stands = [ground]
    node = predicate
    for place in path:
        if isinstance(node, Quantified):
            count = ground.how_many(node.over)
            if isinstance(count, int):
                stands = [stand.at(node.over, number) for stand in stands for number in range(min(count, _MAX_STANDS))]
        node = children(node)[place]
    return stands


def _found(leaf: Leaf, ground: Ground) -> tuple[str, ...]:
    told: list[str] = []
    for part in parts_of(leaf):
        values = ground.read(part).values
        told += [describe(value) for value in values[:_MAX_VALUES]]
        if len(values) > _MAX_VALUES:
            told.append(f"and {len(values) - _MAX_VALUES} more")
    return tuple(told)


def _why(leaf: Leaf, ground: Ground) -> str:
    for term in terms(leaf):
        reading = read_term(term, ground)
        if reading.state != "whole":
            return reading.why
    named = leaf.texts if isinstance(leaf, Search) else leaf.values if isinstance(leaf, InList) else None
    named = leaf.names if isinstance(leaf, Under) else named
    if isinstance(named, Words) and named.name not in ground.lists:
        return f"nobody has handed in the list {named.name}"
    if isinstance(leaf, Under) and ground.record.context.organisation is None:
        return "nobody has handed in the organisation"
    if isinstance(leaf, Compare):
        return "the two values are of types that do not compare"
    return "the value is of another type" if terms(leaf) else ""


def parts_of(leaf: Leaf) -> tuple[Part, ...]:
    """Give the parts of the message a leaf looks at."""
    found: list[Part] = []
    waiting: list[Term] = list(terms(leaf))
    while waiting:
        term = waiting.pop(0)
        if isinstance(term, Part):
            found.append(term)
        waiting += terms(term)
    return tuple(dict.fromkeys(found))


# --- places -----------------------------------------------------------------------------------------------------------


def places_of(leaf: Leaf, ground: Ground) -> tuple[Place, ...]:
    """Give the stretches that made a text leaf true, each once, in the order they stand."""
    if not isinstance(leaf, Search) or not isinstance(leaf.term, Part):
        return ()
    words: WordList | None
    words = ground.lists.get(leaf.texts.name) if isinstance(leaf.texts, Words) else word_list(leaf.texts.values)
    if words is None:
        return ()
    part = leaf.term
    name = part.name if part.argument is None else f"{part.name}({part.argument})"
    form: Collation = leaf.collation
    if leaf.sign == "matches" and form == "folded":
        form = "cased"
    places: list[Place] = []
    for number, value in enumerate(ground.read(part).values):
        if isinstance(value, str):
            way = origin(value, form)
            found = sorted(set(_first(leaf, value, words, ground)))
            places += [Place(name, number, *(way.back(start, end) if way else (start, end))) for start, end in found]
    return tuple(places[:MAX_PLACES])


def _first(leaf: Search, text: str, words: WordList, ground: Ground) -> list[tuple[int, int]]:
    found = []
    for place in find_places(leaf, text, words=words, ground=ground):
        found.append(place)
        if len(found) >= MAX_PLACES:
            break
    return found
