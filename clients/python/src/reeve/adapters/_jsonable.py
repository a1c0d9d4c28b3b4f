"""Values of frameworks as JSON. All frameworks that have an adapter bring pydantic along."""

from __future__ import annotations

import json
from typing import Any

from .._exact_numbers import kept_float

#: The most that providers count for one picture, whatever its bytes.
_PICTURE_TOKENS = 4096
_LARGEST = 2**31 - 1


def jsonable(value: Any) -> Any:
    """What policies see of a value. Secrets of pydantic stay masked."""
    # Not above: without its framework, an adapter is to name the extra that is missing.
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, bytes_mode="base64", fallback=str, inf_nan_mode="constants")


def parsed(text: str) -> Any:
    """What the tool will parse, too. It refuses by itself what is no JSON."""
    try:
        return json.loads(text, parse_float=kept_float) if text else {}
    except ValueError:
        return text


def prompt_bound(prompt: Any) -> int:
    """An upper bound of the tokens of a prompt: its bytes, since a token has at least one."""
    return min(_LARGEST, max(1, _bytes_of(jsonable(prompt))))


def whole_tokens(count: Any) -> int | None:
    """Whole numbers of tokens, as the gateway takes them."""
    return min(_LARGEST, int(count)) if isinstance(count, (int, float)) and 0 <= count < float("inf") else None


def _bytes_of(value: Any) -> int:
    if isinstance(value, str):
        return _PICTURE_TOKENS if value.startswith("data:image/") else len(value.encode("utf-8", "replace")) + 2
    if isinstance(value, dict):
        return sum(_bytes_of(key) + _bytes_of(each) + 2 for key, each in value.items()) + 2
    if isinstance(value, list):
        return sum(_bytes_of(each) + 1 for each in value) + 2
    return len(str(value))
