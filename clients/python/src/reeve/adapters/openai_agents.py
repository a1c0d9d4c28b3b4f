"""Tools, handoffs and models of the OpenAI Agents SDK under policy: `tools = govern(agent, tools)`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._flow import run_async
from ..errors import InvalidRequest, OperationTerminated
from ._govern import AnyAgent, ToolCalls, ToolUse, ids_of_call
from ._jsonable import parsed
from ._missing import missing
from ._options import GovernOptions
from ._outcome import Refusal

try:
    from agents import FunctionTool, Handoff
    from agents.exceptions import AgentsException

    from .openai_agents_model import govern_model
except ImportError as error:
    raise missing("openai-agents", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["OpenAIAgentsOptions", "RunTerminated", "govern", "govern_model"]

Tools = TypeVar("Tools")


class OpenAIAgentsOptions(GovernOptions, total=False):
    """The options of tools of the OpenAI Agents SDK."""

    #: A held call interrupts the run in place of waiting: `result.interruptions`.
    interrupt: bool


class RunTerminated(OperationTerminated, AgentsException):
    """An operator stopped a tool. The SDK ends the run with its own errors as they are, and so with this one."""


def govern(agent: AnyAgent, tools: Tools, **options: Unpack[OpenAIAgentsOptions]) -> Tools:
    """Governs a function tool, a handoff, or a list of them. They keep their class, name and schema.

    The model reads the reason of a refusal as the tool's output. An agent as a tool, and a handoff, is checked as
    `agent_spawn`. A refused handoff ends the run with an error.
    """
    calls = ToolCalls(agent, options, OpenAIAgentsOptions)
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        return cast("Tools", [_governed(calls, each, options) for each in tools])
    return cast("Tools", _governed(calls, tools, options))


def _governed(calls: ToolCalls, tool: Any, options: OpenAIAgentsOptions) -> Any:
    if isinstance(tool, Handoff):
        return _governed_handoff(calls, tool)
    if not isinstance(tool, FunctionTool):
        raise InvalidRequest(
            f"tools: {type(tool).__name__} does not run here; only functions and handoffs can be governed"
        )
    governed = copy.copy(tool)
    invoke, spawns = tool.on_invoke_tool, bool(getattr(tool, "_is_agent_tool", False))
    interrupts = options.get("interrupt", False)

    def use_of(context: Any, args: Any, call_id: str | None) -> ToolUse:
        run_id = _run_of(context)
        ids = ids_of_call(run_id, call_id) if interrupts and call_id else None
        return ToolUse(tool.name, args, run_id, ids, spawns)

    async def on_invoke_tool(context: Any, text: str) -> Any:
        use = use_of(context, parsed(text), getattr(context, "tool_call_id", None))
        try:
            result = await calls.run_async(use, lambda: invoke(context, text))
        except OperationTerminated as error:
            raise RunTerminated(error.op_id, error.reason, error.control_id, error.result) from error
        return result.text if isinstance(result, Refusal) else result

    async def needs_approval(context: Any, args: dict[str, Any], call_id: str) -> bool:
        own: Any = tool.needs_approval
        if (await own(context, args, call_id)) if callable(own) else own:
            return True
        answer = await run_async(calls.decision(calls.members(use_of(context, args, call_id))))
        return answer.decision == "pending"

    governed.on_invoke_tool = on_invoke_tool
    if interrupts:
        governed.needs_approval = needs_approval
    return governed


def _governed_handoff(calls: ToolCalls, handoff: Handoff[Any, Any]) -> Handoff[Any, Any]:
    governed = copy.copy(handoff)
    invoke = handoff.on_invoke_handoff

    async def on_invoke_handoff(context: Any, text: str) -> Any:
        use = ToolUse(handoff.tool_name, parsed(text), _run_of(context), spawns=True)
        result = await calls.run_async(use, lambda: invoke(context, text))
        if isinstance(result, Refusal):
            raise result.error
        return result

    governed.on_invoke_handoff = on_invoke_handoff
    return governed


def _run_of(context: Any) -> str | None:
    """The group of a run is what its traces share, such as a conversation."""
    group = getattr(getattr(context, "run_config", None), "group_id", None)
    return group if isinstance(group, str) else None
