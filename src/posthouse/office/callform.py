"""Calls and their answers as bytes: what programs of other processes and other offices say, and what they are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from posthouse.errors import PosthouseError
from posthouse.office.calls import REPLIES, AnyCall, Call
from posthouse.office.deskcalls import DESK_REPLIES, AnyDeskCall
from posthouse.office.mailbox import BadRequest

Reply = TypeVar("Reply")

_LONGEST_CODE: Final = 100

GOOD, BAD = b"\x00", b"\x01"

_encode: Final = msgspec.msgpack.Encoder().encode
_decode_call: Final[Callable[[bytes], AnyCall | AnyDeskCall]] = msgspec.msgpack.Decoder(AnyCall | AnyDeskCall).decode
# `Any`: as in the two tables it is made of.
_REPLIES: Final[dict[type[Call[Any]], Any]] = REPLIES | DESK_REPLIES


class Fault(msgspec.Struct, frozen=True):
    """An error on its way."""

    code: str
    what: str
    where: str | None = None
    hint: str | None = None
    permanent: bool = True


# `Any`: whichever call it is.
def write_call(call: Call[Any]) -> bytes:
    """Write a call."""
    return _encode(call)


def read_call(question: bytes) -> AnyCall | AnyDeskCall:
    """Read a call; `BadRequest` where it is none."""
    try:
        return _decode_call(question)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise BadRequest(f"the call cannot be read: {fault}") from None


# `Any`: whatever answers the call.
def write_reply(reply: Any) -> bytes:
    """Write the answer to a call."""
    return GOOD + _encode(reply)


def write_fault(fault: PosthouseError) -> bytes:
    """Write why a call is not answered, for those who may know everything."""
    return BAD + _encode(Fault(fault.code, fault.what, fault.where, fault.hint, fault.permanent))


def write_public(fault: PosthouseError) -> bytes:
    """Write no more of it than a stranger may know."""
    return BAD + _encode(Fault(fault.code, fault.public, permanent=fault.permanent))


def read_reply(call: Call[Reply], answer: bytes, *, where: str | None = None) -> Reply:
    """Read the answer to a call, or raise the error it tells."""
    try:
        if answer[:1] == GOOD:
            # The table ties each call to the type of its reply.
            reply: Reply = msgspec.msgpack.decode(answer[1:], type=_REPLIES[type(call)])
            return reply
        fault = msgspec.msgpack.decode(answer[1:], type=Fault)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("the answer cannot be read", hint="are both sides of the same age?") from None
    raise _error_of(fault if fault.where is not None else msgspec.structs.replace(fault, where=where))


def _error_of(fault: Fault) -> PosthouseError:
    """Give the error an office answered with, of the class that bears its code, or of one made for it."""
    kinds: list[type[PosthouseError]] = [PosthouseError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if kind.code == fault.code:
            error = kind.__new__(kind)
            PosthouseError.__init__(error, fault.what, where=fault.where, hint=fault.hint)
            return error
    told: type[PosthouseError] = type(
        "ToldError", (PosthouseError,), {"code": fault.code[:_LONGEST_CODE], "permanent": fault.permanent}
    )
    return told(fault.what, where=fault.where, hint=fault.hint)
