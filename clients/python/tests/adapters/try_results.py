"""What the table does not speak of: artifacts, errors that a framework tells its model, models, and hooks."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from gateway_process import BOOTSTRAP_KEY
from scripted_gateway import ScriptedGateway, denying, passing

from reeve import Agent, Reeve, ResultDenied
from reeve.v1.policy_service_pb2 import CheckResultRequest, CheckResultResponse

MAIL = "a@b.de"


def _judge(request: CheckResultRequest, _nth: int) -> CheckResultResponse:
    """Masks every address, wherever it stands."""
    text = request.result_json.decode()
    if "sk-" in text:
        return denying()
    return passing(text.replace(MAIL, "[mail]").encode() if MAIL in text else None)


@pytest.fixture
def judging() -> Iterator[ScriptedGateway]:
    with ScriptedGateway(_judge) as gateway:
        yield gateway


@pytest.fixture
def agent(judging: ScriptedGateway) -> Iterator[Agent]:
    with Reeve(judging.address, api_key=BOOTSTRAP_KEY) as reeve:
        yield reeve.register("acme", "core", "bot")


CALL = {"name": "search", "args": {"q": "x"}, "id": "call-1", "type": "tool_call"}


def test_the_content_of_langchain_is_judged_and_there_is_no_artifact(agent: Agent, judging: ScriptedGateway) -> None:
    from langchain_core.tools import tool

    from reeve.adapters.langchain import govern

    @tool(response_format="content_and_artifact")
    def search(q: str) -> tuple[str, object]:
        """Search."""
        return f"found {MAIL}", {"raw": MAIL}

    message = govern(agent, search).invoke(CALL)
    assert (message.content, message.artifact) == ("found [mail]", None)
    assert judging.judged == [(f"found {MAIL}", False)]


def test_a_message_of_langchain_is_another_one(agent: Agent) -> None:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import tool
    from langgraph.types import Command

    from reeve.adapters.langchain import govern

    @tool
    def search(q: str) -> ToolMessage:
        """Search."""
        return ToolMessage(f"found {MAIL}", tool_call_id="call-1", artifact=MAIL)

    @tool
    def leave(q: str) -> Any:
        """Leave."""
        return Command(update={"found": MAIL})

    message = govern(agent, search).invoke(CALL)
    assert message.content == "found [mail]"
    assert MAIL not in repr(message)
    refused = govern(agent, leave).invoke({**CALL, "name": "leave"})
    assert refused.content.startswith("Denied by policy: the result cannot be judged: it holds a Command")


def test_an_error_that_langchain_tells_its_model_stays_one(agent: Agent) -> None:
    from langchain_core.tools import ToolException, tool

    from reeve.adapters.langchain import govern

    @tool
    def search(q: str) -> str:
        """Search."""
        raise ToolException(f"no page for {MAIL}")

    search.handle_tool_error = True
    assert govern(agent, search).invoke(CALL).content == "no page for [mail]"


def test_pydantic_ai_judges_what_the_model_reads(agent: Agent) -> None:
    from pydantic import BaseModel
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import ModelRetry, ToolReturn
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from reeve.adapters.pydantic_ai import govern, govern_model

    class Row(BaseModel):
        mail: str

    def model_of(tool: str) -> FunctionModel:
        def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
            return ModelResponse([ToolCallPart(tool, {})] if len(messages) == 1 else [TextPart(f"write to {MAIL}")])

        return FunctionModel(answer)

    def row() -> Row:
        return Row(mail=MAIL)

    def returned() -> Any:
        return ToolReturn(return_value=f"found {MAIL}", content=f"see {MAIL}", metadata={"raw": MAIL})

    def retried() -> str:
        raise ModelRetry(f"no page for {MAIL}")

    for function in (row, returned, retried):
        crew = PydanticAgent(govern_model(agent, model_of(function.__name__)), tools=govern(agent, [function]))
        result = asyncio.run(crew.run("go"))
        assert result.output == "write to [mail]"
        assert "[mail]" in str(result.all_messages()[:-1])
        assert MAIL not in str(result.all_messages())


def test_openai_agents_judges_what_models_say_and_denies_what_it_cannot_keep_back(
    agent: Agent, judging: ScriptedGateway
) -> None:
    from agents import Agent as OpenAIAgent
    from agents import ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    from reeve.adapters.openai_agents import GovernHooks, RunDenied, govern_model

    from .try_openai_agents import Scripted

    quiet = RunConfig(tracing_disabled=True)
    ran: list[str] = []

    @function_tool
    def search(q: str) -> str:
        """Search."""
        ran.append(q)
        return MAIL

    class Speaking(Scripted):
        async def get_response(self, *_args: Any, **_keywords: Any) -> ModelResponse:
            text = ResponseOutputText(text=f"write to {MAIL}", type="output_text", annotations=[])
            said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

    speaking = OpenAIAgent("crew", model=govern_model(agent, Speaking()))
    assert asyncio.run(Runner.run(speaking, "go", run_config=quiet)).final_output == "write to [mail]"

    async def streamed() -> None:
        async for _ in Runner.run_streamed(speaking, "go", run_config=quiet).stream_events():
            pass

    with pytest.raises(ResultDenied, match="call it without streaming"):
        asyncio.run(streamed())

    hooked = OpenAIAgent("crew", tools=[search], model=Scripted(("search", {"q": "y"})))
    with pytest.raises(RunDenied, match="hooks cannot ensure"):
        asyncio.run(Runner.run(hooked, "go", hooks=GovernHooks(agent), run_config=quiet))
    assert ran == []
