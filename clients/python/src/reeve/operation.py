"""A running allowed action of the sync client."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal

from ._core import AgentCore
from ._flow import run_blocking
from ._said import Said, is_its_termination
from .errors import OperationTerminated, ReeveError

RUN = frozenset(("on_control",))


class Operation(Said):
    """A running allowed action."""

    @property
    def stopped(self) -> threading.Event:
        """Set when the operation is terminated, for work that waits elsewhere than at a checkpoint."""
        return self._op.stopped

    def checkpoint(self) -> None:
        """A point at which the work can stop.

        It passes at once while the operation runs, waits while it is paused, and raises `OperationTerminated` once it
        is terminated.
        """
        run_blocking(self._op.checkpoint())


class OperationContext:
    """Asks before the block, and reports how it ended after it."""

    def __init__(self, core: AgentCore, members: Mapping[str, Any]) -> None:
        self._core = core
        self._members = members
        self._operation: Operation | None = None

    def __enter__(self) -> Operation:
        op, answer = run_blocking(self._core.open().checks.admit(self._members, RUN))
        op.hook = self._members.get("on_control")
        self._operation = Operation(op, answer)
        return self._operation

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        operation, self._operation = self._operation, None
        if operation is None:
            return False
        try:
            run_blocking(self._core.reports.finish(operation._op, operation._completion(error)))
        except OperationTerminated as terminated:
            if is_its_termination(error, operation.op_id):
                return False
            raise terminated from error
        except ReeveError:
            # An error of reporting never hides the error of the work.
            if error is None:
                raise
        return False
