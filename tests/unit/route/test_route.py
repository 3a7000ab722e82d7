from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest

from posthouse.message.journey import Journey
from posthouse.message.passage import Facts, Passage
from posthouse.route import END, ROUTE, Stage, enter
from posthouse.testing.journey import facts, journey, message

FACTS = facts()


class Recorder:
    """Stages that write down who came by, and let those wait or stop whom the test names."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[int]]] = []
        self.waiting: dict[str, int] = {}
        self.stopping: dict[str, int] = {}

    def stage(self, name: str) -> Stage:
        def step(journeys: Sequence[Journey], _facts: Facts) -> Passage:
            self.seen.append((name, [number_of(each) for each in journeys]))
            return Passage(
                going=tuple(each for each in journeys if not self._ends(name, each)),
                waiting=tuple(each for each in journeys if self._is(self.waiting, name, each)),
                stopped=tuple(each for each in journeys if self._is(self.stopping, name, each)),
            )

        return Stage(name, step)

    def _ends(self, name: str, each: Journey) -> bool:
        return self._is(self.waiting, name, each) or self._is(self.stopping, name, each)

    @staticmethod
    def _is(table: dict[str, int], name: str, each: Journey) -> bool:
        return table.get(name) == number_of(each)


def number_of(each: Journey) -> int:
    return each.message.priority


def numbered(number: int, stage: str = "one") -> Journey:
    return journey(message(number, priority=number), stage=stage)


def test_a_message_passes_the_stages_in_their_order() -> None:
    recorder = Recorder()
    route = [recorder.stage("one"), recorder.stage("two"), recorder.stage("three")]
    passage = enter([numbered(1), numbered(2)], FACTS, route=route)
    assert recorder.seen == [("one", [1, 2]), ("two", [1, 2]), ("three", [1, 2])]
    assert [each.luggage.stage for each in passage.going] == [END, END]
    assert passage.waiting == passage.stopped == ()


def test_what_waits_and_what_stops_leaves_the_batch_there() -> None:
    recorder = Recorder()
    recorder.waiting, recorder.stopping = {"one": 1}, {"two": 2}
    route = [recorder.stage("one"), recorder.stage("two"), recorder.stage("three")]
    passage = enter([numbered(1), numbered(2), numbered(3)], FACTS, route=route)
    assert recorder.seen == [("one", [1, 2, 3]), ("two", [2, 3]), ("three", [3])]
    assert [number_of(each) for each in passage.going] == [3]
    assert [(number_of(each), each.luggage.stage) for each in passage.waiting] == [(1, "one")]
    assert [(number_of(each), each.luggage.stage) for each in passage.stopped] == [(2, "two")]


def test_what_waited_enters_at_its_stage_and_passes_none_twice() -> None:
    recorder = Recorder()
    route = [recorder.stage("one"), recorder.stage("two"), recorder.stage("three")]
    passage = enter([numbered(1), numbered(2, "three"), numbered(3, "two")], FACTS, route=route)
    assert recorder.seen == [("one", [1]), ("two", [1, 3]), ("three", [1, 3, 2])]
    assert len(passage.going) == 3


def test_stages_nobody_enters_are_not_asked() -> None:
    recorder = Recorder()
    enter([numbered(1, "two")], FACTS, route=[recorder.stage("one"), recorder.stage("two")])
    assert recorder.seen == [("two", [1])]
    assert enter([], FACTS) == Passage()


@pytest.mark.parametrize("stage", ["two", "", "One"])
def test_a_stage_that_is_not_there_is_a_fault(stage: str) -> None:
    with pytest.raises(LookupError, match=repr(stage)):
        enter([numbered(1), numbered(2, stage)], FACTS, route=[Recorder().stage("one")])


def test_a_stage_may_let_a_message_wait_for_another_stage() -> None:
    def defer(journeys: Sequence[Journey], _facts: Facts) -> Passage:
        return Passage(waiting=tuple(each.carrying(stage="two") for each in journeys))

    route = [Stage("one", defer), Recorder().stage("two")]
    (waiting,) = enter([numbered(1)], FACTS, route=route).waiting
    assert waiting.luggage.stage == "two"
    assert enter([waiting], FACTS, route=route).going


def test_the_names_of_the_stages_are_words_and_stand_once() -> None:
    names = [stage.name for stage in ROUTE]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


def test_the_route_of_this_release() -> None:
    passage = enter([journey(message(1)), journey(message(2), recipients=())], FACTS)
    assert [target.box for target in passage.going[0].luggage.targets] == ["#bob"]
    assert passage.stopped[0].luggage.verdict.reasons[0].code == "recipients.none"


# Whatever a stage is given, it writes nothing: the same journey decided twice comes out the same.
@pytest.mark.parametrize("stage", ROUTE, ids=lambda stage: stage.name)
def test_a_stage_decides_the_same_twice(stage: Stage) -> None:
    entering = [journey(message(1), stage=stage.name), journey(message(2), stage=stage.name, recipients=("a b",))]
    decide: Callable[[], bytes] = lambda: msgspec.msgpack.encode(stage.step(entering, FACTS))  # noqa: E731 - said twice
    assert decide() == decide()
