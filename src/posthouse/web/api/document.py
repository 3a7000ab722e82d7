"""What the OpenAPI document cannot tell from the code: bodies in several forms, and answers that are streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from litestar.openapi.spec import (
    OpenAPIFormat,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    RequestBody,
    Schema,
)

from posthouse.web.api.gateexample import with_examples

_TEXT: Final = Schema(type=OpenAPIType.STRING)
_BYTES: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)
_BASE64: Final = Schema(type=OpenAPIType.STRING, content_encoding="base64")
_INSTANT: Final = Schema(
    one_of=[Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME), Schema(type=OpenAPIType.INTEGER)],
    description="RFC 3339, or microseconds since 1970.",
)
_NAMES: Final = Schema(type=OpenAPIType.ARRAY, items=_TEXT)

PLAIN: Final = Schema(
    title="Message",
    description="A message as it is written by hand. The body is one of `text`, `base64`, `data` and `ref`.",
    type=OpenAPIType.OBJECT,
    additional_properties=False,
    properties={
        "to": Schema(one_of=[_TEXT, _NAMES], description="The mailbox or mailboxes."),
        "kind": Schema(
            type=OpenAPIType.STRING, description="mail, event, request, response, or any word.", default="mail"
        ),
        "from": Schema(
            type=OpenAPIType.STRING, description="Who sends it; a key that may send as one name needs none."
        ),
        "blind": Schema(type=OpenAPIType.ARRAY, items=_TEXT, description="Recipients the others do not see."),
        "reply_to": Schema(type=OpenAPIType.STRING, description="Where answers go, and the notice if it fails."),
        "correlation": Schema(type=OpenAPIType.STRING, description="Of a response, the id of the request."),
        "priority": Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=10, default=5),
        "expires": _INSTANT,
        "not_before": _INSTANT,
        "keep": Schema(type=OpenAPIType.STRING, enum=["durable", "memory"], default="durable"),
        "content_type": _TEXT,
        "traceparent": _TEXT,
        "lane": Schema(type=OpenAPIType.STRING, description="What it must stay in order with."),
        "attributes": Schema(
            type=OpenAPIType.OBJECT, description='Values by name: text, numbers, lists, or `{"int32": 5}` and the like.'
        ),
        "id": Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.UUID, description="A UUID of version 7."),
        "idempotency": Schema(type=OpenAPIType.STRING, description="Handed in twice under one key, accepted once."),
        "text": _TEXT,
        "base64": _BASE64,
        "data": Schema(description="A JSON value, kept as it is written."),
        "ref": Schema(
            type=OpenAPIType.OBJECT,
            required=["sha256", "size"],
            additional_properties=False,
            properties={"sha256": _TEXT, "size": Schema(type=OpenAPIType.INTEGER, minimum=0)},
        ),
    },
)
_ORDER: Final = {
    "to": "orders", "from": "desk", "kind": "request", "attributes": {"amount": {"int32": 2}}, "text": "two loaves",
}  # fmt: skip
_EVENT: Final = {
    "specversion": "1.0", "id": "7", "source": "/shop/lyngby", "type": "order.placed", "data": {"loaves": 2},
}  # fmt: skip

_MANY: Final = Schema(type=OpenAPIType.ARRAY, items=PLAIN, max_items=1_024)
_CLOUD_EVENT: Final = Schema(
    type=OpenAPIType.OBJECT, title="CloudEvent", required=["specversion", "id", "source", "type"]
)
_FORMS: Final = {
    "application/json": OpenAPIMediaType(schema=Schema(one_of=[PLAIN, _MANY]), example=_ORDER),
    "application/cloudevents+json": OpenAPIMediaType(schema=_CLOUD_EVENT, example=_EVENT),
    "application/cloudevents-batch+json": OpenAPIMediaType(
        schema=Schema(type=OpenAPIType.ARRAY, items=_CLOUD_EVENT), example=[_EVENT]
    ),
    "application/vnd.posthouse.message+json": OpenAPIMediaType(
        schema=Schema(type=OpenAPIType.OBJECT, description="A whole message with its head, as it was received.")
    ),
    "application/vnd.posthouse.message+msgpack": OpenAPIMediaType(schema=_BYTES),
}


def _response(description: str, content: str, schema: Schema) -> OpenAPIResponse:
    return OpenAPIResponse(description=description, content={content: OpenAPIMediaType(schema=schema)})


_OUTCOMES: Final = {
    "200": OpenAPIResponse(description="Of a list, what became of each; of a single message, that it is a duplicate."),
}


@dataclass
class _Told(Operation):
    """An operation that knows more of itself than its handler's signature says."""

    def add(self, status: str, response: OpenAPIResponse) -> None:
        """Tell of one more answer."""
        self.responses = {**(self.responses or {}), status: response}


