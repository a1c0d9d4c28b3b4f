"""What an action brought back, as it is sent to be judged, and what takes its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._plain_copy import UnjudgeableResult, not_json, plain_copy
from ._says_only_message import says_only_message
from .errors import InternalError, MaskedError

#: The longest result that can be judged, in bytes.
LARGEST_RESULT = 16 * 1024 * 1024

#: These would not be texts to a policy, although they are to whoever reads them: a number of a card, for example.
_SCALAR = re.compile(r'(?:"[\s\S]*"|true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)?\Z')
#: What JavaScript takes for blanks. `str.strip` knows others by default.
_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


@dataclass(frozen=True, slots=True)
class WireResult:
    data: bytes
    #: What is given if nothing is changed: no more than the data says.
    given: Any
    #: What takes its place, of the bytes that the gateway answers with.
    read: Callable[[bytes], Any]


def wire_result_of(result: Any) -> WireResult:
    """A text goes as it stands, so that the JSON in it is judged as JSON; a scalar or an empty one as a JSON string.

    Anything else goes as JSON.
    """
    copy = _copied(result)
    if isinstance(copy, str) and not is_scalar_text(copy):
        return _sized(copy, copy, _text_of)
    return _sized(_dumped(copy), copy, _parsed)


def wire_error_of(error: BaseException) -> WireResult:
    """What the work has raised. Models read messages, so nothing else of an error is given that could hold a result."""
    message = str(error)
    wire = wire_result_of(message)
    given = error if says_only_message(error) else MaskedError.of(error, message)
    return WireResult(wire.data, given, lambda masked: MaskedError.of(error, str(wire.read(masked))))


def is_scalar_text(text: str) -> bool:
    """Whether a policy would read this text as a JSON value that is neither an object nor a list."""
    return _SCALAR.match(text.strip(_BLANKS)) is not None


def _sized(text: str, given: Any, read: Callable[[bytes], Any]) -> WireResult:
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST_RESULT:
        raise UnjudgeableResult(f"has {len(data)} bytes; at most {LARGEST_RESULT} can be judged")
    return WireResult(data, given, read)


def _copied(result: Any) -> Any:
    try:
        return plain_copy(result)
    except RecursionError:
        raise _unwritten() from None


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError):
        raise _unwritten() from None


def _unwritten() -> UnjudgeableResult:
    return not_json("what cannot be written as JSON")


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (RecursionError, ValueError):
        raise InternalError("the masked result cannot be read") from None
