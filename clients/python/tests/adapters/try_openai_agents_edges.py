"""Tools of the OpenAI Agents SDK that end badly, or that the SDK asks about in another place than usual."""

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import FunctionTool, RunContextWrapper, Runner, ToolInputGuardrailData, function_tool
from agents.models.interface import Model
from agents.tool_context import ToolContext
from conftest import eventually
from gateway_process import GatewayProcess

from reeve import Agent, InvalidRequest
from reeve.adapters.openai_agents import GovernHooks, govern
from reeve.adapters.openai_agents_parts import PartModel

from .try_openai_agents import QUIET, Scripted, Told, ask_deploy, delete_customer, ops_of, search


def _ends_of(gateway: GatewayProcess, agent: Agent) -> list[Any]:
    """How the operations have ended, once all of them have."""

    def ended() -> bool:
        gc.collect()
        agent.heartbeat()
        return all(op["state"] == "completing" for op in ops_of(gateway, agent))

    eventually(ended)
    ops = [gateway.op(op["op_id"]) for op in ops_of(gateway, agent)]
    changes = [each for op in ops for each in gateway.logs(op_id=op["op_id"]) if each["event_type"] == "OpStateChanged"]
    return [(change["payload"]["outcome"], op["cost_micros"]) for op, change in zip(ops, changes, strict=True)]


class Streaming(Model):
    """Says one word after the other, and hears that nobody listens any more."""

    def __init__(self) -> None:
        self.left = False

    async def get_response(self, *args: Any, **keywords: Any) -> Any:
        raise AssertionError("it streams")

    async def stream_response(self, *args: Any, **keywords: Any) -> Any:
        try:
            while True:
                yield "word"
        finally:
            self.left = True


def test_whoever_leaves_the_stream_of_a_part_ends_it() -> None:
    model = Streaming()

    async def run() -> None:
        events: Any = PartModel({}, model).stream_response()
        assert await events.__anext__() == "word"
        await events.aclose()
        assert model.left

    asyncio.run(run())


@function_tool(failure_error_function=None)
def crash(q: str) -> str:
    """Crashes."""
    raise ValueError(f"no {q}")


def test_a_tool_that_fails_under_hooks_costs_its_estimate(gateway: GatewayProcess, agent: Agent) -> None:
    hooks = GovernHooks(agent, costs={"crash": "0.40"})
    crew = OpenAIAgent("crew", tools=[crash], model=Scripted(("crash", {"q": "x"})))
    with pytest.raises(Exception, match="no x"):
        asyncio.run(Runner.run(crew, "go", hooks=hooks, run_config=QUIET))
    assert _ends_of(gateway, agent) == [("failed", 400_000)]


def test_a_tool_that_never_runs_is_reported_after_its_loop_has_closed(gateway: GatewayProcess, agent: Agent) -> None:
    tools: Any = govern(agent, [search], costs={"search": "0.40"})
    crew = OpenAIAgent("crew", tools=tools, model=Scripted(("search", {"q": "y"})))
    kept: list[Exception] = []
    try:
        asyncio.run(Runner.run(crew, "go", hooks=Told(fails=True), run_config=QUIET))
    except Exception as error:
        kept.append(error)
    # The error holds the context of the tool, which says nothing of the end for so long.
    assert _ends_of(gateway, agent) == [("cancelled", 0)]
    assert len(kept) == 1


def test_tools_that_share_the_context_of_their_run_end_each_for_itself(gateway: GatewayProcess, agent: Agent) -> None:
    hooks = GovernHooks(agent, spent=lambda _tool, result: result)
    shell, patch = SimpleNamespace(name="shell"), SimpleNamespace(name="apply_patch")

    async def run() -> None:
        context = RunContextWrapper(None)
        for tool in (shell, patch, shell):
            await hooks.on_tool_start(context, None, tool)
        for tool, cost in ((patch, "0.01"), (shell, "0.02"), (shell, "0.03")):
            await hooks.on_tool_end(context, None, tool, cost)
        assert all(op["state"] == "completing" for op in ops_of(gateway, agent))

    asyncio.run(run())
    assert sorted(_ends_of(gateway, agent)) == [("succeeded", cost) for cost in (10_000, 20_000, 30_000)]


def test_an_error_of_a_hook_is_not_its_own_cause(agent: Agent) -> None:
    with pytest.raises(InvalidRequest) as caught:
        asyncio.run(GovernHooks(agent).on_tool_start(RunContextWrapper(None), None, SimpleNamespace(name="")))
    assert caught.value.__cause__ is None


def test_a_tool_of_a_session_in_real_time_is_asked_about_once(gateway: GatewayProcess, agent: Agent) -> None:
    def context_of(tool: FunctionTool, text: str) -> Any:
        return ToolContext(context=None, tool_name=tool.name, tool_call_id="call-1", tool_arguments=text)

    async def call(tool: FunctionTool, text: str) -> str:
        """As such a session does: with one context for the guardrails, and another one for the tool."""
        for guardrail in tool.tool_input_guardrails or ():
            data = ToolInputGuardrailData(context=context_of(tool, text), agent=OpenAIAgent("crew"))
            assert (await guardrail.run(data)).behavior["type"] == "allow"
        return str(await tool.on_invoke_tool(context_of(tool, text), text))

    assert asyncio.run(call(govern(agent, search), '{"q": "y"}')) == "found y"
    assert _ends_of(gateway, agent) == [("succeeded", 0)]
    assert asyncio.run(call(govern(agent, delete_customer), '{"name": "x"}')).startswith("Denied by policy: ")


def test_an_interrupt_needs_the_name_of_the_run(agent: Agent) -> None:
    with pytest.raises(InvalidRequest, match="run_id"):
        govern(agent, [ask_deploy], interrupt=True)
    tools: Any = govern(agent, [ask_deploy], interrupt=True, run_id=lambda: None)
    crew = OpenAIAgent("crew", tools=tools, model=Scripted(("ask_deploy", {"version": 7})))
    with pytest.raises(Exception, match="run_id: a run that can be interrupted"):
        asyncio.run(Runner.run(crew, "go", run_config=QUIET))
