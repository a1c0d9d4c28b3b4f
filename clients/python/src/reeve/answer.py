"""The answer to a check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from ._ids import TraceIds
from .errors import InternalError, InvalidRequest
from .v1 import common_pb2

if TYPE_CHECKING:
    from .v1 import policy_service_pb2

Decision = Literal["allow", "deny", "pending"]
OpState = Literal["pending", "running", "paused", "completing", "terminated"]

_DECISIONS: dict[int, Decision] = {
    common_pb2.ALLOW: "allow",
    common_pb2.DENY: "deny",
    common_pb2.PENDING: "pending",
}
_STATES = frozenset(("pending", "running", "paused", "completing", "terminated"))
_TIERS = frozenset(("global", "org", "team", "agent"))
_PERIODS = frozenset(("day", "month"))
_INVALID = "invalid request: "


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """The cap that refused a charge."""

    tier: Literal["global", "org", "team", "agent"]
    period: Literal["day", "month"]
    limit_micros: int
    #: Settled and reserved, without the refused charge.
    spent_micros: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a check. It is true only if the action is allowed: `if agent.check(...)` fails closed."""

    decision: Decision
    reason: str
    #: `<document>/<rule>`, `default`, `identity` or `budget/<tier>.<period>`.
    policy_rule: str
    #: The operation, to be completed after the action. Empty if the check was refused without one.
    op_id: str
    trace_id: str
    span_id: str
    op_state: OpState | None = None
    #: Set if the decision awaits an approval.
    approval_id: str | None = None
    #: Set if a budget denied.
    limit: BudgetLimit | None = None
    #: Whether a rule on results could match: what the action brings back must be judged before a model reads it.
    judge_result: bool = False
    #: Whether rules mask the prompt of the model call: `operation.check_prompt` gives what the provider may see.
    judge_prompt: bool = False
    #: The arguments to act with, if rules have rewritten them. None if they are as they were sent.
    rewritten_args: Mapping[str, Any] | None = None
    #: How long the gateway took to decide, in microseconds.
    decision_latency_us: int = 0
    #: `sdk`: the gateway gave no answer in time, so the SDK denied instead.
    source: Literal["gateway", "sdk"] = "gateway"

    @property
    def allowed(self) -> bool:
        """True only for `allow`. Everything else means that the action must not happen, or not yet."""
        return self.decision == "allow"

    def __bool__(self) -> bool:
        return self.decision == "allow"


def answer_of(wire: policy_service_pb2.CheckActionResponse, ids: TraceIds) -> Answer:
    """The answer of the gateway. An answer about another operation does not count: it must never allow this one."""
    decision = _DECISIONS.get(wire.decision)
    op_id = wire.op_id
    if decision is None or (op_id != ids.op_id and (op_id or decision != "deny")):
        raise InternalError("the gateway answered something else than was asked")
    if not op_id and not wire.policy_rule and wire.reason.startswith(_INVALID):
        raise InvalidRequest(wire.reason[len(_INVALID) :])
    state = wire.op_state
    return Answer(
        decision=decision,
        reason=wire.reason,
        policy_rule=wire.policy_rule,
        op_id=op_id,
        trace_id=ids.trace_id,
        span_id=ids.span_id,
        op_state=cast("OpState", state) if state in _STATES else None,
        approval_id=wire.approval_id or None,
        limit=_limit_of(wire.limit) if wire.HasField("limit") else None,
        judge_result=wire.judge_result,
        judge_prompt=wire.judge_prompt,
        rewritten_args=_rewritten_in(wire.args_json) if wire.HasField("args_json") else None,
        decision_latency_us=wire.decision_latency_us,
    )


def _rewritten_in(data: bytes) -> Mapping[str, Any]:
    """What cannot be read must not happen as it was sent."""
    try:
        args = json.loads(data)
    except (RecursionError, ValueError):
        args = None
    if not isinstance(args, dict):
        raise InternalError("the gateway answered with arguments that are no JSON object")
    return args


def denied_by_sdk(ids: TraceIds, why: str) -> Answer:
    """Fails closed: no answer is a denial. The operation may exist at the gateway if only the answer was lost."""
    return Answer(
        decision="deny",
        reason=f"gateway unreachable: {why}",
        policy_rule="",
        op_id=ids.op_id,
        trace_id=ids.trace_id,
        span_id=ids.span_id,
        source="sdk",
    )


def _limit_of(wire: policy_service_pb2.BudgetLimit) -> BudgetLimit | None:
    if wire.tier not in _TIERS or wire.period not in _PERIODS:
        return None
    return BudgetLimit(
        tier=cast('Literal["global", "org", "team", "agent"]', wire.tier),
        period=cast('Literal["day", "month"]', wire.period),
        limit_micros=wire.limit_micros,
        spent_micros=wire.spent_micros,
    )
