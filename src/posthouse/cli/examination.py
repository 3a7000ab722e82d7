"""What `posthouse doctor` looks at: the machine and its programs, the libraries, the store and its disk."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

import msgspec

import posthouse
from posthouse.cli.printer import shown_path
from posthouse.errors import PosthouseError
from posthouse.matching.engine.indexed.search import IS_NATIVE
from posthouse.office.calls import AskStatus
from posthouse.server.assemble import reach_house
from posthouse.server.quantity import print_size

_ROOM: Final = 256 * 1_048_576
_OPEN_FILES: Final = 1_024
_JAVA: Final = 17
_REMOTE: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs", "afs"})
# The application id in the header of the file, without the number of the format.
_OURS: Final = b"PH"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "missing", "warning"]
    found: str
    purpose: str = "the office"
    remedy: str = ""
    needed: bool = False
    """True where an office does not work without it."""


def examine_machine() -> Iterator[Finding]:
    """Look at Python, the libraries and the programs that parts of Posthouse use."""
    yield _python()
    for library in ("apsw", "uvloop", "msgspec", "click", "rich", "structlog"):
        yield _library(library)
    yield _open_files()
    yield _compiled()
    yield _java()
    for library, extra, purpose in (
        ("pyspark", "pipeline", "the data pipeline"),
        ("psycopg", "postgres", "offices on PostgreSQL"),
        ("nats-py", "fabric", "many offices on NATS"),
    ):
        yield _extra(library, extra, purpose=purpose)
    yield _program(("chromium", "chromium-browser", "google-chrome"), "chromium", purpose="tests of the pages")
    yield _program(("smtp-source",), "postfix", purpose="tests of mail, measuring it beside Postfix")
    yield _program(("swaks",), "swaks", purpose="tests of mail")


async def examine_store(path: Path) -> list[Finding]:
    """Look at the store, its disk, and who has it open."""
    folder = _existing(path.parent.absolute())
    return [_disk(folder), _room(folder), _sync(folder), await _office(path)]


def _python() -> Finding:
    fits = sys.version_info >= (3, 11)
    return Finding(
        name="Python", state="ok" if fits else "missing", found=platform.python_version(), needed=True,
        remedy="" if fits else _apt("python3.11"),
    )  # fmt: skip


def _library(name: str) -> Finding:
    found = _version_of(name)
    if name == "apsw" and found is not None:
        # It bundles SQLite, and bears its version with a number of its own after it.
        found = f"{found} with SQLite {'.'.join(found.split('.')[:3])}"
    return Finding(
        name=name,
        state="ok" if found else "missing",
        found=found or "",
        needed=True,
        remedy="" if found else _pip(name),
    )


def _extra(name: str, extra: str, *, purpose: str) -> Finding:
    found = _version_of(name)
    return Finding(
        name=name, state="ok" if found else "missing", found=found or "", purpose=purpose,
        remedy="" if found else _pip(_extra_wanted(extra)),
    )  # fmt: skip


def _program(names: tuple[str, ...], package: str, *, purpose: str) -> Finding:
    found = next((place for name in names if (place := shutil.which(name, path=_program_path()))), None)
    return Finding(
        name=names[0], state="ok" if found else "missing", found=found or "", purpose=purpose,
        remedy="" if found else _apt(package),
    )  # fmt: skip


def _compiled() -> Finding:
    """Say whether the part of the engine that is written in C was compiled when Posthouse was installed."""
    source = _source()
    wanted = "posthouse" if source is None else f"-e {shlex.quote(shown_path(source))}"
    again = f"{shlex.quote(shown_path(sys.executable))} -m pip install --force-reinstall --no-deps {wanted}"
    return Finding(
        name="compiled engine",
        state="ok" if IS_NATIVE else "missing",
        found="compiled here" if IS_NATIVE else "",
        purpose="many subscriptions and rules at speed",
        remedy="" if IS_NATIVE else f"{_apt('gcc python3-dev')}, then {again}",
    )


def _java() -> Finding:
    program = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else shutil.which("java")
    said = _said_by([str(program), "-version"]) if program else ""
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    good = match is not None and int(match[1]) >= _JAVA
    return Finding(
        name=f"Java {_JAVA}",
        state="ok" if good else "missing",
        found=f"Java {match[1]}" if match else "",
        purpose="the data pipeline",
        remedy="" if good else _apt(f"openjdk-{_JAVA}-jre-headless"),
    )


def _open_files() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = soft == resource.RLIM_INFINITY
    good = endless or soft >= _OPEN_FILES
    return Finding(
        name="open files", state="ok" if good else "warning", found="no limit" if endless else f"{soft:,}",
        remedy="" if good else f"ulimit -n {_OPEN_FILES}",
    )  # fmt: skip


def _disk(folder: Path) -> Finding:
    kind = _file_system(folder)
    remote = kind in _REMOTE
    return Finding(
        name="file system", state="warning" if remote else "ok", found=f"{kind or 'unknown'} at {shown_path(folder)}",
        remedy="a network disk may break its promises: name a local one with --store" if remote else "",
    )  # fmt: skip


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    return Finding(
        name="free room", state="ok" if free >= _ROOM else "warning", found=print_size(free),
        remedy="" if free >= _ROOM else "free some room, or name another disk with --store",
    )  # fmt: skip


def _sync(folder: Path) -> Finding:
    """Write a little and bring it to the disk, as each commit does."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"posthouse")
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        return Finding(
            name="writing", state="missing", found=(fault.strerror or str(fault)).lower(), needed=True,
            remedy=f"make {shown_path(folder)} writable, or name another place with --store",
        )  # fmt: skip
    return Finding(name="writing", state="ok", found="the disk takes and syncs what is written", needed=True)


