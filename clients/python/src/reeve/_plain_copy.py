"""Copies of values that JSON shows whole, so that nothing passes unjudged."""

from __future__ import annotations

import math
from typing import Any


class UnjudgeableResult(Exception):
    """Says why a result cannot be judged, and the way out, after its subject. It names no part of the result."""


def plain_copy(value: Any) -> Any:
    """A copy without what classes of their own add. What JSON cannot show is refused.

    Nobody changes the copy while it is judged.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise not_json(str(float.__float__(value)))
        return float.__float__(value)
    if isinstance(value, dict):
        return {_name(name): plain_copy(each) for name, each in dict.items(value)}
    if isinstance(value, list):
        return [plain_copy(each) for each in list.__iter__(value)]
    if isinstance(value, tuple):
        return tuple([plain_copy(each) for each in tuple.__iter__(value)])
    raise not_json(f"a {type(value).__name__}")


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise not_json("a member whose name is no text")
    return str.__str__(name)


def not_json(what: str) -> UnjudgeableResult:
    return UnjudgeableResult(
        f"cannot be judged: it holds {what}; give back a text, or JSON of dicts, lists, texts and numbers"
    )
