"""Where the OpenAI Agents SDK asks about tools: its guardrails and its hooks."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agents import RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail
from agents.exceptions import AgentsException

from .._completion import Completion
from ..async_operation import AsyncOperationContext
from ..errors import ActionDenied, OperationTerminated
from ._govern import AnyAgent, ToolCalls, ToolUse
from ._jsonable import parsed
from ._options import GovernOptions
from ._outcome import Refusal

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: A hook hears only of tools that end well. Any other has run, so the estimate counts.
_ENDED_BADLY = Completion("failed", detail="the run never said how it ended")

#: Hooks hear a result, and cannot replace it.
_UNJUDGEABLE = (
    "what this tool brings back must be judged before the model reads it, which hooks cannot ensure; govern the tool "
    "itself"
)

#: Reports that are under way. The loop itself holds tasks weakly.
_reports: set[asyncio.Task[None]] = set()


class RunTerminated(OperationTerminated, AgentsException):
    """An operator stopped a tool. The SDK ends the run with its own errors as they are, and so with this one."""


class RunDenied(ActionDenied, AgentsException):
    """A hook refused a tool, which ends the run."""


class Guard(ToolInputGuardrail[Any]):
    """Marks the guardrail of a governed tool."""


class Begun:
    """The operations that the SDK has asked about, and whose tool it has not run yet."""

    def __init__(self, abandoned: Completion) -> None:
        #: What to report of an operation that nobody asks for any more.
        self._abandoned = abandoned
        self._operations: dict[int, list[tuple[str, AsyncOperationContext]]] = {}

    def add(
        self, context: Any, text: str, operation: AsyncOperationContext, until: asyncio.Task[Any] | None = None
    ) -> None:
        """`until` runs the tool. Otherwise nobody but the context of the tool can say that it will never be run."""
        key = id(context)
        if key not in self._operations:
            self._operations[key] = []
            # Another hook may fail, or another tool of the turn. Then nobody ever asks for the operation.
            weakref.finalize(context, self._give_up, key, asyncio.get_running_loop())
        # Shells and computers share the one context of their run.
        self._operations[key].append((text, operation))
        if until is not None:
            # Python finalizes the context of a tool that has failed at a time of its own, minutes later or never.
            until.add_done_callback(lambda _: self._give_up_one(key, operation))

    def take(self, context: Any, text: str) -> AsyncOperationContext | None:
        """What was asked about these very arguments: the last of them, because an earlier one has failed."""
        asked = self._operations.get(id(context), [])
        for index in reversed(range(len(asked))):
            if asked[index][0] == text:
                return asked.pop(index)[1]
        return None

    def _give_up_one(self, key: int, operation: AsyncOperationContext) -> None:
        asked = self._operations.get(key, [])
        for index, (_, each) in enumerate(asked):
            if each is operation:
                del asked[index]
                operation.abandon(self._abandoned)
                _report_soon(operation)
                return

    def _give_up(self, key: int, loop: asyncio.AbstractEventLoop) -> None:
        for _, operation in self._operations.pop(key, ()):
            operation.abandon(self._abandoned)
            # Once the loop has ended, the next heartbeat reports it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_report_soon, operation)


def guard_of(calls: ToolCalls, use_of: Any, begun: Begun) -> Guard:
    """Asks before the hooks of the run hear of the tool. The model reads the refusal."""

    async def reeve(data: Any) -> ToolGuardrailFunctionOutput:
        context = data.context
        if not _runs_next(context):
            return ToolGuardrailFunctionOutput.allow()
        operation = await calls.begin(use_of(context, parsed(context.tool_arguments), context.tool_call_id))
        if isinstance(operation, Refusal):
            return ToolGuardrailFunctionOutput.reject_content(operation.text, {"reeve": operation.kind})
        begun.add(context, context.tool_arguments, operation, asyncio.current_task())
        return ToolGuardrailFunctionOutput.allow()

    return Guard(reeve)


class GovernHooks(RunHooks[Any]):
    """Governs the tools of a run that `govern` never saw, such as those of MCP servers: `Runner.run(…, hooks=…)`.

    The SDK gives hooks no say but an error, so a refusal ends the run. A termination takes effect when the tool ends.
    """

    def __init__(self, agent: AnyAgent, **options: Unpack[GovernOptions]) -> None:
        self._calls = ToolCalls(agent, options)
        self._begun = Begun(_ENDED_BADLY)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        if any(isinstance(each, Guard) for each in getattr(tool, "tool_input_guardrails", None) or ()):
            return
        text = getattr(context, "tool_arguments", None)
        args = None if text is None else parsed(text)
        operation = await self._calls.begin(ToolUse(tool.name, args, run_of(context)))
        if isinstance(operation, Refusal):
            raise _denied_by(operation) from None
        answer = operation.answer
        if answer is not None and answer.judge_result:
            operation.abandon(Completion("cancelled", 0, _UNJUDGEABLE))
            _report_soon(operation)
            raise RunDenied(replace(answer, decision="deny", reason=_UNJUDGEABLE))
        self._begun.add(context, tool.name, operation)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        operation = self._begun.take(context, tool.name)
        if operation is None:
            return
        try:
            async with operation as op:
                self._calls.settle(op, tool.name, result)
        except OperationTerminated as error:
            raise terminated_by(error) from error


def run_of(context: Any) -> str | None:
    """The group of a run is what its traces share, such as a conversation."""
    group = getattr(getattr(context, "run_config", None), "group_id", None)
    return group if isinstance(group, str) else None


def terminated_by(error: OperationTerminated) -> RunTerminated:
    return RunTerminated(error.op_id, error.reason, error.control_id, error.result)


def _denied_by(refusal: Refusal) -> Exception:
    error = refusal.error
    return RunDenied(error.answer) if isinstance(error, ActionDenied) else error


def _report_soon(operation: AsyncOperationContext) -> None:
    task = asyncio.ensure_future(operation.deliver_owed())
    _reports.add(task)
    task.add_done_callback(_reports.discard)


def _runs_next(context: Any) -> bool:
    """Whether the tool runs after its guardrails, and in the same context. Otherwise the tool itself asks.

    Sessions in real time, which have no `RunConfig`, give the tool another context. Guardrails before an approval come
    again after it.
    """
    config = getattr(context, "run_config", None)
    early = getattr(getattr(config, "tool_execution", None), "pre_approval_tool_input_guardrails", False)
    return config is not None and not early
