"""What an action brought back, as it is sent to be judged, and what takes its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import InternalError, MaskedError

#: The longest result that can be judged, in bytes.
LARGEST_RESULT = 16 * 1024 * 1024

#: These would not be texts to a policy, although they are to whoever reads them: a number of a card, for example.
_SCALAR = re.compile(r'(?:"[\s\S]*"|true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)?\Z')


class UnjudgeableResult(Exception):
    """Says why a result cannot be judged, and the way out. It names no part of the result."""


@dataclass(frozen=True, slots=True)
class WireResult:
    data: bytes
    #: What takes its place, of the bytes that the gateway answers with.
    read: Callable[[bytes], Any]


def wire_result_of(result: Any) -> WireResult:
    """A text goes as it stands, so that the JSON in it is judged as JSON; a scalar or an empty one as a JSON string.

    Anything else goes as JSON.
    """
    if not isinstance(result, str):
        return _sized(_json_of(result), _parsed)
    return _sized(_dumped(result), _parsed) if _SCALAR.match(result.strip()) else _sized(result, _text_of)


def wire_error_of(error: BaseException) -> WireResult:
    """What the work has raised. Models read messages."""
    wire = wire_result_of(str(error))
    return WireResult(wire.data, lambda masked: MaskedError(str(wire.read(masked))))


def _sized(text: str, read: Callable[[bytes], Any]) -> WireResult:
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST_RESULT:
        raise UnjudgeableResult(f"the result has {len(data)} bytes; at most {LARGEST_RESULT} can be judged")
    return WireResult(data, read)


def _json_of(result: Any) -> str:
    try:
        _require_plain(result)
        return _dumped(result)
    except (RecursionError, ValueError):
        raise _not_json("what cannot be written as JSON") from None


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _require_plain(value: Any) -> None:
    """What JSON leaves out of other values would pass unjudged."""
    if value is None or isinstance(value, (str, int)):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _not_json(str(value))
    elif isinstance(value, dict):
        for name, each in value.items():
            if not isinstance(name, str):
                raise _not_json("a member whose name is no text")
            _require_plain(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _require_plain(each)
    else:
        raise _not_json(f"a {type(value).__name__}")


def _not_json(what: str) -> UnjudgeableResult:
    return UnjudgeableResult(
        f"the result cannot be judged: it holds {what}; give back a text, or JSON of dicts, lists, texts and numbers"
    )


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (RecursionError, ValueError):
        raise InternalError("the masked result cannot be read") from None
