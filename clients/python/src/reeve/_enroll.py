"""Registrations."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from ._control import AgentEvents
from ._core import AgentCore, Registration
from ._credential import TokenLife
from ._flow import Flow
from ._ids import AgentId, wire_agent_id
from ._link import GatewayLink
from ._rpc import IDENTIFY_AGENT, REGISTER_AGENT
from ._validate import optional_text, require_text
from .errors import InternalError, InvalidRequest, Unauthenticated
from .v1.agent_service_pb2 import (
    IdentifyAgentRequest,
    IdentifyAgentResponse,
    RegisterAgentRequest,
    RegisterAgentResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._control import ConnectionEvent, Control

DEFAULT_HEARTBEAT_SECONDS = 30.0


class EnrollMembers(TypedDict, total=False):
    """What is known of an agent at its registration."""

    name: str
    framework: str
    version: str
    #: The agent that spawned this one.
    parent: AgentId | None
    metadata: Mapping[str, str]
    #: The names of the agent's tools.
    tools: Sequence[str]
    #: The new token of the agent, at least 32 characters. Random if left out.
    token: str | None
    #: How long the token works, in seconds: 60 to 31,536,000. The SDK renews it by itself, at two thirds of its life,
    #: unless it is shared. Always, if left out.
    token_ttl_secs: int | None
    deadline: float | None


class ActingMembers(TypedDict, total=False):
    """The options of every way to act as an agent. Listeners run in a thread of the SDK and must be quick."""

    #: Whether other processes act as this agent with the same token. This process then speaks only for its own
    #: operations. Otherwise an operation that it does not know counts as not running.
    shared: bool
    #: The gateway no longer accepts the token: the agent was registered again elsewhere, or removed.
    on_revoked: Callable[[], object] | None
    #: The gateway controls an operation of the agent. The SDK carries the control out. This is for information.
    on_control: Callable[[Control], object] | None
    #: The agent can be controlled now, or cannot for now.
    on_connection: Callable[[ConnectionEvent], object] | None


class RegisterMembers(EnrollMembers, ActingMembers, total=False):
    """An agent that acts in this process from its registration on."""


class AttachMembers(ActingMembers, total=False):
    """An agent that was registered before."""

    #: Default 30.
    heartbeat_seconds: float


@dataclass(frozen=True, slots=True)
class Enrollment:
    """An agent that was registered for others to act as."""

    id: AgentId
    token: str = field(repr=False)
    #: False if the agent was registered already. Its old token has stopped.
    created: bool


@dataclass(frozen=True, slots=True)
class Identified:
    """Whose a token is."""

    id: AgentId
    suspended: bool
    #: The issuers whose tokens the gateway takes as `subject_token`.
    subject_issuers: tuple[str, ...] = ()


_ENROLL = frozenset(EnrollMembers.__annotations__)
_ACTING = frozenset(ActingMembers.__annotations__)
_ATTACH = _ACTING | {"heartbeat_seconds"}


def enroll(link: GatewayLink, api_key: str | None, agent: AgentId, members: Mapping[str, Any]) -> Flow[Enrollment]:
    _expect(members, _ENROLL)
    answer = yield from _register(link, api_key, agent, members)
    return Enrollment(agent, answer.credential_token, answer.created)


def register(link: GatewayLink, api_key: str | None, agent: AgentId, members: Mapping[str, Any]) -> Flow[AgentCore]:
    _expect(members, _ENROLL | _ACTING)
    answer = yield from _register(link, api_key, agent, members)
    seconds = answer.heartbeat_interval_secs
    return AgentCore(
        link,
        Registration(
            agent,
            answer.credential_token,
            answer.created,
            float(seconds) if 0 < seconds <= 86_400 else DEFAULT_HEARTBEAT_SECONDS,
            bool(members.get("shared")),
            _events(members),
            _life(members.get("token_ttl_secs") or 0, answer.expires_at),
        ),
    )


def attach(
    link: GatewayLink, agent: AgentId, token: str, members: Mapping[str, Any], life: TokenLife | None = None
) -> AgentCore:
    _expect(members, _ATTACH)
    seconds = members.get("heartbeat_seconds", DEFAULT_HEARTBEAT_SECONDS)
    if not 0 < seconds <= 86_400:
        raise InvalidRequest("heartbeat_seconds: must be more than 0 and at most a day")
    shared = bool(members.get("shared"))
    return AgentCore(link, Registration(agent, token, False, float(seconds), shared, _events(members), life))


def identify(link: GatewayLink, token: str, deadline: float | None) -> Flow[Identified]:
    answer = yield from _identify(link, token, deadline)
    return Identified(_id_of(answer), answer.suspended, tuple(answer.subject_issuers))


def _identify(link: GatewayLink, token: str, deadline: float | None) -> Flow[IdentifyAgentResponse]:
    request = IdentifyAgentRequest(credential_token=token)
    answer = yield from link.send(IDENTIFY_AGENT, request, link.deadline(deadline))
    if not answer.HasField("agent_id"):
        raise InternalError("the answer of the gateway names no agent")
    return answer


def _id_of(answer: IdentifyAgentResponse) -> AgentId:
    found = answer.agent_id
    return AgentId(found.org_id, found.team_id, found.agent_id)


def _life(ttl: int, expires_at: str) -> TokenLife | None:
    """What is left of a new token is its whole life, however the clocks differ."""
    if ttl <= 0 or expires_at == "":
        return None
    left = datetime.fromisoformat(expires_at.replace("Z", "+00:00")).timestamp() - time.time()
    return TokenLife(ttl, min(left, ttl))


def agent_of_token(
    link: GatewayLink, token: str | None, deadline: float | None, members: Mapping[str, Any]
) -> Flow[AgentCore]:
    """Without a token, `REEVE_AGENT_TOKEN` counts."""
    known = require_text("token", token if token is not None else os.environ.get("REEVE_AGENT_TOKEN"))
    # An agent of this client may have renewed it since.
    known = link.token_now(known)
    answer = yield from _identify(link, known, deadline)
    return attach(link, _id_of(answer), known, members, _life(answer.token_ttl_secs, answer.expires_at))


def _register(
    link: GatewayLink, api_key: str | None, agent: AgentId, members: Mapping[str, Any]
) -> Flow[RegisterAgentResponse]:
    if api_key is None:
        raise Unauthenticated("no API key: give the client an api_key, or set REEVE_API_KEY")
    request = _request(agent, members)
    return (yield from link.send(REGISTER_AGENT, request, link.deadline(members.get("deadline")), bearer=api_key))


def _request(agent: AgentId, members: Mapping[str, Any]) -> RegisterAgentRequest:
    """The SDK always makes the token here.

    So a retry registers the same token again, and an attempt that the network delays cannot replace the token that the
    agent holds.
    """
    get = members.get
    parent = get("parent")
    try:
        return RegisterAgentRequest(
            agent_id=wire_agent_id(agent),
            credential_token=get("token") or f"rva_{secrets.token_urlsafe(32)}",
            name=optional_text("name", get("name")),
            framework=optional_text("framework", get("framework")),
            version=optional_text("version", get("version")),
            parent_agent_id=None if parent is None else wire_agent_id(parent),
            metadata=dict(get("metadata") or {}),
            tool_names=list(get("tools") or ()),
            token_ttl_secs=get("token_ttl_secs"),
        )
    except UnicodeError:
        raise InvalidRequest("a text of the registration holds characters that cannot be sent") from None


def _events(members: Mapping[str, Any]) -> AgentEvents:
    get = members.get
    return AgentEvents(get("on_revoked"), get("on_control"), get("on_connection"))


def _expect(members: Mapping[str, Any], known: frozenset[str]) -> None:
    for name in members:
        if name not in known:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
