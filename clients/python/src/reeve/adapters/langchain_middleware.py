"""Middleware for agents of LangChain 1.x: their tools and their model under policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ._govern import AnyAgent, ToolCalls
from ._judged import JudgedPart, as_json
from ._missing import missing
from ._model import ModelCalls, ModelUse, Tokens
from ._options import CallOptions, ModelOptions
from .langchain import LangChainOptions, call_id, governed_tool, run_of_graph

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import ToolException
except ImportError as error:
    raise missing("langchain", error) from error

from .langchain_prompt import asked_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


class GovernMiddleware(AgentMiddleware[Any, Any]):
    """Governs every tool of an agent, and each call of its model. Put it last, so that it sees what really runs.

    A refused call of the model raises `ActionDenied`. `model` has the options of models; `govern_model=False` leaves
    the model alone.
    """

    def __init__(
        self,
        agent: AnyAgent,
        *,
        govern_model: bool = True,
        model: ModelOptions | None = None,
        **options: Unpack[LangChainOptions],
    ) -> None:
        super().__init__()
        self._tools = ToolCalls(agent, options, LangChainOptions, ToolException)
        self._interrupts = options.get("interrupt", False)
        shared: Any = {name: each for name, each in options.items() if name in CallOptions.__annotations__}
        shared.update(model or {})
        self._model = ModelCalls(agent, shared) if govern_model else None

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        governed = self._governed(request)
        if isinstance(governed, ToolMessage):
            return governed
        token = call_id.set(request.tool_call["id"])
        try:
            return handler(governed)
        finally:
            call_id.reset(token)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        governed = self._governed(request)
        if isinstance(governed, ToolMessage):
            return governed
        token = call_id.set(request.tool_call["id"])
        try:
            return await handler(governed)
        finally:
            call_id.reset(token)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        if self._model is None:
            return handler(request)
        return self._model.run(_use_of(request), handler, _usage_of, _SAID)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        if self._model is None:
            return await handler(request)
        return await self._model.run_async(_use_of(request), handler, _usage_of, _SAID)

    def _governed(self, request: Any) -> Any:
        if request.tool is not None:
            return request.override(tool=governed_tool(self._tools, request.tool, self._interrupts))
        # Another middleware might bring a tool along that nobody has checked.
        call = request.tool_call
        text = f"Denied by policy: the agent has no tool {call['name']} at this point; put GovernMiddleware last"
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


def _use_of(request: ModelRequest[Any]) -> ModelUse:
    model = request.model
    name = next((getattr(model, each) for each in ("model_name", "model", "model_id") if hasattr(model, each)), None)
    # A text in the first versions.
    system = getattr(request, "system_message", None) or request.system_prompt
    prompt = {"system": system, "messages": request.messages, "tools": _described(request.tools)}
    most = request.model_settings.get("max_tokens") or getattr(model, "max_tokens", None)
    return ModelUse(
        str(name or type(model).__name__),
        prompt,
        most if isinstance(most, int) else None,
        run_of_graph(),
        asked_of(request),
    )


def _described(tools: Any) -> list[Any]:
    return [
        each
        if isinstance(each, dict)
        else [each.name, each.description, getattr(each, "args", None), getattr(each, "extras", None)]
        for each in tools
    ]


def _messages_of(response: Any) -> list[Any]:
    answer = getattr(response, "model_response", response)
    return [answer] if isinstance(answer, AIMessage) else list(getattr(answer, "result", []))


def _said_in(response: Any) -> Any:
    """What the model said, in each message of its answer."""
    return [
        as_json({"content": each.content, "tool_calls": getattr(each, "tool_calls", [])})
        for each in _messages_of(response)
    ]


def _with_said(response: Any, judged: Any) -> Any:
    for message, said in zip(_messages_of(response), judged, strict=True):
        if said != as_json({"content": message.content, "tool_calls": getattr(message, "tool_calls", [])}):
            message.content, message.additional_kwargs = said["content"], {}
            if hasattr(message, "tool_calls"):
                message.tool_calls = said["tool_calls"]
    return response


_SAID = JudgedPart(_said_in, _with_said)


def _usage_of(response: Any) -> Tokens | None:
    """What all messages of an answer have used."""
    messages = _messages_of(response)
    found = [each.usage_metadata for each in messages if isinstance(each, AIMessage) and each.usage_metadata]
    if not found:
        return None
    return Tokens(
        sum(each["input_tokens"] for each in found),
        sum(each["output_tokens"] for each in found),
        sum(each.get("input_token_details", {}).get("cache_read", 0) for each in found),
    )
