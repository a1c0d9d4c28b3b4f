"""What the table does not speak of, for models of Pydantic AI: whatever else calls a provider, and fallbacks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from gateway_process import GatewayProcess
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import ModelRequest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from reeve import ActionDenied, Agent, InvalidRequest, OperationTerminated
from reeve.adapters.pydantic_ai import govern_model

SAID = [ModelRequest.user_text_prompt("go")]


class Paid(TestModel):
    """A model with more ways to call its provider than one."""

    paid: list[str]

    async def compact_messages(self, request_context: Any, *, instructions: str | None = None) -> ModelResponse:
        self.paid.append("compact")
        return ModelResponse([TextPart("short")], usage=RequestUsage(input_tokens=77, output_tokens=5))

    async def batch_create(self, requests: Any) -> Any:
        self.paid.append("batch")

    async def generate_video(self) -> None:
        self.paid.append("video")

    async def count_tokens(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> RequestUsage:
        return RequestUsage(input_tokens=3)


def _ops(gateway: GatewayProcess, agent: Agent) -> list[Any]:
    items: list[Any] = gateway.api("GET", f"/api/v1/ops?agent_id={agent.id.agent_id}&org_id=acme&team_id=core")["items"]
    return items


def _end_of(gateway: GatewayProcess, op: Any) -> Any:
    (change,) = [each for each in gateway.logs(op_id=op["op_id"]) if each["event_type"] == "OpStateChanged"]
    return change["payload"]


def test_a_compaction_is_checked_and_settled(gateway: GatewayProcess, agent: Agent) -> None:
    inner = Paid()
    inner.paid = []
    model = govern_model(agent, inner)

    async def compact() -> ModelResponse:
        context = ModelRequestContext(
            model=model, messages=list(SAID), model_settings=None, model_request_parameters=ModelRequestParameters()
        )
        return await model.compact_messages(context, instructions="be brief")

    assert asyncio.run(compact()).parts == [TextPart("short")]
    (op,) = _ops(gateway, agent)
    assert op["resource"] == "test"
    assert "77" in str(_end_of(gateway, op))
    gateway.api("POST", f"/api/v1/agents/acme/core/{agent.id.agent_id}/suspend", {"reason": "no"})
    with pytest.raises(ActionDenied):
        asyncio.run(compact())
    assert inner.paid == ["compact"]


def test_what_cannot_be_checked_is_refused(agent: Agent) -> None:
    inner = Paid()
    inner.paid = []
    model: Any = govern_model(agent, inner)
    with pytest.raises(InvalidRequest, match="batch_create"):
        asyncio.run(_awaited(lambda: model.batch_create([])))
    with pytest.raises(InvalidRequest, match="generate_video"):
        asyncio.run(_awaited(lambda: model.generate_video()))
    assert asyncio.run(_awaited(lambda: model.count_tokens(SAID, None, ModelRequestParameters()))).input_tokens == 3
    assert model.custom_output_text is None
    assert inner.paid == []


async def _awaited(call: Any) -> Any:
    return await call()


async def _two_words(_messages: Any, _info: Any) -> AsyncIterator[str]:
    yield "hello "
    yield "there"


async def _one_word_and_no_end(_messages: Any, _info: Any) -> AsyncIterator[str]:
    yield "hello"
    await asyncio.sleep(600)


def _fallback(words: Any) -> Model[Any]:
    return FallbackModel(FunctionModel(stream_function=words), TestModel())


def test_a_stream_of_a_fallback_is_settled(gateway: GatewayProcess, agent: Agent) -> None:
    async def run() -> str:
        async with PydanticAgent(govern_model(agent, _fallback(_two_words))).run_stream("go") as answer:
            return str(await answer.get_output())

    assert asyncio.run(run()) == "hello there"
    (op,) = _ops(gateway, agent)
    end = _end_of(gateway, op)
    assert end["outcome"] == "succeeded"
    assert "output_tokens" in str(end)


@pytest.mark.parametrize("nested", [False, True])
def test_a_termination_ends_a_stream_of_a_fallback(gateway: GatewayProcess, agent: Agent, nested: bool) -> None:
    governed = govern_model(agent, _fallback(_one_word_and_no_end))
    model = FallbackModel(governed, TestModel()) if nested else governed

    async def run() -> None:
        async with PydanticAgent(model).run_stream("go") as answer:
            async for _ in answer.stream_text(debounce_by=None):
                (op,) = _ops(gateway, agent)
                gateway.control(op["op_id"], "terminate", "enough")

    with pytest.raises(OperationTerminated, match="enough"):
        asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.skipif(not hasattr(StreamedResponse, "_enforce_request_deadline"), reason="a newer version has deadlines")
def test_a_deadline_ends_a_governed_stream(gateway: GatewayProcess, agent: Agent) -> None:
    model = govern_model(agent, FunctionModel(stream_function=_one_word_and_no_end))
    settings: Any = {"request_timeout": 0.5}

    async def run() -> None:
        async with PydanticAgent(model).run_stream("go", model_settings=settings) as answer:
            await answer.get_output()

    with pytest.raises(Exception, match=r"0\.5"):
        asyncio.run(asyncio.wait_for(run(), 60))
    (op,) = _ops(gateway, agent)
    assert op["state"] == "completing"
