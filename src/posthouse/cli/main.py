"""`posthouse`: the command that all others stand below; each is imported when asked for, so that help is quick."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from posthouse.cli.ending import conclude

COMMANDS: Final = {
    "run": "Run a demo office, and say what to try.",
    "serve": "Run the office until it is told to stop.",
    "send": "Send a message.",
    "read": "Take a message out of a mailbox.",
    "mailbox": "List mailboxes, set their quotas, close and open them.",
    "gate": "List what is held, look into it, release it, return it, forward it, file it.",
    "mailbag": "List the mailbags of a gatekeeper, add one, change it, run it.",
    "case": "Tell the whole story of one message that was held.",
    "policy": "Show what the office has decided about gating once for all, and change it.",
    "organisation": "Show who is who, take it over from a file, put it in force.",
    "user": "Open accounts of people, change them, close them.",
    "mail": "Send mail, look into one, hold or hurry what goes out.",
    "queue": "Show what waits, and in which state.",
    "dead": "Show what was given up, put it back or drop it.",
    "aside": "Show what a bug set aside, and send it on.",
    "key": "Make the keys that programs show over HTTP, list them, revoke them.",
    "account": "Make the line of somebody who may sign in to send mail.",
    "trace": "Tell the life of one message.",
    "rules": "Check rules, try them, say why they match, keep them as the book an office goes by.",
    "match": "Say which messages an expression matches.",
    "reload": "Have the running office read its settings and certificates again.",
    "peer": "List the offices messages are exchanged with, try them, show the key they know this one by.",
    "status": "Say how the office is.",
    "settings": "Show every setting, and where its value comes from.",
    "backup": "Copy the office into a new folder while it runs.",
    "restore": "Make an office of a backup.",
    "verify": "Check everything the office keeps.",
    "audit": "Prove, show and export the record of what was decided and looked at.",
    "doctor": "Say what this machine has, what it lacks, and how to get it.",
    "bench": "Measure, beside the peers, on this machine.",
    "completion": "Write the script that completes commands in your shell.",
}
"""Every command, in the order of the help, with the sentence its own help begins with."""


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name, each imported from the module of its name when it is first asked for."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._more: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name in self._more or name not in self._names:
            return self._more[name]
        command: click.Command = getattr(importlib.import_module(f"posthouse.cli.{name}"), name)
        self._more[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._more[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError("a command is not taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Post(click.Group):
    """The group of all commands."""

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        arguments = sys.argv[1:]
        sys.exit(
            conclude(
                lambda: self.main(
                    arguments, prog_name="posthouse", complete_var="_POSTHOUSE_COMPLETE", standalone_mode=False
                ),
                arguments,
            )
        )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as fault:
            # click would end the process by itself, with a code of its own.
            raise _Gone from fault

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except _Gone as gone:
            raise BrokenPipeError from gone

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=says) for name, says in COMMANDS.items() if name.startswith(incomplete)]


class _Gone(Exception):
    """Whoever read the output went away."""


@click.group(
    cls=Post, commands=LazyCommands(COMMANDS), context_settings={"help_option_names": ["-h", "--help"]}
)  # fmt: skip
@click.version_option(package_name="posthouse", message="posthouse %(version)s", help="Show the version and exit.")
def main() -> None:
    """Keep a post office for people and programs.

    Commands open the office whose store is ./office.db, or the one that --store or the settings name: through the
    process that runs it, or directly where none does. Each command explains itself with --help.
    """
