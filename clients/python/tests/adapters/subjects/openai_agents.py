"""The OpenAI Agents SDK: its runner, with a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from openai.types.responses.response_usage import InputTokensDetails

from reeve.adapters.openai_agents import govern, govern_model

from ..scene import Played, Scene, SceneTool, Subject


class _Scripted(Model):
    """Asks for the calls of the scene, and then says that it is done."""

    def __init__(self, scene: Scene) -> None:
        self.model = scene.model["name"]
        self._scene = scene
        self._asked = False

    async def get_response(self, *_args: Any, **_keywords: Any) -> ModelResponse:
        spec, first = self._scene.model, not self._asked
        self._asked = True
        usage = Usage(
            requests=1,
            input_tokens=spec["input_tokens"],
            output_tokens=spec["output_tokens"],
            total_tokens=spec["input_tokens"] + spec["output_tokens"],
            input_tokens_details=InputTokensDetails(cached_tokens=spec["cached_input_tokens"], cache_write_tokens=0),
        )
        output: list[Any] = [
            ResponseFunctionToolCall(
                name=call["tool"], arguments=json.dumps(call["args"]), call_id=f"call-{index}", type="function_call"
            )
            for index, call in enumerate(self._scene.calls)
        ]
        if not first:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            output = [
                ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
            ]
        return ModelResponse(output=output, usage=usage, response_id=None)

    def stream_response(self, *_args: Any, **_keywords: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _tool(tool: SceneTool) -> FunctionTool:
    async def invoke(_context: Any, text: str) -> str:
        return str(await tool.run_async(json.loads(text)))

    kinds = {str: "string", float: "number"}
    schema = {
        "type": "object",
        "properties": {name: {"type": kinds[kind]} for name, kind in tool.args.items()},
        "required": list(tool.args),
        "additionalProperties": False,
    }
    return FunctionTool(tool.name, tool.name, schema, invoke)


async def _play(scene: Scene) -> Played:
    tools: list[Any] = govern(scene.agent, [_tool(each) for each in scene.tools], **scene.options)
    scripted: Model = _Scripted(scene)
    model = govern_model(scene.agent, scripted) if scene.governs_model else scripted
    config = RunConfig(tracing_disabled=True, group_id=scene.run_id)
    try:
        result = await Runner.run(Agent("scripted", tools=tools, model=model), "go", run_config=config)
    except Exception as error:
        return Played([], error)
    items: list[Any] = [item for item in result.new_items if item.type == "tool_call_output_item"]
    read = {item.raw_item["call_id"]: str(item.output) for item in items}
    return Played([read.get(f"call-{index}", "") for index in range(len(scene.calls))])


openai_agents = Subject("openai-agents", _play)
