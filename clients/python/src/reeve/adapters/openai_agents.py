"""Tools, handoffs and models of the OpenAI Agents SDK under policy: `tools = govern(agent, tools)`."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._completion import GIVEN_UP
from .._flow import run_async, run_through
from .._said import Said
from ..async_agent import AsyncAgent
from ..errors import InvalidRequest, OperationTerminated
from ._govern import AnyAgent, ToolCalls, ToolUse, ids_of_call
from ._jsonable import parsed
from ._judged import NOTHING
from ._missing import missing
from ._options import GovernOptions, run_id_of
from ._outcome import Refusal
from .subagents import Part, SubagentLimits

try:
    from agents import FunctionTool, Handoff, handoff
    from agents.models.interface import Model

    from .openai_agents_guard import Begun, GovernHooks, RunDenied, RunTerminated, guard_of, run_of, terminated_by
    from .openai_agents_model import govern_model
    from .openai_agents_parts import PartHooks, PartModel, run_within
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
        return _governed_handoff(calls, tool, options)
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
        return ToolUse(tool.name, args, run_of(context), ids, spawns, takes_args=True)

    async def on_invoke_tool(context: Any, text: str) -> Any:
        use = use_of(context, parsed(text), getattr(context, "tool_call_id", None))

        def call(op: Said) -> Any:
            changed = op.answer.rewritten_args
            return invoke(context, text if changed is None else json.dumps(changed))

        try:
            # Whoever calls the tool without its guardrails asks here.
            result = await calls.run_async(use, call, begun.take(context, text))
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

    vars(governed)[_ORIGINAL] = (tool, options)
    governed.on_invoke_tool = on_invoke_tool
    # The last one: what another guardrail refuses is not asked about.
    governed.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), guard_of(calls, use_of, begun)]
    if interrupts:
        governed.needs_approval = needs_approval
    return governed


#: What was governed, and how. Who takes over has the same tools and handoffs, as another agent.
_ORIGINAL = "_reeve_original"


@dataclass(frozen=True)
class _Around:
    """Where a part of a run that acts by a delegation came from."""

    #: The handoff by which the agent itself gave the run away. Whoever has it is no delegate.
    entry: Handoff[Any, Any]
    #: Ends the parts around this one.
    end: Callable[[], Awaitable[None]]


async def _nothing_around() -> None:
    """The agent that gave the run away goes on."""


async def _take_over(
    calls: ToolCalls, taking: Any, limits: SubagentLimits, options: OpenAIAgentsOptions, around: _Around
) -> Any:
    """The agent that takes over, acting as a delegate until it has answered, or hands back to who started.

    Its tools, its model and its handoffs run as the delegate. Whoever takes over from it is a delegate of it.
    """
    part = Part(calls.core, taking.name, limits)
    core = await run_async(part.begin())
    delegate, places = AsyncAgent(core, calls.subject_token), part.places(core)

    async def over() -> None:
        await run_through(part.end())
        await around.end()

    def tool_of(tool: Any) -> Any:
        original, own = vars(tool).get(_ORIGINAL, (tool, options))
        governed = _governed(ToolCalls(delegate, own, OpenAIAgentsOptions), original, own)
        governed.on_invoke_tool = run_within(places, governed.on_invoke_tool)
        return governed

    def handoff_of(given: Any) -> Any:
        each = given if isinstance(given, Handoff) else handoff(given)
        original, own = vars(each).get(_ORIGINAL, (each, options))
        calls_of_part = ToolCalls(delegate, own, OpenAIAgentsOptions)
        governed = _governed_handoff(calls_of_part, original, own, _Around(around.entry, over))
        governed.on_invoke_handoff = run_within(places, governed.on_invoke_handoff)
        return governed

    try:
        return taking.clone(
            tools=[tool_of(tool) for tool in taking.tools],
            handoffs=[handoff_of(each) for each in taking.handoffs],
            hooks=PartHooks(taking.hooks, over),
            model=PartModel(places, taking.model) if isinstance(taking.model, Model) else taking.model,
        )
    except BaseException:
        await over()
        raise


def _governed_handoff(
    calls: ToolCalls, handoff: Handoff[Any, Any], options: OpenAIAgentsOptions, around: _Around | None = None
) -> Handoff[Any, Any]:
    governed = copy.copy(handoff)
    invoke = handoff.on_invoke_handoff
    limits = options.get("delegates", {}).get(handoff.agent_name)

    async def on_invoke_handoff(context: Any, text: str) -> Any:
        use = ToolUse(handoff.tool_name, parsed(text), run_of(context), spawns=True)
        result = await calls.run_async(use, lambda _: invoke(context, text), None, NOTHING)
        if isinstance(result, Refusal):
            if around is not None:
                await around.end()
            raise result.error
        if around is None:
            if limits is None:
                return result
            return await _take_over(calls, result, limits, options, _Around(governed, _nothing_around))
        if any(each is around.entry for each in result.handoffs):
            await around.end()
            return result
        return await _take_over(calls, result, limits or {}, options, around)

    vars(governed)[_ORIGINAL] = (handoff, options)
    governed.on_invoke_handoff = on_invoke_handoff
    return governed
