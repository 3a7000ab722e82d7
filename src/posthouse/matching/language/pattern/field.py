"""Where a scoped message says what patterns ask for; whoever sends or routes one writes it there."""

from __future__ import annotations

from typing import Final

from posthouse.matching.predicate.node import Part

CLASS: Final = Part("message.kind")
SENDER: Final = Part("sender.address")
OPERATION: Final = Part("attribute", "switch.operation")
STATE: Final = Part("attribute", "switch.state")
SCOPE: Final = Part("attribute", "switch.scope")
"""`session`, or a type such as `file`, `file-in-session`, `file-or-session`."""
SCOPE_IDS: Final = Part("attribute", "switch.scope.ids")
SESSION: Final = Part("attribute", "switch.session")
"""The session of the sender."""
DISPOSITION: Final = Part("attribute", "switch.disposition")
SENDER_TYPE: Final = Part("attribute", "switch.sender.type")
HANDLER: Final = Part("attribute", "switch.handler")
HANDLER_TYPES: Final = Part("attribute", "switch.handler.types")


def argument(place: int, what: str = "") -> Part:
    """Give the value of an argument, counted from 0, or its `mode` or `type`."""
    return Part("attribute", f"switch.argument.{place}.{what}" if what else f"switch.argument.{place}")


def context(name: str) -> Part:
    """Give the value of a named context."""
    return Part("attribute", f"switch.context.{name}")
