"""LangChain: its tools in a loop as small as it can be, and its agents, which run on LangGraph, with middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import create_model

from reeve.adapters.langchain import GovernMiddleware, govern

from ..scene import Played, Scene, SceneTool, Subject


class _Scripted(GenericFakeChatModel):
    """Asks for the calls of the scene, and then says that it is done."""

    model_name: str

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self


def _model(scene: Scene) -> _Scripted:
    spec = scene.model
    calls = [{"name": c["tool"], "args": c["args"], "id": f"call-{i}"} for i, c in enumerate(scene.calls)]
    usage: Any = {
        "input_tokens": spec["input_tokens"],
        "output_tokens": spec["output_tokens"],
        "total_tokens": spec["input_tokens"] + spec["output_tokens"],
        "input_token_details": {"cache_read": spec["cached_input_tokens"]},
    }
    asking = AIMessage("", tool_calls=calls, usage_metadata=usage)
    return _Scripted(messages=iter([asking, AIMessage("done")]), model_name=spec["name"])


def _tool(tool: SceneTool, is_async: bool) -> StructuredTool:
    schema = create_model(tool.name, **{name: (kind, ...) for name, kind in tool.args.items()})  # type: ignore[call-overload]

    def run(**args: Any) -> str:
        return tool.run(args)

    async def run_async(**args: Any) -> str:
        return str(await tool.run_async(args))

    body: Any = {"coroutine": run_async} if is_async else {"func": run}
    return StructuredTool.from_function(name=tool.name, description=tool.name, args_schema=schema, **body)


def _config(scene: Scene) -> Any:
    return {"configurable": {"thread_id": scene.run_id}} if scene.run_id else {}


def _play_tools(scene: Scene) -> Played:
    """Sync, one thread for each call, as a program without an agent of LangChain does."""
    tools: Sequence[BaseTool] = govern(scene.agent, [_tool(each, False) for each in scene.tools], **scene.options)
    by_name = {tool.name: tool for tool in tools}
    asked = _model(scene).invoke("go").tool_calls

    def call(each: Any) -> str:
        return str(by_name[each["name"]].invoke({**each, "type": "tool_call"}, _config(scene)).content)

    try:
        with ThreadPoolExecutor(len(asked)) as pool:
            running = [pool.submit(copy_context().run, call, each) for each in asked]
            return Played([each.result() for each in running])
    except Exception as error:
        return Played([], error)


async def _play_agent(scene: Scene) -> Played:
    middleware = GovernMiddleware(scene.async_agent, govern_model=scene.governs_model, **scene.options)
    tools = [_tool(each, True) for each in scene.tools]
    graph = create_agent(_model(scene), tools, middleware=[middleware])
    try:
        start: Any = {"messages": [("user", "go")]}
        state = await asyncio.ensure_future(graph.ainvoke(start, _config(scene)))
    except Exception as error:
        return Played([], error)
    read = {each.tool_call_id: str(each.content) for each in state["messages"] if isinstance(each, ToolMessage)}
    return Played([read.get(f"call-{index}", "") for index in range(len(scene.calls))])


langchain = Subject("langchain", _play_tools)
langgraph = Subject("langgraph", _play_agent)
