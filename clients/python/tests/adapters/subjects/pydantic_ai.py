"""Pydantic AI: its agent, with a scripted model."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RequestUsage

from reeve.adapters.pydantic_ai import govern, govern_model

from ..scene import Played, Scene, SceneTool, Subject


def _model(scene: Scene) -> FunctionModel:
    spec = scene.model
    usage = RequestUsage(
        input_tokens=spec["input_tokens"],
        output_tokens=spec["output_tokens"],
        cache_read_tokens=spec["cached_input_tokens"],
    )

    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart("done")], usage=usage)
        calls = [ToolCallPart(c["tool"], c["args"], tool_call_id=f"call-{i}") for i, c in enumerate(scene.calls)]
        return ModelResponse(calls, usage=usage)

    return FunctionModel(answer, model_name=spec["name"])


def _tool(tool: SceneTool) -> Tool[Any]:
    async def run(**args: Any) -> str:
        return str(await tool.run_async(args))

    kinds = {str: "string", float: "number"}
    schema = {
        "type": "object",
        "properties": {name: {"type": kinds[kind]} for name, kind in tool.args.items()},
        "required": list(tool.args),
        "additionalProperties": False,
    }
    return Tool.from_schema(run, tool.name, tool.name, schema)


async def _play(scene: Scene) -> Played:
    # Half of the tools one by one, half of them as a toolset: both ways are in use.
    tools = [_tool(each) for each in scene.tools]
    # The first versions give each run an id of their own.
    takes_run = "run_id" in inspect.signature(Agent.run).parameters
    options: Any = scene.options if takes_run else {**scene.options, "run_id": scene.run_id}
    single: list[Any] = govern(scene.agent, tools[::2], **options)
    toolset = govern(scene.agent, FunctionToolset(tools[1::2]), **options)
    scripted = _model(scene)
    model = govern_model(scene.agent, scripted) if scene.governs_model else scripted
    agent = Agent(model, tools=single, toolsets=[toolset])
    run: Any = {"run_id": scene.run_id} if takes_run and scene.run_id is not None else {}
    try:
        result = await agent.run("go", **run)
    except Exception as error:
        return Played([], error)
    parts = [part for message in result.all_messages() for part in message.parts]
    read = {part.tool_call_id: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}
    return Played([read.get(f"call-{index}", "") for index in range(len(scene.calls))])


pydantic_ai = Subject("pydantic-ai", _play)
