"""How an agent asks, as flows. The sync and the async agent run them, each in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ._agent_link import AgentLink
from ._batches import batches_of, check_batch
from ._completion import GIVEN_UP
from ._credential import Credential, check_with_token
from ._flow import Flow
from ._ids import AgentId
from ._link import GatewayLink
from ._live_operation import LiveOperation
from ._prepare import PreparedCheck, prepare_check
from ._retry import Deadline, deadline_in
from ._rpc import CHECK_ACTION
from ._validate import require_wait
from .answer import Answer, answer_of, denied_by_sdk
from .errors import (
    ActionDenied,
    Closed,
    GatewayUnavailable,
    InternalError,
    InvalidRequest,
    OperationTerminated,
    ReeveError,
)

_DEFAULT_WAIT = 600.0
_NO_MORE: frozenset[str] = frozenset()
_WAIT = frozenset(("wait", "on_held"))


class AgentChecks:
    """Sends the checks of an agent, and updates its operations by the answers."""

    def __init__(self, link: GatewayLink, line: AgentLink, agent_id: AgentId, credential: Credential) -> None:
        self._link = link
        self._line = line
        self._id = agent_id
        self._credential = credential

    def check(self, members: Mapping[str, Any]) -> Flow[Answer]:
        """For callers that act by themselves: an allowed operation counts as running from then on."""
        check, deadline = self._prepare(members)
        ops = self._line.ops
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
                prepared.append(self._prepare(members)[0])
            except InvalidRequest as error:
                raise InvalidRequest(f"checks[{index}].{error}") from None
        deadline = self._link.deadline(deadline_seconds)
        batches = batches_of(prepared)
        live = self._line.ops
        ops = [live.open(check.ids.op_id) for check in prepared]
        answers: list[Answer] = []
        try:
            for op in ops:
                live.asked(op)
            for first, batch in batches:
                try:
                    answers += yield from self._ask_batch(first, batch, deadline)
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
        check, _ = self._prepare(members, _WAIT)
        until = _wait_until(members)
        ops = self._line.ops
        op = ops.open(check.ids.op_id)
        try:
            answer = yield from self._decided(check, members, op, until)
            return ops.begun(op, answer)
        finally:
            ops.close(op)

    def admit(self, members: Mapping[str, Any], more: frozenset[str]) -> Flow[tuple[LiveOperation, Answer]]:
        """Waits until the action is allowed. From then on the work is running, and `finish` has to follow."""
        check, _ = self._prepare(members, _WAIT | more)
        until = _wait_until(members)
        ops = self._line.ops
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

    def _prepare(self, members: Mapping[str, Any], more: frozenset[str] = _NO_MORE) -> tuple[PreparedCheck, Deadline]:
        return prepare_check(self._id, self._credential.token, members, more), self._link.deadline(
            members.get("deadline")
        )

    def _ask(self, check: PreparedCheck, deadline: Deadline, op: LiveOperation) -> Flow[Answer]:
        ops = self._line.ops
        ops.asked(op)

        def asked(token: str) -> Flow[Answer]:
            # A check that was held for long may have been prepared with a token that has been renewed since.
            check.request.credential_token = token
            return answer_of((yield from self._link.send(CHECK_ACTION, check.request, deadline)), check.ids)

        try:
            return (yield from check_with_token(self._credential, asked, _is_refused))
        except BaseException as error:
            if _may_have_arrived(error):
                ops.call_off(op)
            return self._without_answer(error, check)

    def _ask_batch(self, first: int, batch: Sequence[PreparedCheck], deadline: Deadline) -> Flow[list[Answer]]:
        def asked(token: str) -> Flow[list[Answer]]:
            for check in batch:
                check.request.credential_token = token
            return check_batch(self._link, first, batch, deadline)

        def are_refused(answers: list[Answer]) -> bool:
            return any(_is_refused(answer) for answer in answers)

        return (yield from check_with_token(self._credential, asked, are_refused))

    def _ask_again(self, check: PreparedCheck, members: Mapping[str, Any], op: LiveOperation) -> Flow[Answer]:
        answer = yield from self._ask(check, self._link.deadline(members.get("deadline")), op)
        return self._line.ops.up_to_date(op, answer)

    def _without_answer(self, error: BaseException, check: PreparedCheck) -> Answer:
        """Fails closed: no answer is a denial."""
        if not isinstance(error, GatewayUnavailable) or self._link.settings.on_unavailable == "raise":
            raise error
        return denied_by_sdk(check.ids, str(error))

    def _decided(
        self, check: PreparedCheck, members: Mapping[str, Any], op: LiveOperation, until: Deadline
    ) -> Flow[Answer]:
        ops = self._line.ops
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
        ops = self._line.ops
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


def _wait_until(members: Mapping[str, Any]) -> Deadline:
    wait = members.get("wait")
    seconds = _DEFAULT_WAIT if wait is None else require_wait("wait", wait)
    return deadline_in(seconds) if seconds > 0 else Deadline(0, 0)


def _is_refused(answer: Answer) -> bool:
    """Whether the token was refused, or something else of who asks. With another token, it would be judged."""
    return answer.policy_rule == "identity"


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
