"""What a model of the OpenAI Agents SDK is asked, and the same as rules have masked it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._judged import as_json
from ._prompt import AskedPrompt, Masked, Prompt, unfit

_SAYS = ("system_instructions", "input", "prompt")

#: What a provider reads of a tool or a handoff that runs here.
_TEXTS = ("description", "params_json_schema", "tool_description", "input_json_schema")

#: The settings that the framework keeps to itself.
_UNSENT = frozenset(("retry",))


def asked_of(given: Mapping[str, Any]) -> AskedPrompt:
    def read() -> Prompt:
        says = {name: as_json(given[name]) for name in _SAYS if given.get(name) is not None}
        forms: dict[str, Any] = {
            name: [_form_of(each) for each in given[name]] for name in ("tools", "handoffs") if given.get(name)
        }
        settings = vars(given["model_settings"])
        fixed: dict[str, Any] = {
            "model_settings": {name: as_json(each) for name, each in settings.items() if name not in _UNSENT}
        }
        # By the schema of the answer, the framework reads the answer.
        schema = given.get("output_schema")
        if schema is not None and not schema.is_plain_text():
            fixed["output_schema"] = schema.json_schema()
        return Prompt(says, forms, fixed)

    def put(left: Masked) -> Mapping[str, Any]:
        listed = {name: _with_forms(given[name], left[name]) for name in ("tools", "handoffs") if name in left}
        return {**given, **left, **listed}

    return AskedPrompt(given, read, put)


def _form_of(described: Any) -> dict[str, Any]:
    """The tools of a provider are settings of their own, which hold texts as well."""
    found = {name: getattr(described, name) for name in _TEXTS if hasattr(described, name)}
    return found or {"tool": as_json(described)}


def _with_forms(items: Any, forms: Any) -> list[Any]:
    return [_with_form(item, form) for item, form in zip(items, forms, strict=True)]


def _with_form(item: Any, form: Mapping[str, Any]) -> Any:
    if form == _form_of(item):
        return item
    if "tool" in form:
        raise unfit()
    return replace(item, **form)
