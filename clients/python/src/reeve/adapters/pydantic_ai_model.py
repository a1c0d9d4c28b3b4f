"""Models of Pydantic AI under policy."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import TypeAdapter
from pydantic_ai.messages import ModelResponsePart
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from ..errors import InvalidRequest
from ._govern import AnyAgent
from ._judged import JudgedPart, as_json
from ._model import ModelCalls, ModelUse, Tokens
from ._options import ModelOptions
from .pydantic_ai_prompt import Asked, asked_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RequestUsage
    from typing_extensions import Unpack

#: What asks a provider for nothing that costs.
_FREE = frozenset(
    (
        "batch_cancel",
        "batch_encode",
        "batch_results",
        "batch_status",
        "cancel_suspended_response",
    )
)


def govern_model(agent: AnyAgent, model: Any, /, **options: Unpack[ModelOptions]) -> Model[Any]:
    """Governs a model, or the name of one: each call is checked first, and settled by the usage of its answer.

    A refused call raises `ActionDenied` and so on. What cannot be checked, such as a batch, raises `InvalidRequest`.
    """
    return _GovernedModel(model, ModelCalls(agent, options))


class _GovernedModel(WrapperModel):
    def __init__(self, wrapped: Any, calls: ModelCalls) -> None:
        super().__init__(wrapped)
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model has, unless it would call the provider unchecked."""
        found = super().__getattr__(name)
        return _refusing(name) if _calls_provider(name, found) else found

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> ModelResponse:
        use = self._use_of(Asked(messages, model_settings, model_request_parameters))
        inner = self.wrapped
        return await self._calls.run_async(
            use, lambda sent: inner.request(sent.messages, sent.settings, sent.parameters), _usage_of, _SAID
        )

    async def count_tokens(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> RequestUsage:
        """Providers ask nothing for it, but they read the prompt."""
        use = self._use_of(Asked(messages, model_settings, model_request_parameters))
        inner = self.wrapped
        return await self._calls.run_async(
            use, lambda sent: inner.count_tokens(sent.messages, sent.settings, sent.parameters), _free, _COUNTED
        )

    async def compact_messages(self, request_context: Any, *, instructions: str | None = None) -> ModelResponse:
        asked = request_context
        given = Asked(asked.messages, asked.model_settings, asked.model_request_parameters, instructions)
        inner = self.wrapped

        async def compact(sent: Asked) -> ModelResponse:
            masked = {"messages": sent.messages, "model_request_parameters": sent.parameters}
            context = asked if sent is given else replace(asked, **masked)
            return await inner.compact_messages(context, instructions=sent.compaction)

        return await self._calls.run_async(self._use_of(given), compact, _usage_of, _SAID)

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[StreamedResponse]:
        use = self._use_of(Asked(messages, model_settings, model_request_parameters))

        async def parts(sent: Asked) -> AsyncIterator[Any]:
            """The stream itself comes before its events, and once more when they have told what was used."""
            inner = self.wrapped
            given = (sent.messages, sent.settings, sent.parameters, run_context)
            async with inner.request_stream(*given) as stream:
                # A stream may have begun: `FallbackModel` reads the first event before it hands over.
                events = aiter(stream)
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

            _replace_events(stream, events())
            yield stream

    def _use_of(self, asked: Asked) -> ModelUse:
        tools = [getattr(asked.parameters, name, None) for name in ("function_tools", "output_tools")]
        most = (asked.settings or {}).get("max_tokens")
        prompt = [asked.messages if asked.compaction is None else [asked.messages, asked.compaction], tools]
        return ModelUse(self.wrapped.model_name, prompt, most, asked=asked_of(asked))


def _replace_events(stream: Any, events: AsyncIterator[Any]) -> None:
    """Whoever reads the stream reads these from here on. Newer versions set a deadline before they read."""

    def enforce(deadline: Any) -> None:
        stream._event_iterator = deadline.iterate(stream._event_iterator)

    stream._event_iterator = events
    stream._enforce_request_deadline = enforce


def _calls_provider(name: str, member: Any) -> bool:
    work = inspect.unwrap(member) if inspect.isroutine(member) else member
    return name not in _FREE and (inspect.iscoroutinefunction(work) or inspect.isasyncgenfunction(work))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_args: Any, **_keywords: Any) -> NoReturn:
        raise InvalidRequest(f"{name}: cannot be checked, so a governed model does not do it; send single requests")

    return refuse


# Also what a version has that is newer than this adapter.
for _name, _member in inspect.getmembers(WrapperModel):
    if not _name.startswith("_") and _name not in vars(_GovernedModel) and _calls_provider(_name, _member):
        setattr(_GovernedModel, _name, _refusing(_name))


def _with_parts(response: Any, judged: Any) -> Any:
    if judged == as_json(response.parts):
        return response
    return replace(response, parts=TypeAdapter(list[ModelResponsePart]).validate_python(judged), provider_details=None)


#: What the model said. The rest is about the call.
_SAID = JudgedPart(lambda response: as_json(response.parts), _with_parts)


#: Numbers alone.
_COUNTED = JudgedPart(lambda usage: usage.input_tokens, lambda usage, _: usage)


def _free(_usage: Any) -> Tokens:
    return Tokens(0, 0)


def _usage_of_part(part: Any) -> Tokens | None:
    return _usage_of(part.get()) if isinstance(part, StreamedResponse) else None


def _usage_of(response: ModelResponse) -> Tokens | None:
    usage = response.usage
    if not usage.has_values():
        return None
    return Tokens(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
