"""Models of Pydantic AI under policy."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.models.wrapper import WrapperModel

from ._govern import AnyAgent
from ._model import ModelCalls, ModelUse, Tokens, settle
from ._options import ModelOptions

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, StreamedResponse
    from typing_extensions import Unpack


def govern_model(agent: AnyAgent, model: Any, /, **options: Unpack[ModelOptions]) -> Model[Any]:
    """Governs a model, or the name of one: each call is checked first, and settled by the usage of its answer.

    A refused call raises `ActionDenied` and so on.
    """
    return _GovernedModel(model, ModelCalls(agent, options))


class _GovernedModel(WrapperModel):
    def __init__(self, wrapped: Any, calls: ModelCalls) -> None:
        super().__init__(wrapped)
        self._calls = calls

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> ModelResponse:
        use = self._use_of(messages, model_settings, model_request_parameters)
        inner = self.wrapped
        return await self._calls.run_async(
            use, lambda: inner.request(messages, model_settings, model_request_parameters), _usage_of
        )

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[StreamedResponse]:
        use = self._use_of(messages, model_settings, model_request_parameters)
        async with (
            self._calls.open(use) as op,
            self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context) as stream,
        ):
            try:
                yield stream
            finally:
                settle(op, _usage_of(stream.get()))

    def _use_of(self, messages: Any, settings: Any, parameters: Any) -> ModelUse:
        tools = [getattr(parameters, name, None) for name in ("function_tools", "output_tools")]
        most = (settings or {}).get("max_tokens")
        return ModelUse(self.wrapped.model_name, [messages, tools], most)


def _usage_of(response: ModelResponse) -> Tokens | None:
    usage = response.usage
    if not usage.has_values():
        return None
    return Tokens(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
