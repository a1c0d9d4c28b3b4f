"""Sub-agents of frameworks that act as delegates: handoffs of the OpenAI Agents SDK, subgraphs of LangGraph, tools."""

import asyncio
from typing import Any, TypedDict

import pytest
from agents import Agent as OpenAIAgent
from agents import (
    AgentHooks,
    FunctionTool,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.models.interface import Model
from conftest import eventually
from gateway_process import GatewayProcess
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, StateGraph
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from reeve import Agent
from reeve.adapters import langchain, openai_agents
from reeve.adapters.subagents import subagent

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """Calls the tools of each turn, and then says that it is done."""

    def __init__(self, *turns: list[str]) -> None:
        self._turns = list(turns)

    async def get_response(self, *_args: Any, **_keywords: Any) -> ModelResponse:
        turn = self._turns.pop(0) if self._turns else []
        output: list[Any] = [
            ResponseFunctionToolCall(name=name, arguments="{}", call_id=f"{name}-{at}", type="function_call")
            for at, name in enumerate(turn)
        ]
        if not output:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            output = [
                ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_args: Any, **_keywords: Any) -> Any:
        raise NotImplementedError


def tool_named(name: str) -> FunctionTool:
    return function_tool(lambda: f"{name} done", name_override=name, description_override=name)


def told(gateway: GatewayProcess, agent: Agent) -> list[str]:
    """What the agent and its sub-agents were allowed and denied."""
    return [
        f"{name.removeprefix(agent.id.agent_id)} {entry['decision']} {entry['payload']['resource']}"
        for name, entry in entries_of(gateway, agent)
        if entry["event_type"] in ("ActionAllowed", "ActionDenied")
    ]


def entries_of(gateway: GatewayProcess, agent: Agent) -> list[tuple[str, Any]]:
    """The entries about the agent and its sub-agents, the oldest first."""
    logged = [(entry["lineage"]["agent_id"], entry) for entry in gateway.logs(per_page="200") if entry["lineage"]]
    return [(name, entry) for name, entry in reversed(logged) if name.startswith(agent.id.agent_id)]


def ended(gateway: GatewayProcess, agent: Agent) -> int:
    return sum(entry["event_type"] == "DelegationEnded" for _, entry in entries_of(gateway, agent))


def test_a_handoff_acts_as_a_delegate_until_it_has_answered(gateway: GatewayProcess, agent: Agent) -> None:
    heard: list[str] = []

    class Hooks(AgentHooks[Any]):
        async def on_end(self, *_args: Any, **_keywords: Any) -> None:
            heard.append("end")

    # Governed before or not: whoever takes over runs its tools as the delegate.
    tools = [*openai_agents.govern(agent, [tool_named("read")]), tool_named("send")]
    billing = OpenAIAgent("Billing Desk", tools=tools, model=Scripted(["read"], ["send"]), hooks=Hooks())
    limits = {"Billing Desk": {"tools": ["read"]}}
    handoffs = openai_agents.govern(agent, [handoff(billing)], delegates=limits)
    triage = OpenAIAgent("triage", handoffs=handoffs, model=Scripted(["transfer_to_billing_desk"]))
    result = asyncio.run(Runner.run(triage, "go", run_config=QUIET))
    assert result.final_output == "done"
    assert told(gateway, agent) == [
        " allow transfer_to_billing_desk",
        ".Billing-Desk allow read",
        ".Billing-Desk deny send",
    ]
    assert heard == ["end"]
    assert billing.tools == tools
    eventually(lambda: ended(gateway, agent) == 1)


def test_a_part_that_is_handed_on_acts_within_all_limits_and_ends_with_the_whole(
    gateway: GatewayProcess, agent: Agent
) -> None:
    inner = OpenAIAgent("inner", tools=[tool_named("read"), tool_named("send")], model=Scripted(["read", "send"]))
    outer = OpenAIAgent("outer", handoffs=[inner], model=Scripted(["transfer_to_inner"]))
    limits: dict[str, Any] = {"outer": {"tools": ["read"]}, "inner": {}}
    handoffs = openai_agents.govern(agent, [handoff(outer)], delegates=limits)
    front = OpenAIAgent("front", handoffs=handoffs, model=Scripted(["transfer_to_outer"]))
    asyncio.run(Runner.run(front, "go", run_config=QUIET))
    assert sorted(told(gateway, agent)) == [
        " allow transfer_to_outer",
        ".outer allow transfer_to_inner",
        ".outer.inner allow read",
        ".outer.inner deny send",
    ]
    eventually(lambda: ended(gateway, agent) == 2)


def test_whoever_takes_over_from_a_delegate_acts_within_its_limits(gateway: GatewayProcess, agent: Agent) -> None:
    tools = openai_agents.govern(agent, [tool_named("read"), tool_named("send")])
    plain = OpenAIAgent("plain", tools=tools, model=Scripted(["read"], ["send"]))
    helper = OpenAIAgent("helper", handoffs=[plain], model=Scripted(["transfer_to_plain"]))
    handoffs = openai_agents.govern(agent, [handoff(helper)], delegates={"helper": {"tools": ["read"]}})
    first = OpenAIAgent("first", handoffs=handoffs, model=Scripted(["transfer_to_helper"]))
    asyncio.run(Runner.run(first, "go", run_config=QUIET))
    assert told(gateway, agent) == [
        " allow transfer_to_helper",
        ".helper allow transfer_to_plain",
        ".helper.plain allow read",
        ".helper.plain deny send",
    ]
    eventually(lambda: ended(gateway, agent) == 2)


def test_a_part_that_is_handed_back_is_over(gateway: GatewayProcess, agent: Agent) -> None:
    helper = OpenAIAgent("helper", model=Scripted(["transfer_to_first"]))
    handoffs = openai_agents.govern(agent, [handoff(helper)], delegates={"helper": {"tools": ["read"]}})
    tools = openai_agents.govern(agent, [tool_named("send")])
    first = OpenAIAgent("first", tools=tools, handoffs=handoffs, model=Scripted(["transfer_to_helper"], ["send"]))
    helper.handoffs = [first]
    asyncio.run(Runner.run(first, "go", run_config=QUIET))
    assert told(gateway, agent) == [" allow transfer_to_helper", ".helper allow transfer_to_first", " allow send"]
    eventually(lambda: ended(gateway, agent) == 1)


def test_what_the_tools_of_a_part_call_and_its_model_act_as_the_delegate(gateway: GatewayProcess, agent: Agent) -> None:
    read = langchain.govern(agent, chat_tool("read"))
    outer = function_tool(lambda: str(read.invoke({})), name_override="outer", description_override="x")
    model = openai_agents.govern_model(agent, Scripted(["outer"]), model="small")
    helper = OpenAIAgent("helper", tools=[outer], model=model)
    handoffs = openai_agents.govern(agent, [handoff(helper)], delegates={"helper": {}})
    first = OpenAIAgent("first", handoffs=handoffs, model=Scripted(["transfer_to_helper"]))
    asyncio.run(Runner.run(first, "go", run_config=QUIET))
    assert told(gateway, agent) == [
        " allow transfer_to_helper",
        *(f".helper allow {what}" for what in ("small", "outer", "read", "small")),
    ]
    eventually(lambda: ended(gateway, agent) == 1)


def test_a_part_that_cannot_be_governed_leaves_no_delegate(gateway: GatewayProcess, agent: Agent) -> None:
    helper = OpenAIAgent("helper", tools=[WebSearchTool()], model=Scripted())
    handoffs = openai_agents.govern(agent, [handoff(helper)], delegates={"helper": {}})
    first = OpenAIAgent("first", handoffs=handoffs, model=Scripted(["transfer_to_helper"]))
    with pytest.raises(Exception, match="does not run here"):
        asyncio.run(Runner.run(first, "go", run_config=QUIET))
    assert ended(gateway, agent) == 1


def test_a_subagent_whose_task_is_cancelled_ends(gateway: GatewayProcess, agent: Agent) -> None:
    async def work() -> None:
        async with subagent(agent, "one"):
            task = asyncio.current_task()
            assert task is not None
            # The next wait is that for the end of the sub-agent.
            task.cancel()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work())
    eventually(lambda: ended(gateway, agent) == 1)


