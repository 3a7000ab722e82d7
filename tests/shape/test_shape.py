"""Size and names of the product's code; CONTRIBUTING.md says why. An exception stands in EXCEPTIONS with its reason."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.shape.source import Function, Module, classes, functions, modules

EXCEPTIONS: dict[str, str] = {
    # "limit place": "reason"
    "parameters posthouse.matching.engine.indexed.search:_note": "Hyperscan calls it, all arguments by position",
    "parameters posthouse.matching.engine.indexed.search:_note_place": "Hyperscan calls it, all arguments by position",
    "parameters posthouse.store.sqlite.checkpoint:Checkpointer:note": "SQLite calls it, all arguments by position",
    "parameters posthouse.testing.disk:Disk:excepthook": "apsw calls it as Python calls sys.excepthook",
    "parameters posthouse.testing.disk:_File:excepthook": "apsw calls it as Python calls sys.excepthook",
}

MODULE_LINES = 400
FUNCTION_LINES = 50
PUBLIC_METHODS = 15
PORT_METHODS = 7
PARAMETERS = 6
POSITIONAL = 2
# A private function is read beside its only callers: there a name at each argument is more noise than help.
POSITIONAL_PRIVATE = 4

DUSTBINS = frozenset({"utils", "util", "common", "helpers", "helper", "misc", "core", "base", "lib"})
EMPTY_CLASS_NAMES = ("Manager", "Handler", "Helper", "Processor")


def lines_without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    docstring = 0
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        docstring = (first.end_lineno or first.lineno) - first.lineno + 1
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def long_modules(module: Module) -> Iterator[tuple[str, str]]:
    length = module.text.count("\n")
    if length > MODULE_LINES:
        yield module.name, f"{length} lines, at most {MODULE_LINES}"


def long_functions(module: Module) -> Iterator[tuple[str, str]]:
    for function in functions(module):
        length = lines_without_docstring(function.node)
        if length > FUNCTION_LINES:
            yield function.place, f"{length} lines, at most {FUNCTION_LINES}"


def wide_classes(module: Module) -> Iterator[tuple[str, str]]:
    for place, node in classes(module):
        public = [
            child.name
            for child in node.body
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_")
        ]
        limit = PORT_METHODS if any(ast.unparse(parent) == "Protocol" for parent in node.bases) else PUBLIC_METHODS
        if len(public) > limit:
            yield place, f"{len(public)} public methods, at most {limit}"


def wide_functions(module: Module) -> Iterator[tuple[str, str]]:
    for function in functions(module):
        if has_its_shape_from_elsewhere(function):
            continue
        arguments = function.node.args
        positional = len(arguments.posonlyargs) + len(arguments.args) - (1 if function.is_method else 0)
        total = positional + len(arguments.kwonlyargs)
        if total > PARAMETERS:
            yield function.place, f"{total} parameters, at most {PARAMETERS}"
        private = function.node.name.startswith("_") and not function.node.name.startswith("__")
        limit = POSITIONAL_PRIVATE if private else POSITIONAL
        if positional > limit:
            yield function.place, f"{positional} parameters by position, at most {limit}"


def has_its_shape_from_elsewhere(function: Function) -> bool:
    """Special methods are shaped by the language; a command's parameters are its options."""
    name = function.node.name
    special = name.startswith("__") and name.endswith("__") and name != "__init__"
    marks = [ast.unparse(mark) for mark in function.node.decorator_list]
    return special or any(re.match(r"(click|\w+)\.(command|group|option|argument)\b", mark) for mark in marks)


def dustbins(module: Module) -> Iterator[tuple[str, str]]:
    if DUSTBINS & set(module.name.split(".")):
        yield module.name, "a name without a subject: call it after what it holds"


def empty_class_names(module: Module) -> Iterator[tuple[str, str]]:
    for place, node in classes(module):
        if node.name.endswith(EMPTY_CLASS_NAMES):
            yield place, "a class is named after the thing it is"


def heads(module: Module) -> Iterator[tuple[str, str]]:
    docstring = ast.get_docstring(module.tree) or ""
    lines = [line for line in docstring.splitlines() if line.strip()]
    if not 1 <= len(lines) <= 5:
        yield module.name, f"a head docstring of {len(lines)} lines, expected one to five"


def exporting_packages(module: Module) -> Iterator[tuple[str, str]]:
    # `posthouse.client` is the front door for programs: the one package that may hand names on.
    if module.is_package and module.name != "posthouse.client":
        beyond = [
            node for node in module.tree.body[1:] if not isinstance(node, ast.ImportFrom) or node.module != "__future__"
        ]
        if beyond:
            yield module.name, f"line {beyond[0].lineno}: a package's __init__ holds its docstring and nothing else"


def unnumbered_todos(module: Module) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(module.text.splitlines(), start=1):
        if re.search(r"\b(TODO|FIXME|XXX)\b(?!.*#\d+)", line):
            yield module.name, f"line {number}: names no issue (#number)"


LIMITS: dict[str, Callable[[Module], Iterator[tuple[str, str]]]] = {
    "module-length": long_modules,
    "function-length": long_functions,
    "class-width": wide_classes,
    "parameters": wide_functions,
    "dustbin": dustbins,
    "class-name": empty_class_names,
    "head": heads,
    "package-exports": exporting_packages,
    "todo": unnumbered_todos,
}


@pytest.mark.parametrize("limit", LIMITS)
def test_code_keeps_the_limit(limit: str) -> None:
    broken = [(place, why) for module in modules() for place, why in LIMITS[limit](module)]
    told = [f"{place}: {why}" for place, why in broken if f"{limit} {place}" not in EXCEPTIONS]
    assert not told, "\n" + "\n".join(told)


def test_no_exception_outlives_its_need() -> None:
    needed = {f"{limit} {place}" for limit, find in LIMITS.items() for module in modules() for place, _ in find(module)}
    assert set(EXCEPTIONS) <= needed, f"not needed any more: {sorted(set(EXCEPTIONS) - needed)}"
    assert all(reason.strip() for reason in EXCEPTIONS.values())


IMPORT_ALL = """
import importlib, os, signal, sys, threading
before = (set(os.environ), signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))
for name in sys.stdin.read().split():
    importlib.import_module(name)
after = (set(os.environ), signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))
assert before == after, "an import changed the environment or a signal"
assert threading.active_count() == 1, f"an import started {threading.enumerate()[1:]}"
"""


def test_importing_has_no_effect_but_definitions() -> None:
    names = [module.name for module in modules() if not module.name.endswith("__main__")]
    imported = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL],
        input="\n".join(names),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (imported.returncode, imported.stdout, imported.stderr) == (0, "", "")
