"""How a command ends: planned errors become one sentence (or one line of JSON) on standard error and an exit code.

A traceback is shown only for a bug, or where POSTHOUSE_DEBUG is set.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

import click

from posthouse.cli import exitcode
from posthouse.errors import PosthouseError

_BUG: Final = "this is a bug of Posthouse; POSTHOUSE_DEBUG=1 shows where it is"


class Terminated(BaseException):
    """SIGTERM ended the command."""


def conclude(work: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run a command and give its exit code, whatever happens in it."""
    as_json = "--json" in arguments
    _stand_in_for_closed_streams()
    try:
        return _run(work, as_json=as_json)
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            # Told already. Python flushes once more at its end, and there must be something to flush into.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(work: Callable[[], object], *, as_json: bool) -> int:
    try:
        answer = work()
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return exitcode.INTERRUPTED
    except Terminated:
        return exitcode.TERMINATED
    except BrokenPipeError:
        return exitcode.PIPE
    except click.ClickException as fault:
        return _tell_usage(fault, as_json=as_json)
    except Exception as fault:
        if os.environ.get("POSTHOUSE_DEBUG"):
            raise
        return _tell(fault, as_json=as_json)
    return answer if isinstance(answer, int) else exitcode.OK


def _stand_in_for_closed_streams() -> None:
    """Put something in the place of standard streams the shell closed; reading or writing it fails, as it should.

    Else the next file that is opened takes their number, and an answer may be written into it.
    """
    for descriptor, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    # Python has no object for a stream that was closed when it started, whatever its types say.
    if cast("object", sys.stdout) is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if cast("object", sys.stderr) is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def faults_in(fault: BaseException) -> Iterator[BaseException]:
    """Give every error of a group, or the error itself."""
    if isinstance(fault, BaseExceptionGroup):
        for inner in fault.exceptions:
            yield from faults_in(inner)
    else:
        yield fault


def warn(text: str) -> None:
    """Say something beside the answer."""
    click.echo(f"posthouse: {text}", err=True)


def misuse(text: str) -> click.UsageError:
    """Make the error of options that do not go together, with the command they were given to."""
    return click.UsageError(text, ctx=click.get_current_context(silent=True))


def _tell(fault: Exception, *, as_json: bool) -> int:
    found = [_described(one) for one in faults_in(fault)]
    if as_json:
        first, *more = [{name: value for name, value in one.items() if name != "text"} for one in found]
        click.echo(json.dumps({"error": first | ({"more": more} if more else {})}, ensure_ascii=False), err=True)
    else:
        for one in found:
            warn(str(one["text"]))
    return int(found[0]["exit"])


# `Any`: texts and numbers, as they are told.
def _described(fault: BaseException) -> dict[str, Any]:
    if isinstance(fault, PosthouseError):
        facts: dict[str, Any] = {"code": fault.code, "what": fault.what, "where": fault.where}
        if fault.column is not None:
            facts["column"] = fault.column
        facts["hint"] = fault.hint
        return {**facts, "exit": exitcode.exit_code_of(fault), "text": str(fault)}
    if isinstance(fault, OSError):
        place = None if fault.filename is None else os.fsdecode(fault.filename)
        what = (fault.strerror or str(fault)).lower()
        text = f"{place}: {what}" if place else what
        return {
            "code": "system", "what": what, "where": place, "hint": None, "exit": exitcode.FAILURE, "text": text,
        }  # fmt: skip
    what = f"{type(fault).__name__}: {fault}"
    return {
        "code": "bug", "what": what, "where": None, "hint": _BUG, "exit": exitcode.FAILURE, "text": f"{what} ({_BUG})",
    }  # fmt: skip


def _tell_usage(fault: click.ClickException, *, as_json: bool) -> int:
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    if isinstance(fault, click.exceptions.NoArgsIsHelpError):
        click.echo(fault.format_message())
        return exitcode.USAGE
    name = context.command_path if context else "posthouse"
    what = fault.format_message().rstrip(".")
    what = f"{what[:1].lower()}{what[1:]}"
    hint = f"{name} --help says more"
    if as_json:
        facts = {"code": "usage", "what": what, "where": name, "hint": hint, "exit": exitcode.USAGE}
        click.echo(json.dumps({"error": facts}, ensure_ascii=False), err=True)
    else:
        click.echo(f"{name}: {what} ({hint})", err=True)
    return exitcode.USAGE