@dataclass
class PutMany(_Told):
    """Messages in one of the forms."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(content=_FORMS, required=True)
        for status, response in _OUTCOMES.items():
            self.add(status, response)


@dataclass
class PutBody(_Told):
    """Messages in one of the forms, or a bare body."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            content={**_FORMS, "text/plain": OpenAPIMediaType(schema=_TEXT, example="two loaves")}, required=True
        )
        for status, response in _OUTCOMES.items():
            self.add(status, response)


@dataclass
class RawBody(_Told):
    """Bytes."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            content={"application/octet-stream": OpenAPIMediaType(schema=_BYTES)}, required=True
        )


@dataclass
class GetMessages(_Told):
    """Messages, as a list or as CloudEvents."""

    def __post_init__(self) -> None:
        self.add("200", _several("What was taken.", {"application/json": Schema(type=OpenAPIType.OBJECT)}))
        self.add("204", OpenAPIResponse(description="Nothing came, and a single CloudEvent was asked for."))


@dataclass
class OneMessage(_Told):
    """The life of a message, or the event it is."""

    def __post_init__(self) -> None:
        self.add("200", _several("The message.", {"application/json": Schema(type=OpenAPIType.OBJECT)}))


@dataclass
class MessageBody(_Told):
    """A body."""

    def __post_init__(self) -> None:
        self.add("200", _response("The body as it is.", "application/octet-stream", _BYTES))


@dataclass
class EventStream(_Told):
    """Server-sent events."""

    def __post_init__(self) -> None:
        self.add("200", _response("Deliveries as they come.", "text/event-stream", _TEXT))


def _several(description: str, content: dict[str, Schema]) -> OpenAPIResponse:
    known = content | {
        "application/cloudevents+json": _CLOUD_EVENT,
        "application/cloudevents-batch+json": Schema(type=OpenAPIType.ARRAY, items=_CLOUD_EVENT),
        "application/octet-stream": _BYTES,
    }
    return OpenAPIResponse(
        description=description, content={name: OpenAPIMediaType(schema=schema) for name, schema in known.items()}
    )


# `Any`, here and below: a document is nested JSON.
def with_problems(document: dict[str, Any]) -> dict[str, Any]:
    """Give the document in which every operation says what its errors look like: problems, whatever their status."""
    problem = {
        "description": "A problem (RFC 9457): `code` is for programs, `detail` and `hint` are for people.",
        "content": {"application/problem+json": {"schema": _PROBLEM, "example": _EXAMPLE}},
    }
    paths = {
        path: {
            method: {**told, "responses": {**_plain_answers(told), "400": problem, "default": problem}}
            for method, told in operations.items()
        }
        for path, operations in with_examples(document["paths"]).items()
    }
    return {**document, "paths": paths}


def _plain_answers(told: dict[str, Any]) -> dict[str, Any]:
    return {status: answer for status, answer in told["responses"].items() if status < "400" or status == "503"}


_PROBLEM: Final = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "status", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "hint": {"type": "string", "description": "What to do about it."},
        "incident": {"type": "string", "description": "What the log of the office calls it."},
    },
}
_EXAMPLE: Final = {
    "type": "urn:posthouse:problem:head.malformed",
    "title": "The head of the message is malformed.",
    "status": 400,
    "code": "head.malformed",
    "detail": "head, field priority: expected 1 to 10, found 11",
}
