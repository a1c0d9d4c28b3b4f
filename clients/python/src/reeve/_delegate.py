"""Delegations: agents that act for another one, within limits and for a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ._control import AgentEvents
from ._core import AgentCore, Registration
from ._flow import Flow
from ._ids import AgentId, wire_agent_id
from ._rpc import DELEGATE_AGENT, REVOKE_DELEGATION
from ._validate import optional_text, require_text
from .actions import wire_type_of
from .errors import InternalError, InvalidRequest
from .money import Usd, micros_of
from .v1.agent_service_pb2 import DelegateAgentRequest, RevokeDelegationRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._control import ConnectionEvent, Control
    from .actions import ActionType

_LONGEST_TTL = 86_400


class DelegateMembers(TypedDict, total=False):
    """What a delegate may do at most. What is left out is not bounded by it."""

    #: Globs of the tools that it may call.
    tools: Sequence[str]
    #: The types of actions that it may do.
    actions: Sequence[ActionType]
    #: What all of it may cost.
    max_cost_usd: Usd | None
    #: How many checks it may make. Denied ones count.
    max_checks: int | None
    #: How many agents may act for it in turn, at all depths. With 0 it cannot delegate.
    max_delegates: int | None
    name: str
    deadline: float | None
    #: As for every agent.
    shared: bool
    on_revoked: Callable[[], object] | None
    on_control: Callable[[Control], object] | None
    on_connection: Callable[[ConnectionEvent], object] | None


_MEMBERS = frozenset(DelegateMembers.__annotations__)


def delegate(core: AgentCore, child_id: str, ttl: int, members: Mapping[str, Any]) -> Flow[AgentCore]:
    for name in members:
        if name not in _MEMBERS:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    get = members.get
    request = _request(core, child_id, ttl, members)
    answer = yield from core.link.send(DELEGATE_AGENT, request, core.link.deadline(get("deadline")))
    if not answer.HasField("agent_id"):
        raise InternalError("the answer of the gateway names no agent")
    found = answer.agent_id
    return AgentCore(
        core.link,
        Registration(
            AgentId(found.org_id, found.team_id, found.agent_id),
            answer.credential_token,
            True,
            core.heartbeat_seconds,
            bool(get("shared")),
            AgentEvents(get("on_revoked"), get("on_control"), get("on_connection")),
            is_delegate=True,
        ),
    )


def revoke(core: AgentCore, child_id: str, seconds: float | None) -> Flow[None]:
    request = RevokeDelegationRequest(
        agent_id=wire_agent_id(core.id), credential_token=core.token, child_id=require_text("child_id", child_id)
    )
    yield from core.link.send(REVOKE_DELEGATION, request, core.link.deadline(seconds))


def _request(core: AgentCore, child_id: str, ttl: int, members: Mapping[str, Any]) -> DelegateAgentRequest:
    get = members.get
    cost = get("max_cost_usd")
    if not isinstance(ttl, int) or isinstance(ttl, bool) or not 1 <= ttl <= _LONGEST_TTL:
        raise InvalidRequest(f"ttl: must be a whole number of seconds from 1 to {_LONGEST_TTL}")
    try:
        return DelegateAgentRequest(
            agent_id=wire_agent_id(core.id),
            credential_token=core.token,
            child_id=require_text("child_id", child_id),
            ttl_secs=ttl,
            actions=[wire_type_of(action) for action in get("actions") or ()],
            tools=list(get("tools") or ()),
            max_cost_micros=None if cost is None else micros_of("max_cost_usd", cost),
            max_checks=_most("max_checks", get("max_checks")),
            name=optional_text("name", get("name")),
            max_delegates=_most("max_delegates", get("max_delegates")),
        )
    except UnicodeError:
        raise InvalidRequest("a text of the delegation holds characters that cannot be sent") from None


def _most(name: str, value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise InvalidRequest(f"{name}: must be a whole number, not below 0")
    return value
