"""Calls a tool with the arguments that rules have made of those it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .._said import Said
from .._same_json import same_json
from ..errors import InvalidRequest
from ._jsonable import jsonable

Result = TypeVar("Result")

_JSON_TYPES = frozenset((type(None), bool, int, float, str, list, dict))


def args_for(op: Said, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments to call a tool with. What no rule has changed is the very object that the framework gave."""
    return {**given, **_members(given, op.answer.rewritten_args or {})}


class GivenArgs:
    """The arguments of a call, some of them by position."""

    def __init__(
        self,
        names: Sequence[str],
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self._names = list(names)[: len(args)]
        self._args = args
        self._keywords = keywords
        self._hidden = hidden
        #: What policies see, by name.
        self.seen = dict(zip(self._names, args, strict=False))
        self.seen |= {name: value for name, value in keywords.items() if name not in hidden}

    def call(self, op: Said, function: Callable[..., Result]) -> Result:
        if op.answer.rewritten_args is None:
            return function(*self._args, **self._keywords)
        args = args_for(op, self.seen)
        handed = self._hidden & args.keys()
        if handed:
            raise InvalidRequest(f"args: a rule rewrites {', '.join(sorted(handed))}, which the framework itself gives")
        placed = [args.pop(name) for name in self._names]
        return function(*placed, *self._args[len(placed) :], **{**self._keywords, **args})


def _typed(given: Any, value: Any) -> Any:
    """A changed value, as the type that the framework had made of it."""
    if same_json(jsonable(given), value):
        return given
    if isinstance(given, dict) and isinstance(value, dict):
        return _members(given, value)
    if isinstance(given, list) and isinstance(value, list) and len(given) == len(value):
        return [_typed(*pair) for pair in zip(given, value, strict=True)]
    if type(given) in _JSON_TYPES:
        return value
    # Not above: without its framework, an adapter is to name the extra that is missing.
    from pydantic import BaseModel, TypeAdapter

    if isinstance(given, BaseModel) and isinstance(value, dict):
        return _model(given, value)
    return TypeAdapter(type(given)).validate_python(value)


def _members(given: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _typed(given[name], each) if name in given else each for name, each in value.items()}


def _model(given: Any, value: Mapping[str, Any]) -> Any:
    """Field by field: a secret, which policies see masked, stays what it is."""
    fields = type(given).model_fields
    names = {each.serialization_alias or each.alias or name: name for name, each in fields.items()}
    unknown = value.keys() - names.keys() - (given.model_extra or {}).keys()
    if unknown:
        raise InvalidRequest(f"args: a rule adds {', '.join(sorted(unknown))}, which {type(given).__name__} has not")
    update = {names.get(name, name): each for name, each in value.items()}
    return given.model_copy(update={name: _typed(getattr(given, name), each) for name, each in update.items()})
