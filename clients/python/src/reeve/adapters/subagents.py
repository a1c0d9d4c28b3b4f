"""Sub-agents that act as delegates of the agent that started them: `with subagent(agent, "research"):`."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._core import AgentCore
from .._delegate import DelegateMembers, delegate, revoke
from .._flow import Flow, run_async, run_blocking, run_through
from .._ids import AgentId
from ..agent import Agent
from ..async_agent import AsyncAgent
from ..errors import ReeveError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

__all__ = ["SubagentLimits", "subagent"]

_USUAL_TTL = 3600
_LONGEST_ID = 128

AnAgent = TypeVar("AnAgent", bound="Agent | AsyncAgent")


class SubagentLimits(DelegateMembers, total=False):
    """What a sub-agent may do at most. It never may what the agent that started it may not."""

    #: How long it may act at most, in seconds. Default an hour. It ends with its work in any case.
    ttl: int
    #: Its id in the team. Otherwise that of the agent that started it, a dot and the name of the sub-agent.
    child_id: str


#: Which delegate acts in place of an agent, in the work of a sub-agent.
_acting: ContextVar[Mapping[AgentId, AgentCore] | None] = ContextVar("reeve_subagent", default=None)

#: The ids of sub-agents that are at work. To delegate to one again would end the token that it works with.
_at_work: weakref.WeakKeyDictionary[AgentCore, set[str]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def acting_as(core: AgentCore) -> AgentCore:
    """Who acts where this agent is to: in the work of one of its sub-agents, the sub-agent."""
    places = _acting.get()
    return core if places is None else places.get(core.id, core)


@contextmanager
def acting(places: Mapping[AgentId, AgentCore]) -> Iterator[None]:
    """Lets these act, each in place of an agent, while the block runs."""
    token = _acting.set(places)
    try:
        yield
    finally:
        _acting.reset(token)


class Part:
    """The part of a sub-agent, from its beginning to its end."""

    def __init__(self, agent: AgentCore, name: str, limits: SubagentLimits) -> None:
        self._given = agent
        self._starter = acting_as(agent)
        self._name = name
        self._limits = limits
        self._child_id = ""
        self._core: AgentCore | None = None

    def begin(self) -> Flow[AgentCore]:
        members: dict[str, Any] = {"name": self._name, **self._limits}
        ttl, wanted = members.pop("ttl", _USUAL_TTL), members.pop("child_id", None)
        self._child_id = self._take(wanted or _id_of(self._starter, self._name))
        try:
            self._core = yield from delegate(self._starter.open(), self._child_id, ttl, members)
        except BaseException:
            self._leave()
            raise
        return self._core

    def end(self) -> Flow[None]:
        """What it owes is reported first. If the gateway is away, it ends by time."""
        core, self._core = self._core, None
        if core is None:
            return
        try:
            with suppress(ReeveError):
                yield from core.close()
            with suppress(ReeveError):
                yield from revoke(self._starter, self._child_id, None)
        finally:
            self._leave()

    def places(self, core: AgentCore) -> Mapping[AgentId, AgentCore]:
        """Whoever acted here, the sub-agent does now."""
        known = dict.fromkeys(_acting.get() or (), core)
        return {**known, self._given.id: core, self._starter.id: core}

    def _take(self, wanted: str) -> str:
        """Several of one name at once each have an id and limits of their own."""
        with _lock:
            taken = _at_work.setdefault(self._starter, set())
            free, number = wanted, 2
            while free in taken:
                free, number = f"{wanted}-{number}", number + 1
            taken.add(free)
            return free

    def _leave(self) -> None:
        with _lock:
            _at_work.get(self._starter, set()).discard(self._child_id)


def _id_of(starter: AgentCore, name: str) -> str:
    """Two agents of a team may have sub-agents of one name."""
    return f"{starter.id.agent_id}.{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}"[:_LONGEST_ID]


class subagent(Generic[AnAgent]):  # noqa: N801
    """Lets a sub-agent act for the agent while the block runs, with `with` or `async with`.

    Until then, whatever was governed for the agent is done by its delegate, also in what the block calls. It gives the
    delegate, an agent like any other.
    """

    def __init__(self, agent: AnAgent, name: str, /, **limits: Unpack[SubagentLimits]) -> None:
        self._agent: AnAgent = agent
        self._part = Part(agent._core, name, limits)
        self._token: Token[Mapping[AgentId, AgentCore] | None] | None = None

    def __enter__(self) -> AnAgent:
        return self._entered(run_blocking(self._part.begin()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._left()
        finally:
            run_blocking(self._part.end())

    async def __aenter__(self) -> AnAgent:
        return self._entered(await run_async(self._part.begin()))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._left()
        finally:
            await run_through(self._part.end())

    def _entered(self, core: AgentCore) -> AnAgent:
        self._token = _acting.set(self._part.places(core))
        return type(self._agent)(core, self._agent._subject_token)

    def _left(self) -> None:
        if self._token is not None:
            _acting.reset(self._token)
