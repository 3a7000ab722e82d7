"""A group of commands of which `list` is meant where none is named: `posthouse dead` lists dead letters."""

from __future__ import annotations

import click


class Listing(click.Group):
    """A group that knows what to do without a word; one whose `list` takes a name takes it without the word `list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["list", *args] if self._means_list(ctx, args) else args)

    def _means_list(self, ctx: click.Context, args: list[str]) -> bool:
        if not args:
            return True
        word = args[0]
        if word in self.commands or word in ctx.help_option_names:
            return False
        return word.startswith("-") or any(isinstance(each, click.Argument) for each in self.commands["list"].params)
