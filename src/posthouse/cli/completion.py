"""`posthouse completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

_HOW: Final = {
    "bash": 'eval "$(posthouse completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(posthouse completion zsh)"   # in ~/.zshrc',
    "fish": "posthouse completion fish | source   # in ~/.config/fish/config.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Write the script that completes commands in your shell.

    In bash and zsh, put eval "$(posthouse completion bash)" (or zsh) into ~/.bashrc (or ~/.zshrc). In fish, put
    posthouse completion fish | source into ~/.config/fish/config.fish.
    """
    made = get_completion_class(shell)
    assert made is not None
    root = context.find_root().command
    script = made(root, {}, "posthouse", "_POSTHOUSE_COMPLETE")
    click.echo(script.source_template % script.source_vars())
    click.echo(f"# {_HOW[shell]}")
