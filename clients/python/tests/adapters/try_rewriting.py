"""Every adapter calls its tools with the arguments that rules have rewritten. Run where frameworks are installed."""

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any

import pytest
from gateway_process import GatewayProcess
from pydantic import BaseModel, Field, SecretStr

from reeve import ActionDenied, Agent

POLICY = """
name: rewriting
default: deny
rules:
  - { name: cap, effect: allow, tools: [search, ask_search], rewrite: { limit: "args.limit > 10 ? 10 : args.limit" } }
  - name: within
    effect: allow
    tools: [find]
    rewrite: { "where.mostRows": "10", until: "'2026-01-01'" }
  - { name: ask, effect: require_approval, tools: [ask_search] }
"""


@pytest.fixture(scope="module")
def gateway() -> Iterator[GatewayProcess]:
    process = GatewayProcess(policy=POLICY)
    yield process
    process.remove()


def _langchain(agent: Agent, args: dict[str, Any]) -> Any:
    from langchain_core.tools import tool

    from reeve.adapters.langchain import govern

    @tool
    def search(q: str, limit: int) -> str:
        """Search."""
        return f"found {limit} of {q}"

    return govern(agent, search).invoke(args)


def _langchain_async(agent: Agent, args: dict[str, Any]) -> Any:
    from langchain_core.tools import tool

    from reeve.adapters.langchain import govern

    @tool
    async def search(q: str, limit: int) -> str:
        """Search."""
        return f"found {limit} of {q}"

    return asyncio.run(govern(agent, search).ainvoke(args))


def _openai_agents(agent: Agent, args: dict[str, Any]) -> Any:
    from agents import function_tool
    from agents.tool_context import ToolContext

    from reeve.adapters.openai_agents import govern

    @function_tool
    def search(q: str, limit: int) -> str:
        """Search."""
        return f"found {limit} of {q}"

    text = json.dumps(args)
    context: Any = ToolContext(context=None, tool_name="search", tool_call_id="call-1", tool_arguments=text)
    return asyncio.run(govern(agent, search).on_invoke_tool(context, text))


def _crewai(agent: Agent, args: dict[str, Any]) -> Any:
    from crewai.tools import tool

    from reeve.adapters.crewai import govern

    @tool("search")
    def search(q: str, limit: int) -> str:
        """Search."""
        return f"found {limit} of {q}"

    return govern(agent, search).run(**args)


def _crewai_class(agent: Agent, args: dict[str, Any]) -> Any:
    from crewai.tools import BaseTool

    from reeve.adapters.crewai import govern

    class Search(BaseTool):
        name: str = "search"
        description: str = "Search."

        def _run(self, q: str, limit: int) -> str:
            return f"found {limit} of {q}"

    return govern(agent, Search()).run(args["q"], args["limit"])


def _pydantic_ai(agent: Agent, args: dict[str, Any]) -> Any:
    from pydantic_ai import Agent as Thinker
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from reeve.adapters.pydantic_ai import govern

    def search(q: str, limit: int) -> str:
        return f"found {limit} of {q}"

    def think(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        last: Any = messages[-1].parts[-1]
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("search", args)])
        return ModelResponse(parts=[TextPart(str(last.content))])

    return Thinker(FunctionModel(think), tools=[govern(agent, search)]).run_sync("go").output


@pytest.mark.parametrize(
    "call",
    [_langchain, _langchain_async, _openai_agents, _crewai, _crewai_class, _pydantic_ai],
    ids=lambda f: f.__name__,
)
def test_a_tool_gets_the_arguments_of_the_answer(agent: Agent, call: Callable[[Agent, dict[str, Any]], Any]) -> None:
    assert call(agent, {"q": "x", "limit": 500}) == "found 10 of x"
    assert call(agent, {"q": "x", "limit": 3}) == "found 3 of x"


def test_what_is_rewritten_keeps_its_type_and_what_is_not_is_the_same(agent: Agent) -> None:
    from langchain_core.tools import InjectedToolArg, tool

    from reeve.adapters.langchain import govern

    class Where(BaseModel):
        most_rows: int = Field(alias="mostRows")
        password: SecretStr
        since: date

    @tool
    def find(where: Where, until: date, given: Annotated[object, InjectedToolArg]) -> str:
        """Find."""
        return f"{where.most_rows} {where.password.get_secret_value()} {where.since.year} {until.year} {given}"

    where = {"mostRows": 500, "password": "s3cret", "since": "2025-01-01"}
    called = govern(agent, find).invoke({"where": where, "until": "2030-01-01", "given": "by the program"})
    assert called == "10 s3cret 2025 2026 by the program"


def test_an_interrupt_shows_what_will_run(gateway: GatewayProcess, agent: Agent) -> None:
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

    @tool
    def ask_search(limit: int) -> str:
        """Search."""
        return f"found {limit}"

    call = {"name": "ask_search", "args": {"limit": 500}, "id": "call-1"}
    model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    middleware = GovernMiddleware(agent, govern_model=False, interrupt=True)
    graph = create_agent(model, [ask_search], middleware=[middleware], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "rewriting"}}
    start: Any = {"messages": [("user", "go")]}
    (interrupt,) = graph.invoke(start, config)["__interrupt__"]
    assert interrupt.value["args"] == {"limit": 10}
    gateway.decide(interrupt.value["approval_id"], "approve")
    assert graph.invoke(Command(resume=True), config)["messages"][-2].content == "found 10"


def test_hooks_cannot_replace_arguments(agent: Agent) -> None:
    from types import SimpleNamespace

    from reeve.adapters.openai_agents import GovernHooks

    context = SimpleNamespace(tool_arguments='{"q": "x", "limit": 500}', run_config=None)
    with pytest.raises(ActionDenied, match="must be rewritten, which this caller cannot do"):
        asyncio.run(GovernHooks(agent).on_tool_start(context, None, SimpleNamespace(name="search")))
