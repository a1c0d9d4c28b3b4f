"""Tools and models of CrewAI under policy: `Agent(..., tools=govern(agent, tools), llm=govern_model(agent, llm))`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..errors import InvalidRequest, OperationTerminated
from ._govern import AnyAgent, ToolCalls, ToolUse
from ._jsonable import jsonable
from ._missing import missing
from ._model import ModelCalls, ModelUse, Tokens
from ._options import GovernOptions, ModelOptions
from ._outcome import Refusal, stopped_text
from ._prompt import AskedPrompt, Prompt
from ._rewritten import GivenArgs

try:
    from crewai.tools import BaseTool
    from crewai.tools.base_tool import Tool
    from pydantic import BaseModel
except ImportError as error:
    raise missing("crewai", error) from error

if TYPE_CHECKING:
    from crewai.llms.base_llm import BaseLLM
    from typing_extensions import Unpack

__all__ = ["govern", "govern_model"]

Tools = TypeVar("Tools")

#: What a call of a model takes after messages and tools.
_OPTIONS = ("callbacks", "available_functions", "from_task", "from_agent", "response_model")
#: What no provider gets of it.
_UNSENT = frozenset(_OPTIONS[:4])


def govern(agent: AnyAgent, tools: Tools, **options: Unpack[GovernOptions]) -> Tools:
    """Governs a tool, or a list of tools. They keep their class, name and schema.

    The model reads the reason of a refusal as the tool's result, and also that an operator stopped a tool: CrewAI would
    take an error for a reason to run the tool again. Results are not cached, so that each call is checked.
    """
    calls = ToolCalls(agent, options)
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        return cast("Tools", [_governed(calls, each) for each in tools])
    return cast("Tools", _governed(calls, tools))


def govern_model(agent: AnyAgent, model: BaseLLM, /, **options: Unpack[ModelOptions]) -> BaseLLM:
    """Governs a model: each call is checked first, and settled by the tokens that it counts.

    A refused call raises `ActionDenied` and so on.
    """
    calls = ModelCalls(agent, options)
    governed = model.model_copy()
    # Bound to the copy, whose count of tokens it is.
    call, acall = type(model).call, type(model).acall

    def use_of(messages: Any, tools: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> ModelUse:
        most = model.max_tokens
        asked = AskedPrompt(
            (messages, tools),
            lambda: Prompt({"messages": messages}, {"tools": tools}, _sent_beside(args, keywords)),
            lambda left: (left.get("messages", messages), left.get("tools", tools)),
        )
        return ModelUse(model.model, [messages, tools], most if isinstance(most, int) else None, asked=asked)

    @functools.wraps(model.call)
    def governed_call(messages: Any, tools: Any = None, *args: Any, **keywords: Any) -> Any:
        usage = _Usage(governed)
        use = use_of(messages, tools, args, keywords)
        return calls.run(use, lambda sent: call(governed, *sent, *args, **keywords), usage.of)

    @functools.wraps(model.acall)
    async def governed_acall(messages: Any, tools: Any = None, *args: Any, **keywords: Any) -> Any:
        usage = _Usage(governed)
        use = use_of(messages, tools, args, keywords)
        return await calls.run_async(use, lambda sent: acall(governed, *sent, *args, **keywords), usage.of)

    vars(governed).update(call=governed_call, acall=governed_acall)
    return governed


def _sent_beside(args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """By the schema of the answer, the framework reads the answer."""
    named = {**dict(zip(_OPTIONS, args, strict=False)), **keywords, "others": list(args[len(_OPTIONS) :])}
    return {name: _schema_or(each) for name, each in named.items() if name not in _UNSENT}


def _schema_or(option: Any) -> Any:
    return option.model_json_schema() if isinstance(option, type) and issubclass(option, BaseModel) else option


class _Usage:
    """CrewAI counts the tokens of a model in all. Calls of one model at the same time may count each other's."""

    def __init__(self, model: BaseLLM) -> None:
        self._model = model
        self._before = self._now()

    def of(self, _answer: Any) -> Tokens | None:
        grown = [now - before for now, before in zip(self._now(), self._before, strict=True)]
        return Tokens(*grown) if any(grown) else None

    def _now(self) -> tuple[int, int, int]:
        usage = self._model.get_token_usage_summary()
        return usage.prompt_tokens, usage.completion_tokens, usage.cached_prompt_tokens


def _governed(calls: ToolCalls, tool: Any) -> BaseTool:
    if not isinstance(tool, BaseTool):
        raise InvalidRequest(f"tools: {type(tool).__name__} is no tool of CrewAI; `@tool` makes one of a function")
    governed = tool.model_copy(update={"cache_function": _never_cache})
    if isinstance(tool, Tool):
        vars(governed)["func"] = _guarded(calls, tool, tool.func)
        return governed
    vars(governed)["_run"] = _guarded(calls, tool, tool._run)
    if type(tool)._arun is not BaseTool._arun:
        vars(governed)["_arun"] = _guarded(calls, tool, tool._arun)
    return governed


def _guarded(calls: ToolCalls, tool: BaseTool, function: Callable[..., Any]) -> Callable[..., Any]:
    names = list(tool.args_schema.model_fields)

    def use_of(given: GivenArgs) -> ToolUse:
        return ToolUse(tool.name, jsonable(given.seen), takes_args=True)

    @functools.wraps(function)
    def run(*args: Any, **keywords: Any) -> Any:
        given = GivenArgs(names, args, keywords)
        try:
            return _read(calls.run(use_of(given), lambda op: given.call(op, function)))
        except OperationTerminated as error:
            return stopped_text(error)

    @functools.wraps(function)
    async def run_async(*args: Any, **keywords: Any) -> Any:
        given = GivenArgs(names, args, keywords)
        try:
            return _read(await calls.run_async(use_of(given), lambda op: given.call(op, function)))
        except OperationTerminated as error:
            return stopped_text(error)

    return run_async if inspect.iscoroutinefunction(function) else run


def _read(result: Any) -> Any:
    return result.text if isinstance(result, Refusal) else result


def _never_cache(*_args: Any) -> bool:
    return False
