"""The errors of the SDK. No message, member or representation of them holds a token or an API key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .answer import Answer


class ReeveError(Exception):
    """The base of every error of the SDK. `code` names the kind."""

    code = "error"


class GatewayUnavailable(ReeveError):
    """The gateway gave no answer in time. It is unreachable, shutting down or too slow.

    The message names where it was asked.
    """

    code = "unavailable"

    def __init__(self, reason: str, may_have_arrived: bool = True, addresses: tuple[str, ...] = ()) -> None:
        super().__init__(f"{reason}, asked at {', '.join(addresses)}" if addresses else reason)
        #: Why, without where.
        self.reason = reason
        #: Every gateway that was asked, as host:port.
        self.addresses = addresses
        #: False if nothing was sent for certain, because there was no connection.
        self.may_have_arrived = may_have_arrived


class Unauthenticated(ReeveError):
    """The API key is missing or not accepted, or another token has replaced the agent's."""

    code = "unauthenticated"


class PermissionDenied(ReeveError):
    """The credential is valid, but its scope or its tenant does not reach this far."""

    code = "permission_denied"


class InvalidRequest(ReeveError, ValueError):
    """The call is malformed. The message names the member and a correct value."""

    code = "invalid_request"


class TokenInUse(ReeveError):
    """The token given at registration belongs to another agent."""

    code = "token_in_use"


class OperationNotFound(ReeveError):
    """The agent has no such operation: it never existed, or it ended and was removed."""

    code = "op_not_found"


class InvalidTransition(ReeveError):
    """The state of the operation does not allow this move."""

    code = "invalid_transition"


class ResourceExhausted(ReeveError):
    """The gateway refuses for lack of room: a message too large, or a limit reached."""

    code = "resource_exhausted"


class InternalError(ReeveError):
    """The gateway failed in an unforeseen way, or sent something that is not an answer."""

    code = "internal"


class Closed(ReeveError):
    """The client or the agent was closed."""

    code = "closed"

    def __init__(self, message: str = "the client is closed") -> None:
        super().__init__(message)


class ActionDenied(ReeveError):
    """The action is denied, or was held for too long. `answer` says why."""

    code = "action_denied"

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{'held' if answer.decision == 'pending' else 'denied'}: {answer.reason}")
        self.answer = answer

    def __reduce__(self) -> tuple[type[ActionDenied], tuple[Answer]]:
        return (ActionDenied, (self.answer,))


class OperationTerminated(ReeveError):
    """The operation was terminated while the caller waited for it or ran it.

    `checkpoint` raises it, and finally `run` and the end of a `with` block do.
    """

    code = "operation_terminated"

    def __init__(self, op_id: str, reason: str = "", control_id: str = "", result: Any = None) -> None:
        super().__init__(f"the operation {op_id} was terminated{f': {reason}' if reason else ''}")
        self.op_id = op_id
        #: The reason, in the words of the person who terminated the operation.
        self.reason = reason
        #: `/api/v1/control/{id}` of the gateway shows who did. Empty if nobody did.
        self.control_id = control_id
        #: The result, if the work returned one all the same. None where it would have to be judged.
        self.result = result

    def __reduce__(self) -> tuple[type[OperationTerminated], tuple[str, str, str, Any]]:
        return (OperationTerminated, (self.op_id, self.reason, self.control_id, self.result))


class _Alone(ReeveError):
    """Takes the place of an error whose words nobody may read. Whatever Python would link to it is not to be had."""

    @property
    def __context__(self) -> None:
        return None

    @__context__.setter
    def __context__(self, _error: object) -> None:
        pass


class ResultDenied(_Alone):
    """The action happened, and what it brought back must not be read.

    A rule on results denies it, or it could not be judged. It does not hold the result.
    """

    code = "result_denied"

    def __init__(
        self, op_id: str, reason: str, policy_rule: str = "", source: Literal["gateway", "sdk"] = "gateway"
    ) -> None:
        super().__init__(f"Denied by policy: {reason or 'the result must not be read'}")
        self.op_id = op_id
        self.reason = reason
        #: `<document>/<rule>`. Empty if no rule said so.
        self.policy_rule = policy_rule
        #: `sdk`: the result could not be judged, so the SDK denied instead.
        self.source: Literal["gateway", "sdk"] = source

    def __reduce__(self) -> tuple[type[ResultDenied], tuple[str, str, str, str]]:
        return (ResultDenied, (self.op_id, self.reason, self.policy_rule, self.source))


class MaskedError(_Alone):
    """The work has failed, and its message was judged: masked, or left as it was where its error held more than that.

    Nothing else of that error is left.
    """

    code = "masked_error"
    #: Of what class the error of the work was.
    raised_as: type[BaseException] | None = None

    @classmethod
    def of(cls, error: BaseException, message: str) -> MaskedError:
        masked = cls(message)
        masked.raised_as = type(error)
        return masked
