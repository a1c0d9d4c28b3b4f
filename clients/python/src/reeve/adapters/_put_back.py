"""Masked JSON as the values that it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from .._same_json import same_json
from ._judged import as_json
from ._unmaskable import unfit


def put_back(given: Any, masked: Any) -> Any:
    """What rules have left of a value, of the class that it had. What they have left as it is is the same object."""
    # Not above: without its framework, an adapter is to name the extra that is missing.
    from pydantic import BaseModel

    as_given = as_json(given)
    if same_json(as_given, masked):
        return given
    if given is None or isinstance(given, (str, int, float)):
        return masked
    if isinstance(given, (bytes, bytearray)) and isinstance(masked, str):
        return type(given)(masked.encode())
    if isinstance(given, (list, tuple)) and isinstance(masked, list) and len(masked) == len(given):
        items = [put_back(each, left) for each, left in zip(given, masked, strict=True)]
        return items if isinstance(given, list) else tuple(items)
    if isinstance(given, Mapping) and isinstance(masked, dict):
        return {name: put_back(given[name], left) if name in given else left for name, left in masked.items()}
    if isinstance(masked, dict) and isinstance(as_given, dict) and masked.keys() == as_given.keys():
        changed = {name: left for name, left in masked.items() if not same_json(left, as_given[name])}
        members = {name: put_back(getattr(given, name), left) for name, left in changed.items() if hasattr(given, name)}
        if len(members) == len(changed) and isinstance(given, BaseModel):
            return given.model_copy(update=members)
        if len(members) == len(changed) and is_dataclass(given):
            return replace(given, **members)  # type: ignore[type-var]
    if isinstance(masked, str) and isinstance(as_given, str):
        return _of_class(given, masked)
    raise unfit()


def _of_class(given: Any, text: str) -> Any:
    """A URL, for example."""
    try:
        return type(given)(text)
    except (TypeError, ValueError):
        raise unfit() from None
