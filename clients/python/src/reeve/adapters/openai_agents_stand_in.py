"""What stands in for a model of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any

from agents.models.interface import Model


class StandInModel(Model):
    """A model whose answers another one gives. Everything else is that one's, too."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def close(self) -> None:
        await self._inner.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self._inner.get_retry_advice(request)
