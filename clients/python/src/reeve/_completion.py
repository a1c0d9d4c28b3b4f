"""How an allowed action ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._ids import AgentId, wire_agent_id
from ._validate import optional_text, require_text, require_whole
from .errors import InvalidRequest
from .money import Usd, micros_of
from .v1.policy_service_pb2 import CompleteActionRequest

Outcome = Literal["succeeded", "failed", "cancelled"]

_OUTCOMES = {
    "succeeded": CompleteActionRequest.SUCCEEDED,
    "failed": CompleteActionRequest.FAILED,
    "cancelled": CompleteActionRequest.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Completion:
    outcome: Outcome = "succeeded"
    #: The real cost. The estimate counts if this is None.
    cost_micros: int | None = None
    detail: str = ""
    #: What a model call used. Without a cost, the gateway computes it from these.
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None


#: An abandoned check may have been allowed all the same. Its operation never happened and cost nothing.
NEVER_HAPPENED = Completion("cancelled", 0, "the answer never arrived")
GIVEN_UP = Completion("cancelled", 0, "nobody waits for it any more")


def completion_of(
    outcome: Outcome | None,
    cost_usd: Usd | None,
    detail: str | None,
    input_tokens: int | None,
    output_tokens: int | None,
    cached_input_tokens: int | None,
) -> Completion:
    if outcome is not None and outcome not in _OUTCOMES:
        raise InvalidRequest(f"outcome: must be one of {', '.join(_OUTCOMES)}")
    return Completion(
        outcome or "succeeded",
        None if cost_usd is None else micros_of("cost_usd", cost_usd),
        optional_text("detail", detail),
        _tokens("input_tokens", input_tokens),
        _tokens("output_tokens", output_tokens),
        _tokens("cached_input_tokens", cached_input_tokens),
    )


def completion_request(agent: AgentId, token: str, op_id: str, completion: Completion) -> CompleteActionRequest:
    try:
        return CompleteActionRequest(
            agent_id=wire_agent_id(agent),
            credential_token=token,
            op_id=require_text("op_id", op_id),
            actual_cost_micros=completion.cost_micros,
            outcome=_OUTCOMES[completion.outcome],
            detail=completion.detail,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            cached_input_tokens=completion.cached_input_tokens,
        )
    except UnicodeError:
        raise InvalidRequest("detail: holds characters that cannot be sent") from None


def _tokens(member: str, count: int | None) -> int | None:
    return None if count is None else require_whole(member, count)
