"""The part of an agent of the OpenAI Agents SDK that acts by a delegation: what it runs as, and how it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from agents import AgentHooks

from .._core import AgentCore
from .._ids import AgentId
from .openai_agents_stand_in import StandInModel
from .subagents import acting

if TYPE_CHECKING:
    from agents.models.interface import Model

Places = Mapping[AgentId, AgentCore]


def run_within(places: Places, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The method, in which whatever was governed for an agent above is done by its delegate."""

    async def within(*args: Any, **keywords: Any) -> Any:
        with acting(places):
            return await method(*args, **keywords)

    return within


class PartModel(StandInModel):
    """A model that is asked, and charged, as the delegate."""

    def __init__(self, places: Places, inner: Model) -> None:
        super().__init__(inner)
        self._places = places

    async def get_response(self, *args: Any, **keywords: Any) -> Any:
        with acting(self._places):
            return await self._inner.get_response(*args, **keywords)

    async def stream_response(self, *args: Any, **keywords: Any) -> AsyncIterator[Any]:
        with acting(self._places):
            events = self._inner.stream_response(*args, **keywords)
        try:
            while True:
                # A generator runs wherever its next part is asked for.
                with acting(self._places):
                    try:
                        event = await events.__anext__()
                    except StopAsyncIteration:
                        return
                yield event
        finally:
            # Whoever leaves early ends the call, and what it used is settled as the delegate.
            leave = getattr(events, "aclose", None)
            if leave is not None:
                with acting(self._places):
                    await leave()


class PartHooks(AgentHooks[Any]):
    """The hooks of the agent that takes over, and the end of its part once it has answered."""

    def __init__(self, own: Any, over: Callable[[], Awaitable[None]]) -> None:
        self._own = own
        self._over = over

    async def on_end(self, *args: Any, **keywords: Any) -> None:
        try:
            await self._told("on_end", args, keywords)
        finally:
            await self._over()

    async def on_start(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_start", args, keywords)

    async def on_handoff(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_handoff", args, keywords)

    async def on_tool_start(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_tool_start", args, keywords)

    async def on_tool_end(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_tool_end", args, keywords)

    async def on_llm_start(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_llm_start", args, keywords)

    async def on_llm_end(self, *args: Any, **keywords: Any) -> None:
        await self._told("on_llm_end", args, keywords)

    async def _told(self, name: str, args: Any, keywords: Any) -> None:
        if self._own is not None:
            await getattr(self._own, name)(*args, **keywords)
