"""Where settings come from: flags win over the environment, the environment over one TOML file, the file over defaults.

Everything that is wrong in any of them is told at once. Only `read_settings` touches the disk.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from posthouse.errors import PosthouseError
from posthouse.message.mailroute import is_pattern
from posthouse.message.name import parse_office
from posthouse.server.mailing import relay_faults
from posthouse.server.peering import NAME, faults_among, peer_of
from posthouse.server.quantity import Kind
from posthouse.server.settings import (
    OPEN,
    ORDERED,
    Settings,
    is_secret,
    kind_of,
    kinds,
    mail_name_of,
    settings_of,
    values,
)

MAX_FILE: Final = 1_048_576
USUAL_FILE: Final = "posthouse.toml"
PREFIX: Final = "POSTHOUSE_"
# Variables of the program itself, which are no settings.
_OWN: Final = frozenset({"POSTHOUSE_CONFIG", "POSTHOUSE_DEBUG", "POSTHOUSE_KEY"})

# How readers begin that say in words of their own what is wrong; the others only repeat the value.
_SAID: Final = ("name ", "the office", "expected ", "a key")

_HEADER: Final = re.compile(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?")
_MEMBER: Final = re.compile(r"\s*([A-Za-z0-9_-]+(?:\s*\.\s*[A-Za-z0-9_-]+)?)\s*=")
_AT: Final = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


class SettingsFault(PosthouseError):
    """A setting that cannot be used: its place, what was expected there, and what was found."""

    code: ClassVar[str] = "settings.fault"
    public: ClassVar[str] = "The office is not set up correctly."

    def __init__(
        self, expected: str, *, found: str, where: str, column: int | None = None, hint: str | None = None
    ) -> None:
        self.expected = expected
        self.found = found
        super().__init__(f"expected {expected}, found {found}", where=where, column=column, hint=hint)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as somebody wrote it."""

    name: str
    value: object
    place: str
    """`posthouse.toml:3`, the name of a variable, or a flag."""
    source: str
    """file, environment or flag."""
    folder: Path | None = None
    """The folder a path counts from, where it is not the working directory."""


