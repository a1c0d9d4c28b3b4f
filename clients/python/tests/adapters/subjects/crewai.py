"""CrewAI: a crew of one agent with one task, with a scripted model."""

from __future__ import annotations

import json
import os
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="true")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool
from pydantic import PrivateAttr, create_model

from reeve.adapters.crewai import govern, govern_model

from ..scene import Played, Scene, SceneTool, Subject


class _Scripted(BaseLLM):
    """Asks for the calls of the scene, and then says that it is done."""

    _scene: Any = PrivateAttr()
    _asked: bool = PrivateAttr(default=False)
    #: What it reads, by the ids of the calls. Copies of the model share it.
    _read: dict[str, str] = PrivateAttr(default_factory=dict)

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *_args: Any, **_keywords: Any) -> Any:
        scene = self._scene
        self._track_token_usage_internal(
            {
                "prompt_tokens": scene.model["input_tokens"],
                "completion_tokens": scene.model["output_tokens"],
                "cached_prompt_tokens": scene.model["cached_input_tokens"],
            }
        )
        for message in messages if isinstance(messages, list) else []:
            if message.get("role") == "tool":
                self._read[message["tool_call_id"]] = str(message["content"])
        if self._asked:
            return "done"
        self._asked = True
        return [
            {
                "id": f"call-{index}",
                "type": "function",
                "function": {"name": call["tool"], "arguments": json.dumps(call["args"])},
            }
            for index, call in enumerate(scene.calls)
        ]


class _Tool(BaseTool):
    _scene_tool: Any = PrivateAttr()

    def _run(self, **args: Any) -> str:
        return str(self._scene_tool.run(args))


def _tool(tool: SceneTool) -> BaseTool:
    schema = create_model(tool.name, **{name: (kind, ...) for name, kind in tool.args.items()})  # type: ignore[call-overload]
    made = _Tool(name=tool.name, description=tool.name, args_schema=schema)
    made._scene_tool = tool
    return made


def _play(scene: Scene) -> Played:
    tools = govern(scene.agent, [_tool(each) for each in scene.tools], run_id=scene.run_id, **scene.options)
    scripted = _Scripted(model=scene.model["name"])
    scripted._scene = scene
    model = govern_model(scene.agent, scripted) if scene.governs_model else scripted
    worker = Agent(role="worker", goal="work", backstory="none", tools=tools, llm=model)
    task = Task(description="go", expected_output="done", agent=worker)
    try:
        Crew(agents=[worker], tasks=[task], verbose=False).kickoff()
    except Exception as error:
        return Played([], error)
    return Played([scripted._read.get(f"call-{index}", "") for index in range(len(scene.calls))])


crewai = Subject("crewai", _play)
