"""Check the import contracts of `.importlinter.toml`, of which only the modules that exist are asked about.

import-linter refuses a contract that names a missing module, and the contracts name the whole design.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / ".importlinter.toml"

Option = str | bool | list[str]

NAMING_MODULES = frozenset({
    "source_modules", "forbidden_modules", "protected_modules", "allowed_importers", "modules", "containers",
})  # fmt: skip


def exists(module: str) -> bool:
    """Say whether a module of the house is written; modules of others and patterns always count."""
    if not module.startswith("posthouse") or "*" in module:
        return True
    path = ROOT.joinpath("src", *module.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def lessen(contract: Mapping[str, Option]) -> dict[str, Option] | None:
    """Leave out what is not built yet; a contract with nothing left to check is none."""
    lessened = dict(contract)
    for key, named in contract.items():
        if key in NAMING_MODULES and isinstance(named, list) and named:
            there = [module for module in named if exists(module)]
            if not there and key != "allowed_importers":
                return None
            lessened[key] = there
    layers = contract.get("layers")
    if isinstance(layers, list):
        lessened["layers"] = [" | ".join(f"({name.strip()})" for name in layer.split("|")) for layer in layers]
    return lessened


def as_section(title: str, options: Mapping[str, Option]) -> str:
    """Write one section of the ini form that import-linter reads."""
    lines = [f"[{title}]"]
    for key, value in options.items():
        text = "".join(f"\n    {item}" for item in value) if isinstance(value, list) else str(value)
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Hand the lessened contracts to import-linter and show what it says only when one is broken."""
    table = tomllib.loads(CONTRACTS.read_text(encoding="utf-8"))
    sections = [as_section("importlinter", table["session"])]
    for contract in table["contracts"]:
        lessened = lessen(contract)
        if lessened is not None:
            sections.append(as_section(f"importlinter:contract:{lessened.pop('id')}", lessened))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "contracts.ini")
        config.write_text("\n".join(sections), encoding="utf-8")
        lint_imports = Path(sys.executable).with_name("lint-imports")
        checked = subprocess.run(
            [lint_imports, "--no-logo", "--no-cache", "--config", config],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    if checked.returncode or "--verbose" in sys.argv:
        sys.stdout.write(checked.stdout + checked.stderr)
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
