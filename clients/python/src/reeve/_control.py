"""Requests of the gateway to one operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .v1.policy_service_pb2 import OpControlMessage

if TYPE_CHECKING:
    from collections.abc import Callable

#: `allow` ends the wait for an approval. An operator sends the others.
ControlSignal = Literal["pause", "resume", "terminate", "allow"]


@dataclass(frozen=True, slots=True)
class Control:
    """A request of the gateway to one operation of the agent."""

    op_id: str
    signal: ControlSignal
    #: The reason, in the words of the person who asked.
    reason: str
    #: `/api/v1/control/{id}` of the gateway shows who asked and how it went. Empty if nobody asked.
    control_id: str
    #: RFC 3339.
    issued_at: str
    #: Counts up per agent.
    sequence: int


@dataclass(frozen=True, slots=True)
class ConnectionEvent:
    """A change of the stream that controls an agent.

    `connected`: the agent can be paused and terminated. `lost`: it cannot for now, and the SDK keeps trying.
    `unsupported`: the gateway has no live control. `ended`: the gateway no longer accepts the token.
    """

    type: Literal["connected", "lost", "unsupported", "ended"]
    #: Of the gateway at the other end.
    address: str
    reason: str = ""
    #: `connected` after a loss, or to another gateway than before.
    again: bool = False


_SIGNALS: dict[int, ControlSignal] = {
    OpControlMessage.PAUSE: "pause",
    OpControlMessage.RESUME: "resume",
    OpControlMessage.TERMINATE: "terminate",
    OpControlMessage.ALLOW: "allow",
}


def control_of(message: OpControlMessage) -> Control | None:
    """None if this version does not know the signal."""
    signal = _SIGNALS.get(message.signal)
    if signal is None:
        return None
    return Control(message.op_id, signal, message.reason, message.control_id, message.issued_at, message.sequence)


@dataclass(frozen=True, slots=True)
class AgentEvents:
    """What happens to an agent outside of any call. Listeners run in a thread of the SDK and must be quick."""

    on_revoked: Callable[[], object] | None = None
    on_control: Callable[[Control], object] | None = None
    on_connection: Callable[[ConnectionEvent], object] | None = None
