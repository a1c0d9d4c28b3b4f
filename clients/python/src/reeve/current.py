"""The governed call that the running code is a part of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from ._ids import AgentId
from ._said import Said
from .async_operation import AsyncOperation
from .operation import Operation

Kind = TypeVar("Kind", bound=Said)


@dataclass(frozen=True, slots=True)
class CallContext:
    """A governed call, for the calls inside it."""

    operation: Said
    agent: AgentId
    run_id: str | None


_context: ContextVar[CallContext | None] = ContextVar("reeve_call", default=None)


def call_around() -> CallContext | None:
    return _context.get()


@contextmanager
def inside(context: CallContext) -> Iterator[None]:
    token = _context.set(context)
    try:
        yield
    finally:
        _context.reset(token)


def current_operation() -> Operation | None:
    """The operation of the governed tool that this code is a part of, for sync code. Its checkpoint blocks."""
    return _seen_as(Operation)


def current_async_operation() -> AsyncOperation | None:
    """The operation of the governed tool that this code is a part of, for coroutines."""
    return _seen_as(AsyncOperation)


def _seen_as(kind: type[Kind]) -> Kind | None:
    around = _context.get()
    if around is None:
        return None
    if isinstance(around.operation, kind):
        return around.operation
    # A framework may run a sync tool in a thread of an async call. It is one operation: what is said counts in both.
    view = kind.__new__(kind)
    view.__dict__ = around.operation.__dict__
    return view