async def _office(path: Path) -> Finding:
    """Say who has the office open."""
    try:
        link = await reach_house(path)
        try:
            status = await link.answer(AskStatus())
        finally:
            await link.close()
    except PosthouseError:
        return _closed_store(path)
    good = status.store == "ok"
    return Finding(
        name="store", state="ok" if good else "warning", remedy="" if good else status.store,
        found=f"{shown_path(path)}, open in process {status.process}",
    )  # fmt: skip


def _closed_store(path: Path) -> Finding:
    """Tell of a store that nobody serves, without opening it: that could change it."""
    if not path.exists():
        return Finding(name="store", state="ok", found=f"none yet at {shown_path(path)}")
    try:
        with path.open("rb") as file:
            header = file.read(100)
        held = _is_locked(path)
    except OSError as fault:
        return Finding(
            name="store", state="warning", found=shown_path(path), remedy=(fault.strerror or str(fault)).lower()
        )
    if header and header[68:70] != _OURS:
        return Finding(
            name="store", state="warning", found=f"{shown_path(path)} is no store of an office",
            remedy="name another file with --store",
        )  # fmt: skip
    if held:
        return Finding(
            name="store", state="warning", found=f"{shown_path(path)}, held by a process that does not answer",
            remedy="wait a moment, or see what that process does",
        )  # fmt: skip
    schema = int.from_bytes(header[60:64])
    return Finding(name="store", state="ok", found=f"{shown_path(path)}, schema {schema}, open nowhere")


def _is_locked(path: Path) -> bool:
    lock = path.with_name(f"{path.name}.lock")
    if not lock.exists():
        return False
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _existing(folder: Path) -> Path:
    """Give the folder, or the nearest one above it that is there already."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def _file_system(folder: Path) -> str | None:
    """Give the kind of file system a folder lies on, as Linux names it."""
    kinds: dict[Path, str] = {}
    try:
        for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
            _, place, kind, *_ = line.split(" ")
            kinds[Path(place)] = kind
    except (OSError, ValueError):
        return None
    return next((kinds[each] for each in (folder, *folder.parents) if each in kinds), None)


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _said_by(command: list[str]) -> str:
    try:
        said = subprocess.run(  # noqa: S603 - a program found on this machine
            command, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout + said.stderr


def _program_path() -> str:
    # Mail programs lie where only root looks.
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])


def _source() -> Path | None:
    """Give the source tree this program runs from, if it does."""
    root = Path(posthouse.__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").exists() else None


def _pip(wanted: str) -> str:
    return f"{shlex.quote(shown_path(sys.executable))} -m pip install {shlex.quote(wanted)}"


def _extra_wanted(extra: str) -> str:
    source = _source()
    return f"posthouse[{extra}]" if source is None else f"{shown_path(source)}[{extra}]"


def _apt(package: str) -> str:
    if shutil.which("apt-get") is None:
        return f"install {package} with the package manager of this system"
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"
