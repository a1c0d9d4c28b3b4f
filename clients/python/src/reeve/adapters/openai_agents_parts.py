"""How the part of an agent of the OpenAI Agents SDK ends that acts by a delegation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agents import AgentHooks


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
