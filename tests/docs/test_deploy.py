"""What stands in deploy/ can be used as it is: settings are read, the unit is sound, both offices know each other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from posthouse.server.settings import terms_of
from posthouse.server.sources import Reading, read_settings
from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "posthouse.service"


def reading(name: str) -> Reading:
    return read_settings(config=str(DEPLOY / name))


@pytest.mark.parametrize("file", sorted(DEPLOY.rglob("*.toml")), ids=lambda file: file.name)
def test_settings_can_be_read(file: Path) -> None:
    found = read_settings(config=str(file))
    terms_of(found.settings)
    assert not found.ignored


def test_the_two_offices_know_each_other() -> None:
    east, west = (reading(f"two-offices/{name}.toml").settings for name in ("east", "west"))
    assert east.peers["west"].split()[0] == west.office.name
    assert west.peers["east"].split()[0] == east.office.name


def test_compose_names_files_that_are_there() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert set(services) == {"east", "west"}
    for name, service in services.items():
        sources = [volume.split(":")[0] for volume in service["volumes"]]
        assert f"./two-offices/{name}.toml" in sources
        assert all((DEPLOY / source).is_file() for source in sources if source.startswith("."))
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (ROOT / "deploy" / "Containerfile").is_file()


def test_the_image_is_made_of_files_that_are_there() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    named = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert all((ROOT / name).exists() for names in named for name in names)


@pytest.mark.service("systemd")
def test_the_unit_is_sound(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here")
    posthouse = str(Path(sys.executable).with_name("posthouse"))
    unit = tmp_path / "posthouse.service"
    unit.write_text(
        UNIT.read_text().replace("/usr/local/lib/posthouse/bin/posthouse", posthouse).replace("=posthouse\n", "=root\n")
    )
    ran = subprocess.run([program, "verify", unit], capture_output=True, text=True, timeout=60, check=False)
    about = [line for line in ran.stderr.splitlines() if "posthouse" in line]
    assert (ran.returncode, about) == (0, [])
