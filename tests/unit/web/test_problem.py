"""Errors are told with what to do, and without the inside."""

from __future__ import annotations

import msgspec

from posthouse.errors import PosthouseError
from posthouse.office.counter import Unavailable
from posthouse.office.mailbox import BadRequest
from posthouse.store.ports import StoreDamaged, StoreUnavailable
from posthouse.web.problem import RANKS, encoded, faults_told, headers_of, problem_of, problem_of_status
from tools.reference import all_errors


def test_what_the_asker_did_wrong_is_told() -> None:
    problem = problem_of(BadRequest("expected 1, found 2", where="limit", hint="send 1"))
    assert msgspec.json.decode(encoded(problem)) == {
        "type": "urn:posthouse:problem:call.malformed",
        "title": "The request is malformed.",
        "status": 400,
        "code": "call.malformed",
        "detail": "limit: expected 1, found 2",
        "hint": "send 1",
    }


def test_the_inside_stays_inside() -> None:
    for fault in (
        StoreUnavailable("the disk is full", where="/srv/office.db", hint="free some room"),
        StoreDamaged("the file is damaged", where="/srv/office.db"),
        Unavailable("the office is closing", where="/srv"),
        PosthouseError("something", where="/srv", hint="look at /srv"),
    ):
        told = encoded(problem_of(fault, incident="17"))
        assert b"/srv" not in told
        assert fault.what.encode() not in told
        assert b'"incident":"17"' in told
    assert problem_of(StoreUnavailable("x")).status == 503
    assert problem_of(StoreDamaged("x")).status == 500


def test_every_rank_belongs_to_an_error() -> None:
    assert {error.code for error in all_errors()} >= set(RANKS)


def test_headers_say_what_the_status_needs() -> None:
    assert headers_of(problem_of_status(401))["www-authenticate"] == 'Bearer realm="posthouse"'
    assert headers_of(problem_of_status(503))["retry-after"] == "1"


def test_all_faults_of_the_parameters_are_told() -> None:
    extra = [{"key": "limit", "message": "Expected `int`"}, {"source": "body"}, "odd"]
    assert faults_told(extra) == "limit: Expected `int`; body: not as expected"
    assert faults_told(None) == ""
