from reeve.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JudgedPart(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JUDGED_PART_UNSPECIFIED: _ClassVar[JudgedPart]
    PROMPT: _ClassVar[JudgedPart]
    STREAMED: _ClassVar[JudgedPart]

class StreamedPlace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAMED_PLACE_UNSPECIFIED: _ClassVar[StreamedPlace]
    TEXT_START: _ClassVar[StreamedPlace]
    LINE_START: _ClassVar[StreamedPlace]
    WITHIN_LINE: _ClassVar[StreamedPlace]
JUDGED_PART_UNSPECIFIED: JudgedPart
PROMPT: JudgedPart
STREAMED: JudgedPart
STREAMED_PLACE_UNSPECIFIED: StreamedPlace
TEXT_START: StreamedPlace
LINE_START: StreamedPlace
WITHIN_LINE: StreamedPlace

class LlmCall(_message.Message):
    __slots__ = ("model", "prompt_tokens", "max_output_tokens")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    model: str
    prompt_tokens: int
    max_output_tokens: int
    def __init__(self, model: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., max_output_tokens: _Optional[int] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("tool_name", "tool_source", "args_json", "target_url", "annotations_json")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    TOOL_SOURCE_FIELD_NUMBER: _ClassVar[int]
    ARGS_JSON_FIELD_NUMBER: _ClassVar[int]
    TARGET_URL_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    tool_source: str
    args_json: bytes
    target_url: str
    annotations_json: bytes
    def __init__(self, tool_name: _Optional[str] = ..., tool_source: _Optional[str] = ..., args_json: _Optional[bytes] = ..., target_url: _Optional[str] = ..., annotations_json: _Optional[bytes] = ...) -> None: ...

class FileOp(_message.Message):
    __slots__ = ("operation", "path")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    operation: str
    path: str
    def __init__(self, operation: _Optional[str] = ..., path: _Optional[str] = ...) -> None: ...

class NetworkCall(_message.Message):
    __slots__ = ("host", "port", "protocol", "named_only")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    NAMED_ONLY_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    protocol: str
    named_only: bool
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ..., protocol: _Optional[str] = ..., named_only: bool = ...) -> None: ...

class ProcessExec(_message.Message):
    __slots__ = ("command", "args", "working_dir")
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    WORKING_DIR_FIELD_NUMBER: _ClassVar[int]
    command: str
    args: _containers.RepeatedScalarFieldContainer[str]
    working_dir: str
    def __init__(self, command: _Optional[str] = ..., args: _Optional[_Iterable[str]] = ..., working_dir: _Optional[str] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("tool_name", "tool_source", "result_json", "source_url")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    TOOL_SOURCE_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    tool_source: str
    result_json: bytes
    source_url: str
    def __init__(self, tool_name: _Optional[str] = ..., tool_source: _Optional[str] = ..., result_json: _Optional[bytes] = ..., source_url: _Optional[str] = ...) -> None: ...

class ActionContext(_message.Message):
    __slots__ = ("llm_call", "tool_call", "file_op", "network_call", "process_exec", "tool_result")
    LLM_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    FILE_OP_FIELD_NUMBER: _ClassVar[int]
    NETWORK_CALL_FIELD_NUMBER: _ClassVar[int]
    PROCESS_EXEC_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    llm_call: LlmCall
    tool_call: ToolCall
    file_op: FileOp
    network_call: NetworkCall
    process_exec: ProcessExec
    tool_result: ToolResult
    def __init__(self, llm_call: _Optional[_Union[LlmCall, _Mapping]] = ..., tool_call: _Optional[_Union[ToolCall, _Mapping]] = ..., file_op: _Optional[_Union[FileOp, _Mapping]] = ..., network_call: _Optional[_Union[NetworkCall, _Mapping]] = ..., process_exec: _Optional[_Union[ProcessExec, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResult, _Mapping]] = ...) -> None: ...

class Via(_message.Message):
    __slots__ = ("door", "name")
    class Door(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DOOR_UNSPECIFIED: _ClassVar[Via.Door]
        MCP: _ClassVar[Via.Door]
        MODEL: _ClassVar[Via.Door]
        HOOK: _ClassVar[Via.Door]
    DOOR_UNSPECIFIED: Via.Door
    MCP: Via.Door
    MODEL: Via.Door
    HOOK: Via.Door
    DOOR_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    door: Via.Door
    name: str
    def __init__(self, door: _Optional[_Union[Via.Door, str]] = ..., name: _Optional[str] = ...) -> None: ...

class CheckActionRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "trace_id", "span_id", "action_type", "context", "caller_agent_id", "estimated_cost_micros", "run_id", "summary", "via", "subject_token", "can_rewrite", "floor", "can_mask_prompt")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CALLER_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CAN_REWRITE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    CAN_MASK_PROMPT_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    trace_id: str
    span_id: str
    action_type: _common_pb2.ActionType
    context: ActionContext
    caller_agent_id: _common_pb2.AgentId
    estimated_cost_micros: int
    run_id: str
    summary: str
    via: Via
    subject_token: str
    can_rewrite: bool
    floor: bool
    can_mask_prompt: bool
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., trace_id: _Optional[str] = ..., span_id: _Optional[str] = ..., action_type: _Optional[_Union[_common_pb2.ActionType, str]] = ..., context: _Optional[_Union[ActionContext, _Mapping]] = ..., caller_agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., estimated_cost_micros: _Optional[int] = ..., run_id: _Optional[str] = ..., summary: _Optional[str] = ..., via: _Optional[_Union[Via, _Mapping]] = ..., subject_token: _Optional[str] = ..., can_rewrite: bool = ..., floor: bool = ..., can_mask_prompt: bool = ...) -> None: ...

class BudgetLimit(_message.Message):
    __slots__ = ("tier", "period", "limit_micros", "spent_micros", "status")
    TIER_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MICROS_FIELD_NUMBER: _ClassVar[int]
    SPENT_MICROS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    tier: str
    period: str
    limit_micros: int
    spent_micros: int
    status: str
    def __init__(self, tier: _Optional[str] = ..., period: _Optional[str] = ..., limit_micros: _Optional[int] = ..., spent_micros: _Optional[int] = ..., status: _Optional[str] = ...) -> None: ...

class CheckActionResponse(_message.Message):
    __slots__ = ("decision", "reason", "policy_rule", "approval_id", "decision_latency_us", "op_id", "op_state", "limit", "judge_result", "args_json", "judge_prompt")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_LATENCY_US_FIELD_NUMBER: _ClassVar[int]
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    OP_STATE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    JUDGE_RESULT_FIELD_NUMBER: _ClassVar[int]
    ARGS_JSON_FIELD_NUMBER: _ClassVar[int]
    JUDGE_PROMPT_FIELD_NUMBER: _ClassVar[int]
    decision: _common_pb2.Decision
    reason: str
    policy_rule: str
    approval_id: str
    decision_latency_us: int
    op_id: str
    op_state: str
    limit: BudgetLimit
    judge_result: bool
    args_json: bytes
    judge_prompt: bool
    def __init__(self, decision: _Optional[_Union[_common_pb2.Decision, str]] = ..., reason: _Optional[str] = ..., policy_rule: _Optional[str] = ..., approval_id: _Optional[str] = ..., decision_latency_us: _Optional[int] = ..., op_id: _Optional[str] = ..., op_state: _Optional[str] = ..., limit: _Optional[_Union[BudgetLimit, _Mapping]] = ..., judge_result: bool = ..., args_json: _Optional[bytes] = ..., judge_prompt: bool = ...) -> None: ...

class CheckResultRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "op_id", "result_json", "is_error", "part", "place")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    op_id: str
    result_json: bytes
    is_error: bool
    part: JudgedPart
    place: StreamedPlace
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., op_id: _Optional[str] = ..., result_json: _Optional[bytes] = ..., is_error: bool = ..., part: _Optional[_Union[JudgedPart, str]] = ..., place: _Optional[_Union[StreamedPlace, str]] = ...) -> None: ...

