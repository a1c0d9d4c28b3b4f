"""A running allowed action of the sync client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, TypeVar

from ._core import AgentCore
from ._flow import run_blocking
from ._said import Said, is_its_termination
from .errors import OperationTerminated, ReeveError, ResultDenied

Result = TypeVar("Result")

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

    def check_result(self, result: Any, *, is_error: bool = False) -> Any:
        """Has judged what the action brought back, and gives it as it may be read. Raises `ResultDenied`.

        Needed in a `with` block where the answer says `judge_result`, before a model reads the result.
        """
        return run_blocking(self._checked(result, is_error))

    def check_prompt(self, prompt: Any) -> Any:
        """Has the prompt of a model call masked, and gives what its provider may see. Raises `ResultDenied`.

        Needed where the answer says `judge_prompt`, before anything is sent.
        """
        return run_blocking(self._checked_prompt(prompt))


class OperationContext:
    """Asks before the block, and reports how it ended after it."""

    def __init__(self, core: AgentCore, members: Mapping[str, Any]) -> None:
        self._core = core
        self._members = members
        self._operation: Operation | None = None

    def run(self, work: Callable[[Operation], Result]) -> Result:
        """Does the work in the block, and gives its result as it may be read."""
        ran: Operation | None = None
        try:
            with self as ran:
                ran._given = work(ran)
        except OperationTerminated as error:
            error.result = None if ran is None else ran._unjudged_result()
            raise
        result: Result = ran._result()
        return result

    def __enter__(self) -> Operation:
        op, answer = run_blocking(self._core.open().checks.admit(self._members, RUN))
        op.hook = self._members.get("on_control")
        self._operation = Operation(op, answer, self._core.results, self._members)
        return self._operation

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        operation, self._operation = self._operation, None
        if operation is None:
            return False
        judging = operation._judging(error)
        try:
            judged = run_blocking(self._core.reports.finish(operation._op, operation._completion(error), judging))
        except OperationTerminated as terminated:
            if is_its_termination(error, operation.op_id):
                return False
            raise terminated from (None if operation.answer.judge_result else error)
        except ResultDenied as denied:
            raise denied from None
        except ReeveError:
            # An error of reporting never hides the error of the work.
            if error is None or judging is not None:
                raise
        else:
            operation._take(error, judging, judged)
        return False
