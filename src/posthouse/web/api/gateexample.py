"""What is asked at the desk, as an example for each path: the document shows it to people who write programs."""

from __future__ import annotations

from typing import Any, Final

_CASE: Final = "0197f7ae-1000-7001-8000-000000000001"
_DOCKET: Final = {"case": _CASE, "turn": 1, "gatekeeper": "Sales"}

# `Any`: a document is nested JSON.
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "/gate/openings": _DOCKET,
    "/gate/decisions": {
        "gatekeeper": "Sales",
        "decisions": [
            {"case": _CASE, "turn": 1, "command": "release", "comment": "a good customer"},
            {"case": _CASE, "turn": 2, "command": "file", "mailbag": "month end"},
        ],
    },
    "/gate/claims": _DOCKET | {"lets_go": False},
    "/gate/edits": _DOCKET | {"text": "Please send 10 sacks.", "version": 2},
    "/gate/undoings": _DOCKET,
    "/gate/notes": _DOCKET | {"comment": "asked Ben"},
    "/gate/holds": {"case": _CASE, "reason": "a lawsuit"},
    "/gate/recalls": {"message": _CASE, "reason": "a mistake"},
    "/gate/skips": {"case": _CASE, "gatekeeper": "Sales", "reason": "nobody holds the role any more"},
    "/gate/mailbags": {
        "gatekeeper": "Sales", "name": "month end", "function": "return", "saying": "We cannot now.",
        "rhythm": {"every": "months", "count": 1, "day": 31},
    },
    "/gate/mailbags/{identity}/run": {"gatekeeper": "Sales", "is_confirmed": True},
    "/gate/books/{book}/editions": {"text": 'rule "large" IF message.size > 5 MB THEN gate to "Sales"', "note": "1st"},
    "/gate/books/{book}/activations": {"edition": 1},
    "/gate/audit/erase": {"subject": _CASE, "reason": "the person asked for it"},
    "/gate/accounts/{name}": {"address": "ada@bakery.example", "scopes": ["write rules"]},
}  # fmt: skip


def with_examples(paths: dict[str, Any]) -> dict[str, Any]:
    """Give the paths of a document in which what is asked at the desk has its example."""
    return {path: _told(operations, _example(path)) for path, operations in paths.items()}


def _example(path: str) -> dict[str, Any] | None:
    return next((example for end, example in EXAMPLES.items() if path.endswith(end)), None)


def _told(operations: dict[str, Any], example: dict[str, Any] | None) -> dict[str, Any]:
    if example is None:
        return operations
    return {
        method: {**told, "requestBody": _shown(told["requestBody"], example)} if "requestBody" in told else told
        for method, told in operations.items()
    }


def _shown(body: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    content = {kind: {**media, "example": example} for kind, media in body["content"].items()}
    return {**body, "content": content}
