"""One registration of an agent in this process."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._agent_link import AgentUser
from ._checks import AgentChecks
from ._control import AgentEvents, ConnectionEvent, Control
from ._credential import TokenLife
from ._flow import Event, Flow, run_blocking
from ._ids import AgentId, wire_agent_id
from ._link import GatewayLink
from ._reports import AgentReports
from ._results import AgentResults
from ._rpc import DEREGISTER_AGENT, HEARTBEAT, PREVIEW_TOOLS
from .errors import Closed, ReeveError, Unauthenticated
from .v1.agent_service_pb2 import DeregisterAgentRequest, HeartbeatRequest
from .v1.policy_service_pb2 import PreviewToolsRequest

if TYPE_CHECKING:
    from ._worker import Job


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """What the gateway said in its answer to the last heartbeat."""

    suspended: bool = False
    policy_version: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    id: AgentId
    token: str
    created: bool
    heartbeat_seconds: float
    shared: bool
    events: AgentEvents
    #: None if the token never ends, or nothing is known of its end.
    life: TokenLife | None = None
    #: It acts for another agent: its operations end with its token.
    is_delegate: bool = False

    def __repr__(self) -> str:
        return f"Registration({self.id})"


class AgentCore:
    """One registration, with its heartbeat and its part in the control of the agent."""

    def __init__(self, link: GatewayLink, registration: Registration) -> None:
        self.id = registration.id
        self.created = registration.created
        self._is_delegate = registration.is_delegate
        self.link = link
        self.line = link.agent(registration.id)
        self.status = AgentStatus()
        self.revoked = False
        self.closed = False
        self._credential = self.line.credentials.take(registration.token)
        self.checks = AgentChecks(link, self.line, registration.id, self._credential)
        self.reports = AgentReports(link, self.line, registration.id, self._credential)
        self.results = AgentResults(link, registration.id, self._credential)
        self._deregistering = False
        self._interval = registration.heartbeat_seconds
        self._events = registration.events
        self._beating: Job | None = None
        self._due: Job | None = None
        self.user = AgentUser(
            self._credential,
            registration.shared,
            self._on_control,
            self._on_connection,
            self._reports_due,
            self._on_revoked,
        )
        self.line.join(self.user, registration.created, registration.life)
        self._schedule_beat()

    @property
    def token(self) -> str:
        return self._credential.token

    @property
    def heartbeat_seconds(self) -> float:
        return self._interval

    def open(self) -> AgentCore:
        """This, unless the agent is closed."""
        self.link.require_own_process()
        if self.closed:
            raise Closed("the agent is closed")
        return self

    def check_result(self, op_id: str, result: Any, is_error: bool) -> Flow[Any]:
        """For callers that act by themselves."""
        ops = self.open().line.ops
        op = ops.open(op_id)
        try:
            return (yield from self.results.judged(op, result, is_error))
        finally:
            ops.close(op)

    def denied_tools(self, source: str, names: Sequence[str], seconds: float | None) -> Flow[list[str]]:
        request = PreviewToolsRequest(
            agent_id=wire_agent_id(self.id),
            credential_token=self._credential.token,
            tool_source=source,
            tool_names=list(names),
        )
        answer = yield from self.link.send(PREVIEW_TOOLS, request, self.link.deadline(seconds))
        return list(answer.denied)

    def heartbeat(self, seconds: float | None = None) -> Flow[AgentStatus]:
        request = HeartbeatRequest(agent_id=wire_agent_id(self.id), credential_token=self._credential.token)
        answer = yield from self.link.send(HEARTBEAT, request, self.link.deadline(seconds), once=True)
        self.status = AgentStatus(answer.suspended, answer.policy_version)
        yield from self.reports.deliver_owed()
        return self.status

    def deregister(self, reason: str, seconds: float | None) -> Flow[None]:
        request = DeregisterAgentRequest(
            agent_id=wire_agent_id(self.id), credential_token=self._credential.token, reason=reason
        )
        self.link.require_own_process()
        yield from self._flush()
        self._deregistering = True
        try:
            yield from self.link.tell(DEREGISTER_AGENT, request, self.link.deadline(seconds), Unauthenticated)
        except BaseException:
            self._deregistering = False
            raise
        self.closed = True
        self.line.ops.terminate_all("the agent was deregistered")
        self._stop()

    def close(self) -> Flow[None]:
        """Ends heartbeats and control, after what is owed is delivered or the gateway is out of reach."""
        if self.closed or self.link.forked:
            return
        self.closed = True
        if not self.link.closing.is_set():
            yield from self._flush()
            yield from self.reports.deliver_owed()
        self._stop()

    def _flush(self) -> Flow[None]:
        for told in self.line.flush():
            yield Event(told)

    def _stop(self) -> None:
        for job in (self._beating, self._due):
            if job is not None:
                job.cancel()
        self.line.leave(self.user, Closed("the agent is closed"))

    def _schedule_beat(self) -> None:
        delay = self._interval * (0.75 + random.random() * 0.25)
        self._beating = self.link.worker.schedule(delay, self._beat)

    def _beat(self) -> None:
        """In the worker. A lost beat is not repeated, because the next one follows."""
        if self.closed or self.revoked:
            return
        sent = self._credential.token
        try:
            run_blocking(self.heartbeat())
        except Unauthenticated as error:
            # It may have been sent with a token that was renewed on its way.
            if sent == self._credential.token:
                self.line.revoke(sent, error)
                return
        except ReeveError:
            pass
        if not self.closed and not self.revoked:
            self._schedule_beat()

    def _reports_due(self) -> None:
        """The gateway is back, or it now accepts a report that it refused before."""
        if self._beating is not None:
            self._beating.cancel()
        self._beating = self.link.worker.schedule(0, self._beat)

    def _on_control(self, control: Control) -> None:
        if self._events.on_control is not None:
            self._events.on_control(control)

    def _on_connection(self, event: ConnectionEvent) -> None:
        if self._events.on_connection is not None and not self._deregistering:
            self._events.on_connection(event)

    def _on_revoked(self, _: Unauthenticated) -> None:
        self.revoked = True
        if self._beating is not None:
            self._beating.cancel()
        if self._is_delegate:
            # The order to stop may have come before the stream was open.
            self.line.ops.terminate_all("the delegation has ended")
        if self._events.on_revoked is not None and not self._deregistering:
            self._events.on_revoked()
