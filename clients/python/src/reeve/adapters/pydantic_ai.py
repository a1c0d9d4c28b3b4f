"""Tools, toolsets and models of Pydantic AI under policy: `Agent(model, toolsets=[govern(agent, toolset)])`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._flow import run_async
from ..current import call_around
from ..errors import InvalidRequest
from ._govern import AnyAgent, ToolCalls, ToolUse, ids_of_call
from ._jsonable import jsonable
from ._judged import JudgedPart, as_json
from ._missing import missing
from ._options import GovernOptions
from ._outcome import Refusal
from ._rewritten import args_for

try:
    from pydantic_ai import ApprovalRequired, ModelRetry, RunContext, Tool, ToolReturn
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

    from .pydantic_ai_model import govern_model
except ImportError as error:
    raise missing("pydantic-ai", error) from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from typing_extensions import Unpack

__all__ = ["GovernedToolset", "PydanticAIOptions", "govern", "govern_model"]

Tools = TypeVar("Tools")


class PydanticAIOptions(GovernOptions, total=False):
    """The options of tools of Pydantic AI."""

    #: A held call ends the run with `DeferredToolRequests` in place of waiting.
    interrupt: bool


def govern(agent: AnyAgent, tools: Tools, **options: Unpack[PydanticAIOptions]) -> Tools:
    """Governs a toolset, a tool, a function, or a list of them. Tools keep their name and schema.

    The model reads the reason of a refusal as the tool's result.
    """
    calls = ToolCalls(agent, options, PydanticAIOptions, ModelRetry)
    interrupts = options.get("interrupt", False)
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        return cast("Tools", [_governed(calls, each, interrupts) for each in tools])
    return cast("Tools", _governed(calls, tools, interrupts))


def _governed(calls: ToolCalls, tool: Any, interrupts: bool) -> Any:
    if isinstance(tool, AbstractToolset):
        return GovernedToolset(tool, calls, interrupts)
    if not isinstance(tool, Tool) and not callable(tool):
        raise InvalidRequest(f"tools: {type(tool).__name__} is neither a tool nor a toolset")
    governed: Any = copy.copy(tool) if isinstance(tool, Tool) else Tool(tool)
    schema = governed.function_schema
    name = governed.name

    async def call(args: dict[str, Any], ctx: RunContext[Any]) -> Any:
        return await _call(calls, interrupts, name, args, ctx, lambda given: schema.call(given, ctx))

    governed.function_schema = replace(schema)
    governed.function_schema.call = call
    return governed


@dataclass
class GovernedToolset(WrapperToolset[Any]):
    """A toolset whose calls are checked first."""

    calls: ToolCalls
    interrupts: bool = False

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        return await _call(
            self.calls,
            self.interrupts,
            name,
            tool_args,
            ctx,
            lambda given: self.wrapped.call_tool(name, given, ctx, tool),
        )


def _returned(result: Any) -> Any:
    """What the model reads. Metadata is for the program, so there is none where results are judged."""
    if not isinstance(result, ToolReturn):
        return as_json(result)
    content = result.content
    return {"return_value": as_json(result.return_value), **({} if content is None else {"content": content})}


def _with_returned(result: Any, judged: Any) -> Any:
    if not isinstance(result, ToolReturn):
        return judged
    return ToolReturn(return_value=judged["return_value"], content=judged.get("content"))


_RETURNED = JudgedPart(_returned, _with_returned)


async def _call(
    calls: ToolCalls,
    interrupts: bool,
    name: str,
    args: dict[str, Any],
    ctx: RunContext[Any],
    work: Callable[[dict[str, Any]], Awaitable[Any]],
) -> Any:
    # The conversation outlives an interrupted run, which goes on as another one.
    conversation = getattr(ctx, "conversation_id", None) or getattr(ctx, "run_id", None)
    ids = ids_of_call(conversation, ctx.tool_call_id) if interrupts and ctx.tool_call_id else None
    # Every run has an id, also that of a sub-agent. The call around it says which piece of work it is a part of.
    around = call_around()
    run_id = (around.run_id if around is not None else None) or getattr(ctx, "run_id", None)
    use = ToolUse(name, jsonable(args), run_id, ids, takes_args=True)
    if ids is not None and not ctx.tool_call_approved:
        answer = await run_async(calls.decision(calls.members(use)))
        if answer.decision == "pending":
            raise ApprovalRequired({"reason": answer.reason, "approval_id": answer.approval_id, "op_id": answer.op_id})
    result = await calls.run_async(use, lambda op: work(args_for(op, args)), None, _RETURNED)
    return result.text if isinstance(result, Refusal) else result
