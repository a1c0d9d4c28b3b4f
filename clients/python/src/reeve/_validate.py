"""Checks of what callers give, before anything is sent. Errors name the member, never a secret value."""

from __future__ import annotations

import json
import math
from typing import Any

from ._exact_numbers import InexactNumber, inexact_number_in, number_fault
from .errors import InvalidRequest

LARGEST_INT32 = 2_147_483_647
LONGEST_SECONDS = 2_147_483.0


def require_text(member: str, value: object) -> str:
    if isinstance(value, str) and value:
        return value
    raise InvalidRequest(f"{member}: must be a non-empty text")


def optional_text(member: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise InvalidRequest(f"{member}: must be a text")


def require_whole(member: str, value: object, most: int = LARGEST_INT32) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise InvalidRequest(f"{member}: must be a whole number from 0 to {most}")


def require_seconds(member: str, value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LONGEST_SECONDS:
        return float(value)
    raise InvalidRequest(f"{member}: must be a time in seconds, more than 0")


def require_wait(member: str, value: object) -> float:
    """A time that may be 0. Infinity counts as the longest wait."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value) and value >= 0:
        return min(float(value), LONGEST_SECONDS)
    raise InvalidRequest(f"{member}: must be a time in seconds, 0 or more")


def json_bytes(member: str, value: Any) -> bytes:
    """The value as JSON. None counts as left out."""
    if value is None:
        return b""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_no_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{member}: cannot be written as JSON: {_why(error)}") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, but JSON can escape it.
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def exact_json_bytes(member: str, value: Any) -> bytes:
    """JSON that every reader takes for the same. What is done with other numbers would not be what was judged."""
    written = json_bytes(member, value)
    number = inexact_number_in(written.decode())
    if number is not None:
        raise InvalidRequest(f"{member}: {number_fault(number)}")
    return written


def _no_json(value: object) -> object:
    if isinstance(value, InexactNumber):
        raise TypeError(number_fault(value.written))
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _why(error: Exception) -> str:
    return "too deep" if isinstance(error, RecursionError) else str(error)
