"""Names of mailboxes as they stand in the path of an address, where a slash inside a name is written %2F."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from posthouse.web.asgi import Asgi, Receive, Scope, Send

# Stands for an escaped slash while the path is taken apart; no name may hold it, for it is a private sign.
_SLASH: Final = "\ue02f"


class SlashKeeper:
    """An application whose paths keep the difference between a slash and an escaped one."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its escaped slashes marked."""
        raw = scope.get("raw_path") or b""
        if b"%2F" in raw or b"%2f" in raw:
            pieces = raw.partition(b"?")[0].decode("latin-1").replace("%2f", "%2F").split("%2F")
            scope = {**scope, "path": _SLASH.join(map(unquote, pieces))}
        await self._app(scope, receive, send)


def mailbox_in(part: str) -> str:
    """Give the name of a mailbox as it stands in one part of a path."""
    return part.replace(_SLASH, "/")
