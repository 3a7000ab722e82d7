"""The import contracts name every part of the house that exists."""

from __future__ import annotations

import tomllib
from typing import Any

from tests.shape.source import ROOT, modules

DECIDING = frozenset({
    "message", "matching", "organisation", "gate", "sender", "buffer", "switch", "pubsub", "intercept", "route",
})  # fmt: skip
"""The parts that decide and do not do: once one exists, the contract `pure` speaks of it."""


# A contract is a table of options of several types, as import-linter reads it.
def contract(name: str) -> dict[str, Any]:
    table = tomllib.loads((ROOT / ".importlinter.toml").read_text(encoding="utf-8"))
    return next(entry for entry in table["contracts"] if entry["id"] == name)


def parts() -> set[str]:
    return {module.name.split(".")[1] for module in modules() if "." in module.name}


def test_every_part_stands_on_a_floor() -> None:
    named = {part.strip() for floor in contract("floors")["layers"] for part in floor.split("|")}
    missing = parts() - named
    assert not missing, f".importlinter.toml: contract floors does not place {sorted(missing)}"


def test_every_deciding_part_is_held_pure() -> None:
    named = {source.split(".")[1] for source in contract("pure")["source_modules"]}
    missing = (parts() & DECIDING) - named
    assert not missing, f".importlinter.toml: contract pure does not name {sorted(missing)}"


def test_every_adapter_is_protected() -> None:
    protected = set(contract("assembly")["protected_modules"])
    adapters = {
        f"posthouse.{floor}.{adapter.strip()}"
        for floor, name in (("store", "stores"), ("transport", "transports"))
        for adapter in contract(name)["layers"][0].split("|")
    }
    missing = adapters - protected
    assert not missing, f".importlinter.toml: contract assembly does not protect {sorted(missing)}"
