"""Tools, handoffs and models of the OpenAI Agents SDK under policy: `tools = govern(agent, tools)`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._completion import GIVEN_UP
from .._flow import run_async
from ..errors import InvalidRequest, OperationTerminated
from ._govern import AnyAgent, ToolCalls, ToolUse, ids_of_call
from ._jsonable import parsed
from ._missing import missing
from ._options import GovernOptions, run_id_of
from ._outcome import Refusal

try:
    from agents import FunctionTool, Handoff

    from .openai_agents_guard import Begun, GovernHooks, RunDenied, RunTerminated, guard_of, run_of, terminated_by
    from .openai_agents_model import govern_model
except ImportError as error:
    raise missing("openai-agents", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["GovernHooks", "OpenAIAgentsOptions", "RunDenied", "RunTerminated", "govern", "govern_model"]

Tools = TypeVar("Tools")


class OpenAIAgentsOptions(GovernOptions, total=False):
    """The options of tools of the OpenAI Agents SDK."""

    #: A held call interrupts the run in place of waiting: `result.interruptions`. It needs a `run_id`.
    interrupt: bool


def govern(agent: AnyAgent, tools: Tools, **options: Unpack[OpenAIAgentsOptions]) -> Tools:
    """Governs a function tool, a handoff, or a list of them. They keep their class, name and schema.

    The model reads the reason of a refusal as the tool's output. An agent as a tool, and a handoff, is checked as
    `agent_spawn`. A refused handoff ends the run with an error.
    """
    calls = ToolCalls(agent, options, OpenAIAgentsOptions)
    if options.get("interrupt") and options.get("run_id") is None:
        raise InvalidRequest("run_id: must be given with interrupt=True: a text, or a function that names each run")
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
    governed, begun = copy.copy(tool), Begun(GIVEN_UP)
    invoke, spawns = tool.on_invoke_tool, bool(getattr(tool, "_is_agent_tool", False))
    interrupts = options.get("interrupt", False)

    def use_of(context: Any, args: Any, call_id: str | None) -> ToolUse:
        # Where the SDK asks whether a call needs approval, it does not tell the group of the run.
        ids = ids_of_call(run_id_of(options), call_id) if interrupts and call_id else None
        return ToolUse(tool.name, args, run_of(context), ids, spawns)

    async def on_invoke_tool(context: Any, text: str) -> Any:
        use = use_of(context, parsed(text), getattr(context, "tool_call_id", None))
        try:
            # Whoever calls the tool without its guardrails asks here.
            result = await calls.run_async(use, lambda: invoke(context, text), begun.take(context, text))
        except OperationTerminated as error:
            raise terminated_by(error) from error
        return result.text if isinstance(result, Refusal) else result

    async def needs_approval(context: Any, args: dict[str, Any], call_id: str) -> bool:
        own: Any = tool.needs_approval
        wanted: Any = own(context, args, call_id) if callable(own) else own
        if (await wanted) if inspect.isawaitable(wanted) else wanted:
            return True
        answer = await run_async(calls.decision(calls.members(use_of(context, args, call_id))))
        return answer.decision == "pending"

    governed.on_invoke_tool = on_invoke_tool
    # The last one: what another guardrail refuses is not asked about.
    governed.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), guard_of(calls, use_of, begun)]
    if interrupts:
        governed.needs_approval = needs_approval
    return governed


def _governed_handoff(calls: ToolCalls, handoff: Handoff[Any, Any]) -> Handoff[Any, Any]:
    governed = copy.copy(handoff)
    invoke = handoff.on_invoke_handoff

    async def on_invoke_handoff(context: Any, text: str) -> Any:
        use = ToolUse(handoff.tool_name, parsed(text), run_of(context), spawns=True)
        result = await calls.run_async(use, lambda: invoke(context, text))
        if isinstance(result, Refusal):
            raise result.error
        return result

    governed.on_invoke_handoff = on_invoke_handoff
    return governed
