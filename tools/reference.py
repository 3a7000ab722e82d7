"""Write docs/reference/{errors,settings,commands}.md from the code; `--check` only says which page is out of date.

A part of the house that is not built yet has no page; once it is there, every error, setting and command needs its
words in the code, or this tool stops and says which one lacks them.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import click
import msgspec

import posthouse
from posthouse.errors import PosthouseError

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
WRITTEN = "<!-- Written by tools/reference.py from the code: change it there, then `make format`. -->\n"


class MissingWordsError(Exception):
    """Something a user can meet has no words in the code to describe it."""


def find_module(name: str) -> ModuleType | None:
    """Import a module of the house if it is built already."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    return importlib.import_module(name) if found else None


def import_everything() -> None:
    """Import every module, so that every error is known."""
    for module in pkgutil.walk_packages(posthouse.__path__, prefix="posthouse."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


# --- errors -----------------------------------------------------------------------------------------------------------


def all_errors() -> list[type[PosthouseError]]:
    """Give every error of the house, by code; one code never means two things."""
    import_everything()
    found = [kind for kind in _descendants(PosthouseError) if kind.__module__.startswith("posthouse.")]
    for kind in found:
        if "code" not in vars(kind):
            raise MissingWordsError(f"{kind.__module__}.{kind.__name__} has no code of its own")
        if not kind.__doc__:
            raise MissingWordsError(f"{kind.__module__}.{kind.__name__} has no docstring")
    codes = [kind.code for kind in found]
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        raise MissingWordsError(f"two errors share the code {twice}")
    return sorted(found, key=lambda kind: kind.code)


def _descendants(kind: type[PosthouseError]) -> Iterator[type[PosthouseError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _descendants(child)


def errors_page() -> str:
    """Write down every error: its code, whether trying again can help, what a stranger is told, what it means."""
    lines = [
        "# Errors",
        "",
        WRITTEN,
        "Each error has a stable code: it stands in the answers of `--json`, in the log and here. *Permanent* means",
        "that the same call fails again until something is changed; a *passing* error may go away by itself.",
        "",
    ]
    for kind in all_errors():
        lines += [
            f"## {kind.code}",
            "",
            inspect.cleandoc(kind.__doc__ or ""),
            "",
            f"* {'Permanent' if kind.permanent else 'Passing'}.",
            f"* A peer is told: “{kind.public}”",
            f"* In code: `{kind.__module__}.{kind.__name__}`",
            "",
        ]
    return "\n".join(lines)


# --- settings ---------------------------------------------------------------------------------------------------------


def settings_page() -> str | None:
    """Write down every setting: its name, type, default and meaning."""
    module = find_module("posthouse.server.settings")
    if module is None:
        return None
    lines = [
        "# Settings",
        "",
        WRITTEN,
        "A flag wins over the environment, the environment over the file, the file over the default.",
        "`posthouse settings` shows each value and where it comes from.",
        "",
        "| name | type | default | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in _settings_of(module, "Settings")
    ]
    return "\n".join([*lines, ""])


def _settings_of(module: ModuleType, class_name: str, prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    classes = {node.name: node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef)}
    defaults = {field.name: field for field in msgspec.structs.fields(getattr(module, class_name))}
    body = classes[class_name].body
    for place, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name, kind = node.target.id, ast.unparse(node.annotation)
        group = getattr(module, kind, None)
        if isinstance(group, type) and issubclass(group, msgspec.Struct):
            yield from _settings_of(sys.modules[group.__module__], kind, f"{prefix}{name}.")
            continue
        meaning = _string_after(body, place)
        if not meaning:
            raise MissingWordsError(f"setting {prefix}{name} has no string below it that says what it means")
        yield f"`{prefix}{name}`", f"`{kind}`", _default_of(defaults[name]), meaning


def _string_after(body: list[ast.stmt], place: int) -> str:
    after = body[place + 1] if place + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return " ".join(after.value.value.split())
    return ""


def _default_of(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "(must be given)"
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return "none" if default is None else f"`{default}`"


# --- commands ---------------------------------------------------------------------------------------------------------


def commands() -> dict[str, click.Command]:
    """Give every command of the command line by its full name."""
    module = find_module("posthouse.cli.main")
    return {} if module is None else dict(_commands_below(module.main, "posthouse"))


def _commands_below(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if not command.hidden:
        yield name, command
        if isinstance(command, click.Group):
            for child_name, child in sorted(command.commands.items()):
                yield from _commands_below(child, f"{name} {child_name}")


def commands_page() -> str | None:
    """Write down every command with its arguments and options."""
    found = commands()
    if not found:
        return None
    lines = ["# Commands", "", WRITTEN]
    for name, command in found.items():
        if not command.help:
            raise MissingWordsError(f"command {name} has no help")
        context = click.Context(command, info_name=name)
        usage = " ".join(command.collect_usage_pieces(context))
        help_text = inspect.cleandoc(re.sub(r"^[ \t]*\x08\n", "", command.help.split("\f")[0], flags=re.MULTILINE))
        lines += [
            f"## {name}",
            "",
            "```text",
            f"{name} {usage}",
            "```",
            "",
            help_text,
            "",
            *_options_of(command, context),
        ]
    return "\n".join(lines)


def _options_of(command: click.Command, context: click.Context) -> list[str]:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None and "--help" not in parameter.opts:
            if not parameter.help:
                raise MissingWordsError(f"option {parameter.opts[-1]} of {context.info_name} has no help")
            written, meaning = (cell.replace("|", "\\|") for cell in record)
            rows.append(f"| `{written}` | {meaning} |")
    return ["| option | meaning |", "|---|---|", *rows, ""] if rows else []


# --- attributes -------------------------------------------------------------------------------------------------------

_SCOPES = {
    "message": ("The message", "What every predicate may ask of the message itself."),
    "recipient": (
        "Its recipients",
        """\
One value for each recipient of the envelope; a condition on them is true if it is true of one of them, and
`any recipient`, `all recipients` and `no recipient` look at one recipient at a time.""",
    ),
    "attachment": (
        "Its attachments",
        "One value for each attachment; `any`, `all` and `no attachment` look at one at a time.",
    ),
    "office": ("The office", "What is handed in with the decision; a figure that is not known now is unknown."),
    "case": ("The case", "What a gatekeeping office knows; a message that was never gated has none of it."),
}


def attributes_page() -> str | None:
    """Write down every name by which a predicate reads a message: its type and its meaning."""
    module = find_module("posthouse.matching.value.catalogue")
    if module is None:
        return None
    lines = [
        "# Attributes",
        "",
        WRITTEN,
        "The names by which rules and other predicates read a message. What the message does not have, or what cannot",
        "be read, is *unknown*, which is neither true nor false. Where a name may have *several* values, a condition",
        "is true if it is true of one of them.",
        "",
    ]
    for scope, (title, meaning) in _SCOPES.items():
        lines += [f"## {title}", "", meaning, "", "| name | type | meaning |", "|---|---|---|"]
        for entry in module.ENTRIES:
            if entry.scope == scope:
                written = {"name": f'{entry.name}("…")', "tail": f"{entry.name}.…"}.get(entry.argument, entry.name)
                kind = f"{entry.type}, several" if entry.is_many else entry.type
                lines.append(f"| `{written}` | {kind} | {entry.meaning} |")
        lines.append("")
    lines += ["## Other words for them", "", "They are read, and written back as the name they stand for.", ""]
    lines += ["| word | name |", "|---|---|"]
    lines += [f"| `{alias}` | `{name}` |" for alias, name in module.ALIASES.items()]
    return "\n".join([*lines, ""])


# --- metrics ----------------------------------------------------------------------------------------------------------


def metrics_page() -> str | None:
    """Write down every metric: its name, kind, labels and meaning."""
    module = find_module("posthouse.web.metrics")
    if module is None:
        return None
    lines = [
        "# Metrics",
        "",
        WRITTEN,
        "What `GET /metrics` gives, in the text form that Prometheus collects. Beside these",
    ]
    lines += ["there are the usual `process_` metrics: memory, processor time, open files.", ""]
    lines += ["| name | kind | labels | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.kind} | {', '.join(f'`{label}`' for label in one.labels)} | {one.meaning} |"
        for one in module.METRICS
    ]
    return "\n".join([*lines, ""])


# --- stages -----------------------------------------------------------------------------------------------------------


def stages() -> list[str]:
    """Give the names of the stages of the route in their order."""
    module = find_module("posthouse.route")
    if module is None:
        return []
    return [entry[0] if isinstance(entry, tuple) else entry.name for entry in module.ROUTE]


# --- the tool ---------------------------------------------------------------------------------------------------------

WRITERS: dict[str, Callable[[], str | None]] = {
    "errors.md": errors_page,
    "settings.md": settings_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "attributes.md": attributes_page,
}


def stale_pages() -> dict[str, str]:
    """Give each page that does not say what the code says, with what it should say."""
    stale = {}
    for name, write in WRITERS.items():
        page = PAGES / name
        wanted = write()
        if wanted is not None and (not page.exists() or page.read_text(encoding="utf-8") != wanted):
            stale[name] = wanted
    return stale


def main() -> int:
    """Write the stale pages, or only name them."""
    try:
        stale = stale_pages()
    except MissingWordsError as missing:
        print(f"reference: {missing}", file=sys.stderr)
        return 1
    if "--check" in sys.argv:
        for name in stale:
            print(f"docs/reference/{name} is out of date: run `make format`", file=sys.stderr)
        return 1 if stale else 0
    for name, text in stale.items():
        PAGES.mkdir(parents=True, exist_ok=True)
        (PAGES / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
