"""How the calls of a guarded function look to a policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InvalidRequest


def arguments_of(function: Callable[..., Any], skip: int) -> Callable[..., Any]:
    """What policies see as `args` by default: the arguments of the call by their names, without `self`.

    `skip` is the number of leading parameters that callers do not give.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[skip:]
    signature = signature.replace(parameters=parameters)

    def seen(*args: Any, **keywords: Any) -> dict[str, Any] | None:
        bound = signature.bind(*args, **keywords)
        named: dict[str, Any] = {}
        for position, (name, value) in enumerate(bound.arguments.items()):
            if position == 0 and name in ("self", "cls"):
                continue
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                hidden = named.keys() & value.keys()
                if hidden:
                    # A parameter that is positional only may share its name with one of these.
                    raise InvalidRequest(f"args: {', '.join(sorted(hidden))}: given twice")
                named.update(value)
            else:
                named[name] = value
        return named or None

    return seen


def require_no_generator(work: Callable[..., Any]) -> None:
    """What a generator does comes after it has returned, when the operation would be over."""
    if inspect.isgeneratorfunction(work) or inspect.isasyncgenfunction(work):
        raise InvalidRequest("a generator cannot be guarded: use `with agent.operation(...)` in it, around its work")


def require_no_coroutine(work: Callable[..., Any]) -> None:
    """What a coroutine does comes when it is awaited, and a sync agent does not await it."""
    if inspect.iscoroutinefunction(work):
        raise InvalidRequest("work: must not be a coroutine function; use AsyncReeve")


def wants_operation(work: Callable[..., Any]) -> bool:
    """Whether the work has a parameter for its operation: one that is positional and has no default."""
    try:
        parameters = inspect.signature(work).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(each.kind in positional and each.default is inspect.Parameter.empty for each in parameters)


def guarded_members(
    function: Callable[..., Any], tool: str | None, source: str | None, url: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    require_no_generator(function)
    for member in ("trace_id", "span_id", "type"):
        if member in details:
            raise InvalidRequest(f"{member}: each call of a guarded function is a tool call of its own")
    return {**details, "tool": tool or function.__name__, "source": source, "url": url}