class CheckResultResponse(_message.Message):
    __slots__ = ("decision", "reason", "policy_rule", "result_json", "labels", "part", "taken")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    decision: _common_pb2.Decision
    reason: str
    policy_rule: str
    result_json: bytes
    labels: _containers.RepeatedScalarFieldContainer[str]
    part: JudgedPart
    taken: int
    def __init__(self, decision: _Optional[_Union[_common_pb2.Decision, str]] = ..., reason: _Optional[str] = ..., policy_rule: _Optional[str] = ..., result_json: _Optional[bytes] = ..., labels: _Optional[_Iterable[str]] = ..., part: _Optional[_Union[JudgedPart, str]] = ..., taken: _Optional[int] = ...) -> None: ...

class BatchCheckRequest(_message.Message):
    __slots__ = ("requests",)
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[CheckActionRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[CheckActionRequest, _Mapping]]] = ...) -> None: ...

class BatchCheckResponse(_message.Message):
    __slots__ = ("responses",)
    RESPONSES_FIELD_NUMBER: _ClassVar[int]
    responses: _containers.RepeatedCompositeFieldContainer[CheckActionResponse]
    def __init__(self, responses: _Optional[_Iterable[_Union[CheckActionResponse, _Mapping]]] = ...) -> None: ...

class CompleteActionRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "op_id", "actual_cost_micros", "outcome", "detail", "input_tokens", "output_tokens", "cached_input_tokens")
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTCOME_UNSPECIFIED: _ClassVar[CompleteActionRequest.Outcome]
        SUCCEEDED: _ClassVar[CompleteActionRequest.Outcome]
        FAILED: _ClassVar[CompleteActionRequest.Outcome]
        CANCELLED: _ClassVar[CompleteActionRequest.Outcome]
    OUTCOME_UNSPECIFIED: CompleteActionRequest.Outcome
    SUCCEEDED: CompleteActionRequest.Outcome
    FAILED: CompleteActionRequest.Outcome
    CANCELLED: CompleteActionRequest.Outcome
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    op_id: str
    actual_cost_micros: int
    outcome: CompleteActionRequest.Outcome
    detail: str
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., op_id: _Optional[str] = ..., actual_cost_micros: _Optional[int] = ..., outcome: _Optional[_Union[CompleteActionRequest.Outcome, str]] = ..., detail: _Optional[str] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ...) -> None: ...

