"""What each command and test of Sieve takes: one table, which faults are told from."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Kind = Literal["", "text", "texts", "number"]


class TagForm(msgspec.Struct, frozen=True):
    """What a tag takes, what it needs, and of which group only one may stand."""

    takes: Kind = ""
    needs: str = ""
    """The extension that has to be required."""
    group: str = ""


class Form(msgspec.Struct, frozen=True):
    """What a command or a test takes."""

    positional: tuple[Kind, ...] = ()
    tags: dict[str, TagForm] = {}
    needs: str = ""
    tests: Literal["none", "one", "many"] = "none"
    has_block: bool = False
    must: tuple[str, ...] = ()
    """One of these tags has to stand there."""


_MATCH: Final = {
    ":is": TagForm(group="match"),
    ":contains": TagForm(group="match"),
    ":matches": TagForm(group="match"),
    ":regex": TagForm(needs="regex", group="match"),
    ":count": TagForm("text", "relational", "match"),
    ":value": TagForm("text", "relational", "match"),
    ":comparator": TagForm("text"),
}
_PART: Final = {
    ":all": TagForm(group="part"),
    ":localpart": TagForm(group="part"),
    ":domain": TagForm(group="part"),
    ":user": TagForm(needs="subaddress", group="part"),
    ":detail": TagForm(needs="subaddress", group="part"),
}
_INDEX: Final = {":index": TagForm("number", "index"), ":last": TagForm(needs="index")}

TESTS: Final[dict[str, Form]] = {
    "address": Form(("texts", "texts"), _MATCH | _PART | _INDEX),
    "envelope": Form(("texts", "texts"), _MATCH | _PART, needs="envelope"),
    "header": Form(("texts", "texts"), _MATCH | _INDEX),
    "exists": Form(("texts",)),
    "size": Form(("number",), {":over": TagForm(group="size"), ":under": TagForm(group="size")},
                 must=(":over", ":under")),
    "allof": Form(tests="many"),
    "anyof": Form(tests="many"),
    "not": Form(tests="one"),
    "true": Form(),
    "false": Form(),
    "body": Form(
        ("texts",),
        _MATCH
        | {":raw": TagForm(group="body"), ":text": TagForm(group="body"), ":content": TagForm("texts", group="body")},
        needs="body",
    ),
    "date": Form(("text", "text", "texts"),
                 _MATCH | _INDEX | {":zone": TagForm("text", group="zone"), ":originalzone": TagForm(group="zone")},
                 needs="date"),
    "currentdate": Form(("text", "texts"), _MATCH | {":zone": TagForm("text", group="zone")}, needs="date"),
    "string": Form(("texts", "texts"), _MATCH, needs="variables"),
}  # fmt: skip

_FLAGS: Final = {":flags": TagForm("texts", "imap4flags")}
_COPY: Final = {":copy": TagForm(needs="copy")}
_CASE: Final = {
    f":{name}": TagForm(group=group)
    for group, names in (
        ("letters", ("lower", "upper")),
        ("first", ("lowerfirst", "upperfirst")),
        ("quote", ("quotewildcard",)),
        ("length", ("length",)),
    )
    for name in names
}
COMMANDS: Final[dict[str, Form]] = {
    "require": Form(("texts",)),
    "if": Form(tests="one", has_block=True),
    "elsif": Form(tests="one", has_block=True),
    "else": Form(has_block=True),
    "stop": Form(),
    "keep": Form((), _FLAGS),
    "discard": Form(),
    "redirect": Form(("text",), _COPY),
    "fileinto": Form(("text",), _COPY | _FLAGS | {":create": TagForm(needs="mailbox")}, needs="fileinto"),
    "reject": Form(("text",), needs="reject"),
    "ereject": Form(("text",), needs="ereject"),
    "set": Form(("text", "text"), _CASE, needs="variables"),
}

# What other extensions bring; nothing here corresponds to it, and what to do instead is said where there is something.
FOREIGN_COMMANDS: Final[dict[str, tuple[str, str | None]]] = {
    "vacation": ("it answers a mail", "a program that reads the mailbox can answer"),
    "notify": ("it speaks to services outside", 'THEN notify "…" tells somebody of this office'),
    "setflag": ("mailboxes here have no flags", "give each kind of mail a mailbag of its own"),
    "addflag": ("mailboxes here have no flags", "give each kind of mail a mailbag of its own"),
    "removeflag": ("mailboxes here have no flags", "give each kind of mail a mailbag of its own"),
    "include": ("it takes in another script", "import that script too"),
    "return": ("it ends a script that another one took in", None),
    "global": ("it shares variables between scripts", None),
    "import": ("it shares variables between scripts", None),
    "export": ("it shares variables between scripts", None),
    "addheader": ("rules decide about a mail and leave it as it is", None),
    "deleteheader": ("rules decide about a mail and leave it as it is", None),
    "replace": ("rules decide about a mail and leave it as it is", None),
    "enclose": ("rules decide about a mail and leave it as it is", None),
    "extracttext": ("rules have no variables", None),
    "foreverypart": ("rules do not walk through the parts of a mail", "any attachment (…) looks at each attachment"),
    "break": ("it ends a walk through the parts of a mail", None),
    "error": ("it ends a script with an error", None),
    "denotify": ("it speaks to services outside", None),
    "pipe": ("it runs a program", "a program that reads the mailbox can do it"),
    "filter": ("it runs a program", "a program that reads the mailbox can do it"),
    "debug_log": ("it writes a log", "posthouse rules explain says why a rule applies"),
    "report": ("it writes a report to others", None),
    "snooze": ("it puts a mail into a mailbox later", "THEN defer for 2 hours puts off its delivery"),
}  # fmt: skip
FOREIGN_TESTS: Final[dict[str, tuple[str, str | None]]] = {
    "hasflag": ("mailboxes here have no flags", None),
    "duplicate": ("rules do not remember other mails", None),
    "environment": ("it asks for the server the script runs on", None),
    "mailboxexists": ("rules do not ask for mailboxes", None),
    "metadata": ("rules do not ask for mailboxes", None),
    "metadataexists": ("rules do not ask for mailboxes", None),
    "servermetadata": ("rules do not ask for mailboxes", None),
    "servermetadataexists": ("rules do not ask for mailboxes", None),
    "mailboxidexists": ("rules do not ask for mailboxes", None),
    "specialuse_exists": ("rules do not ask for mailboxes", None),
    "spamtest": ("it asks what a spam filter said", 'the filter writes a header: header("X-Spam-Score")'),
    "virustest": ("it asks what a virus filter said", 'the filter writes a header: header("X-Virus")'),
    "valid_notify_method": ("it speaks to services outside", None),
    "notify_method_capability": ("it speaks to services outside", None),
    "valid_ext_list": ("lists outside of the script are not asked", 'words "…" from "…" names a list of words'),
    "ihave": ("it asks what the server can do", "take the branch that is meant out by hand"),
    "execute": ("it runs a program", None),
}
EXTENSIONS: Final = frozenset({
    "fileinto", "envelope", "body", "relational", "regex", "date", "variables", "reject", "ereject", "copy", "mailbox",
    "encoded-character", "comparator-i;octet", "comparator-i;ascii-casemap", "comparator-i;ascii-numeric",
})  # fmt: skip
"""What is read, and for the most part taken over."""
COMPARATORS: Final = ("i;ascii-casemap", "i;octet", "i;ascii-numeric", "i;unicode-casemap")
RELATIONS: Final = ("gt", "ge", "lt", "le", "eq", "ne")
