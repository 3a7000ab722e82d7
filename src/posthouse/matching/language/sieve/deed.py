"""The actions that stand together in a script as actions of one rule."""

from __future__ import annotations

from typing import Final

from posthouse.matching.language.rule.rule import Action, ActionName
from posthouse.matching.language.sieve.left import Untaken
from posthouse.matching.language.sieve.script import Command

DEEDS: Final = frozenset({"keep", "discard", "redirect", "fileinto", "reject", "ereject"})
MAX_TEXT: Final = 10_000
_EITHER: Final = "a mail is filed or delivered, not both"


class Deed:
    """What a block does, gathered: Sieve does it all, and only its whole says what becomes of the mail."""

    def __init__(self, at: int) -> None:
        self.at: Final = at
        self.title: str | None = None
        self.names: Final[dict[str, None]] = {}
        """What the script calls its commands, in their order."""
        self._folders: list[str] = []
        self._sent: list[str] = []
        self._copied: list[str] = []
        self._reply: str | None = None
        self._is_kept = False
        self._is_discarded = False

    def add(self, command: Command, text: str) -> None:
        """Add one command with its text, variables put in."""
        if ":flags" in command.given.tags:
            raise Untaken(command.at, ":flags", why="mailboxes here have no flags", what_to_do="leave it out")
        self.names[command.name] = None
        if (command.name == "keep" and self._folders) or (command.name == "fileinto" and self._is_kept):
            raise Untaken(command.at, f"{command.name} beside {'keep' if self._is_kept else 'fileinto'}", why=_EITHER)
        if command.name == "keep":
            self._is_kept = True
        elif command.name == "discard":
            self._is_discarded = True
        elif command.name == "redirect":
            (self._copied if ":copy" in command.given.tags else self._sent).append(_checked(text, command))
        elif command.name == "fileinto":
            if ":copy" in command.given.tags:
                raise Untaken(command.at, "fileinto :copy", why=_EITHER)
            self._folders.append(_checked(text, command))
        else:
            self._reply = text.replace("\r\n", "\n").strip("\n")[:MAX_TEXT]

    def actions(self) -> tuple[Action, ...]:
        """Give the actions of the rule."""
        found = [Action(name="file", to=(folder,)) for folder in dict.fromkeys(self._folders)]
        # A mail that is sent on and stays here too is copied, else it goes on.
        stays = bool(found) or self._is_kept
        sent = list(dict.fromkeys(self._sent))
        on: list[tuple[ActionName, str]] = [
            ("copy" if stays or place else "forward", who) for place, who in enumerate(sent)
        ]
        on += [("copy", who) for who in dict.fromkeys(self._copied) if who not in sent]
        found += [Action(name=name, to=(who,)) for name, who in on]
        if self._reply is not None:
            found.append(Action(name="return", saying=self._reply or None))
        if self._is_kept:
            found.append(Action(name="release"))
        if self._is_discarded and not any(action.name != "copy" for action in found):
            found.append(Action(name="delete"))
        return tuple(found)


def _checked(text: str, command: Command) -> str:
    if not text.strip() or len(text) > MAX_TEXT:
        raise Untaken(
            command.at, command.name, why="it names nobody" if command.name == "redirect" else "it names no folder"
        )
    return text
