"""Has judged what the operations of an agent bring back, as flows. Whatever goes wrong is a `ResultDenied`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._credential import Credential, with_token
from ._flow import Flow
from ._ids import AgentId, wire_agent_id
from ._link import GatewayLink
from ._live_operation import LiveOperation
from ._plain_copy import UnjudgeableResult
from ._rpc import CHECK_RESULT
from ._wire_result import WireResult, wire_error_of, wire_result_of
from .errors import InternalError, InvalidTransition, OperationTerminated, ReeveError, ResultDenied
from .v1 import common_pb2
from .v1.policy_service_pb2 import PROMPT, CheckResultRequest, CheckResultResponse

_MEBIBYTE = 1024 * 1024
_SECONDS_PER_MEBIBYTE = 1.0


class AgentResults:
    """Sends the results of an agent's operations."""

    def __init__(self, link: GatewayLink, agent_id: AgentId, credential: Credential) -> None:
        self._link = link
        self._id = agent_id
        self._credential = credential

    def judged(self, op: LiveOperation, result: Any, is_error: bool = False) -> Flow[Any]:
        """The result as it may be read.

        Raises `OperationTerminated` if the operation is over before that is known.
        """
        return self._judged(op, result, wire_result_of, CheckResultRequest(is_error=is_error))

    def judged_prompt(self, op: LiveOperation, prompt: Any) -> Flow[Any]:
        """The prompt as a provider may see it."""
        return self._judged(op, prompt, wire_result_of, CheckResultRequest(part=PROMPT))

    def judged_error(self, op: LiveOperation, error: BaseException) -> Flow[Any]:
        """What to raise in place of what the work has raised."""
        return self._judged(op, error, wire_error_of, CheckResultRequest(is_error=True))

    def _judged(
        self, op: LiveOperation, given: Any, wire_of: Callable[[Any], WireResult], asked: CheckResultRequest
    ) -> Flow[Any]:
        what = "prompt" if asked.HasField("part") else "result"
        try:
            wire = wire_of(given)
            masked = yield from self._ask(op, wire.data, asked)
            return wire.given if masked is None else wire.read(masked)
        except (ResultDenied, OperationTerminated):
            raise
        except UnjudgeableResult as error:
            raise ResultDenied(op.op_id, f"the {what} {error}", source="sdk") from None
        except ReeveError as error:
            raise ResultDenied(op.op_id, f"the {what} could not be judged: {error}", source="sdk") from None

    def _ask(self, op: LiveOperation, data: bytes, asked: CheckResultRequest) -> Flow[bytes | None]:
        while True:
            try:
                return (yield from self._ask_once(op.op_id, data, asked))
            except InvalidTransition as error:
                yield from self._explained(op, error)

    def _ask_once(self, op_id: str, data: bytes, asked: CheckResultRequest) -> Flow[bytes | None]:
        request = CheckResultRequest(agent_id=wire_agent_id(self._id), op_id=op_id, result_json=data)
        request.MergeFrom(asked)
        more = -(-len(data) // _MEBIBYTE) * _SECONDS_PER_MEBIBYTE
        deadline = self._link.deadline(self._link.settings.deadline + more)

        def sent(token: str) -> Flow[CheckResultResponse]:
            request.credential_token = token
            return self._link.send(CHECK_RESULT, request, deadline)

        answer = yield from with_token(self._credential, sent)
        # A gateway that does not know of prompts would have judged this one as a result.
        if asked.HasField("part") and not (answer.HasField("part") and answer.part == asked.part):
            raise InternalError("the gateway judged something else than was asked")
        if answer.decision != common_pb2.ALLOW:
            raise ResultDenied(op_id, answer.reason, answer.policy_rule)
        return answer.result_json if answer.HasField("result_json") else None

    def _explained(self, op: LiveOperation, error: InvalidTransition) -> Flow[None]:
        """The gateway does not take the operation for running: it is paused, or over.

        A control says which, and may still be on its way. Returns once a pause is over.
        """
        woken = yield from op.next(self._link.settings.deadline)
        if woken is None and op.state != "paused":
            raise error
        yield from op.checkpoint()
