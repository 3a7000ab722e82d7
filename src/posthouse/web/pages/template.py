"""The templates and the style sheet, read when a page is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE: Final = "posthouse.web.pages"


def render(name: str, **facts: object) -> str:
    """Fill a template."""
    return _templates().get_template(name).render(**facts)


@cache
def asset(name: str) -> bytes:
    """Give the style sheet, or the script that keeps the page up to date."""
    return resources.files(_PACKAGE).joinpath(name).read_bytes()


@cache
def _templates() -> Environment:
    # An office nobody looks at need not carry the library.
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FunctionLoader(lambda name: asset(name).decode()), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
