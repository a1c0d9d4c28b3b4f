"""How an agent reports, as flows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ._agent_link import AgentLink
from ._completion import GIVEN_UP, Completion, completion_request
from ._credential import Credential, with_token
from ._flow import Flow
from ._ids import AgentId
from ._link import GatewayLink
from ._live_operation import LiveOperation
from ._retry import Deadline
from ._rpc import COMPLETE_ACTION
from .errors import GatewayUnavailable, InvalidTransition, OperationNotFound, ReeveError, ResultDenied

_LONGEST_DETAIL = 500


class AgentReports:
    """Sends the reports of an agent's operations."""

    def __init__(self, link: GatewayLink, line: AgentLink, agent_id: AgentId, credential: Credential) -> None:
        self._link = link
        self._line = line
        self._id = agent_id
        self._credential = credential

    def finish(self, op: LiveOperation, completion: Completion, judging: Flow[Any] | None = None) -> Flow[Any]:
        """The work has ended. Gives what `judging` makes of its end, which is judged before it is reported.

        Raises `OperationTerminated` if the operation was terminated meanwhile, and `ResultDenied`.
        """
        if self._link.forked:
            # A child has left the block. The operation is the parent's.
            return None
        judged: Any = None
        denied: ResultDenied | None = None
        ops = self._line.ops
        op.end()
        try:
            # The end is a checkpoint too: a paused operation can be neither reported nor continued.
            yield from self._unpaused(op, completion)
            if judging is not None and op.terminated is None:
                try:
                    judged = yield from self._not_cancelled(op, completion, judging)
                except ResultDenied as error:
                    denied = error
                    completion = _with_denial(completion, error)
                # It may have been paused or stopped meanwhile.
                yield from self._unpaused(op, completion)
            terminated = op.terminated
            if terminated is not None:
                raise terminated
            ops.drop(op)
            yield from self._report(op.op_id, completion)
            if denied is not None:
                raise denied
            return judged
        finally:
            ops.close(op)
            if op.terminated is not None:
                yield from op.told()

    def complete(self, op_id: str, completion: Completion, deadline: Deadline) -> Flow[None]:
        """The report of callers that act by themselves. It also says that the work has stopped."""
        self._link.require_own_process()
        request = completion_request(self._id, self._credential.token, op_id, completion)
        ops = self._line.ops
        op = ops.find(op_id)
        if op is not None and not op.run:
            ops.drop(op)
        # A terminated operation is over at the gateway. Only the end of its work remains to be reported.
        if op is not None and op.terminated is not None:
            yield from op.told()
            return
        ops.ended(op_id, completion)

        def told(token: str) -> Flow[None]:
            request.credential_token = token
            return self._link.tell(COMPLETE_ACTION, request, deadline, InvalidTransition)

        yield from with_token(self._credential, told)

    def call_off(self, op_id: str) -> Flow[None]:
        """Nobody waits for the held operation any more. Its approval ends, so that nobody is asked in vain.

        If the gateway is away, the approval expires.
        """
        try:
            yield from self._report(op_id, GIVEN_UP)
        except ReeveError:
            return

    def abandon(self, op: LiveOperation, completion: Completion) -> None:
        """Nobody will finish the operation. It takes no lock, because finalizers run anywhere.

        The next beat reports it, or `deliver_owed` before.
        """
        self._line.ops.abandoned.append((op, completion))

    def deliver_owed(self) -> Flow[None]:
        """Delivers the reports that the gateway could not take before."""
        self._line.ops.drop_abandoned()
        yield from self._line.ops.owed.deliver(
            lambda op_id, completion: self.complete(op_id, completion, self._link.deadline(None))
        )

    def _unpaused(self, op: LiveOperation, completion: Completion) -> Flow[None]:
        yield from self._not_cancelled(op, completion, op.unpaused())

    def _not_cancelled(self, op: LiveOperation, completion: Completion, flow: Flow[Any]) -> Flow[Any]:
        try:
            return (yield from flow)
        except ReeveError:
            raise
        except BaseException:
            # Cancelled on the way. While the operation is paused, the report follows the resume.
            ops = self._line.ops
            ops.ended(op.op_id, completion)
            ops.owed.add(op.op_id, completion)
            raise

    def _report(self, op_id: str, completion: Completion) -> Flow[None]:
        """The report of the SDK's own runs. A failed report never costs a result."""
        try:
            yield from self.complete(op_id, completion, self._link.deadline(None))
        except GatewayUnavailable:
            self._line.ops.owed.add(op_id, completion)
        except (InvalidTransition, OperationNotFound):
            # The operation is over or paused. A control says which. After a pause, the report follows the resume.
            return
        except BaseException:
            # Cancelled on the way.
            self._line.ops.owed.add(op_id, completion)
            raise


def _with_denial(completion: Completion, error: ResultDenied) -> Completion:
    """The action happened, and its outcome is that of the work. The note says that nobody has got the result."""
    denial = f"the result was denied: {error.reason}"
    detail = f"{completion.detail}; {denial}" if completion.detail else denial
    return replace(completion, detail=detail[:_LONGEST_DETAIL])
