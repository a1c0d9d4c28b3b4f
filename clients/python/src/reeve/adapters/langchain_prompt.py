"""What a model of LangChain is asked, and the same as rules have masked it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from .._same_json import same_json
from ._judged import as_json
from ._prompt import AskedPrompt, Masked, Prompt
from ._put_back import put_back
from ._unmaskable import unfit

#: What only programs read.
_UNSPOKEN = frozenset(("artifact", "usage_metadata"))


def asked_of(request: Any) -> AskedPrompt:
    """What a request of an agent says."""
    # A text in the first versions.
    system = getattr(request, "system_message", None) or request.system_prompt

    def read() -> Prompt:
        says: dict[str, Any] = {"messages": [_spoken_of(each) for each in request.messages]}
        if system is not None:
            says["system"] = _spoken_of(system)
        fixed = {"model_settings": request.model_settings, "tool_choice": request.tool_choice}
        # By the schema of the answer, the framework reads the answer.
        if request.response_format is not None:
            fixed["response_format"] = _schemas_of(request.response_format)
        return Prompt(says, {"tools": [_form_of(each) for each in request.tools]}, fixed)

    def put(left: Masked) -> Any:
        changed: dict[str, Any] = {}
        if "messages" in left:
            changed["messages"] = _each(request.messages, left["messages"], _with_spoken)
        if "system" in left:
            name = "system_message" if isinstance(system, SystemMessage) else "system_prompt"
            changed[name] = _with_spoken(system, left["system"])
        if "tools" in left:
            changed["tools"] = _each(request.tools, left["tools"], _with_form)
        return request.override(**changed)

    return AskedPrompt(request, read, put)


def _each(items: Sequence[Any], masked: Any, put: Any) -> list[Any]:
    if not isinstance(masked, list) or len(masked) != len(items):
        raise unfit()
    return [put(item, left) for item, left in zip(items, masked, strict=True)]


def _spoken_of(message: Any) -> Any:
    if not isinstance(message, BaseMessage):
        return as_json(message)
    members = {name: each for name, each in message if name not in _UNSPOKEN}
    return {name: as_json(each) for name, each in members.items()}


def _with_spoken(message: Any, masked: Any) -> Any:
    """Another message. Programs and the state of the graph keep theirs."""
    spoken = _spoken_of(message)
    if same_json(masked, spoken):
        return message
    if not isinstance(message, BaseMessage):
        return masked
    # A name that is masked would leave the member that it named as it was.
    if not isinstance(masked, dict) or masked.keys() != spoken.keys():
        raise unfit()
    given = dict(message)
    changed = {name: put_back(given[name], each) for name, each in masked.items() if not same_json(each, spoken[name])}
    unspoken = {"artifact": None} if hasattr(message, "artifact") else {}
    return message.model_copy(update={**changed, **unspoken})


def _form_of(tool: Any) -> Any:
    if isinstance(tool, dict):
        return tool
    # What a provider knows beside of its tools. The first versions have none.
    extras = getattr(tool, "extras", None)
    form = convert_to_openai_tool(tool)
    return form if extras is None else {**form, "extras": extras}


def _with_form(tool: Any, form: Any) -> Any:
    if same_json(form, _form_of(tool)):
        return tool
    if isinstance(tool, dict) or "extras" not in form:
        return form
    function = form["function"]
    says = {"description": function["description"], "args_schema": function["parameters"], "extras": form["extras"]}
    masked = tool.model_copy(update=says)
    if not same_json(form, _form_of(masked)):
        raise unfit()
    return masked


def _schemas_of(response_format: Any) -> list[Any]:
    """Whatever a provider may read of each. The JSON schema of a dataclass lacks its description."""
    schema = getattr(response_format, "schema", response_format)
    return [[each.name, each.description, each.json_schema] for each in ToolStrategy(schema).schema_specs]
