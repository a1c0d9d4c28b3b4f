"""What an agent does, as flows. The sync and the async agent run them, each in its way."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._agent_link import AgentUser
from ._batches import batches_of, check_batch
from ._completion import GIVEN_UP, Completion, completion_request
from ._control import AgentEvents, ConnectionEvent, Control
from ._flow import Event, Flow, run_blocking
from ._ids import AgentId, wire_agent_id
from ._link import GatewayLink
from ._live_operation import LiveOperation
from ._prepare import PreparedCheck, prepare_check
from ._retry import Deadline
from ._rpc import CHECK_ACTION, COMPLETE_ACTION, DEREGISTER_AGENT, HEARTBEAT, PREVIEW_TOOLS
from ._validate import require_wait
from .answer import Answer, answer_of, denied_by_sdk
from .errors import (
    ActionDenied,
    Closed,
    GatewayUnavailable,
    InternalError,
    InvalidRequest,
    InvalidTransition,
    OperationNotFound,
    OperationTerminated,
    ReeveError,
    Unauthenticated,
)
from .v1.agent_service_pb2 import DeregisterAgentRequest, HeartbeatRequest
from .v1.policy_service_pb2 import PreviewToolsRequest

if TYPE_CHECKING:
    from ._worker import Job

_DEFAULT_WAIT = 600.0
NO_MORE: frozenset[str] = frozenset()
WAIT = frozenset(("wait", "on_held"))


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

    def __repr__(self) -> str:
        return f"Registration({self.id})"


class AgentCore:
    """One registration, with its heartbeat and its part in the control of the agent."""

    def __init__(self, link: GatewayLink, registration: Registration) -> None:
        self.id = registration.id
        self.created = registration.created
        self.link = link
        self.line = link.agent(registration.id)
        self.status = AgentStatus()
        self.revoked = False
        self.closed = False
        self._deregistering = False
        self._token = registration.token
        self._interval = registration.heartbeat_seconds
        self._events = registration.events
        self._beating: Job | None = None
        self._due: Job | None = None
        self.user = AgentUser(
            registration.token,
            registration.shared,
            self._on_control,
            self._on_connection,
            self._reports_due,
            self._on_revoked,
        )
        self.line.join(self.user, registration.created)
        self._schedule_beat()

    def prepare(self, members: Mapping[str, Any], more: frozenset[str] = NO_MORE) -> tuple[PreparedCheck, Deadline]:
        if self.closed:
            raise Closed("the agent is closed")
        self.line.wake()
        return prepare_check(self.id, self._token, members, more), self.link.deadline(members.get("deadline"))

    def check(self, members: Mapping[str, Any]) -> Flow[Answer]:
        """For callers that act by themselves: an allowed operation counts as running from then on."""
        check, deadline = self.prepare(members)
        ops = self.line.ops
        op = ops.open(check.ids.op_id)
        try:
            answer = yield from self._ask(check, deadline, op)
            return ops.begun(op, answer)
        finally:
            ops.close(op)

    def check_many(self, checks: Sequence[Mapping[str, Any]], deadline_seconds: float | None) -> Flow[list[Answer]]:
        prepared = []
        for index, members in enumerate(checks):
            try:
                prepared.append(self.prepare(members)[0])
            except InvalidRequest as error:
                raise InvalidRequest(f"checks[{index}].{error}") from None
        deadline = self.link.deadline(deadline_seconds)
        batches = batches_of(prepared)
        live = self.line.ops
        ops = [live.open(check.ids.op_id) for check in prepared]
        answers: list[Answer] = []
        try:
            for op in ops:
                live.asked(op)
            for first, batch in batches:
                try:
                    answers += yield from check_batch(self.link, first, batch, deadline)
                except BaseException as error:
                    if _may_have_arrived(error):
                        for op in ops[first : first + len(batch)]:
                            live.call_off(op)
                    answers += [self._without_answer(error, check) for check in batch]
            return [live.begun(op, answer) for op, answer in zip(ops, answers, strict=True)]
        except BaseException:
            for op, answer in zip(ops, answers, strict=False):
                if answer.allowed:
                    live.call_off(op)
            raise
        finally:
            for op in ops:
                live.close(op)

    def decision(self, members: Mapping[str, Any]) -> Flow[Answer]:
        """Asks, and waits while the action is held. An allowed action counts as running from then on."""
        check, _ = self.prepare(members, WAIT)
        until = self._wait_until(members)
        ops = self.line.ops
        op = ops.open(check.ids.op_id)
        try:
            answer = yield from self._decided(check, members, op, until)
            return ops.begun(op, answer)
        finally:
            ops.close(op)

    def admit(self, members: Mapping[str, Any], more: frozenset[str]) -> Flow[tuple[LiveOperation, Answer]]:
        """Waits until the action is allowed. From then on the work is running, and `finish` has to follow."""
        check, _ = self.prepare(members, WAIT | more)
        until = self._wait_until(members)
        ops = self.line.ops
        with ops.lock:
            known = ops.find(check.ids.op_id)
            if known is not None and known.run:
                raise InvalidRequest(f"span_id: the operation {check.ids.op_id} is being run already")
            op = ops.open(check.ids.op_id)
            op.run = True
        try:
            while True:
                answer = yield from self._admitted(check, members, op, until)
                answer = ops.begun(op, answer)
                if answer.allowed:
                    return op, answer
        except BaseException:
            op.end()
            ops.close(op)
            if op.terminated is not None:
                yield from op.told()
            raise

    def finish(self, op: LiveOperation, completion: Completion) -> Flow[None]:
        """The work has ended. Raises `OperationTerminated` if the operation was terminated meanwhile."""
        ops = self.line.ops
        op.end()
        try:
            # The end is a checkpoint too: a paused operation can be neither reported nor continued.
            yield from op.unpaused()
            terminated = op.terminated
            if terminated is not None:
                raise terminated
            ops.drop(op)
            yield from self._report(op.op_id, completion)
        finally:
            ops.close(op)
            if op.terminated is not None:
                yield from op.told()

    def complete(self, op_id: str, completion: Completion, deadline: Deadline) -> Flow[None]:
        """The report of callers that act by themselves. It also says that the work has stopped."""
        request = completion_request(self.id, self._token, op_id, completion)
        self.line.wake()
        ops = self.line.ops
        op = ops.find(op_id)
        if op is not None and not op.run:
            ops.drop(op)
        # A terminated operation is over at the gateway. Only the end of its work remains to be reported.
        if op is not None and op.terminated is not None:
            yield from op.told()
            return
        ops.ended(op_id, completion)
        yield from self.link.tell(COMPLETE_ACTION, request, deadline, InvalidTransition)

    def denied_tools(self, source: str, names: Sequence[str], seconds: float | None) -> Flow[list[str]]:
        request = PreviewToolsRequest(
            agent_id=wire_agent_id(self.id), credential_token=self._token, tool_source=source, tool_names=list(names)
        )
        answer = yield from self.link.send(PREVIEW_TOOLS, request, self.link.deadline(seconds))
        return list(answer.denied)

    def heartbeat(self, seconds: float | None = None) -> Flow[AgentStatus]:
        request = HeartbeatRequest(agent_id=wire_agent_id(self.id), credential_token=self._token)
        answer = yield from self.link.send(HEARTBEAT, request, self.link.deadline(seconds), once=True)
        self.status = AgentStatus(answer.suspended, answer.policy_version)
        yield from self.deliver_owed()
        return self.status

    def deliver_owed(self) -> Flow[None]:
        """Delivers the reports that the gateway could not take before."""
        yield from self.line.ops.owed.deliver(
            lambda op_id, completion: self.complete(op_id, completion, self.link.deadline(None))
        )

    def deregister(self, reason: str, seconds: float | None) -> Flow[None]:
        request = DeregisterAgentRequest(agent_id=wire_agent_id(self.id), credential_token=self._token, reason=reason)
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
        if self.closed:
            return
        self.closed = True
        if not self.link.closing.is_set():
            yield from self._flush()
            yield from self.deliver_owed()
        self._stop()

    def _flush(self) -> Flow[None]:
        for told in self.line.flush():
            yield Event(told)

    def _stop(self) -> None:
        for job in (self._beating, self._due):
            if job is not None:
                job.cancel()
        self.line.leave(self.user, Closed("the agent is closed"))

    def _ask(self, check: PreparedCheck, deadline: Deadline, op: LiveOperation) -> Flow[Answer]:
        ops = self.line.ops
        ops.asked(op)
        try:
            wire = yield from self.link.send(CHECK_ACTION, check.request, deadline)
            return answer_of(wire, check.ids)
        except BaseException as error:
            if _may_have_arrived(error):
                ops.call_off(op)
            return self._without_answer(error, check)

    def _ask_again(self, check: PreparedCheck, members: Mapping[str, Any], op: LiveOperation) -> Flow[Answer]:
        answer = yield from self._ask(check, self.link.deadline(members.get("deadline")), op)
        return self.line.ops.up_to_date(op, answer)

    def _without_answer(self, error: BaseException, check: PreparedCheck) -> Answer:
        """Fails closed: no answer is a denial."""
        if not isinstance(error, GatewayUnavailable) or self.link.settings.on_unavailable == "raise":
            raise error
        return denied_by_sdk(check.ids, str(error))

    def _decided(
        self, check: PreparedCheck, members: Mapping[str, Any], op: LiveOperation, until: Deadline
    ) -> Flow[Answer]:
        ops = self.line.ops
        answer = yield from self._ask_again(check, members, op)
        told = False
        while answer.decision == "pending":
            told = told or _tell_held(members, answer)
            if op.released_by is not None:
                return _released(answer, op.released_by.reason)
            if ops.lost is not None:
                raise ops.lost
            if ops.deaf or until.remaining == 0:
                return answer
            try:
                woken = yield from op.next(until.remaining)
            except OperationTerminated as error:
                return replace(answer, decision="deny", op_state="terminated", reason=error.reason or answer.reason)
            if woken == "ask_again":
                answer = _newer_of(answer, (yield from self._ask_again(check, members, op)))
        return answer

    def _admitted(
        self, check: PreparedCheck, members: Mapping[str, Any], op: LiveOperation, until: Deadline
    ) -> Flow[Answer]:
        """The answer that allows the action. A held action waits for its release on the control stream."""
        ops = self.line.ops
        answer = yield from self._ask_again(check, members, op)
        held = False
        try:
            while not answer.allowed:
                terminated = op.terminated
                if terminated is not None:
                    raise terminated
                if answer.decision == "deny":
                    raise _refusal(answer, held)
                held = held or _tell_held(members, answer)
                if op.released_by is not None:
                    return _released(answer, op.released_by.reason)
                if ops.lost is not None:
                    raise ops.lost
                if ops.deaf or until.remaining == 0:
                    raise ActionDenied(answer)
                woken = yield from op.next(until.remaining)
                if woken == "ask_again":
                    answer = _newer_of(answer, (yield from self._ask_again(check, members, op)))
        except BaseException:
            # If it is released after all, it still never happens.
            if answer.decision == "pending":
                ops.ended(op.op_id, GIVEN_UP)
            raise
        return answer

    def _report(self, op_id: str, completion: Completion) -> Flow[None]:
        """The report of the SDK's own runs. A failed report never costs a result."""
        try:
            yield from self.complete(op_id, completion, self.link.deadline(None))
        except GatewayUnavailable:
            self.line.ops.owed.add(op_id, completion)
        except (InvalidTransition, OperationNotFound):
            # The operation is over or paused. A control says which. After a pause, the report follows the resume.
            return

    def _wait_until(self, members: Mapping[str, Any]) -> Deadline:
        from ._retry import deadline_in

        wait = members.get("wait")
        seconds = _DEFAULT_WAIT if wait is None else require_wait("wait", wait)
        return deadline_in(seconds) if seconds > 0 else Deadline(0, 0)

    def _schedule_beat(self) -> None:
        delay = self._interval * (0.75 + random.random() * 0.25)
        self._beating = self.link.worker.schedule(delay, self._beat)

    def _beat(self) -> None:
        """In the worker. A lost beat is not repeated, because the next one follows."""
        if self.closed or self.revoked:
            return
        try:
            run_blocking(self.heartbeat())
        except Unauthenticated as error:
            self.line.revoke(self._token, error)
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
        if self._events.on_revoked is not None and not self._deregistering:
            self._events.on_revoked()


def _may_have_arrived(error: BaseException) -> bool:
    """Whether the gateway may have taken a call that failed here."""
    if isinstance(error, GatewayUnavailable):
        return error.may_have_arrived
    return not isinstance(error, ReeveError) or isinstance(error, (InternalError, Closed))


def _tell_held(members: Mapping[str, Any], answer: Answer) -> bool:
    on_held = members.get("on_held")
    if on_held is not None:
        on_held(answer)
    return True


def _refusal(answer: Answer, held: bool) -> ReeveError:
    """The same error, whether the stream or a new check reveals the end of a held action."""
    if answer.source == "sdk":
        return GatewayUnavailable(answer.reason)
    if held and answer.op_state == "terminated":
        return OperationTerminated(answer.op_id, answer.reason)
    return ActionDenied(answer)


def _newer_of(held: Answer, newer: Answer) -> Answer:
    """An answer that says nothing of the operation does not end the wait: none at all, or a refused identity."""
    return held if newer.source == "sdk" or not newer.op_id else newer


def _released(held: Answer, reason: str) -> Answer:
    return replace(held, decision="allow", op_state="running", reason=reason or held.reason)
