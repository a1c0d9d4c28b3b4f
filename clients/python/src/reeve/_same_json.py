"""Whether two values are the same JSON, whatever Python makes of them."""

from __future__ import annotations

from typing import Any


def same_json(one: Any, other: Any) -> bool:
    """A number is the same whether it was written `1` or `1.0`. To JSON, unlike to Python, `true` is no number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(each, other[name]) for name, each in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same_json, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
