"""One mail read: its parts are found once, and then its header and what the parts hold."""

from __future__ import annotations

from posthouse.message.form.mail.content import Content, read_content
from posthouse.message.form.mail.heading import Heading, read_heading
from posthouse.message.form.mail.part import read_structure


def read_mail(raw: bytes, *, is_cut: bool = False) -> tuple[Heading, Content]:
    """Read a mail, or the beginning of one that is cut."""
    structure = read_structure(raw, is_cut=is_cut)
    return read_heading(structure), read_content(raw, structure)
