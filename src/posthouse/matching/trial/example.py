"""The examples a rule carries, run: which of them the rule says something else of than they expect, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from posthouse.errors import PosthouseError
from posthouse.matching.language.rule.example import record_of
from posthouse.matching.language.rule.rule import Example, Expected, Rule
from posthouse.matching.match import FALSE, TRUE, UNKNOWN, Truth
from posthouse.matching.trial.reason import Verdict, judge_rule
from posthouse.matching.value.record import NOTHING_BESIDE, Context, Recipient, Record
from posthouse.matching.value.wordlist import NO_LISTS, Lists
from posthouse.message.features import MAIL, MailFeatures, features_of_mail

EXPECTED: Final[dict[Expected, Truth]] = {"match": TRUE, "no match": FALSE, "unknown": UNKNOWN}
SAID: Final[dict[Truth, Expected]] = {truth: expected for expected, truth in EXPECTED.items()}

ReadFile = Callable[[str], bytes]
"""Gives the bytes of a file that an example names; raises PosthouseError or OSError where it cannot be read."""


class Trial(msgspec.Struct, frozen=True):
    """One example after it was run."""

    number: int
    """Counted from 1, as it stands in its rule."""
    example: Example
    verdict: Verdict | None
    """None where the message could not be read."""
    fault: str = ""
    """Why it could not be read."""

    @property
    def holds(self) -> bool:
        """Say whether the rule says what the example expects."""
        return self.verdict is not None and self.verdict.truth is EXPECTED[self.example.expected]


def try_examples(rule: Rule, *, lists: Lists = NO_LISTS, read_file: ReadFile) -> tuple[Trial, ...]:
    """Run every example of a rule."""
    trials = []
    for number, example in enumerate(rule.examples, 1):
        try:
            record = record_of_example(example, read_file=read_file)
        except (PosthouseError, OSError) as fault:
            trials.append(Trial(number, example, None, _fault(fault)))
        else:
            trials.append(Trial(number, example, judge_rule(rule, record, lists=lists)))
    return tuple(trials)


def _fault(fault: Exception) -> str:
    return (fault.strerror or str(fault)).lower() if isinstance(fault, OSError) else str(fault)


def record_of_example(example: Example, *, read_file: ReadFile) -> Record:
    """Give the message of an example: as it says itself, or a mail in a file with what it says beside it."""
    said = record_of(example)
    if example.file is None:
        return said
    mail = read_file(example.file)
    return _beside(record_of_mail(mail), said, {fact.part.name for fact in example.facts})


def record_of_mail(
    mail: bytes, *, sender: str | None = None, recipients: tuple[str, ...] = (), context: Context = NOTHING_BESIDE
) -> Record:
    """Give the record of a mail alone; its envelope is what its own header says, unless it is given."""
    features = features_of_mail(mail)
    first = next((address.address for address in features.sender), None)
    named = recipients or tuple(dict.fromkeys(address.address for address in (*features.to, *features.cc)))
    return Record(
        kind="mail",
        content_type=MAIL,
        size=len(mail),
        sender=first if sender is None else sender,
        recipients=tuple(map(Recipient, named)),
        mail=features,
        context=context,
    )


# What an example may say beside its mail, by the fields of the record and of the mail it is said in.
_FIELDS: Final = {
    "message.id": "id", "message.kind": "kind", "message.priority": "priority", "message.size": "size",
    "created": "created", "arrived": "arrived", "expires": "expires", "message.keep": "keep",
    "message.content_type": "content_type", "message.correlation": "correlation", "message.reply_to": "reply_to",
    "message.lane": "lane", "sender.address": "sender", "recipient.address": "recipients", "attribute": "attributes",
}  # fmt: skip
_MAIL_FIELDS: Final = {
    "subject": "subject", "message.text": "text", "message.hidden": "hidden",
    "is_signed": "is_signed", "is_encrypted": "is_encrypted",
    "mail.date": "date", "mail.id": "message_id", "header": "headers", "authentication": "authentication",
    "from.address": "sender", "from.name": "sender", "to.address": "to", "to.name": "to", "cc.address": "cc",
    "cc.name": "cc", "reply_to.address": "reply_to", "reply_to.name": "reply_to", "attachment.name": "attachments",
    "attachment.type": "attachments", "attachment.size": "attachments", "attachment.sha256": "attachments",
}  # fmt: skip


def _beside(record: Record, said: Record, names: set[str]) -> Record:
    """Give the mail with what is said beside it; what is handed in is all said."""
    fields = {field: getattr(said, field) for name, field in _FIELDS.items() if name in names}
    if any(name.startswith("recipient.") for name in names):
        fields["recipients"] = said.recipients
    if any(name.startswith("sender.") for name in names):
        fields["sender"] = said.sender
    if "message.text" in names or set(_MAIL_FIELDS) & names:
        fields["mail"] = _mail_beside(record.mail or MailFeatures(), said, names)
    return msgspec.structs.replace(record, context=said.context, **fields)


def _mail_beside(mail: MailFeatures, said: Record, names: set[str]) -> MailFeatures:
    other = said.mail or MailFeatures(text=said.text)
    fields = {field: getattr(other, field) for name, field in _MAIL_FIELDS.items() if name in names}
    unknown = tuple(name for name in mail.unknown if name not in fields)
    return msgspec.structs.replace(mail, **fields, unknown=unknown)
