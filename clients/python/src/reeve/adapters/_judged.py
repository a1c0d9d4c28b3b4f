"""Which part of what a framework gives back is judged, and how the judged part takes its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """The rest is of the framework, or it is left out where results are judged."""

    of: Callable[[Any], Any]
    #: The result with the part as it may be read. Only called if it was judged.
    put: Callable[[Any, Any], Any]


def as_json(result: Any) -> Any:
    """A result of a framework as JSON, where it has one. The SDK denies whatever else there is."""
    # Not above: without its framework, an adapter is to name the extra that is missing.
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(result, (str, bytes)):
        return result
    try:
        # Bytes that are a text are judged as one, and others not at all.
        return to_jsonable_python(result, bytes_mode="utf8", inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, RecursionError):
        return result


#: Where results are judged, a framework gets the JSON that its model would read.
WHOLE = JudgedPart(as_json, lambda _, judged: judged)

#: What is no result that a model reads.
NOTHING = JudgedPart(lambda _: None, lambda result, _: result)
