"""The page of the organisation names every key, column and attribute that is read."""

from __future__ import annotations

import re
from pathlib import Path

from posthouse.organisation.form.ldif import ATTRIBUTES
from posthouse.organisation.form.schema import ABSENCE, HEAD, KINDS
from posthouse.organisation.form.sheet import COLUMNS

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "organisation.md"


def test_every_word_that_is_read_stands_in_the_reference() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.startswith("|")]
    named = {name.lower() for row in rows for name in re.findall(r"`([^`]+)`", row)}
    keys = {*HEAD, *ABSENCE, *(key for kind in KINDS.values() for key in kind.keys)}
    columns = {name for names in COLUMNS.values() for name in names}
    attributes = {name for field, names in ATTRIBUTES.items() if field != "class" for name in names}
    assert not sorted((keys | columns | attributes) - named)
