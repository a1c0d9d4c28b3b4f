"""Tools and agents of LangChain and LangGraph under policy.

`tools = govern(agent, tools)`, or `create_agent(model, tools, middleware=[GovernMiddleware(agent)])` for the model too.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._flow import run_async, run_blocking
from ..answer import Answer
from ..errors import InvalidRequest
from ._govern import AnyAgent, ToolCalls, ToolUse, ids_of_call
from ._jsonable import jsonable
from ._judged import JudgedPart, as_json
from ._missing import missing
from ._options import GovernOptions
from ._outcome import Refusal
from ._rewritten import GivenArgs

try:
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables.config import ensure_config
    from langchain_core.tools import BaseTool, BaseToolkit, ToolException
except ImportError as error:
    raise missing("langchain", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .langchain_middleware import GovernMiddleware as GovernMiddleware

# `GovernMiddleware` is here as well. A star must not import it: it needs the package `langchain`.
__all__ = ["LangChainOptions", "govern"]

Tools = TypeVar("Tools")


class LangChainOptions(GovernOptions, total=False):
    """The options of tools of LangChain."""

    #: A held call interrupts the graph in place of waiting. For `GovernMiddleware` and graphs with a checkpointer.
    interrupt: bool


#: The id that the model gave to the call of a tool. The middleware knows it.
call_id: ContextVar[str | None] = ContextVar("reeve_langchain_call", default=None)

#: What LangChain itself hands to the `_run` of a tool, unless the tool takes an argument of that name.
_HANDED = frozenset(("config", "run_manager"))

#: The functions that govern made. Others replace `_run` on their tools, too.
_governing: weakref.WeakSet[Any] = weakref.WeakSet()


def govern(agent: AnyAgent, tools: Tools, **options: Unpack[LangChainOptions]) -> Tools:
    """Governs a tool, a list of tools, or a toolkit. They keep their class, name and schema.

    The model reads the reason of a refusal as the tool's message.
    """
    calls = ToolCalls(agent, options, LangChainOptions, ToolException)
    interrupts = options.get("interrupt", False)
    if isinstance(tools, BaseToolkit):
        toolkit = tools.model_copy()
        vars(toolkit)["get_tools"] = lambda: [governed_tool(calls, each, interrupts) for each in tools.get_tools()]
        return cast("Tools", toolkit)
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        return cast("Tools", [governed_tool(calls, each, interrupts) for each in tools])
    return cast("Tools", governed_tool(calls, tools, interrupts))


def __getattr__(name: str) -> Any:
    """Agents with middleware are in a package of their own, which tools do not need."""
    if name != "GovernMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .langchain_middleware import GovernMiddleware

    return GovernMiddleware


def governed_tool(calls: ToolCalls, tool: Any, interrupts: bool) -> BaseTool:
    if not isinstance(tool, BaseTool):
        raise InvalidRequest(f"tools: {type(tool).__name__} is no tool that runs here; `@tool` makes one of a function")
    if is_governed(tool):
        return tool
    inner, inner_async, hidden = tool._run, tool._arun, _hidden_of(tool)
    content = _content_of(tool)

    def given_of(args: Sequence[Any], keywords: Mapping[str, Any]) -> GivenArgs:
        return GivenArgs(list(tool.args), args, keywords, hidden)

    def use_of(given: GivenArgs) -> ToolUse:
        run_id, model_call = run_of_graph(), call_id.get()
        ids = ids_of_call(run_id, model_call) if interrupts and model_call else None
        return ToolUse(tool.name, jsonable(given.seen), run_id, ids, takes_args=True)

    def output(result: Any) -> Any:
        if not isinstance(result, Refusal):
            return result
        return (result.text, None) if tool.response_format == "content_and_artifact" else result.text

    @functools.wraps(inner)
    def run(*args: Any, **keywords: Any) -> Any:
        given = given_of(args, keywords)
        use = use_of(given)
        if use.ids is not None:
            _interrupt_if_held(use, run_blocking(calls.decision(calls.members(use))))
        return output(calls.run(use, lambda op: given.call(op, inner), content))

    @functools.wraps(inner_async)
    async def run_async_too(*args: Any, **keywords: Any) -> Any:
        given = given_of(args, keywords)
        use = use_of(given)
        if use.ids is not None:
            _interrupt_if_held(use, await run_async(calls.decision(calls.members(use))))
        return output(await calls.run_async(use, lambda op: given.call(op, inner_async), None, content))

    governed = tool.model_copy()
    _governing.add(run)
    vars(governed)["_run"] = run
    # A tool without a coroutine runs in a thread, by its `_run`.
    if _has_coroutine(tool):
        vars(governed)["_arun"] = run_async_too
    return governed


def _content_of(tool: BaseTool) -> JudgedPart:
    """What a model reads of the result of a tool.

    An artifact is for the program, and nobody judges it, so there is none where results are judged.
    """

    def is_pair(result: Any) -> bool:
        return tool.response_format == "content_and_artifact" and isinstance(result, tuple) and len(result) == 2

    def of(result: Any) -> Any:
        if isinstance(result, ToolMessage):
            return as_json(result.content)
        # A command is for the graph. Its JSON would be something else.
        if type(result).__name__ == "Command":
            return result
        return as_json(result[0] if is_pair(result) else result)

    def put(result: Any, judged: Any) -> Any:
        if isinstance(result, ToolMessage):
            return ToolMessage(judged, tool_call_id=result.tool_call_id, name=result.name, status=result.status)
        return (judged, None) if is_pair(result) else judged

    return JudgedPart(of, put)


def is_governed(tool: BaseTool) -> bool:
    return vars(tool).get("_run") in _governing


def run_of_graph() -> str | None:
    """The thread of a graph is a piece of work that people know by its name."""
    config = ensure_config()
    for place in (config.get("configurable", {}), config.get("metadata", {})):
        if place.get("thread_id") is not None:
            return str(place["thread_id"])
    return None


def _interrupt_if_held(use: ToolUse, answer: Answer) -> None:
    """Once the graph is resumed, the call goes on as the operation that was asked about."""
    if answer.decision != "pending":
        return
    from langgraph.types import interrupt

    args = use.args if answer.rewritten_args is None else answer.rewritten_args
    held = {"tool": use.tool, "args": args, "reason": answer.reason}
    interrupt({"kind": "reeve_approval", **held, "approval_id": answer.approval_id, "op_id": answer.op_id})


def _hidden_of(tool: BaseTool) -> frozenset[str]:
    """What the framework itself hands to the tool. Everything else the policy sees."""
    fields, arguments = set(getattr(tool.get_input_schema(), "model_fields", ())), set(tool.args)
    injected: frozenset[str] = getattr(tool, "_injected_args_keys", frozenset())
    return (_HANDED - arguments) | injected | (fields - arguments)


def _has_coroutine(tool: BaseTool) -> bool:
    if hasattr(tool, "coroutine"):
        return getattr(tool, "coroutine", None) is not None
    return type(tool)._arun is not BaseTool._arun
