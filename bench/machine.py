"""The machine a run was made on, in one line: without it a figure means nothing."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import apsw


def describe() -> str:
    """Give processors, kernel, versions and date."""
    return (
        f"{os.cpu_count()} cores, {_processor()}, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()},"
        f" {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    )


def load() -> str:
    """Give how busy the machine has been over the last minutes."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
