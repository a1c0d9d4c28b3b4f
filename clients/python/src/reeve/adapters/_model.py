"""Calls of models: checked first, and settled by the tokens that they report."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from .._said import Said
from ..async_operation import AsyncOperation, AsyncOperationContext
from ..operation import Operation
from ._govern import AnyAgent, Calls
from ._jsonable import prompt_bound, whole_tokens
from ._options import ModelOptions, require_known
from ._outcome import Refusal

Answered = TypeVar("Answered")
Part = TypeVar("Part")

_DEFAULT_OUTPUT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What a framework tells of a call of a model."""

    model: str
    #: Everything that the provider counts as input.
    prompt: Any
    max_output_tokens: int | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider says that a call has used. Input includes what was cached."""

    input: Any
    output: Any
    cached: Any = None


UsageOf = Callable[[Any], Tokens | None]


class ModelCalls(Calls):
    """The governed calls of a model. A refused one raises `ActionDenied`, `GatewayUnavailable` and so on."""

    def __init__(self, agent: AnyAgent, options: ModelOptions) -> None:
        super().__init__(agent)
        require_known(options, ModelOptions)
        self._options = options

    def run(self, use: ModelUse, call: Callable[[], Answered], usage_of: UsageOf) -> Answered:
        def act(op: Operation) -> Answered:
            try:
                answer = call()
            except Exception as error:
                _cost_nothing(op, error)
                raise
            settle(op, usage_of(answer))
            return answer

        return _allowed(self.call(self._members(use), act))

    async def run_async(self, use: ModelUse, call: Callable[[], Awaitable[Answered]], usage_of: UsageOf) -> Answered:
        async def act(op: AsyncOperation) -> Answered:
            try:
                answer = await call()
            except Exception as error:
                _cost_nothing(op, error)
                raise
            settle(op, usage_of(answer))
            return answer

        return _allowed(await self.call_async(self._members(use), act))

    async def stream(
        self, use: ModelUse, call: Callable[[], AsyncIterator[Part]], usage_of: UsageOf
    ) -> AsyncIterator[Part]:
        """Passes on the parts of an answer. Each waits while the operation is paused."""
        async with self.operation(use) as op:
            try:
                async for part in call():
                    await op.checkpoint()
                    settle(op, usage_of(part))
                    yield part
            except Exception as error:
                _cost_nothing(op, error)
                raise

    def operation(self, use: ModelUse) -> AsyncOperationContext:
        """For answers that come in parts. It raises as the SDK does."""
        return AsyncOperationContext(self._core, self._members(use))

    def _members(self, use: ModelUse) -> dict[str, Any]:
        options = self._options
        bound = options.get("prompt_tokens")
        assumed = options.get("max_output_tokens", _DEFAULT_OUTPUT_TOKENS)
        return {
            "type": "llm_call",
            "model": options.get("model") or use.model,
            "prompt_tokens": prompt_bound(use.prompt) if bound is None else bound(use.prompt),
            "max_output_tokens": assumed if use.max_output_tokens is None else use.max_output_tokens,
            **self.details(options, use.run_id),
        }


def _allowed(outcome: Answered | Refusal) -> Answered:
    if isinstance(outcome, Refusal):
        raise outcome.error
    return outcome


def settle(op: Said, tokens: Tokens | None) -> None:
    """Without a report of the provider, the estimate counts."""
    if tokens is not None:
        op.used(whole_tokens(tokens.input), whole_tokens(tokens.output), whole_tokens(tokens.cached))


def _cost_nothing(op: Said, error: Exception) -> None:
    """An error status of the provider costs nothing. After any other failure it may have done the work."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        op.spent_usd(0)
