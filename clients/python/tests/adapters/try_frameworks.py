"""What the table does not speak of: interrupts, handoffs, streams. Run where the frameworks are installed."""

import asyncio
import functools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from gateway_process import GatewayProcess

from reeve import ActionDenied, Agent, InvalidRequest, OperationTerminated


def _approve(gateway: GatewayProcess, agent: Agent) -> None:
    held = gateway.api("GET", f"/api/v1/approvals?org_id=acme&team_id=core&agent_id={agent.id.agent_id}")["items"]
    assert len(held) == 1
    gateway.decide(held[0]["id"], "approve")


@pytest.mark.parametrize("thread", ["a thread", 7])
def test_a_held_call_interrupts_a_graph(gateway: GatewayProcess, agent: Agent, thread: Any) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from reeve.adapters.langchain import GovernMiddleware

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_options: Any) -> Any:
            return self

    ran: list[int] = []

    @tool
    def ask_deploy(version: int) -> str:
        """Deploys."""
        ran.append(version)
        return f"deployed {version}"

    call = {"name": "ask_deploy", "args": {"version": 7}, "id": "call-1"}
    model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    middleware = GovernMiddleware(agent, govern_model=False, interrupt=True)
    graph = create_agent(model, [ask_deploy], middleware=[middleware], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": thread}}
    start: Any = {"messages": [("user", "go")]}
    first = graph.invoke(start, config)
    (interrupt,) = first["__interrupt__"]
    assert interrupt.value["kind"] == "reeve_approval"
    assert interrupt.value["args"] == {"version": 7}
    assert not ran
    _approve(gateway, agent)
    (op,) = gateway.api("GET", f"/api/v1/ops?agent_id={agent.id.agent_id}&org_id=acme&team_id=core")["items"]
    assert op["run_id"] == str(thread)
    last = graph.invoke(Command(resume=True), config)
    assert ran == [7]
    assert last["messages"][-2].content == "deployed 7"


def test_a_policy_sees_what_the_tool_gets_and_nothing_injected(gateway: GatewayProcess, agent: Agent) -> None:
    from langchain_core.tools import InjectedToolArg, tool

    from reeve.adapters.langchain import govern

    @tool
    def refund(amount: float, secret: Annotated[str, InjectedToolArg]) -> str:
        """Refunds."""
        return f"sent {amount}"

    governed = govern(agent, refund)
    assert type(governed) is type(refund)
    assert governed.args == refund.args
    # A text that the schema makes a number of: the condition of the policy holds for the number.
    assert "Denied by policy" in governed.invoke({"amount": "500", "secret": "s3cr3t-injected"})
    assert governed.invoke({"amount": "50", "secret": "s3cr3t-injected"}) == "sent 50.0"
    assert "s3cr3t-injected" not in json.dumps(gateway.logs(agent_id=agent.id.agent_id))


def test_a_tool_that_another_library_has_wrapped_is_governed(gateway: GatewayProcess, agent: Agent) -> None:
    from langchain_core.tools import tool

    from reeve.adapters.langchain import govern

    ran: list[str] = []

    @tool
    def delete_all(path: str) -> str:
        """Wipes."""
        ran.append(path)
        return "wiped"

    wrapped = delete_all.model_copy()
    inner = delete_all._run

    @functools.wraps(inner)
    def traced(*args: Any, **keywords: Any) -> Any:
        return inner(*args, **keywords)

    vars(wrapped)["_run"] = traced
    governed = govern(agent, wrapped)
    assert "Denied by policy" in governed.invoke({"path": "/"})
    assert not ran
    assert govern(agent, governed) is governed


def test_a_policy_sees_every_argument_whatever_its_name(gateway: GatewayProcess, agent: Agent) -> None:
    from langchain_core.tools import BaseTool, StructuredTool
    from pydantic import BaseModel

    from reeve.adapters.langchain import govern

    class Arguments(BaseModel):
        callbacks: str
        path: str

    class Configured(BaseTool):
        name: str = "configured"
        description: str = "Takes an argument of a name that LangChain uses, too."

        def _run(self, config: str, callbacks: str) -> str:
            return config + callbacks

    def send(**members: Any) -> str:
        return str(members)

    seen: list[Any] = []
    watch: Any = {"summary": lambda _tool, args: seen.append(args) or "seen"}
    tools = [StructuredTool.from_function(send, name="send", description="Sends.", args_schema=Arguments), Configured()]
    one, other = govern(agent, tools, **watch)
    one.invoke({"callbacks": "/etc/shadow", "path": "x"})
    other.invoke({"config": "a", "callbacks": "b"})
    assert seen == [{"callbacks": "/etc/shadow", "path": "x"}, {"config": "a", "callbacks": "b"}]


def test_tools_need_no_more_than_the_core_of_langchain() -> None:
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "from reeve.adapters.langchain import *\n"
        "from reeve.adapters import langchain as adapter\n"
        "assert govern is adapter.govern\n"
        "try: adapter.GovernMiddleware\n"
        "except ImportError as error: print(error)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    assert "needs its framework" in told


def test_a_misspelt_option_is_refused(agent: Agent) -> None:
    from reeve.adapters.crewai import govern

    options: Any = {"subagent": ["research"]}
    with pytest.raises(InvalidRequest, match="subagent"):
        govern(agent, [], **options)


def test_a_held_call_defers_a_run_of_pydantic_ai(gateway: GatewayProcess, agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import DeferredToolRequests, DeferredToolResults
    from pydantic_ai.models.test import TestModel

    from reeve.adapters.pydantic_ai import govern

    def ask_deploy(version: int) -> str:
        return f"deployed {version}"

    tools: Any = govern(agent, [ask_deploy], interrupt=True)
    crew: Any = PydanticAgent(TestModel(), tools=tools, output_type=[str, DeferredToolRequests])
    first = crew.run_sync("go")
    assert isinstance(first.output, DeferredToolRequests)
    (call,) = first.output.approvals
    _approve(gateway, agent)
    results = DeferredToolResults(approvals={call.tool_call_id: True})
    last = crew.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
    assert "deployed" in last.output


def test_a_handoff_is_checked_and_a_refused_one_ends_the_run(gateway: GatewayProcess, agent: Agent) -> None:
    from agents import Agent as OpenAIAgent
    from agents import RunContextWrapper, handoff

    from reeve.adapters.openai_agents import govern

    governed = govern(agent, handoff(OpenAIAgent("billing")))
    assert governed.tool_name == "transfer_to_billing"

    async def hand_off() -> str:
        return str((await governed.on_invoke_handoff(RunContextWrapper(None), "")).name)

    assert asyncio.run(hand_off()) == "billing"
    (decided,) = [entry for entry in gateway.logs(agent_id=agent.id.agent_id) if entry["decision"]]
    assert decided["payload"]["action"]["type"] == "agent_spawn"
    gateway.api("POST", f"/api/v1/agents/acme/core/{agent.id.agent_id}/suspend", {"reason": "no"})
    with pytest.raises(ActionDenied):
        asyncio.run(hand_off())


def test_a_streamed_answer_is_checked_and_settled(gateway: GatewayProcess, agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.models.test import TestModel

    from reeve.adapters.pydantic_ai import govern_model

    async def stream(estimate: int) -> str:
        model = govern_model(agent, TestModel(custom_output_text="hello there"), max_output_tokens=estimate)
        async with PydanticAgent(model).run_stream("go") as answer:
            return str(await answer.get_output())

    assert asyncio.run(stream(100)) == "hello there"
    (op,) = gateway.api("GET", f"/api/v1/ops?agent_id={agent.id.agent_id}&org_id=acme&team_id=core")["items"]
    assert op["resource"] == "test"
    gateway.api("POST", f"/api/v1/agents/acme/core/{agent.id.agent_id}/suspend", {"reason": "no"})
    with pytest.raises(ActionDenied):
        asyncio.run(stream(100))


def test_a_termination_ends_a_stream_of_pydantic_ai(gateway: GatewayProcess, agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.models.function import FunctionModel

    from reeve.adapters.pydantic_ai import govern_model

    async def words(_messages: Any, _info: Any) -> AsyncIterator[str]:
        yield "hello"
        await asyncio.sleep(600)

    async def run() -> None:
        async with PydanticAgent(govern_model(agent, FunctionModel(stream_function=words))).run_stream("go") as answer:
            async for _ in answer.stream_text(debounce_by=None):
                (op,) = gateway.api("GET", f"/api/v1/ops?agent_id={agent.id.agent_id}&org_id=acme&team_id=core")[
                    "items"
                ]
                gateway.control(op["op_id"], "terminate", "enough")

    with pytest.raises(OperationTerminated, match="enough"):
        asyncio.run(run())


def test_a_held_stream_of_pydantic_ai_that_is_given_up_is_called_off(gateway: GatewayProcess, agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.models.test import TestModel

    from reeve.adapters.pydantic_ai import govern_model

    path = f"/api/v1/approvals?org_id=acme&team_id=core&agent_id={agent.id.agent_id}&state=all"

    async def stream() -> None:
        async with PydanticAgent(govern_model(agent, TestModel(), model="ask-model")).run_stream("go"):
            raise AssertionError("it must not begin")

    async def run() -> None:
        streaming = asyncio.create_task(stream())
        while not gateway.api("GET", path)["items"]:
            await asyncio.sleep(0.02)
        streaming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await streaming
        while gateway.api("GET", path)["items"][0]["state"] == "open":
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(run(), 60))
    (approval,) = gateway.api("GET", path)["items"]
    assert approval["state"] == "cancelled"