class State(TypedDict):
    said: list[str]


def graph_of(tools: list[Any], *names: str) -> Any:
    by_name = {tool.name: tool for tool in tools}

    def work(state: State) -> State:
        return {"said": [*state["said"], *(str(by_name[name].invoke({})) for name in names)]}

    return StateGraph(State).add_node("work", work).add_edge(START, "work").add_edge("work", END).compile()


def chat_tool(name: str) -> StructuredTool:
    return StructuredTool.from_function(lambda: name, name=name, description=name)


def test_a_subgraph_acts_as_a_delegate_while_it_runs(gateway: GatewayProcess, agent: Agent) -> None:
    tools = langchain.govern(agent, [chat_tool("read"), chat_tool("send")])
    research = graph_of(tools, "read", "send")

    def node(state: State) -> Any:
        with subagent(agent, "research", tools=["read"]):
            return research.invoke(state)

    async def node_async(state: State) -> Any:
        async with subagent(agent, "research", tools=["read"]):
            return await research.ainvoke(state)

    builder = StateGraph(State).add_node("research", node).add_node("again", node_async)
    builder = builder.add_node("work", graph_of(tools, "send"))
    builder = builder.add_edge(START, "research").add_edge("research", "again").add_edge("again", "work")
    graph = builder.add_edge("work", END).compile()
    asyncio.run(graph.ainvoke({"said": []}))
    part = [".research allow read", ".research deny send"]
    assert told(gateway, agent) == [*part, *part, " allow send"]
    assert ended(gateway, agent) == 2


def test_what_runs_inside_a_tool_that_is_a_subagent_acts_as_its_delegate(gateway: GatewayProcess, agent: Agent) -> None:
    read, send = langchain.govern(agent, [chat_tool("read"), chat_tool("send")])

    def research() -> str:
        return f"{read.invoke({})} {send.invoke({})}"

    tool = StructuredTool.from_function(research, name="research", description="x")
    governed = langchain.govern(agent, tool, delegates={"research": {"tools": ["read"], "max_checks": 2}})
    assert "does not cover" in governed.invoke({})
    send.invoke({})
    assert told(gateway, agent) == [" allow research", ".research allow read", ".research deny send", " allow send"]
    assert ended(gateway, agent) == 1


def test_several_of_one_name_at_once_have_limits_of_their_own(agent: Agent) -> None:
    name = f"{agent.id.agent_id}.one"
    first, second = subagent(agent, "one", max_checks=1), subagent(agent, "one")
    delegates = [first.__enter__(), second.__enter__()]
    assert [str(each.id.agent_id) for each in delegates] == [name, f"{name}-2"]
    assert [each.check(tool="x").allowed for each in [*delegates, *delegates]] == [True, True, False, True]
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)
    with subagent(agent, "one") as again, subagent(agent, "two") as inner:
        assert (again.id.agent_id, inner.id.agent_id) == (name, f"{name}.two")
