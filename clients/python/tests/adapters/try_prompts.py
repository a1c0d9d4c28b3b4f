"""The prompts that rules mask, by framework."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import make_dataclass
from typing import Any

import pytest
from conftest import fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess
from pydantic import BaseModel, Field

from reeve import Agent, Reeve, ReeveError, ResultDenied

MAIL = "ada@example.com"
POLICY = """
name: prompts
default: allow
rules:
  - { name: masks, effect: mask, actions: [llm_call], models: ["masked-*"], mask: { detect: [email] } }
  - { name: whole, effect: mask, actions: [llm_call], models: [masked-whole], mask: { fields: [messages, input] } }
"""


@pytest.fixture(scope="module")
def masking() -> Iterator[GatewayProcess]:
    process = GatewayProcess(policy=POLICY)
    yield process
    process.remove()


@pytest.fixture
def agent(masking: GatewayProcess) -> Iterator[Agent]:
    with Reeve(masking.grpc, api_key=BOOTSTRAP_KEY) as reeve:
        yield reeve.register("acme", "core", fresh_name())


@pytest.mark.parametrize("is_async", [False, True])
def test_langchain_sends_what_rules_leave_of_messages_and_tools(agent: Agent, is_async: bool) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool

    from reeve.adapters.langchain import GovernMiddleware

    seen: list[Any] = []

    class Seen(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **keywords: Any) -> Any:
            seen.append((list(messages), keywords))
            return super()._generate(messages, *args, **keywords)

        def bind_tools(self, tools: Any, **keywords: Any) -> Any:
            from langchain_core.utils.function_calling import convert_to_openai_tool

            return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **keywords)

    @tool(description=f"Finds {MAIL}")
    def find(who: str) -> str:
        return f"found {who}"

    def graph_of(model: str) -> Any:
        call = {"name": "find", "args": {"who": MAIL}, "id": "call-1", "type": "tool_call"}
        answers = iter([AIMessage("", tool_calls=[call]), AIMessage("done")])
        middleware = GovernMiddleware(agent, model={"model": model})
        return create_agent(Seen(messages=answers), [find], system_prompt=f"for {MAIL}", middleware=[middleware])

    def asked(graph: Any, message: Any) -> Any:
        given = {"messages": [message]}
        return asyncio.run(graph.ainvoke(given)) if is_async else graph.invoke(given)

    human = HumanMessage([{"type": "text", "text": f"I am {MAIL}"}])
    state = asked(graph_of("masked-one"), human)
    assert len(seen) == 2
    sent = [[each.model_dump() for each in messages] for messages, _ in seen]
    text = json.dumps([sent, [keywords["tools"] for _, keywords in seen]])
    assert MAIL not in text
    assert "for [masked]" in text
    assert "I am [masked]" in text
    assert "Finds [masked]" in text
    assert '"who": "[masked]"' in text
    assert [each.type for each in seen[1][0]] == ["system", "human", "ai", "tool"]
    # The tool ran with what the model asked for, and the state is the program's.
    assert state["messages"][0] == human
    assert state["messages"][2].content == f"found {MAIL}"
    seen.clear()
    with pytest.raises(ReeveError):
        asked(graph_of("masked-whole"), human)
    assert seen == []
    asked(graph_of("plain"), human)
    assert MAIL in str(seen[0])


class _Nested(BaseModel):
    who: str = Field(description=f"as {MAIL}")


class _Answer(BaseModel):
    nested: _Nested


class _Plain(BaseModel):
    who: str


_Data = make_dataclass("_Data", [("pair", tuple[str, int]), ("who", str)])
_Described = make_dataclass("_Described", [("who", str)], namespace={"__doc__": f"as {MAIL}"})


def _sent_by_langchain(agent: Agent, model: str, tools: list[Any], **options: Any) -> list[Any]:
    """What a model is bound to and called with, or nothing if the call is not made."""
    from langchain.agents import create_agent
    from langchain.agents.middleware import wrap_model_call
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    from reeve.adapters.langchain import GovernMiddleware

    sent: list[Any] = []
    settings = options.pop("model_settings", {})

    class Seen(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **keywords: Any) -> Any:
            sent.append(keywords)
            return super()._generate(messages, *args)

        def bind_tools(self, tools: Any, **keywords: Any) -> Any:
            from langchain_core.utils.function_calling import convert_to_openai_tool

            # As the models of providers do.
            def form_of(tool: Any) -> Any:
                return tool if isinstance(tool, dict) else {**convert_to_openai_tool(tool), **(tool.extras or {})}

            return self.bind(tools=[form_of(each) for each in tools], **keywords)

    @wrap_model_call
    def set_settings(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings=settings))

    governing: Any = [set_settings, GovernMiddleware(agent, model={"model": model})]
    answers = iter([AIMessage("done")])
    graph: Any = create_agent(Seen(messages=answers), tools, middleware=governing, **options)
    try:
        graph.invoke({"messages": [("user", "hi")]})
    except ReeveError:
        assert sent == []
    return sent


def test_langchain_masks_all_that_a_tool_says_and_keeps_the_rest(agent: Agent) -> None:
    from langchain_core.tools import tool

    extras: dict[str, Any] = {"input_examples": [{"who": MAIL}], "cache_control": {"type": "ephemeral"}}

    @tool(description="Finds", extras=extras)
    def find(who: str) -> str:
        return who

    @tool(description=f"Looks for {MAIL}", extras={"cache_control": {"type": "ephemeral"}}, args_schema=_Answer)
    def look(nested: _Nested) -> str:
        return nested.who

    built_in = {"type": "search", "extras": {"place": f"near {MAIL}"}}
    (sent,) = _sent_by_langchain(agent, "masked-one", [find, look])
    (searching,) = _sent_by_langchain(agent, "masked-one", [built_in])
    assert searching["tools"] == [{"type": "search", "extras": {"place": "near [masked]"}}]
    text = json.dumps(sent)
    assert MAIL not in text
    for part in ("Looks for [masked]", "as [masked]", '"input_examples": [{"who": "[masked]"}]'):
        assert part in text
    assert [each["cache_control"] for each in sent["tools"]] == [{"type": "ephemeral"}] * 2
    assert (find.extras, look.description) == (extras, f"Looks for {MAIL}")
    (plain,) = _sent_by_langchain(agent, "plain", [find, look])
    assert "Finds" in str(plain)
    assert MAIL in str(plain)

    @tool(description="Finds", extras={"input_examples": [object()]})
    def odd(who: str) -> str:
        return who

    assert _sent_by_langchain(agent, "masked-one", [odd]) == []


def test_langchain_sends_no_setting_that_rules_would_change(agent: Agent) -> None:
    from langchain.agents.structured_output import ToolStrategy

    for settings in ({"text": {"format": _Answer.model_json_schema()}}, {"user": MAIL}, {"output_format": _Answer}):
        assert _sent_by_langchain(agent, "masked-one", [], model_settings=settings) == []
        assert len(_sent_by_langchain(agent, "plain", [], model_settings=settings)) == 1
    (sent,) = _sent_by_langchain(agent, "masked-one", [], model_settings={"temperature": 0, "stop": ["."]})
    assert sent["temperature"] == 0
    for schema in (_Answer, _Described, ToolStrategy(_Plain | _Described)):
        assert _sent_by_langchain(agent, "masked-one", [], response_format=schema) == []
    assert len(_sent_by_langchain(agent, "masked-one", [], response_format=_Plain)) == 1


def test_langchain_keeps_the_classes_of_what_a_message_holds(agent: Agent) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from pydantic import AnyUrl

    from reeve.adapters.langchain import GovernMiddleware

    sent: list[Any] = []

    class Seen(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **keywords: Any) -> Any:
            sent.extend(messages)
            return super()._generate(messages, *args, **keywords)

    def held(who: str) -> dict[str, Any]:
        return {
            "bytes": f"I am {who}".encode(),
            "model": _Plain(who=who),
            "data": _Data((who, 1), who),
            "url": AnyUrl(f"https://example.com/?who={who}"),
        }

    middleware = GovernMiddleware(agent, model={"model": "masked-one"})
    graph: Any = create_agent(Seen(messages=iter([AIMessage("done")])), [], middleware=[middleware])
    message = HumanMessage(
        [{"type": "custom", **held(MAIL)}], additional_kwargs={"kept": _Plain(who="x"), **held(MAIL)}
    )
    graph.invoke({"messages": [message]})
    assert sent[0].content == [{"type": "custom", **held("[masked]")}]
    assert sent[0].additional_kwargs == {"kept": _Plain(who="x"), **held("[masked]")}
    assert message.content == [{"type": "custom", **held(MAIL)}]


def test_pydantic_ai_masks_text_files_and_sends_others(agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import BinaryContent, DocumentUrl
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from reeve.adapters.pydantic_ai import govern_model

    seen: list[Any] = []

    def answer(messages: Any, _info: Any) -> ModelResponse:
        seen.append(messages[0].parts[-1].content)
        return ModelResponse([TextPart("done")])

    def run(*content: Any) -> Any:
        seen.clear()
        crew = PydanticAgent(govern_model(agent, FunctionModel(answer), model="masked-one"))
        asyncio.run(crew.run(["hi", *content]))
        return seen[0][1:]

    text, left = f"I am {MAIL} é\n".encode(), "I am [masked] é\n".encode()
    url = f"data:text/plain;base64,{b64encode(text).decode()}"
    picture = BinaryContent(bytes(range(256)), media_type="image/png", identifier="one")
    plain, unknown, linked, same = run(
        BinaryContent(text, media_type="text/plain", identifier=f"of {MAIL}"),
        BinaryContent(text, media_type="application/octet-stream"),
        DocumentUrl(url, media_type="text/plain"),
        picture,
    )
    assert (type(plain), plain.data, plain.identifier) == (BinaryContent, left, "of [masked]")
    assert unknown.data == left
    assert linked.url == f"data:text/plain;base64,{b64encode(left).decode()}"
    assert (same.data, same.identifier) == (picture.data, "one")
    with pytest.raises(ResultDenied, match="it has a file that cannot be read as text"):
        run(BinaryContent(text.decode().encode("utf-16"), media_type="text/plain"))
    assert seen == []


def test_openai_agents_sends_what_rules_leave(agent: Agent) -> None:
    from agents import Agent as OpenAIAgent
    from agents import ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    from reeve.adapters.openai_agents import govern_model

    from .try_openai_agents import Scripted

    quiet = RunConfig(tracing_disabled=True)
    seen: list[str] = []

    @function_tool(description_override=f"Finds {MAIL}")
    def find(who: str) -> str:
        return who

    class Speaking(Scripted):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **keywords: Any) -> Any:
            tools = keywords["tools"]
            seen.append(json.dumps([system_instructions, input, [each.description for each in tools]]))
            text = ResponseOutputText(text="hi", type="output_text", annotations=[])
            said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def run(model: str) -> None:
        speaking = OpenAIAgent(
            "crew", instructions=f"for {MAIL}", tools=[find], model=govern_model(agent, Speaking(), model=model)
        )
        asyncio.run(Runner.run(speaking, f"I am {MAIL}", run_config=quiet))

    run("masked-one")
    assert MAIL not in seen[0]
    for text in ("for [masked]", "I am [masked]", "Finds [masked]"):
        assert text in seen[0]
    run("plain")
    assert MAIL in seen[1]


def test_crewai_sends_what_rules_leave(agent: Agent) -> None:
    from crewai.llms.base_llm import BaseLLM

    from reeve.adapters.crewai import govern_model

    seen: list[Any] = []

    class Seen(BaseLLM):
        def call(self, messages: Any, tools: Any = None, *_args: Any, **_keywords: Any) -> str:
            seen.append([messages, tools])
            return "hi"

    for model, is_masked in (("masked-one", True), ("plain", False)):
        governed = govern_model(agent, Seen(model="seen"), model=model)
        tools = [{"type": "function", "function": {"name": "find", "description": f"Finds {MAIL}"}}]
        assert governed.call([{"role": "user", "content": f"I am {MAIL}"}], tools) == "hi"
        assert (MAIL in json.dumps(seen.pop())) is not is_masked


@pytest.mark.parametrize("is_async", [False, True])
def test_crewai_sends_no_schema_of_an_answer_that_rules_would_change(agent: Agent, is_async: bool) -> None:
    from crewai.llms.base_llm import BaseLLM

    from reeve.adapters.crewai import govern_model

    seen: list[Any] = []

    class Seen(BaseLLM):
        def call(self, messages: Any, *args: Any, **keywords: Any) -> str:
            seen.append((messages, args, keywords))
            return "hi"

        async def acall(self, messages: Any, *args: Any, **keywords: Any) -> str:
            return self.call(messages, *args, **keywords)

    def called(model: str, *args: Any, **keywords: Any) -> bool:
        seen.clear()
        governed = govern_model(agent, Seen(model="seen"), model=model)
        try:
            if is_async:
                asyncio.run(governed.acall(f"I am {MAIL}", *args, **keywords))
            else:
                governed.call(f"I am {MAIL}", *args, **keywords)
        except ReeveError:
            assert seen == []
        return seen != []

    assert not called("masked-one", response_model=_Answer)
    assert not called("masked-one", None, None, None, None, None, _Answer)
    assert not called("masked-one", another={"text": MAIL})
    assert not called("masked-one", another=object())
    assert called("plain", response_model=_Answer)
    keywords = {"from_agent": object(), "response_model": _Plain}
    assert called("masked-one", None, None, {"find": print}, **keywords)
    assert seen == [("I am [masked]", (None, None, {"find": print}), keywords)]


def test_openai_agents_sends_no_setting_that_rules_would_change(agent: Agent) -> None:
    from agents import Agent as OpenAIAgent
    from agents import ModelSettings, RunConfig, Runner

    from reeve.adapters.openai_agents import govern_model

    from .try_openai_agents import Scripted

    settings = ModelSettings(extra_body={"instructions": f"for {MAIL}"})
    model = govern_model(agent, Scripted(), model="masked-one")
    crew = OpenAIAgent("crew", model=model, model_settings=settings)
    with pytest.raises(ResultDenied, match="the prompt cannot be masked: a rule masks a text in model_settings"):
        asyncio.run(Runner.run(crew, "hi", run_config=RunConfig(tracing_disabled=True)))


def test_openai_agents_masks_all_that_describes_a_tool_and_keeps_its_name(agent: Agent) -> None:
    from agents import CustomTool, FunctionTool, Handoff, HostedMCPTool, ModelSettings, ToolSearchTool, tool_namespace

    from reeve.adapters.openai_agents import govern_model

    from .try_openai_agents import Scripted

    sent: list[dict[str, Any]] = []
    schema = {"type": "object", "properties": {"password": {"type": "string", "description": f"as {MAIL}"}}}

    async def run(*_args: Any) -> str:
        return "done"

    class Seen(Scripted):
        async def get_response(self, *args: Any, **keywords: Any) -> Any:
            sent.append(keywords)
            return await super().get_response(*args, **keywords)

    def ask(model: str, **beside: Any) -> None:
        sent.clear()
        given = {"system_instructions": None, "input": "hi", "model_settings": ModelSettings(), "output_schema": None}
        ids = {"tracing": None, "previous_response_id": None, "conversation_id": None, "prompt": None}
        lists: dict[str, Any] = {"tools": [], "handoffs": []}
        call = govern_model(agent, Seen(), model=model).get_response(**{**given, **ids, **lists, **beside})
        asyncio.run(call)

    def tool(name: str = "find") -> FunctionTool:
        return FunctionTool(name, f"Finds {MAIL}", schema, run, output_json_schema=schema)

    def handoff(name: str = "to_other") -> Handoff[Any, Any]:
        return Handoff(name, f"Asks {MAIL}", schema, run, "other")

    hosted: Any = {"type": "mcp", "server_label": "mail", "server_url": "https://mail.example"}
    fine = [
        *tool_namespace(name="crm", description=f"of {MAIL}", tools=[tool()]),
        HostedMCPTool(hosted),
        CustomTool("c", "d", run),
    ]
    ask("masked-one", tools=fine, handoffs=[handoff()], previous_response_id="resp_1")
    (found, mcp, custom), (other,) = sent[0]["tools"], sent[0]["handoffs"]
    assert (found.name, found.on_invoke_tool, mcp, custom) == ("find", run, fine[1], fine[2])
    assert found.params_json_schema["properties"]["password"]["description"] == "as [masked]"
    assert (found.description, found._tool_namespace_description) == ("Finds [masked]", "of [masked]")
    assert (other.tool_name, other.tool_description) == ("to_other", "Asks [masked]")
    assert MAIL not in json.dumps([found.output_json_schema, other.input_json_schema])
    for beside in (
        {"tools": [tool(MAIL)]},
        {"tools": tool_namespace(name=MAIL, description="of", tools=[tool()])},
        {"tools": [HostedMCPTool({**hosted, "headers": {"x-user": MAIL}})]},
        {"tools": [HostedMCPTool({**hosted, "server_description": f"of {MAIL}"})]},
        {"tools": [CustomTool(MAIL, "Finds", run)]},
        {"tools": [CustomTool("find", f"Finds {MAIL}", run)]},
        {"tools": [CustomTool("find", "Finds", run, format={"type": "grammar", "definition": MAIL})]},
        {"tools": [ToolSearchTool("Finds", "client", {"description": MAIL})]},
        {"handoffs": [handoff(MAIL)]},
        {"previous_response_id": MAIL},
        {"conversation_id": MAIL},
        {"newer": {"text": MAIL}},
    ):
        with pytest.raises(ResultDenied, match="the prompt cannot be masked: a rule masks a text in"):
            ask("masked-one", **beside)
        assert sent == []
        ask("plain", **beside)
        assert len(sent) == 1


def test_pydantic_ai_sends_what_rules_leave(agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import BinaryContent, Tool, ToolReturn
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from reeve.adapters.pydantic_ai import govern_model

    seen: list[Any] = []
    picture = BinaryContent(bytes(range(256)), media_type="image/png")

    def answer(messages: Any, info: Any) -> ModelResponse:
        seen.append((messages, info))
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("find", {"who": MAIL})])
        return ModelResponse([TextPart("done")])

    def find(who: str) -> ToolReturn:
        return ToolReturn(f"found {who}", metadata={"program": object()})

    def run(model: str, **options: Any) -> Any:
        seen.clear()
        governed = govern_model(agent, FunctionModel(answer), model=model)
        tool = Tool(find, description=f"Finds {MAIL}")
        crew = PydanticAgent(governed, instructions=f"for {MAIL}", tools=[tool], **options)
        return asyncio.run(crew.run([f"I am {MAIL}", picture]))

    result = run("masked-one")
    assert len(seen) == 2
    for messages, info in seen:
        sent = ModelMessagesTypeAdapter.dump_json(messages).decode()
        described = json.dumps([each.description for each in info.function_tools])
        said = sent + described + str(info.instructions) + str(info.model_request_parameters)
        assert MAIL not in said
        for text in ("I am [masked]", "for [masked]", "Finds [masked]"):
            assert text in said
        assert messages[0].parts[-1].content[1].data == picture.data
    assert "found [masked]" in str(seen[1][0])
    assert "'who': '[masked]'" in str(seen[1][0])
    # The tool ran with what the model asked for, and the history is the program's.
    assert f"found {MAIL}" in str(result.all_messages())
    assert "[masked]" not in str(result.all_messages())
    # Where nothing is masked, the framework's own messages go on.
    run("plain")
    assert MAIL in str(seen[0])
    for model, options in (
        ("masked-whole", {}),
        ("masked-one", {"model_settings": {"extra_body": {"user": MAIL}}}),
        ("masked-one", {"model_settings": {"extra_body": object()}}),
    ):
        with pytest.raises(ReeveError):
            run(model, **options)
        assert seen == []
    run("masked-one", model_settings={"temperature": 0, "timeout": object()})
    assert len(seen) == 2


def test_pydantic_ai_sends_no_name_of_a_tool_that_rules_would_change(agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import NativeOutput, Tool, ToolOutput
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from reeve.adapters.pydantic_ai import govern_model

    seen: list[Any] = []

    def answer(_messages: Any, info: Any) -> ModelResponse:
        seen.append(info)
        given = {"who": "somebody"}
        tools = info.output_tools
        return ModelResponse([ToolCallPart(tools[0].name, given) if tools else TextPart(json.dumps(given))])

    def run(model: str, tools: list[Any], output: Any) -> None:
        seen.clear()
        inner = FunctionModel(answer, profile={"supports_json_schema_output": True})
        crew = PydanticAgent(govern_model(agent, inner, model=model), output_type=output, tools=tools)
        asyncio.run(crew.run("hi"))

    for tools, output in (
        ([Tool(lambda who: who, name=MAIL)], str),
        ([], ToolOutput(_Plain, name=MAIL)),
        ([], NativeOutput(_Plain, name=MAIL)),
    ):
        with pytest.raises(ResultDenied, match="the prompt cannot be masked: a rule masks a text in names"):
            run("masked-one", tools, output)
        assert seen == []
        run("plain", tools, output)
        assert len(seen) == 1


def test_pydantic_ai_masks_the_schema_of_an_answer(agent: Agent) -> None:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from reeve.adapters.pydantic_ai import govern_model

    seen: list[Any] = []
    given = {"nested": {"who": "somebody"}}

    def answer(_messages: Any, info: Any) -> ModelResponse:
        seen.append(info)
        tools = info.output_tools
        return ModelResponse([ToolCallPart(tools[0].name, given) if tools else TextPart(json.dumps(given))])

    def run(model: str, output: Any) -> Any:
        seen.clear()
        inner = FunctionModel(answer, profile={"supports_json_schema_output": True})
        return asyncio.run(PydanticAgent(govern_model(agent, inner, model=model), output_type=output).run("hi"))

    for output in (_Answer, ToolOutput(_Answer), NativeOutput(_Answer), PromptedOutput(_Answer)):
        assert run("masked-one", output).output == _Answer(nested=_Nested(who="somebody"))
        assert "as [masked]" in str(seen[0])
        assert MAIL not in str(seen[0])
        run("plain", output)
        assert MAIL in str(seen[0])
    # A template of the user's own stays as it is, or the call is not made.
    with pytest.raises(
        ResultDenied, match="the prompt cannot be masked: a rule masks a text in model_request_parameters"
    ):
        run("masked-one", PromptedOutput(_Plain, template=f"for {MAIL}: {{schema}}"))
    assert seen == []


def test_pydantic_ai_streams_counts_and_compacts_what_rules_leave(agent: Agent) -> None:
    from collections.abc import AsyncIterator

    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai import ModelRequest
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import RequestUsage

    from reeve.adapters.pydantic_ai import govern_model

    seen: list[str] = []

    class Seen(FunctionModel):
        async def count_tokens(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> RequestUsage:
            seen.append(str(messages))
            return RequestUsage(input_tokens=3)

        async def compact_messages(self, request_context: Any, *, instructions: str | None = None) -> ModelResponse:
            seen.append(str([request_context.messages, instructions]))
            return ModelResponse([TextPart("short")])

    async def stream(messages: Any, _info: Any) -> AsyncIterator[str]:
        seen.append(str(messages))
        yield "done"

    def governed(model: str) -> Any:
        return govern_model(agent, Seen(stream_function=stream), model=model)

    said = [ModelRequest.user_text_prompt(f"I am {MAIL}")]
    parameters = ModelRequestParameters()

    async def streamed(model: str) -> None:
        async with PydanticAgent(governed(model)).run_stream(f"I am {MAIL}") as answer:
            assert await answer.get_output() == "done"

    async def counted(model: str) -> None:
        assert (await governed(model).count_tokens(said, None, parameters)).input_tokens == 3

    async def compacted(model: str) -> None:
        asked = governed(model)
        context = ModelRequestContext(
            model=asked, messages=list(said), model_settings=None, model_request_parameters=parameters
        )
        await asked.compact_messages(context, instructions=f"for {MAIL}")

    for call in (streamed, counted, compacted):
        asyncio.run(call("masked-one"))
        assert "I am [masked]" in seen[-1]
        assert MAIL not in seen[-1]
        asyncio.run(call("plain"))
        assert MAIL in seen[-1]
    assert len(seen) == 6
