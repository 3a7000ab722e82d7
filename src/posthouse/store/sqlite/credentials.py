"""The part of a transaction that stands apart from all queues: credentials, and the pulse of an examination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from posthouse.message.changes import Changes
from posthouse.store.sqlite.rows import issue_row


def may_issue(cursor: apsw.Cursor, sql: Mapping[str, str], *, change: Changes) -> bool:
    """Say whether the ids of new credentials are unknown, and those to be revoked still stand."""
    new = [issue.credential.id for issue in change.issues]
    ended = [revoke.id for revoke in change.revokes]
    if len({*new, *ended}) < len(new) + len(ended):
        return False

    # `Any`: what SQLite gives for one cell; None where there is no row.
    def stands(identity: str) -> Any:
        return cursor.execute(sql["credential-stands"], (identity,)).get

    return all(stands(identity) is None for identity in new) and all(stands(identity) for identity in ended)


def write_apart(cursor: apsw.Cursor, sql: Mapping[str, str], *, change: Changes) -> None:
    """Write them."""
    for issue in change.issues:
        cursor.execute(sql["credential-add"], issue_row(issue)).fetchall()
    for revoke in change.revokes:
        cursor.execute(sql["credential-revoke"], (revoke.id, revoke.at)).fetchall()
    if change.pulse is not None:
        cursor.execute(sql["pulse-set"], (change.pulse,)).fetchall()
