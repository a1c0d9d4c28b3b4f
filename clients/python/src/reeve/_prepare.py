"""Checks, ready to be sent any number of times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ._ids import AgentId, TraceIds, trace_ids, wire_agent_id
from ._validate import optional_text
from ._via import wire_via
from .actions import ACTION_MEMBERS, CheckMembers, set_action
from .errors import InvalidRequest
from .money import micros_of
from .v1.policy_service_pb2 import CheckActionRequest

_DETAILS = frozenset(CheckMembers.__annotations__) - ACTION_MEMBERS


class PreparedCheck(NamedTuple):
    """It holds the agent's token and never leaves the SDK."""

    ids: TraceIds
    request: CheckActionRequest


def prepare_check(agent: AgentId, token: str, members: Mapping[str, Any], more: frozenset[str]) -> PreparedCheck:
    """`more` names the members that the caller of this function reads itself."""
    action = {}
    for name, value in members.items():
        if name in ACTION_MEMBERS:
            action[name] = value
        elif name not in _DETAILS and name not in more:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    get = members.get
    ids = trace_ids(_trace_of(get("trace_id"), get("parent")), get("span_id"))
    try:
        request = CheckActionRequest(
            agent_id=wire_agent_id(agent), credential_token=token, trace_id=ids.trace_id, span_id=ids.span_id
        )
        if get("estimated_cost_usd") is not None:
            request.estimated_cost_micros = micros_of("estimated_cost_usd", members["estimated_cost_usd"])
        if get("run_id") is not None:
            request.run_id = optional_text("run_id", members["run_id"])
        if get("summary") is not None:
            request.summary = optional_text("summary", members["summary"])
        if get("caller") is not None:
            request.caller_agent_id.CopyFrom(wire_agent_id(members["caller"]))
        if get("subject_token") is not None:
            request.subject_token = optional_text("subject_token", members["subject_token"])
        if get("via") is not None:
            request.via.CopyFrom(wire_via(members["via"]))
        request.can_rewrite = bool(get("can_rewrite"))
        request.can_mask_prompt = bool(get("can_mask_prompt"))
        set_action(request, action)
    except UnicodeError:
        raise InvalidRequest("a text of the check holds characters that cannot be sent") from None
    return PreparedCheck(ids, request)


def _trace_of(trace_id: str | None, parent: Any) -> str | None:
    if parent is None or trace_id is not None:
        return trace_id
    op_id = parent if isinstance(parent, str) else parent.op_id
    trace, colon, _ = str(op_id).partition(":")
    if not colon:
        raise InvalidRequest("parent: must be an answer, an operation or its id, as <trace>:<span>")
    return trace