class Origin(msgspec.Struct, frozen=True):
    """Where the value of a setting comes from."""

    source: str
    """default, file, environment or flag."""
    place: str = ""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, and where each comes from."""

    settings: Settings
    origins: dict[str, Origin]
    file: str | None = None
    """The settings file, where there is one."""
    ignored: tuple[str, ...] = ()
    """Variables that begin with POSTHOUSE_ but name no group of settings."""


def read_settings(
    *, config: str | None = None, flags: Iterable[Given] = (), environment: Mapping[str, str] | None = None
) -> Reading:
    """Read the settings from everywhere; raises an ExceptionGroup of all faults."""
    environment = environment or {}
    wanted = config or environment.get("POSTHOUSE_CONFIG") or None
    path = Path(wanted or USUAL_FILE).expanduser()
    faults: list[SettingsFault] = []
    text: bytes | None = None
    if wanted or path.exists():
        try:
            text = _read_file(path)
        except SettingsFault as fault:
            faults.append(fault)
    given = []
    if text is not None:
        found, wrong = in_file(text, path)
        given += found
        faults += wrong
    found, ignored = in_environment(environment)
    return settle([*given, *found, *flags], faults=faults, file=None if text is None else str(path), ignored=ignored)


def settle(
    given: Iterable[Given],
    *,
    faults: Iterable[SettingsFault] = (),
    file: str | None = None,
    ignored: Iterable[str] = (),
) -> Reading:
    """Check everything given, later ones winning over earlier ones of the same name."""
    known = kinds()
    wrong = list(faults)
    chosen: dict[str, Any] = {}
    origins = {name: Origin("default") for name in known}
    for one in given:
        kind = kind_of(one.name)
        try:
            if kind is None:
                raise _unknown(one, known)
            if one.name not in known:
                _check_own_name(one)
            chosen[one.name] = _value(one, kind)
            origins[one.name] = Origin(one.source, one.place)
        except SettingsFault as fault:
            wrong.append(fault)
    settings = settings_of(chosen)
    wrong += _out_of_order(settings, origins)
    wrong += _wrong_peers(settings, origins)
    wrong += _wrong_relays(settings, origins)
    if wrong:
        raise ExceptionGroup("the settings cannot be used", wrong)
    return Reading(settings=settings, origins=origins, file=file, ignored=tuple(ignored))


def flag(text: str, name: str = "--set") -> Given:
    """Read `group.field=value` as it follows `--set`."""
    full, sign, value = text.partition("=")
    if not sign:
        raise ExceptionGroup("the settings cannot be used", [
            SettingsFault("group.field=value", found=_quoted(text), where=name, hint="such as log.level=debug"),
        ])  # fmt: skip
    return Given(name=full.strip(), value=value, place=name, source="flag")


def in_environment(environment: Mapping[str, str]) -> tuple[list[Given], list[str]]:
    """Find settings among the variables; gives those of no group apart, as they may mean something to others."""
    variables = {variable_of(name): name for name in kinds()}
    groups = {*OPEN, *(name.split(".")[0] for name in kinds())}
    given: list[Given] = []
    ignored: list[str] = []
    for variable, value in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable in _OWN:
            continue
        group, _, rest = variable.removeprefix(PREFIX).lower().partition("_")
        near = difflib.get_close_matches(variable, variables, n=1, cutoff=0.9)
        if group in groups or near:
            name = variables.get(variable) or f"{group}.{rest}"
            given.append(Given(name=name, value=value, place=variable, source="environment"))
        else:
            ignored.append(variable)
    return given, ignored


def variable_of(name: str) -> str:
    """Give the variable that holds a setting."""
    return f"{PREFIX}{name.replace('.', '_').upper()}"


def in_file(text: bytes, path: Path) -> tuple[list[Given], list[SettingsFault]]:
    """Find settings in the text of a TOML file."""
    try:
        decoded = text.decode()
        table = tomllib.loads(decoded)
    except UnicodeDecodeError as fault:
        line = text[: fault.start].count(b"\n") + 1
        return [], [SettingsFault("text in UTF-8", found=f"the byte {text[fault.start]:#04x}", where=f"{path}:{line}")]
    except (ValueError, RecursionError) as fault:
        return [], [_no_toml(fault, path, lines=text.count(b"\n") + 1)]
    lines = _lines(decoded)
    given: list[Given] = []
    faults: list[SettingsFault] = []
    for group, members in table.items():
        if not isinstance(members, dict):
            faults.append(_outside_group(group, members, place=_place(path, lines.get(group))))
            continue
        given += [
            Given(
                name=f"{group}.{name}",
                value=value,
                place=_place(path, lines.get(f"{group}.{name}")),
                source="file",
                folder=path.parent,
            )
            for name, value in members.items()
        ]
        if not members and group not in OPEN and not any(name.startswith(f"{group}.") for name in kinds()):
            given.append(Given(name=f"{group}.", value="", place=_place(path, lines.get(group)), source="file"))
    return given, faults


def shown(name: str, value: object) -> str:
    """Write the value of a setting for people; a secret is not shown."""
    kind = kind_of(name)
    return "***" if (is_secret(name) and value != "") or kind is None else kind.write(value)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE + 1)
    except OSError as fault:
        raise SettingsFault(
            "a settings file that can be read", found=(fault.strerror or str(fault)).lower(), where=str(path)
        ) from fault
    if len(text) > MAX_FILE:
        raise SettingsFault(f"at most {MAX_FILE:,} bytes", found="more", where=str(path))
    return text


def _value(given: Given, kind: Kind) -> Any:
    try:
        value = kind.read(given.value)
    except (ValueError, OverflowError) as fault:
        said = str(fault)
        hint = said if said.startswith(_SAID) and not is_secret(given.name) else None
        raise SettingsFault(
            f"{given.name} to be {kind.expected}", found=_found(given), where=given.place, hint=hint
        ) from None
    if kind.placed is not None and given.folder is not None:
        return kind.placed(value, given.folder)
    return value


def _check_own_name(given: Given) -> None:
    group, _, name = given.name.partition(".")
    if group == "routes":
        if not is_pattern(name):
            raise SettingsFault(
                "a domain in routes, .domain for those below it, or *", found=_quoted(name), where=given.place
            )
    elif not NAME.fullmatch(name):
        raise SettingsFault(
            f"a name in {group} of small letters, digits, - and _", found=_quoted(name), where=given.place
        )


def _found(given: Given) -> str:
    return "something else" if is_secret(given.name) else _quoted(given.value)


def _quoted(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if not isinstance(value, str) else f'"{value}"' if value.isprintable() else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unknown(given: Given, known: Mapping[str, Kind]) -> SettingsFault:
    group, _, name = given.name.partition(".")
    siblings = {full.partition(".")[2]: full for full in known if full.startswith(f"{group}.")}
    near = [siblings[one] for one in difflib.get_close_matches(name, siblings, n=1)]
    near = near or [full for full in known if full.endswith(f".{name}")]
    near = near or ([] if siblings else difflib.get_close_matches(given.name, known, n=1))
    if near:
        meant = variable_of(near[0]) if given.source == "environment" else near[0]
        hint = f"did you mean {meant}?"
    elif siblings:
        hint = f"{group} has {', '.join(siblings)}"
    else:
        hint = f"the groups are {', '.join(dict.fromkeys(full.split('.')[0] for full in known))}"
    return SettingsFault("the name of a setting", found=_quoted(given.name.rstrip(".")), where=given.place, hint=hint)


def _outside_group(name: str, value: object, *, place: str) -> SettingsFault:
    near = [full for full in kinds() if full.endswith(f".{name}") or full.startswith(f"{name}.")]
    hint = f"write it as {near[0]} = ..., or below [{near[0].split('.')[0]}]" if near else None
    return SettingsFault(
        "settings in groups, such as [log]", found=f"{name} = {_quoted(value)}", where=place, hint=hint
    )


def _out_of_order(settings: Settings, origins: Mapping[str, Origin]) -> list[SettingsFault]:
    now = dict(values(settings))
    return [
        SettingsFault(
            f"{first} to be at most {second}, which is {now[second]:g}",
            found=f"{now[first]:g}",
            where=origins[first].place or origins[second].place,
        )
        for first, second in ORDERED
        if now[first] > now[second]
    ]


def _wrong_peers(settings: Settings, origins: Mapping[str, Origin]) -> list[SettingsFault]:
    peers = {name: peer_of(name, line) for name, line in settings.peers.items()}
    faults = [
        SettingsFault(f"peers.{name} to be {expected}", found=found, where=origins[f"peers.{name}"].place)
        for name, (expected, found) in faults_among(peers, settings.office.name).items()
    ]
    if peers and parse_office(settings.office.name).protocol not in {"http", "https"}:
        first = next(iter(peers))
        faults.append(
            SettingsFault(
                "office.name to be one that peers can list",
                found=_quoted(settings.office.name),
                where=origins["office.name"].place or origins[f"peers.{first}"].place,
                hint="such as http://post.example:8025/main",
            )
        )
    return faults


def _wrong_relays(settings: Settings, origins: Mapping[str, Origin]) -> list[SettingsFault]:
    mail = settings.mail
    return [
        SettingsFault(expected, found=found, where=origins["mail.relay_domains"].place)
        for expected, found in relay_faults(
            mail.relay_domains.split(), own=mail.domains.split(), routes=settings.routes, name=mail_name_of(settings)
        )
    ]


def _no_toml(fault: ValueError | RecursionError, path: Path, *, lines: int) -> SettingsFault:
    at = _AT.fullmatch(str(fault))
    what = "brackets nested too deeply" if isinstance(fault, RecursionError) else (at[1] if at else str(fault))
    place = f"{path}:{at[2] or lines}" if at else str(path)
    column = int(at[3]) if at and at[3] else None
    return SettingsFault("TOML", found=f"{what[:1].lower()}{what[1:]}"[:200], where=place, column=column)


def _lines(text: str) -> dict[str, int]:
    """Give the line each setting stands on; enough for the plain files people write."""
    lines: dict[str, int] = {}
    group = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            group = f"{header[1]}."
            lines.setdefault(header[1], number)
        elif member := _MEMBER.match(line):
            lines.setdefault(group + "".join(member[1].split()), number)
    return lines


def _place(path: Path, line: int | None) -> str:
    return str(path) if line is None else f"{path}:{line}"
