"""The names of operations and agents."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import NamedTuple

from .errors import InvalidRequest
from .v1 import common_pb2

_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class AgentId:
    """The identity of an agent: the three tiers of tenancy. Org and team may be empty."""

    org_id: str
    team_id: str
    agent_id: str

    def __str__(self) -> str:
        return f"{self.org_id or '-'}/{self.team_id or '-'}/{self.agent_id}"


class TraceIds(NamedTuple):
    """Names an operation: `<trace_id>:<span_id>`."""

    trace_id: str
    span_id: str
    op_id: str


def trace_ids(trace_id: str | None, span_id: str | None) -> TraceIds:
    """The ids of an operation, generated if not given.

    They exist before the first attempt. So a retry after a lost answer asks about the same operation and never creates
    a second one.
    """
    trace = secrets.token_hex(16) if trace_id is None else _required("trace_id", trace_id)
    span = secrets.token_hex(8) if span_id is None else _required("span_id", span_id)
    return TraceIds(trace, span, f"{trace}:{span}")


def wire_agent_id(agent: AgentId) -> common_pb2.AgentId:
    return common_pb2.AgentId(org_id=agent.org_id, team_id=agent.team_id, agent_id=agent.agent_id)


def _required(member: str, value: str) -> str:
    if isinstance(value, str) and _PATTERN.fullmatch(value):
        return value
    raise InvalidRequest(f'{member}: must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-"')
