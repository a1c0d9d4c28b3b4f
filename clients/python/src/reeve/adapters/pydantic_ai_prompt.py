"""What a model of Pydantic AI is asked, and the same as rules have masked it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_core import PydanticSerializationError

from .._same_json import same_json
from ._judged import as_json
from ._prompt import AskedPrompt, Masked, Prompt
from ._unmaskable import UnmaskablePrompt, unfit

#: What only programs read, of a message or of a part of one.
_UNSPOKEN = frozenset(("timestamp", "usage", "run_id", "conversation_id", "metadata"))

#: What a provider reads of a tool that runs here, or of the answer that it is to give. The framework reads answers by
#: what it has itself, and finds tools by their names.
_TEXTS = ("description", "parameters_json_schema", "return_schema", "json_schema")

_FORMS = ("function_tools", "output_tools", "output_object")

#: The settings that the framework keeps to itself.
_UNSENT = frozenset(("timeout",))


@dataclass(frozen=True, slots=True)
class Asked:
    messages: list[Any]
    settings: Any
    parameters: Any
    #: How to make the messages shorter, if they are not to be answered.
    compaction: str | None = None


def asked_of(given: Asked) -> AskedPrompt:
    parameters = given.parameters
    instructions = getattr(parameters, "instruction_parts", None) or []

    def read() -> Prompt:
        says: dict[str, Any] = {"messages": [_spoken_of(_dumped(each)) for each in given.messages]}
        if instructions:
            says["instructions"] = [as_json(each.content) for each in instructions]
        if given.compaction is not None:
            says["compaction"] = given.compaction
        forms = {name: [_form_of(each) for each in _listed(parameters, name)] for name in _FORMS}
        settings = given.settings or {}
        fixed = {
            "model_settings": {name: as_json(each) for name, each in settings.items() if name not in _UNSENT},
            "names": [[each.name for each in _listed(parameters, name)] for name in _FORMS],
            "model_request_parameters": {name: as_json(getattr(parameters, name)) for name in _others_of(parameters)},
        }
        return Prompt(says, forms, fixed)

    def put(left: Masked) -> Asked:
        masked = [name for name in _FORMS if name in left]
        changed: dict[str, Any] = {name: _each(_listed(parameters, name), left[name], _with_form) for name in masked}
        if "output_object" in changed:
            (changed["output_object"],) = changed["output_object"]
        if "instructions" in left:
            changed["instruction_parts"] = _each(instructions, left["instructions"], _with_content)
        messages = _each(given.messages, left["messages"], _with_spoken) if "messages" in left else given.messages
        compaction = left.get("compaction", given.compaction)
        if compaction is not None and not isinstance(compaction, str):
            raise unfit()
        return Asked(messages, given.settings, replace(parameters, **changed), compaction)

    return AskedPrompt(given, read, put)


def _listed(parameters: Any, name: str) -> list[Any]:
    found = getattr(parameters, name, None)
    return found if isinstance(found, list) else [] if found is None else [found]


def _others_of(parameters: Any) -> list[str]:
    """Also what a version has that is newer than this adapter."""
    known = {*_FORMS, "instruction_parts"}
    return [each.name for each in fields(parameters) if each.name not in known and not each.name.startswith("_")]


def _each(items: Sequence[Any], masked: Any, put: Any) -> list[Any]:
    if not isinstance(masked, list) or len(masked) != len(items):
        raise unfit()
    return [put(item, left) for item, left in zip(items, masked, strict=True)]


def _dumped(message: Any) -> dict[str, Any]:
    # Metadata may be anything, and no provider gets it.
    parts = [
        each if getattr(each, "metadata", None) is None else replace(each, metadata=None) for each in message.parts
    ]
    try:
        (dumped,) = ModelMessagesTypeAdapter.dump_python([replace(message, parts=parts)], mode="json")
    except (PydanticSerializationError, ValueError, RecursionError):
        raise UnmaskablePrompt("it holds what is no JSON") from None
    return dict(dumped)


def _spoken_of(dumped: Mapping[str, Any]) -> dict[str, Any]:
    spoken = _without_unspoken(dumped)
    return {**spoken, "parts": [_without_unspoken(each) for each in dumped["parts"]]}


def _without_unspoken(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in members.items() if name not in _UNSPOKEN}


def _with_spoken(message: Any, masked: Any) -> Any:
    """Another message. The history of the run keeps its own."""
    dumped = _dumped(message)
    spoken = _spoken_of(dumped)
    if same_json(masked, spoken):
        return message
    parts = _each(dumped["parts"], _fitting(masked, spoken)["parts"], _with_members)
    try:
        (made,) = ModelMessagesTypeAdapter.validate_json(json.dumps([{**dumped, **masked, "parts": parts}]))
    except ValidationError as error:
        raise unfit() from error
    return made


def _with_members(dumped: Mapping[str, Any], masked: Any) -> dict[str, Any]:
    return {**dumped, **_fitting(masked, _without_unspoken(dumped))}


def _fitting(masked: Any, spoken: Mapping[str, Any]) -> Mapping[str, Any]:
    """A name that is masked would leave the member that it named as it was."""
    if not isinstance(masked, dict) or masked.keys() != spoken.keys():
        raise unfit()
    return masked


def _form_of(tool: Any) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in _TEXTS if getattr(tool, name, None) is not None}


def _with_form(tool: Any, form: Mapping[str, Any]) -> Any:
    return tool if same_json(form, _form_of(tool)) else replace(tool, **form)


def _with_content(part: Any, content: Any) -> Any:
    if type(content) is not type(part.content):
        raise unfit()
    return replace(part, content=content)
