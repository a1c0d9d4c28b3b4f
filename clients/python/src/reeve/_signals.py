"""Errors that are only signals: by which Python or a framework stops or steers what runs. No model reads them."""

from __future__ import annotations

#: Of frameworks, by their module and name, so that none of them needs to be there.
_STEERING = frozenset(
    (
        ("langgraph.errors", "GraphBubbleUp"),
        ("pydantic_ai.exceptions", "ApprovalRequired"),
        ("pydantic_ai.exceptions", "CallDeferred"),
    )
)


def is_signal(error: BaseException) -> bool:
    if not isinstance(error, Exception):
        return True
    return any((each.__module__, each.__name__) in _STEERING for each in type(error).__mro__)
