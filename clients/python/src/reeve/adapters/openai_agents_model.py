"""Models of the OpenAI Agents SDK under policy."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agents.items import TResponseOutputItem
from agents.models.interface import Model, ModelProvider
from pydantic import TypeAdapter

from ._govern import AnyAgent
from ._judged import JudgedPart, as_json
from ._model import ModelCalls, ModelUse, Tokens
from ._options import ModelOptions
from .openai_agents_prompt import asked_of
from .openai_agents_stand_in import StandInModel

if TYPE_CHECKING:
    from typing_extensions import Unpack

Models = TypeVar("Models", Model, ModelProvider)

#: The name of a model that nobody has named.
_UNNAMED = "default"


def govern_model(agent: AnyAgent, model: Models, /, **options: Unpack[ModelOptions]) -> Models:
    """Governs a model, or a provider of models: each call is checked first, and settled by the usage of its answer.

    A refused call raises `ActionDenied` and so on. Give the name as `model` where the model does not tell it.
    """
    calls = ModelCalls(agent, options)
    if isinstance(model, ModelProvider):
        return cast("Models", _GovernedProvider(calls, model))
    return cast("Models", _GovernedModel(calls, model, str(getattr(model, "model", _UNNAMED))))


class _GovernedProvider(ModelProvider):
    def __init__(self, calls: ModelCalls, inner: ModelProvider) -> None:
        self._calls = calls
        self._inner = inner

    def get_model(self, model_name: str | None) -> Model:
        found = self._inner.get_model(model_name)
        return _GovernedModel(self._calls, found, model_name or str(getattr(found, "model", _UNNAMED)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _GovernedModel(StandInModel):
    def __init__(self, calls: ModelCalls, inner: Model, name: str) -> None:
        super().__init__(inner)
        self._calls = calls
        self._name = name

    async def get_response(self, *args: Any, **keywords: Any) -> Any:
        use = self._use_of(_bound(args, keywords))
        return await self._calls.run_async(use, lambda sent: self._inner.get_response(**sent), _usage_of, _SAID)

    def stream_response(self, *args: Any, **keywords: Any) -> AsyncIterator[Any]:
        use = self._use_of(_bound(args, keywords))
        return self._calls.stream(use, lambda sent: self._inner.stream_response(**sent), _usage_of_part)

    def _use_of(self, given: dict[str, Any]) -> ModelUse:
        tools = [
            [getattr(each, name, None) for name in ("name", "description", "params_json_schema")]
            for each in given["tools"]
        ]
        most = getattr(given["model_settings"], "max_tokens", None)
        prompt = [given["system_instructions"], given["input"], tools]
        return ModelUse(self._name, prompt, most, asked=asked_of(given))


_SIGNATURE = inspect.signature(Model.get_response)


def _bound(args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """The members of a call by their names, those included that are newer than the interface here."""
    known = {name: each for name, each in keywords.items() if name in _SIGNATURE.parameters}
    bound = _SIGNATURE.bind_partial(None, *args, **known)
    bound.apply_defaults()
    usual: dict[str, Any] = {"system_instructions": None, "input": None, "model_settings": None, "tools": []}
    return {**usual, **keywords, **{name: each for name, each in bound.arguments.items() if name != "self"}}


def _with_output(answer: Any, judged: Any) -> Any:
    if judged == as_json(answer.output):
        return answer
    return replace(answer, output=TypeAdapter(list[TResponseOutputItem]).validate_python(judged))


#: What the model said. The rest is about the call.
_SAID = JudgedPart(lambda answer: as_json(answer.output), _with_output)


def _usage_of(answer: Any) -> Tokens | None:
    usage = getattr(answer, "usage", None)
    # The SDK counts a call without a report as one of zero tokens.
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return None
    return Tokens(usage.input_tokens, usage.output_tokens, getattr(usage.input_tokens_details, "cached_tokens", None))


def _usage_of_part(part: Any) -> Tokens | None:
    return _usage_of(getattr(part, "response", None))
