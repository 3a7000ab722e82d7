"""The document that describes the API keeps what it promises: it is asked as a stranger would ask, many times."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.scenario.cli.command import Terminal, line_of

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
ENDLESS = ("/stream", "/events")


@pytest.fixture(scope="module")
def office() -> Iterator[tuple[str, dict[str, str]]]:
    with tempfile.TemporaryDirectory(prefix="post-") as folder:
        terminal = Terminal(Path(folder))
        try:
            serving = terminal.start("serve", "--json", "--set", "http.key_requests=1000000")
            address: str = json.loads(line_of(serving))["http"][0]
            duties = ("--administer", "--write-rules", "--edit-organisation", "--audit", "--review", "*")
            key = terminal.run("key", "create", "stranger", *duties, "--json").document["key"]
            yield address, {"authorization": f"Bearer {key}"}
        finally:
            terminal.end()


# `Any`: a document is nested JSON.
def document_of(address: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{address}/openapi.json", trust_env=False).json()
    return document


def ask_everything(address: str, headers: dict[str, str], *, times: int) -> int:
    asked = 0
    for found in schemathesis.openapi.from_dict(document_of(address)).get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.path.endswith(ENDLESS):
            continue

        @given(case=operation.as_strategy())
        @settings(
            max_examples=times,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: schemathesis.Case[Any]) -> None:
            nonlocal asked
            asked += 1
            if isinstance(case.body, dict) and "wait" in case.body:
                case.body["wait"] = 0
            case.call_and_validate(base_url=address, headers=headers, checks=CHECKS, timeout=20)

        ask()
    return asked


def test_every_operation_answers_as_it_says(office: tuple[str, dict[str, str]]) -> None:
    assert ask_everything(*office, times=6) >= 150


@pytest.mark.fuzz
def test_every_operation_answers_as_it_says_for_long(office: tuple[str, dict[str, str]]) -> None:
    assert ask_everything(*office, times=300) >= 7_000


def test_every_operation_says_what_it_is_for(office: tuple[str, dict[str, str]]) -> None:
    for path, operations in document_of(office[0])["paths"].items():
        for method, told in operations.items():
            assert told.get("summary"), f"{method} {path}"
            assert told.get("description"), f"{method} {path}"
            assert "application/problem+json" in told["responses"]["default"]["content"], f"{method} {path}"
            if "/gate/" in path and "requestBody" in told:
                content = told["requestBody"]["content"]["application/json"]
                assert content["example"], f"{method} {path}"
            if method == "post" and path.endswith("/messages"):
                assert "example" in told["requestBody"]["content"]["application/json"]
