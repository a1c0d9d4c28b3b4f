"""What a model of the OpenAI Agents SDK is asked, and the same as rules have masked it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents import FunctionTool, Handoff

from ._judged import as_json
from ._prompt import AskedPrompt, Masked, Prompt
from ._put_back import put_back

_SAYS = ("system_instructions", "input", "prompt")

#: What a provider reads of a tool or a handoff that runs here.
_TEXTS = (
    *("description", "params_json_schema", "output_json_schema", "_tool_namespace_description"),
    *("tool_description", "input_json_schema"),
)

#: By these, the framework finds what the model calls.
_NAMES = ("name", "_tool_namespace", "allowed_callers", "tool_name")

_LISTS = ("tools", "handoffs")

#: What no provider gets, or what is judged by parts of its own.
_APART = frozenset((*_SAYS, *_LISTS, "model_settings", "output_schema", "tracing"))

#: The settings that the framework keeps to itself.
_UNSENT = frozenset(("retry",))


def asked_of(given: Mapping[str, Any]) -> AskedPrompt:
    def read() -> Prompt:
        says = {name: as_json(given[name]) for name in _SAYS if given.get(name) is not None}
        forms: dict[str, Any] = {
            name: [_form_of(each) for each in given[name] if _runs_here(each)] for name in _LISTS if given.get(name)
        }
        settings = vars(given["model_settings"])
        fixed: dict[str, Any] = {
            "model_settings": {name: as_json(each) for name, each in settings.items() if name not in _UNSENT},
            "tools": [_fixed_of(each) for name in _LISTS for each in given.get(name) or ()],
            **{name: as_json(each) for name, each in given.items() if name not in _APART},
        }
        # By the schema of the answer, the framework reads the answer.
        schema = given.get("output_schema")
        if schema is not None and not schema.is_plain_text():
            fixed["output_schema"] = schema.json_schema()
        return Prompt(says, forms, fixed)

    def put(left: Masked) -> Mapping[str, Any]:
        listed = {name: _with_forms(given[name], left[name]) for name in _LISTS if name in left}
        says = {name: put_back(given[name], left[name]) for name in _SAYS if name in left}
        return {**given, **says, **listed}

    return AskedPrompt(given, read, put)


def _runs_here(described: Any) -> bool:
    return isinstance(described, (FunctionTool, Handoff))


def _form_of(described: Any) -> dict[str, Any]:
    return {name: found for name in _TEXTS if (found := getattr(described, name, None)) is not None}


def _fixed_of(described: Any) -> dict[str, Any]:
    """Other tools, such as those of a provider, are settings of their own. Nobody sends their functions."""
    if _runs_here(described):
        return {name: getattr(described, name, None) for name in _NAMES}
    return {name: as_json(each) for name, each in vars(described).items() if not callable(each)}


def _with_forms(items: Any, forms: Any) -> list[Any]:
    left = iter(forms)
    return [replace(item, **next(left)) if _runs_here(item) else item for item in items]