class CompleteActionResponse(_message.Message):
    __slots__ = ("op",)
    OP_FIELD_NUMBER: _ClassVar[int]
    op: _common_pb2.OpRecord
    def __init__(self, op: _Optional[_Union[_common_pb2.OpRecord, _Mapping]] = ...) -> None: ...

class OpControlSubscribeRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "after_sequence", "waits_only")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    WAITS_ONLY_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    after_sequence: int
    waits_only: bool
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., after_sequence: _Optional[int] = ..., waits_only: bool = ...) -> None: ...

class OpControlMessage(_message.Message):
    __slots__ = ("op_id", "signal", "sequence", "reason", "issued_at", "control_id")
    class Signal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SIGNAL_UNSPECIFIED: _ClassVar[OpControlMessage.Signal]
        PAUSE: _ClassVar[OpControlMessage.Signal]
        RESUME: _ClassVar[OpControlMessage.Signal]
        TERMINATE: _ClassVar[OpControlMessage.Signal]
        ALLOW: _ClassVar[OpControlMessage.Signal]
    SIGNAL_UNSPECIFIED: OpControlMessage.Signal
    PAUSE: OpControlMessage.Signal
    RESUME: OpControlMessage.Signal
    TERMINATE: OpControlMessage.Signal
    ALLOW: OpControlMessage.Signal
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ISSUED_AT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_ID_FIELD_NUMBER: _ClassVar[int]
    op_id: str
    signal: OpControlMessage.Signal
    sequence: int
    reason: str
    issued_at: str
    control_id: str
    def __init__(self, op_id: _Optional[str] = ..., signal: _Optional[_Union[OpControlMessage.Signal, str]] = ..., sequence: _Optional[int] = ..., reason: _Optional[str] = ..., issued_at: _Optional[str] = ..., control_id: _Optional[str] = ...) -> None: ...

class AckOpControlRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "sequence", "outcome", "detail", "evidence", "processes")
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTCOME_UNSPECIFIED: _ClassVar[AckOpControlRequest.Outcome]
        RECEIVED: _ClassVar[AckOpControlRequest.Outcome]
        EFFECTIVE: _ClassVar[AckOpControlRequest.Outcome]
        FAILED: _ClassVar[AckOpControlRequest.Outcome]
    OUTCOME_UNSPECIFIED: AckOpControlRequest.Outcome
    RECEIVED: AckOpControlRequest.Outcome
    EFFECTIVE: AckOpControlRequest.Outcome
    FAILED: AckOpControlRequest.Outcome
    class Evidence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EVIDENCE_UNSPECIFIED: _ClassVar[AckOpControlRequest.Evidence]
        AGENT: _ClassVar[AckOpControlRequest.Evidence]
        KERNEL: _ClassVar[AckOpControlRequest.Evidence]
    EVIDENCE_UNSPECIFIED: AckOpControlRequest.Evidence
    AGENT: AckOpControlRequest.Evidence
    KERNEL: AckOpControlRequest.Evidence
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    sequence: int
    outcome: AckOpControlRequest.Outcome
    detail: str
    evidence: AckOpControlRequest.Evidence
    processes: int
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., sequence: _Optional[int] = ..., outcome: _Optional[_Union[AckOpControlRequest.Outcome, str]] = ..., detail: _Optional[str] = ..., evidence: _Optional[_Union[AckOpControlRequest.Evidence, str]] = ..., processes: _Optional[int] = ...) -> None: ...

class AckOpControlResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PreviewToolsRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "tool_source", "tool_names")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOL_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAMES_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    tool_source: str
    tool_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., tool_source: _Optional[str] = ..., tool_names: _Optional[_Iterable[str]] = ...) -> None: ...

class PreviewToolsResponse(_message.Message):
    __slots__ = ("denied",)
    DENIED_FIELD_NUMBER: _ClassVar[int]
    denied: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, denied: _Optional[_Iterable[str]] = ...) -> None: ...
