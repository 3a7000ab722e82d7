"""A small company for tests of who is who."""

from __future__ import annotations

from typing import Final

from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.snapshot import Snapshot

TEXT: Final = """\
domains = ["alpha.example", "*.alpha.example"]
office_administrator = "Registrar"
postmaster = "Postmaster"

[unit."House"]
location = "Oslo"

[unit."Sales"]
part_of = "House"

[role."CEO"]
unit = "House"
holders = ["ceo@alpha.example"]

[role."VP"]
reports_to = "CEO"
unit = "Sales"
holders = ["vp@alpha.example"]

[role."Manager"]
reports_to = "VP"
unit = "Sales"
holders = ["manager@alpha.example"]

[role."Clerk"]
reports_to = "Manager"
unit = "Sales"
holders = ["clerk@alpha.example", "second@alpha.example"]

[role."Auditor"]
reports_to = "CEO"
holders = ["vp@alpha.example"]
location = "Bergen"

[role."Compliance"]
reports_to = "CEO"
holders = ["ida@alpha.example", "kai@alpha.example"]
deputies = ["lea@alpha.example", "Auditor"]

[role."Vacant"]
reports_to = "Clerk"

[role."Registrar"]
holders = ["reg@alpha.example"]

[role."Postmaster"]
holders = ["pm@alpha.example"]

[user."ceo@alpha.example"]
name = "Zoë Okafor"
aliases = ["chief@alpha.example"]

[user."vp@alpha.example"]
location = "Rome"

[user."manager@alpha.example"]

[user."clerk@alpha.example"]

[user."second@alpha.example"]

[user."ida@alpha.example"]
name = "Ida Lund"
absences = [
    { from = 2026-07-01, until = 2026-07-14, reason = "leave" },
    { from = 2026-09-01T12:00:00Z },
]

[user."kai@alpha.example"]
disabled = true

[user."lea@alpha.example"]

[user."reg@alpha.example"]

[user."pm@alpha.example"]

[group."sales@alpha.example"]
name = "Sales"
aliases = ["shop@alpha.example"]
members = ["manager@alpha.example"]
roles = ["Clerk"]

[group."friends@alpha.example"]
members = ["sales@alpha.example", "eve@far.example"]

[group."all@alpha.example"]
members = [
    "sales@alpha.example", "ida@alpha.example", "lea@alpha.example",
    "reg@alpha.example", "pm@alpha.example", "vp@alpha.example",
]
"""
COMPANY: Final = Snapshot(parse_directory(TEXT), edition=3)
