"""What the outcome of a check means for a model. The same words for every framework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..answer import Answer
from ..errors import ActionDenied, InvalidRequest, OperationTerminated, ReeveError, ResourceExhausted, ResultDenied


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call did not happen, or gives no result. `text` is for the model, so that it can choose another way."""

    kind: Literal["denied", "waiting", "away"]
    text: str
    #: What the SDK raised.
    error: ReeveError


def refusal_of(error: ReeveError) -> Refusal:
    """What an error means that came before the call began, or in place of its result."""
    if isinstance(error, ActionDenied):
        return _refusal_of_answer(error, error.answer)
    if isinstance(error, ResultDenied):
        return Refusal("denied", str(error), error)
    if isinstance(error, OperationTerminated):
        return _denied(error.reason or "operation is terminated", error)
    if isinstance(error, (InvalidRequest, ResourceExhausted)):
        return _denied(f"the call cannot be checked: {error}", error)
    return Refusal("away", f"Reeve is not reachable, so this did not happen: {error}", error)


def stopped_text(error: OperationTerminated) -> str:
    """For frameworks in which an error of a tool does not end the run."""
    return f"Stopped by an operator: {error.reason}" if error.reason else "Stopped by an operator"


def _refusal_of_answer(error: ActionDenied, answer: Answer) -> Refusal:
    if answer.source == "sdk":
        return Refusal("away", f"Reeve is not reachable, so this did not happen: {answer.reason}", error)
    if answer.decision != "pending":
        return _denied(answer.reason, error)
    what = f" {answer.approval_id}" if answer.approval_id else ""
    text = (
        f"Waiting for approval{what}: nobody has decided in time ({answer.reason}). "
        "The call was called off; ask for it again later."
    )
    return Refusal("waiting", text, error)


def _denied(reason: str, error: ReeveError) -> Refusal:
    return Refusal("denied", f"Denied by policy: {reason}", error)
