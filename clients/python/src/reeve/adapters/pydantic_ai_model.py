"""Models of Pydantic AI under policy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from ._govern import AnyAgent
from ._model import ModelCalls, ModelUse, Tokens
from ._options import ModelOptions

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
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

        async def parts() -> AsyncIterator[Any]:
            """The stream itself comes before its events, and once more when they have told what was used."""
            inner = self.wrapped
            async with inner.request_stream(messages, model_settings, model_request_parameters, run_context) as stream:
                events = stream._get_event_iterator()
                yield stream
                async for event in events:
                    yield event
                yield stream

        async with aclosing(self._calls.stream(use, parts, _usage_of_part)) as governed:
            stream = await anext(governed)

            async def events() -> AsyncIterator[Any]:
                async for part in governed:
                    if part is not stream:
                        yield part

            stream._get_event_iterator = events
            yield stream

    def _use_of(self, messages: Any, settings: Any, parameters: Any) -> ModelUse:
        tools = [getattr(parameters, name, None) for name in ("function_tools", "output_tools")]
        most = (settings or {}).get("max_tokens")
        return ModelUse(self.wrapped.model_name, [messages, tools], most)


def _usage_of_part(part: Any) -> Tokens | None:
    return _usage_of(part.get()) if isinstance(part, StreamedResponse) else None


def _usage_of(response: ModelResponse) -> Tokens | None:
    usage = response.usage
    if not usage.has_values():
        return None
    return Tokens(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
