"""How the calls of governed tools and models are checked. The same for every framework."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypedDict

from .._ids import AgentId
from ..errors import InvalidRequest
from ..money import Usd
from .subagents import SubagentLimits


class CallOptions(TypedDict, total=False):
    """The options of tools and models."""

    #: How long a held call waits in seconds: for its approval, or for the end of a pause. Default 50. 0 does not wait.
    approval_wait: float
    #: The run that the calls belong to. Otherwise the framework's own, or that of the governed call around this one.
    run_id: str | Callable[[], str | None] | None
    #: The agent on whose behalf this one acts. Otherwise the one of the governed call around this one.
    caller: AgentId | None


class GovernOptions(CallOptions, total=False):
    """The options of tools."""

    #: The origin of the tools, such as the name of an MCP server.
    source: str | None
    #: What a call costs at most, by tool. Reserved until the call ends.
    costs: Mapping[str, Usd] | Callable[[str, Any], Usd | None] | None
    #: What a call really cost. A tool can also tell: `current_operation().spent_usd(…)`.
    spent: Callable[[str, Any], Usd | None] | None
    #: One line for the people who watch.
    summary: Callable[[str, Any], str] | None
    #: The tools that start another agent. Their calls are checked as `agent_spawn`, with the name as command.
    subagents: Collection[str]
    #: What those of them may do at most that act as delegates of this agent, by the name of the tool; of a handoff, by
    #: the name of the agent. Until such a call ends, all that is governed for this agent is done by the delegate.
    delegates: Mapping[str, SubagentLimits]


class ModelOptions(CallOptions, total=False):
    """The options of models."""

    #: The name of the model for policies and prices. Otherwise the model's own.
    model: str | None
    #: What to assume if a call sets no maximum. Reserved until the model says what it used. Default 4096.
    max_output_tokens: int
    #: An upper bound of the tokens of a prompt. Otherwise its bytes, since a token has at least one.
    prompt_tokens: Callable[[Any], int] | None


def require_known(options: Mapping[str, Any], known: type) -> None:
    """A misspelt option must not pass as a protection that is not there."""
    for name in options:
        if name not in known.__annotations__:
            raise InvalidRequest(f"{name}: is no option, which are {', '.join(sorted(known.__annotations__))}")


def run_id_of(options: CallOptions) -> str | None:
    run_id = options.get("run_id")
    return run_id() if callable(run_id) else run_id


def cost_of(options: GovernOptions, tool: str, args: Any) -> Usd | None:
    costs = options.get("costs")
    if callable(costs):
        return costs(tool, args)
    return None if costs is None else costs.get(tool)
