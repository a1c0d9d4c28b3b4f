"""A running allowed action of the async client."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, TypeVar

from ._completion import Completion
from ._control import Control
from ._core import AgentCore
from ._flow import Flow, run_async, run_through
from ._said import Said, is_its_termination
from .answer import Answer
from .errors import OperationTerminated, ReeveError, ResultDenied
from .operation import RUN

Result = TypeVar("Result")


class AsyncOperation(Said):
    """A running allowed action. If it is terminated, the task in the block is cancelled."""

    async def checkpoint(self) -> None:
        """A point at which the work can stop.

        It passes at once while the operation runs, waits while it is paused, and raises `OperationTerminated` once it
        is terminated.
        """
        await run_async(self._op.checkpoint())

    async def check_result(self, result: Any, *, is_error: bool = False) -> Any:
        """Has judged what the action brought back, and gives it as it may be read. Raises `ResultDenied`.

        Needed in an `async with` block where the answer says `judge_result`, before a model reads the result.
        """
        return await run_async(self._checked(result, is_error))

    async def check_prompt(self, prompt: Any) -> Any:
        """Has the prompt of a model call masked, and gives what its provider may see. Raises `ResultDenied`.

        Needed where the answer says `judge_prompt`, before anything is sent.
        """
        return await run_async(self._checked_prompt(prompt))


class AsyncOperationContext:
    """Asks before the block, cancels it on a termination, and reports how it ended after it."""

    def __init__(self, core: AgentCore, members: Mapping[str, Any]) -> None:
        self._core = core
        self._members = members
        self._operation: AsyncOperation | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancels_before = 0
        self._cancelled = False

    async def run(self, work: Callable[[AsyncOperation], Awaitable[Result]]) -> Result:
        """Does the work in the block, and gives its result as it may be read."""
        ran: AsyncOperation | None = None
        try:
            async with self as ran:
                ran._given = await work(ran)
        except OperationTerminated as error:
            error.result = None if ran is None else ran._unjudged_result()
            raise
        result: Result = ran._result()
        return result

    async def begin(self) -> AsyncOperation:
        """Asks before the block is entered, which any task may do afterwards."""
        op, answer = await run_async(self._core.open().checks.admit(self._members, RUN))
        self._operation = AsyncOperation(op, answer, self._core.results, self._members)
        return self._operation

    @property
    def answer(self) -> Answer | None:
        """The answer that allowed the action, once somebody has asked."""
        return None if self._operation is None else self._operation.answer

    def abandon(self, completion: Completion) -> None:
        """The block will not be entered any more. For finalizers: see `AgentReports.abandon`."""
        operation, self._operation = self._operation, None
        if operation is not None:
            self._core.reports.abandon(operation._op, completion)

    async def deliver_owed(self) -> None:
        await run_async(self._core.reports.deliver_owed())

    async def __aenter__(self) -> AsyncOperation:
        loop = asyncio.get_running_loop()
        operation = self._operation or await self.begin()
        op = operation._op
        self._task = asyncio.current_task()
        self._cancels_before = _cancels_of(self._task)
        with self._core.line.lock:
            op.hook = _on_loop(loop, self._members.get("on_control"))
            op.on_terminated = lambda: _soon(loop, self._cancel)
            if op.terminated is not None:
                op.on_terminated()
        return operation

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        operation, self._operation = self._operation, None
        if operation is None:
            return False
        from_outside = isinstance(error, asyncio.CancelledError) and not self._was_ours()
        judging = operation._judging(error)
        finishing = self._core.reports.finish(operation._op, operation._completion(error), judging)
        try:
            judged = await _run_to_end(finishing, error)
        except OperationTerminated as terminated:
            if from_outside or is_its_termination(error, operation.op_id):
                return False
            is_hidden = isinstance(error, asyncio.CancelledError) or operation.answer.judge_result
            raise terminated from (None if is_hidden else error)
        except ResultDenied as denied:
            raise denied from None
        except ReeveError:
            # An error of reporting never hides the error of the work.
            if error is None or judging is not None:
                raise
        else:
            operation._take(error, judging, judged)
        return False

    def _cancel(self) -> None:
        if self._operation is not None and self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    def _was_ours(self) -> bool:
        """Takes back the cancellation of the task, and says whether there was no other."""
        if not self._cancelled or self._task is None:
            return False
        uncancel = getattr(self._task, "uncancel", None)
        return uncancel is None or uncancel() <= self._cancels_before


async def _run_to_end(flow: Flow[Any], error: BaseException | None) -> Any:
    return await (run_through(flow) if isinstance(error, asyncio.CancelledError) else run_async(flow))


def _cancels_of(task: asyncio.Task[Any] | None) -> int:
    cancelling = getattr(task, "cancelling", None)
    return 0 if cancelling is None else int(cancelling())


def _soon(loop: asyncio.AbstractEventLoop, act: Callable[[], object]) -> None:
    # The loop may have ended.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(act)


def _on_loop(
    loop: asyncio.AbstractEventLoop, hook: Callable[[Control], object] | None
) -> Callable[[Control], object] | None:
    """The hook, called from another thread, run by the loop."""
    if hook is None:
        return None

    async def call(control: Control) -> None:
        result = hook(control)
        if inspect.isawaitable(result):
            await result

    return lambda control: asyncio.run_coroutine_threadsafe(call(control), loop).result()
