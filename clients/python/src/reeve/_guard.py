"""How the calls of a guarded function look to a policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ._said import Said
from ._same_json import same_json
from .errors import InvalidRequest


class Arguments:
    """The arguments of a guarded function by their names, without `self`, as policies see them by default.

    `skip` is the number of leading parameters that callers do not give.
    """

    def __init__(self, function: Callable[..., Any], skip: int) -> None:
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[skip:]
        self._signature = signature.replace(parameters=parameters)
        self._own = {each.name for each in parameters[:1] if each.name in ("self", "cls")}
        self._rest = next((each.name for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD), None)

    def seen(self, *args: Any, **keywords: Any) -> dict[str, Any] | None:
        named: dict[str, Any] = {}
        for name, value in self._signature.bind(*args, **keywords).arguments.items():
            if name in self._own:
                continue
            if name == self._rest:
                hidden = named.keys() & value.keys()
                if hidden:
                    # A parameter that is positional only may share its name with one of these.
                    raise InvalidRequest(f"args: {', '.join(sorted(hidden))}: given twice")
                named.update(value)
            else:
                named[name] = value
        return named or None

    def rewritten(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments to call the function with. What no rule has changed stays the very object that was given."""
        bound = self._signature.bind(*args, **keywords)
        seen, given = self.seen(*args, **keywords) or {}, bound.arguments
        rest = dict(given.get(self._rest, {})) if self._rest is not None else {}
        for name, value in changed.items():
            if name in seen and same_json(seen[name], value):
                continue
            parameter = self._signature.parameters.get(name)
            if name in rest or parameter is None or name in self._own or name == self._rest:
                rest[name] = value
            elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                given[name] = tuple(value)
            else:
                given[name] = value
        if rest and self._rest is None:
            raise InvalidRequest(f"args: a rule adds {', '.join(sorted(rest))}, which the function does not take")
        if self._rest is not None:
            given[self._rest] = rest
        return bound.args, bound.kwargs


class GuardedCalls:
    """How the calls of a guarded function look to a policy, and what the function gets after it."""

    def __init__(
        self,
        function: Callable[..., Any],
        members: Mapping[str, Any],
        seen: Callable[..., Any] | None,
        pass_operation: bool,
    ) -> None:
        own = Arguments(function, 1 if pass_operation else 0)
        # Where policies see something else, only the operation can tell the function what has become of it.
        self._arguments = own if seen is None else None
        self._seen = seen or own.seen
        self._pass_operation = pass_operation
        self._members = members

    def members(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        told = self._pass_operation or self._arguments is not None
        return {**rewritable(self._members, told), "args": self._seen(*args, **keywords)}

    def given(
        self, op: Said, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        changed = op.answer.rewritten_args
        if changed is not None and self._arguments is not None:
            args, keywords = self._arguments.rewritten(args, keywords, changed)
        return ((op, *args) if self._pass_operation else args), keywords


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


def rewritable(members: Mapping[str, Any], takes_operation: bool) -> dict[str, Any]:
    """Work that has no parameter for its operation cannot know what its arguments have become."""
    can_rewrite = members.get("can_rewrite")
    return {**members, "can_rewrite": takes_operation if can_rewrite is None else can_rewrite}


def guarded_members(
    function: Callable[..., Any], tool: str | None, source: str | None, url: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    require_no_generator(function)
    for member in ("trace_id", "span_id", "type"):
        if member in details:
            raise InvalidRequest(f"{member}: each call of a guarded function is a tool call of its own")
    return {**details, "tool": tool or function.__name__, "source": source, "url": url}
