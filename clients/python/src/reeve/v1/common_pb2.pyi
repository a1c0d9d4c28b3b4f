from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_UNSPECIFIED: _ClassVar[Decision]
    ALLOW: _ClassVar[Decision]
    DENY: _ClassVar[Decision]
    PENDING: _ClassVar[Decision]

class ActionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[ActionType]
    LLM_CALL: _ClassVar[ActionType]
    TOOL_CALL: _ClassVar[ActionType]
    FILE_OPERATION: _ClassVar[ActionType]
    NETWORK_CALL: _ClassVar[ActionType]
    PROCESS_EXEC: _ClassVar[ActionType]
    AGENT_SPAWN: _ClassVar[ActionType]
    TOOL_RESULT: _ClassVar[ActionType]
DECISION_UNSPECIFIED: Decision
ALLOW: Decision
DENY: Decision
PENDING: Decision
ACTION_UNSPECIFIED: ActionType
LLM_CALL: ActionType
TOOL_CALL: ActionType
FILE_OPERATION: ActionType
NETWORK_CALL: ActionType
PROCESS_EXEC: ActionType
AGENT_SPAWN: ActionType
TOOL_RESULT: ActionType

class AgentId(_message.Message):
    __slots__ = ("org_id", "team_id", "agent_id")
    ORG_ID_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    org_id: str
    team_id: str
    agent_id: str
    def __init__(self, org_id: _Optional[str] = ..., team_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class OpRecord(_message.Message):
    __slots__ = ("op_id", "state", "registered_at", "updated_at", "agent_id")
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    op_id: str
    state: str
    registered_at: str
    updated_at: str
    agent_id: AgentId
    def __init__(self, op_id: _Optional[str] = ..., state: _Optional[str] = ..., registered_at: _Optional[str] = ..., updated_at: _Optional[str] = ..., agent_id: _Optional[_Union[AgentId, _Mapping]] = ...) -> None: ...
