from __future__ import annotations

import pytest

from posthouse.message.message import Message, read_head
from posthouse.office.notice import KIND, undelivered
from posthouse.testing.build import START
from posthouse.testing.journey import message

NOW = START + 5


def notice_about(given: Message, *, place: str = "bob") -> Message:
    written = undelivered(given, place=place, reason="the mailbox is full", now=NOW)
    assert written is not None
    return written[0]


def test_a_notice_says_what_where_and_why() -> None:
    """A-060, D-A6"""
    original = message(kind="order", reply_to="carol", keep="memory", traceparent=f"00-{'1' * 32}-{'2' * 16}-01")
    written = undelivered(original, place="bob", reason="the mailbox is full", now=NOW)
    assert written is not None
    notice, envelope = written
    assert (notice.kind, notice.recipients, notice.created) == (KIND, ("carol",), NOW)
    assert notice.correlation == str(original.id)
    assert notice.body == f"The message {original.id} was not delivered to bob: the mailbox is full\n".encode()
    assert (notice.keep, notice.traceparent) == ("memory", original.traceparent)
    assert notice.attributes["reason"] == "the mailbox is full"
    assert (notice.attributes["place"], notice.attributes["kind"]) == ("bob", "order")
    assert (envelope.sender, envelope.recipients, envelope.idempotency) == ("postmaster", ("carol",), None)


def test_a_notice_brings_the_head_of_the_original_back() -> None:
    """D-A6"""
    original = message(reply_to="carol", correlation="order 7")
    head = notice_about(original).attributes["original"]
    assert isinstance(head, bytes)
    assert read_head(head).id == original.id


def test_there_is_no_notice_without_a_response_destination() -> None:
    assert undelivered(message(), place="bob", reason="full", now=NOW) is None


@pytest.mark.parametrize("kind", ["notice", "notice.undelivered", "notice.of.another"])
def test_a_notice_begets_no_notice(kind: str) -> None:
    assert undelivered(message(kind=kind, reply_to="carol"), place="bob", reason="full", now=NOW) is None


def test_a_kind_that_only_begins_like_a_notice_is_none() -> None:
    assert undelivered(message(kind="noticeable", reply_to="carol"), place="bob", reason="full", now=NOW) is not None


def test_the_notice_about_a_message_and_place_is_always_the_same_one() -> None:
    """D-A6: never returned twice"""
    original = message(1, reply_to="carol")
    assert notice_about(original).id == notice_about(original).id
    assert notice_about(original).id != notice_about(original, place="dave").id
    assert notice_about(original).id != notice_about(message(2, reply_to="carol")).id
    assert notice_about(original).id.version == 7
