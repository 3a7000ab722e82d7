"""The file with the key of an office."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from posthouse.transport.http.keyfile import KeyUnusable, load, load_or_make
from posthouse.transport.http.trust import OwnKey


def test_a_key_is_made_once_and_read_by_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "office.db.key"
    assert load(path) is None
    made = load_or_make(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(load_or_make(path).public) == str(made.public)
    assert [each.name for each in tmp_path.iterdir()] == ["office.db.key"]


def test_many_that_need_it_at_once_get_the_same(tmp_path: Path) -> None:
    made: list[OwnKey] = []
    threads = [threading.Thread(target=lambda: made.append(load_or_make(tmp_path / "key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({str(key.public) for key in made}) == 1


def test_a_key_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "key"
    load_or_make(path)
    path.chmod(0o640)
    with pytest.raises(KeyUnusable, match=r"found mode 640.*chmod 600"):
        load_or_make(path)


@pytest.mark.parametrize(
    "text", [b"", b"garbage", b"-----BEGIN %s-----\nAAAA\n-----END %s-----\n" % ((b"PRIVATE KEY",) * 2)]
)
def test_what_is_no_key_is_told_and_kept(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(KeyUnusable, match="expected an Ed25519 key"):
        load_or_make(path)
    assert path.read_bytes() == text


def test_a_place_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyUnusable, match="no such file or directory"):
        load_or_make(tmp_path / "nowhere" / "key")
