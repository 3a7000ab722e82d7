"""A message on a sheet: its fields as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from posthouse.cli.printer import Cell, local_time
from posthouse.message.attribute import tag_all
from posthouse.message.message import DEFAULT_PRIORITY, Message
from posthouse.server.quantity import print_size

_USUAL_TYPES: Final = frozenset({"application/octet-stream", "text/plain; charset=utf-8"})


def facts(message: Message) -> Iterator[tuple[str, Cell]]:
    """Give the fields that say something, for people."""
    yield "id", str(message.id)
    yield "kind", message.kind
    yield "from", message.sender
    yield "to", ", ".join(message.recipients)
    yield "reply to", message.reply_to
    yield "correlation", message.correlation
    yield "priority", None if message.priority == DEFAULT_PRIORITY else message.priority
    yield "created", local_time(message.created)
    yield "expires", local_time(message.expires)
    yield "keep", None if message.keep == "durable" else message.keep
    yield "lane", message.lane
    yield "traceparent", message.traceparent
    for name, tagged in tag_all(message.attributes).items():
        ((kind, value),) = tagged.items()
        yield f"{name}:{kind}", value if isinstance(value, str) else msgspec.json.encode(value).decode().strip('"')
    kind = "" if message.content_type in _USUAL_TYPES else f", {message.content_type}"
    yield "body", f"{print_size(message.size)}{kind}"
