"""What the table does not speak of, for the OpenAI Agents SDK: guardrails, hooks, interrupts and streams."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import FunctionTool, Model, ModelResponse, RunConfig, RunHooks, Runner, Usage, function_tool
from agents.run_config import ToolExecutionConfig
from conftest import eventually
from gateway_process import GatewayProcess
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from reeve import ActionDenied, Agent, OperationTerminated
from reeve.adapters.openai_agents import GovernHooks, RunDenied, govern, govern_model

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """Calls each tool once, and then says that it is done. A stream can be made to wait in its middle."""

    def __init__(self, *calls: tuple[str, dict[str, Any]], waits: bool = False) -> None:
        self.model = "scripted"
        self.heard: list[Any] = []
        self.closed = False
        self._calls = calls
        self._waits = waits

    def _output(self, given: Any) -> list[Any]:
        self.heard.append(given)
        if self._calls and len(self.heard) == 1:
            return [
                ResponseFunctionToolCall(
                    name=name, arguments=json.dumps(args), call_id=f"call-{index}", type="function_call"
                )
                for index, (name, args) in enumerate(self._calls)
            ]
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        return [ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")]

    async def get_response(self, system_instructions: Any, input: Any, *_args: Any, **_keywords: Any) -> ModelResponse:
        return ModelResponse(output=self._output(input), usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: Any, input: Any, *_args: Any, **_keywords: Any
    ) -> AsyncIterator[Any]:
        output = self._output(input)
        try:
            yield ResponseTextDeltaEvent(
                content_index=0, delta="do", item_id="1", logprobs=[], output_index=0, sequence_number=0,
                type="response.output_text.delta",
            )  # fmt: skip
            if self._waits:
                await asyncio.sleep(600)
            usage = ResponseUsage(
                input_tokens=100,
                input_tokens_details=InputTokensDetails.model_construct(cached_tokens=0),
                output_tokens=20,
                output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
                total_tokens=120,
            )
            response = Response(
                id="1", created_at=0, model="scripted", object="response", output=output, parallel_tool_calls=False,
                tool_choice="auto", tools=[], usage=usage,
            )  # fmt: skip
            yield ResponseCompletedEvent(response=response, sequence_number=1, type="response.completed")
        finally:
            self.closed = True


def ops_of(gateway: GatewayProcess, agent: Agent) -> list[Any]:
    items: list[Any] = gateway.api("GET", f"/api/v1/ops?agent_id={agent.id.agent_id}&org_id=acme&team_id=core")["items"]
    return items


def approvals_of(gateway: GatewayProcess, agent: Agent) -> list[Any]:
    query = f"org_id=acme&team_id=core&agent_id={agent.id.agent_id}&state=all"
    items: list[Any] = gateway.api("GET", f"/api/v1/approvals?{query}")["items"]
    return items


class Told(RunHooks[Any]):
    """What the hooks of a run hear of its tools."""

    def __init__(self, fails: bool = False) -> None:
        self.tools: list[str] = []
        self._fails = fails

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self.tools.append(tool.name)
        if self._fails:
            raise ValueError("this hook fails")


@function_tool
def delete_customer(name: str) -> str:
    """Deletes."""
    raise AssertionError("it must not run")


@function_tool
def ask_deploy(version: int) -> str:
    """Deploys."""
    return f"deployed {version}"


@function_tool
def search(q: str) -> str:
    """Searches."""
    return f"found {q}"


def test_a_refused_tool_is_one_that_no_hook_hears_of(agent: Agent) -> None:
    told = Told()
    model = Scripted(("delete_customer", {"name": "x"}), ("search", {"q": "y"}))
    tools: Any = govern(agent, [delete_customer, search])
    crew = OpenAIAgent("crew", tools=tools, model=model)
    result = asyncio.run(Runner.run(crew, "go", hooks=told, run_config=QUIET))
    assert told.tools == ["search"]
    outputs = [item["output"] for item in model.heard[1] if item.get("type") == "function_call_output"]
    assert outputs[0].startswith("Denied by policy: ")
    assert outputs[1] == "found y"
    infos = [each.output.output_info for each in result.tool_input_guardrail_results]
    assert {"reeve": "denied"} in infos


def test_a_tool_that_is_allowed_and_never_run_is_reported(gateway: GatewayProcess, agent: Agent) -> None:
    tools: Any = govern(agent, [search])
    crew = OpenAIAgent("crew", tools=tools, model=Scripted(("search", {"q": "y"})))

    async def run() -> None:
        with pytest.raises(Exception, match="this hook fails"):
            await Runner.run(crew, "go", hooks=Told(fails=True), run_config=QUIET)
        while ops_of(gateway, agent)[0]["state"] != "completing":
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_tool_without_its_guardrails_is_checked_all_the_same(agent: Agent) -> None:
    governed: FunctionTool = govern(agent, delete_customer)

    async def call() -> str:
        return str(await governed.on_invoke_tool(_context("delete_customer"), '{"name": "x"}'))

    assert asyncio.run(call()).startswith("Denied by policy: ")


def _context(name: str) -> Any:
    from agents.tool_context import ToolContext

    return ToolContext(context=None, tool_name=name, tool_call_id="call-1", tool_arguments="{}")


@pytest.mark.parametrize("early", [False, True])
def test_a_held_tool_interrupts_a_run_and_goes_on_as_the_same_operation(
    gateway: GatewayProcess, agent: Agent, early: bool
) -> None:
    tools: Any = govern(agent, [ask_deploy], interrupt=True, run_id=f"run-{agent.id.agent_id}")
    model = Scripted(("ask_deploy", {"version": 7}))
    crew = OpenAIAgent("crew", tools=tools, model=model)
    execution = ToolExecutionConfig(pre_approval_tool_input_guardrails=early)
    config = RunConfig(tracing_disabled=True, group_id=f"group-{agent.id.agent_id}", tool_execution=execution)

    async def run() -> None:
        first = await Runner.run(crew, "go", run_config=config)
        (held,) = first.interruptions
        (approval,) = approvals_of(gateway, agent)
        gateway.decide(approval["id"], "approve")
        state = first.to_state()
        state.approve(held)
        result = Runner.run_streamed(crew, state, run_config=config)
        async for _ in result.stream_events():
            pass
        assert result.final_output == "done"

    asyncio.run(run())
    outputs = [item["output"] for item in model.heard[1] if item.get("type") == "function_call_output"]
    assert outputs == ["deployed 7"]
    (op,) = ops_of(gateway, agent)
    assert op["state"] == "completing"


def test_hooks_govern_what_govern_never_saw(gateway: GatewayProcess, agent: Agent) -> None:
    async def run(tool: FunctionTool, args: dict[str, Any]) -> Any:
        crew = OpenAIAgent("crew", tools=[tool], model=Scripted((tool.name, args)))
        return await Runner.run(crew, "go", hooks=GovernHooks(agent), run_config=QUIET)

    assert asyncio.run(run(search, {"q": "y"})).final_output == "done"
    (op,) = ops_of(gateway, agent)
    assert (op["resource"], op["state"]) == ("search", "completing")
    with pytest.raises(RunDenied) as caught:
        asyncio.run(run(delete_customer, {"name": "x"}))
    assert caught.value.answer.policy_rule == "test/never-delete"
    # One of `govern` is asked about once.
    asyncio.run(run(govern(agent, search), {"q": "y"}))
    assert [op["state"] for op in ops_of(gateway, agent)] == ["completing", "terminated", "completing"]


def test_a_streamed_run_is_checked_and_settled(gateway: GatewayProcess, agent: Agent) -> None:
    model = govern_model(agent, Scripted(("delete_customer", {"name": "x"})))
    tools: Any = govern(agent, [delete_customer])
    crew = OpenAIAgent("crew", tools=tools, model=model)

    async def run() -> str:
        result = Runner.run_streamed(crew, "go", run_config=QUIET)
        raw = [event.data async for event in result.stream_events() if event.type == "raw_response_event"]
        return "".join(event.delta for event in raw if event.type == "response.output_text.delta")

    assert asyncio.run(run()) == "dodo"
    assert sorted((op["resource"], op["state"]) for op in ops_of(gateway, agent)) == [
        ("delete_customer", "terminated"),
        ("scripted", "completing"),
        ("scripted", "completing"),
    ]
    gateway.api("POST", f"/api/v1/agents/acme/core/{agent.id.agent_id}/suspend", {"reason": "no"})
    with pytest.raises(ActionDenied):
        asyncio.run(run())


def test_a_termination_ends_a_stream_and_its_run(gateway: GatewayProcess, agent: Agent) -> None:
    inner = Scripted(waits=True)
    crew = OpenAIAgent("crew", model=govern_model(agent, inner))
    controls: list[Any] = []

    async def run() -> None:
        result = Runner.run_streamed(crew, "go", run_config=QUIET)
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                (op,) = ops_of(gateway, agent)
                controls.append(gateway.control(op["op_id"], "terminate", "enough"))

    with pytest.raises(OperationTerminated, match="enough"):
        asyncio.run(run())
    assert inner.closed
    assert gateway.receipt(controls[0]["id"])["status"] == "effective"


def test_a_reader_who_leaves_ends_the_stream(gateway: GatewayProcess, agent: Agent) -> None:
    inner = Scripted(waits=True)
    crew = OpenAIAgent("crew", model=govern_model(agent, inner))

    async def run() -> None:
        result = Runner.run_streamed(crew, "go", run_config=QUIET)
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                result.cancel()

    asyncio.run(run())
    assert inner.closed
    eventually(lambda: [op["state"] for op in ops_of(gateway, agent)] == ["completing"])


def test_a_held_stream_that_is_given_up_is_called_off(gateway: GatewayProcess, agent: Agent) -> None:
    inner = Scripted()
    crew = OpenAIAgent("crew", model=govern_model(agent, inner, model="ask-model"))

    async def run() -> None:
        result = Runner.run_streamed(crew, "go", run_config=QUIET)
        reading = asyncio.create_task(_read(result))
        while not approvals_of(gateway, agent):
            await asyncio.sleep(0.02)
        result.cancel()
        await asyncio.wait((reading,))

    asyncio.run(run())
    eventually(lambda: [each["state"] for each in approvals_of(gateway, agent)] == ["cancelled"])
    assert not inner.heard


async def _read(result: Any) -> None:
    async for _ in result.stream_events():
        pass
