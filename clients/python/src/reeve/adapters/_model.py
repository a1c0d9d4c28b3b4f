"""Calls of models: checked first, and settled by the tokens that they report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from .._flow import run_async, run_blocking
from .._said import Said
from ..async_operation import AsyncOperation
from ..errors import ResultDenied
from ..operation import Operation
from ._govern import AnyAgent, Calls
from ._jsonable import prompt_bound, whole_tokens
from ._judged import WHOLE, JudgedPart
from ._options import ModelOptions, require_known
from ._outcome import Refusal
from ._prompt import AskedPrompt, masked_prompt

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
    #: What rules mask, if the call is made with what they leave of it. Otherwise a call whose prompt they mask is
    #: denied.
    asked: AskedPrompt | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider says that a call has used. Input includes what was cached."""

    input: Any
    output: Any
    cached: Any = None


_STREAMED = (
    "a rule on results matches this call of a model, whose answer cannot be judged while it streams; call it without "
    "streaming, or let the rule name the actions that it is for"
)

UsageOf = Callable[[Any], Tokens | None]


class ModelCalls(Calls):
    """The governed calls of a model. A refused one raises `ActionDenied`, `GatewayUnavailable` and so on.

    `call` gets what to send: what `use.asked` was given, or what rules have left of it. Without `asked`, nothing.
    """

    def __init__(self, agent: AnyAgent, options: ModelOptions) -> None:
        super().__init__(agent)
        require_known(options, ModelOptions)
        self._options = options

    def run(
        self, use: ModelUse, call: Callable[[Any], Answered], usage_of: UsageOf, said: JudgedPart = WHOLE
    ) -> Answered:
        def act(op: Operation) -> Answered:
            sent = None if use.asked is None else run_blocking(masked_prompt(op, use.asked))
            try:
                answer = call(sent)
            except Exception as error:
                _cost_nothing(op, error)
                raise
            settle(op, usage_of(answer))
            return answer

        return _allowed(self.call(self._members(use), act, said))

    async def run_async(
        self, use: ModelUse, call: Callable[[Any], Awaitable[Answered]], usage_of: UsageOf, said: JudgedPart = WHOLE
    ) -> Answered:
        async def act(op: AsyncOperation) -> Answered:
            sent = await _sent(op, use)
            try:
                answer = await call(sent)
            except Exception as error:
                _cost_nothing(op, error)
                raise
            settle(op, usage_of(answer))
            return answer

        return _allowed(await self.call_async(self._members(use), act, None, said))

    async def stream(
        self, use: ModelUse, call: Callable[[Any], AsyncIterator[Part]], usage_of: UsageOf
    ) -> AsyncGenerator[Part]:
        """Passes on the parts of an answer. Each waits while the operation is paused.

        The call has a task of its own. So a termination ends it whatever its reader does, and a reader who leaves ends
        it whatever it waits for.
        """
        wanted, parts = asyncio.Semaphore(0), asyncio.Queue[Part | None]()

        async def act(op: AsyncOperation) -> None:
            _require_no_judgement(op)
            sent = await _sent(op, use)
            try:
                async with aclosing(_closable(call(sent))) as source:
                    await wanted.acquire()
                    async for part in source:
                        await op.checkpoint()
                        settle(op, usage_of(part))
                        parts.put_nowait(part)
                        await wanted.acquire()
            except Exception as error:
                _cost_nothing(op, error)
                raise

        calling = asyncio.create_task(self.call_async(self._members(use), act))
        calling.add_done_callback(lambda _: parts.put_nowait(None))
        try:
            while True:
                wanted.release()
                part = await parts.get()
                # The last part may have come with the end.
                if part is None:
                    _allowed(await calling)
                    return
                yield part
        finally:
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)

    def _members(self, use: ModelUse) -> dict[str, Any]:
        options = self._options
        bound = options.get("prompt_tokens")
        assumed = options.get("max_output_tokens", _DEFAULT_OUTPUT_TOKENS)
        return {
            "type": "llm_call",
            "model": options.get("model") or use.model,
            "prompt_tokens": prompt_bound(use.prompt) if bound is None else bound(use.prompt),
            "max_output_tokens": assumed if use.max_output_tokens is None else use.max_output_tokens,
            "can_mask_prompt": use.asked is not None,
            **self.details(options, use.run_id),
        }


async def _sent(op: AsyncOperation, use: ModelUse) -> Any:
    return None if use.asked is None else await run_async(masked_prompt(op, use.asked))


async def _closable(parts: AsyncIterator[Part]) -> AsyncGenerator[Part]:
    """Some sources are iterators that have nothing to close."""
    try:
        async for part in parts:
            yield part
    finally:
        close = getattr(parts, "aclose", None)
        if close is not None:
            await close()


def _allowed(outcome: Answered | Refusal) -> Answered:
    if isinstance(outcome, Refusal):
        raise outcome.error
    return outcome


def settle(op: Said, tokens: Tokens | None) -> None:
    """Without a report of the provider, the estimate counts."""
    if tokens is not None:
        op.used(whole_tokens(tokens.input), whole_tokens(tokens.output), whole_tokens(tokens.cached))


def _require_no_judgement(op: Said) -> None:
    """A stream is read while it comes, so nobody can judge it before."""
    if not op.answer.judge_result:
        return
    op.spent_usd(0)
    op.ended("cancelled")
    raise ResultDenied(op.op_id, _STREAMED, source="sdk")


def _cost_nothing(op: Said, error: Exception) -> None:
    """An error status of the provider costs nothing. After any other failure it may have done the work."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        op.spent_usd(0)
