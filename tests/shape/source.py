"""The product's source as the shape tests see it: parsed, never imported."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, its text and its tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


@dataclass(frozen=True)
class Function:
    """A function or method, with its dotted place inside its module."""

    place: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    is_method: bool


@functools.cache
def modules() -> tuple[Module, ...]:
    """Read every module of the product."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, path, text, ast.parse(text, filename=str(path))))
    return tuple(found)


def functions(module: Module) -> Iterator[Function]:
    """Give every function of a module, nested ones and methods included."""
    yield from _functions_in(module.tree, module.name, inside_class=False)


def _functions_in(node: ast.AST, place: str, *, inside_class: bool) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            here = f"{place}:{child.name}"
            static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in child.decorator_list)
            yield Function(here, child, inside_class and not static)
            yield from _functions_in(child, here, inside_class=False)
        elif isinstance(child, ast.ClassDef):
            yield from _functions_in(child, f"{place}:{child.name}", inside_class=True)
        else:
            yield from _functions_in(child, place, inside_class=inside_class)


def classes(module: Module) -> Iterator[tuple[str, ast.ClassDef]]:
    """Give every class of a module with its place."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            yield f"{module.name}:{node.name}", node
