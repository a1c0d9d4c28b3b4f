"""What an agent is about to do, as keywords of `check`, `run`, `operation` and `guard`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from ._validate import exact_json_bytes, json_bytes, optional_text, require_text, require_whole
from .errors import InvalidRequest
from .v1 import common_pb2, policy_service_pb2

if TYPE_CHECKING:
    from ._control import Control
    from ._ids import AgentId
    from ._via import Via
    from .answer import Answer
    from .money import Usd

ActionType = Literal[
    "tool_call", "llm_call", "file_operation", "network_call", "process_exec", "agent_spawn", "tool_result"
]


class HasOpId(Protocol):
    """Something that belongs to an operation, such as an answer."""

    @property
    def op_id(self) -> str: ...


class ActionMembers(TypedDict, total=False):
    """The members of all actions. Which of them count, and which are required, depends on `type`."""

    #: Default `tool_call`.
    type: ActionType
    #: `tool_call` and `tool_result`: the name of the tool.
    tool: str
    #: `tool_call` and `tool_result`: the origin of the tool, such as the name of an MCP server.
    source: str | None
    #: `tool_call`: any JSON value, which policies see as `args`. `process_exec` and `agent_spawn`: a list of texts.
    args: Any
    #: `tool_call` and `tool_result`.
    url: str | None
    #: `tool_call`: what the server of the tool says of it, such as `{"readOnlyHint": True}`.
    annotations: Mapping[str, Any] | None
    #: `tool_result`: any JSON value.
    result: Any
    #: `llm_call`.
    model: str
    prompt_tokens: int
    max_output_tokens: int
    #: `file_operation`: `read`, `write`, `delete`…
    operation: str
    path: str
    #: `network_call`.
    host: str
    port: int
    protocol: str | None
    #: `network_call`: asks for a rule that names this very host. No default and no wider rule allows the call then.
    named_only: bool
    #: `process_exec` and `agent_spawn`.
    command: str | None
    #: `process_exec` and `agent_spawn`: the folder that it runs in. Approvers approve the command in this folder only.
    working_dir: str | None


class CheckMembers(ActionMembers, total=False):
    """An action and the details of its check."""

    #: The most that the action will cost. Reserved until completion.
    estimated_cost_usd: Usd | None
    #: The piece of work that the action belongs to.
    run_id: str | None
    #: One line for the people who watch.
    summary: str | None
    #: The agent on whose behalf this one acts.
    caller: AgentId | None
    #: A JWT of the person or service for whom the agent acts. One that does not verify is a denial.
    subject_token: str | None
    #: Whether the caller acts with the arguments of the answer, where rules have rewritten them. Otherwise such an
    #: action is denied. By default False, and for `run` whether the work has a parameter for its operation.
    can_rewrite: bool | None
    #: Whether the caller has the prompt of a model call masked by `operation.check_prompt`, where the answer says
    #: `judge_prompt`, and sends what comes back. Otherwise a call whose prompt rules mask is denied.
    can_mask_prompt: bool | None
    #: The door that the action comes through. Left out by agents that ask for themselves.
    via: Via | None
    #: The operation that this one is a part of: both share a trace. An answer, an operation or its id.
    parent: HasOpId | str | None
    #: Generated if left out. A check with the ids of an earlier answer asks about that operation again.
    trace_id: str | None
    span_id: str | None
    #: The longest time in seconds for an answer, with all retries.
    deadline: float | None


class WaitMembers(CheckMembers, total=False):
    """A check that waits while the action is held."""

    #: How long to wait in seconds for an approval or the end of a pause. Default 600. 0 does not wait.
    wait: float
    #: Called once when the action is held and the wait begins. It gets the answer, which says why.
    on_held: Callable[[Answer], object] | None


class RunMembers(WaitMembers, total=False):
    """An action that the SDK runs."""

    #: Carries out a control during the work, for work that checkpoints do not reach, such as another process. For a
    #: pause, the work has stopped when this returns. An error tells the operator why the control is not possible.
    on_control: Callable[[Control], object] | None


class GuardMembers(TypedDict, total=False):
    """The details of the checks of a guarded function, as `check`, `operation` and `run` take them."""

    annotations: Mapping[str, Any] | None
    estimated_cost_usd: Usd | None
    run_id: str | None
    summary: str | None
    caller: AgentId | None
    subject_token: str | None
    can_rewrite: bool | None
    via: Via | None
    parent: HasOpId | str | None
    deadline: float | None
    wait: float
    on_held: Callable[[Answer], object] | None
    on_control: Callable[[Control], object] | None


ACTION_MEMBERS = frozenset(ActionMembers.__annotations__)

_MEMBERS_OF: dict[str, frozenset[str]] = {
    "tool_call": frozenset(("tool", "source", "args", "url", "annotations")),
    "llm_call": frozenset(("model", "prompt_tokens", "max_output_tokens")),
    "file_operation": frozenset(("operation", "path")),
    "network_call": frozenset(("host", "port", "protocol", "named_only")),
    "process_exec": frozenset(("command", "args", "working_dir")),
    "agent_spawn": frozenset(("command", "args", "working_dir")),
    "tool_result": frozenset(("tool", "source", "result", "url")),
}

_WIRE_TYPES = {
    "tool_call": common_pb2.TOOL_CALL,
    "llm_call": common_pb2.LLM_CALL,
    "file_operation": common_pb2.FILE_OPERATION,
    "network_call": common_pb2.NETWORK_CALL,
    "process_exec": common_pb2.PROCESS_EXEC,
    "agent_spawn": common_pb2.AGENT_SPAWN,
    "tool_result": common_pb2.TOOL_RESULT,
}


def wire_type_of(kind: object) -> common_pb2.ActionType:
    found = _WIRE_TYPES.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise InvalidRequest(f"actions: must be of {', '.join(_WIRE_TYPES)}")
    return found


def set_action(request: policy_service_pb2.CheckActionRequest, action: Mapping[str, Any]) -> None:
    """Writes the action into the request. Errors name a missing or malformed member before anything is sent."""
    kind = action.get("type") or "tool_call"
    members = _MEMBERS_OF.get(kind) if isinstance(kind, str) else None
    if members is None:
        raise InvalidRequest(f"type: must be one of {', '.join(_WIRE_TYPES)}")
    for name, value in action.items():
        if name not in members and name != "type" and value is not None:
            raise InvalidRequest(f"{name}: is no member of a {kind}, which has {', '.join(sorted(members))}")
    request.action_type = _WIRE_TYPES[kind]
    _WRITERS[kind](request.context, action)


def _tool_call(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    call = context.tool_call
    call.tool_name = require_text("tool", action.get("tool"))
    call.args_json = exact_json_bytes("args", action.get("args"))
    if action.get("source") is not None:
        call.tool_source = optional_text("source", action["source"])
    if action.get("url") is not None:
        call.target_url = optional_text("url", action["url"])
    if action.get("annotations") is not None:
        call.annotations_json = exact_json_bytes("annotations", dict(action["annotations"]))


def _llm_call(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    call = context.llm_call
    call.model = require_text("model", action.get("model"))
    call.prompt_tokens = require_whole("prompt_tokens", action.get("prompt_tokens") or 0)
    call.max_output_tokens = require_whole("max_output_tokens", action.get("max_output_tokens") or 0)


def _file_operation(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    context.file_op.operation = require_text("operation", action.get("operation"))
    context.file_op.path = require_text("path", action.get("path"))


def _network_call(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    context.network_call.host = require_text("host", action.get("host"))
    context.network_call.port = require_whole("port", action.get("port") or 0, 65_535)
    context.network_call.protocol = optional_text("protocol", action.get("protocol"))
    if action.get("named_only"):
        context.network_call.named_only = True


def _process_exec(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    context.process_exec.command = require_text("command", action.get("command"))
    context.process_exec.args.extend(_texts("args", action.get("args")))
    context.process_exec.working_dir = optional_text("working_dir", action.get("working_dir"))


def _agent_spawn(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    if action.get("command") is not None or action.get("args") or action.get("working_dir"):
        _process_exec(context, action)


def _tool_result(context: policy_service_pb2.ActionContext, action: Mapping[str, Any]) -> None:
    result = context.tool_result
    result.tool_name = require_text("tool", action.get("tool"))
    result.tool_source = optional_text("source", action.get("source"))
    result.source_url = optional_text("url", action.get("url"))
    result.result_json = json_bytes("result", action.get("result"))


def _texts(member: str, value: Sequence[str] | None) -> list[str]:
    texts = [] if value is None else value
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InvalidRequest(f"{member}: must be a list of texts")
    return list(texts)


_WRITERS: dict[str, Callable[[policy_service_pb2.ActionContext, Mapping[str, Any]], None]] = {
    "tool_call": _tool_call,
    "llm_call": _llm_call,
    "file_operation": _file_operation,
    "network_call": _network_call,
    "process_exec": _process_exec,
    "agent_spawn": _agent_spawn,
    "tool_result": _tool_result,
}
