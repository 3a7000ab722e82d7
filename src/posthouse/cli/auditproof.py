"""Proving an audit: that of a store, or one that was exported, each held against its seals and against older copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from posthouse.message.audit import Seal
from posthouse.message.form.auditlines import AuditUnreadable, Head, beginning, read_lines, shown_key
from posthouse.message.proof import BEGINNING, Flaw, Link, Row, against, prove, wrong_seal
from posthouse.server.assemble import is_signed, open_audit, prove_audit


class Proof(NamedTuple):
    """What was found of an audit."""

    records: int
    """How many there are, up to the first flaw."""
    seals: int
    sealed: int
    """The newest record a seal holds for."""
    keys: list[str]
    """What it was sealed with."""
    flaw: Flaw | None = None


class Export(NamedTuple):
    """An export that was read and proved by itself."""

    behind: Link
    links: list[Link]
    seals: list[Seal]
    flaw: Flaw | None


def prove_store(path: Path, *, keys: frozenset[bytes], copies: Iterable[Path]) -> Proof:
    """Prove the audit in the file of a store."""
    found = prove_audit(path)
    with closing(open_audit(path)) as file:
        flaws = [found] if isinstance(found, Flaw) else []
        seals = list(file.seals())
        flaws += [flaw for seal in seals if (flaw := _wrong_seal(seal, file.chain_at(seal.number), keys))]
        flaws += [flaw for copy in copies if (flaw := _against(copy, file.chain_at))]
        return _proof(file.last(), seals, flaws)


def prove_export(path: Path, *, keys: frozenset[bytes], copies: Iterable[Path]) -> Proof:
    """Prove an audit that was exported."""
    export = read_export(path)
    chains = dict([export.behind, *export.links])
    flaws = [export.flaw] if export.flaw is not None else []
    flaws += [flaw for seal in export.seals if (flaw := _wrong_seal(seal, chains.get(seal.number), keys))]
    flaws += [flaw for copy in copies if (flaw := _against(copy, chains.get))]
    return _proof(max(chains), export.seals, flaws)


def read_export(path: Path) -> Export:
    """Read an export and follow its chain."""
    behind, links, seals = BEGINNING, list[Link](), list[Seal]()
    found: Link | Flaw = behind
    with _opened(path) as lines:
        for line in read_lines(lines, str(path)):
            if isinstance(line, Head):
                behind = found = _beginning(line, path)
            elif isinstance(line, Row):
                links.append(Link(line.number, line.chain))
                if isinstance(found, Link):
                    found = prove([line], found)
            else:
                seals.append(line)
    return Export(behind, links, seals, found if isinstance(found, Flaw) else None)


def _proof(last: int, seals: list[Seal], flaws: list[Flaw]) -> Proof:
    first = min((_cut_off(flaw, last) for flaw in flaws), key=lambda flaw: flaw.number, default=None)
    return Proof(
        records=last if first is None else min(last, first.number - 1),
        seals=len(seals),
        sealed=max((seal.number for seal in seals), default=0),
        keys=sorted({shown_key(seal.key) for seal in seals}),
        flaw=first,
    )


def _cut_off(flaw: Flaw, last: int) -> Flaw:
    """Have what is gone begin behind the last record there is."""
    if flaw.ill != "cut off" or flaw.number <= last + 1:
        return flaw
    return Flaw(last + 1, flaw.ill, f"records {last + 1} to {flaw.number} are gone: {flaw.text}")


def _wrong_seal(seal: Seal, chain: bytes | None, keys: frozenset[bytes]) -> Flaw | None:
    only = None if not keys else seal.key if seal.key in keys else min(keys)
    return wrong_seal(seal, chain, is_signed=is_signed, key=only)


def _against(path: Path, chain_at: Callable[[int], bytes | None]) -> Flaw | None:
    export = read_export(path)
    if export.flaw is not None:
        raise AuditUnreadable(f"the copy itself is not whole: {export.flaw.text}", where=str(path))
    return against([*([export.behind] if export.behind.number else []), *export.links], chain_at)


def _beginning(head: Head, path: Path) -> Link:
    try:
        return beginning(head)
    except ValueError as fault:
        raise AuditUnreadable(f"the line cannot be read: {fault}", where=f"{path}, line 1") from fault


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[bytes]]:
    try:
        file = path.open("rb")
    except OSError as fault:
        what = f"the file cannot be read: {fault.strerror or fault}"
        raise AuditUnreadable(what, where=str(path)) from fault
    with file:
        yield iter(file)
