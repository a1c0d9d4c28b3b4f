from reeve.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RegisterAgentRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "name", "framework", "version", "parent_agent_id", "metadata", "tool_names", "token_ttl_secs", "only_if_new", "tell_metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PARENT_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAMES_FIELD_NUMBER: _ClassVar[int]
    TOKEN_TTL_SECS_FIELD_NUMBER: _ClassVar[int]
    ONLY_IF_NEW_FIELD_NUMBER: _ClassVar[int]
    TELL_METADATA_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    name: str
    framework: str
    version: str
    parent_agent_id: _common_pb2.AgentId
    metadata: _containers.ScalarMap[str, str]
    tool_names: _containers.RepeatedScalarFieldContainer[str]
    token_ttl_secs: int
    only_if_new: bool
    tell_metadata: bool
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., name: _Optional[str] = ..., framework: _Optional[str] = ..., version: _Optional[str] = ..., parent_agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., tool_names: _Optional[_Iterable[str]] = ..., token_ttl_secs: _Optional[int] = ..., only_if_new: bool = ..., tell_metadata: bool = ...) -> None: ...

class RegisterAgentResponse(_message.Message):
    __slots__ = ("credential_token", "heartbeat_interval_secs", "created", "expires_at", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_SECS_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    credential_token: str
    heartbeat_interval_secs: int
    created: bool
    expires_at: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, credential_token: _Optional[str] = ..., heartbeat_interval_secs: _Optional[int] = ..., created: bool = ..., expires_at: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ...) -> None: ...

class HeartbeatResponse(_message.Message):
    __slots__ = ("suspended", "policy_version")
    SUSPENDED_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    suspended: bool
    policy_version: str
    def __init__(self, suspended: bool = ..., policy_version: _Optional[str] = ...) -> None: ...

class DeregisterAgentRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "reason")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    reason: str
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DeregisterAgentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IdentifyAgentRequest(_message.Message):
    __slots__ = ("credential_token",)
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    credential_token: str
    def __init__(self, credential_token: _Optional[str] = ...) -> None: ...

class IdentifyAgentResponse(_message.Message):
    __slots__ = ("agent_id", "suspended", "subject_issuers", "expires_at", "token_ttl_secs")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUSPENDED_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_ISSUERS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_TTL_SECS_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    suspended: bool
    subject_issuers: _containers.RepeatedScalarFieldContainer[str]
    expires_at: str
    token_ttl_secs: int
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., suspended: bool = ..., subject_issuers: _Optional[_Iterable[str]] = ..., expires_at: _Optional[str] = ..., token_ttl_secs: _Optional[int] = ...) -> None: ...

class RenewTokenRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ...) -> None: ...

class RenewTokenResponse(_message.Message):
    __slots__ = ("credential_token", "expires_at")
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    credential_token: str
    expires_at: str
    def __init__(self, credential_token: _Optional[str] = ..., expires_at: _Optional[str] = ...) -> None: ...

class ChangedTool(_message.Message):
    __slots__ = ("tool_name", "locked_sha256", "actual_sha256")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    LOCKED_SHA256_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_SHA256_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    locked_sha256: str
    actual_sha256: str
    def __init__(self, tool_name: _Optional[str] = ..., locked_sha256: _Optional[str] = ..., actual_sha256: _Optional[str] = ...) -> None: ...

class ReportToolDefinitionsRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "tool_source", "changed")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOOL_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    tool_source: str
    changed: _containers.RepeatedCompositeFieldContainer[ChangedTool]
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., tool_source: _Optional[str] = ..., changed: _Optional[_Iterable[_Union[ChangedTool, _Mapping]]] = ...) -> None: ...

class ReportToolDefinitionsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DelegateAgentRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "child_id", "ttl_secs", "actions", "tools", "max_cost_micros", "max_checks", "name", "child_token", "max_delegates")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_SECS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    MAX_CHECKS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHILD_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MAX_DELEGATES_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    child_id: str
    ttl_secs: int
    actions: _containers.RepeatedScalarFieldContainer[_common_pb2.ActionType]
    tools: _containers.RepeatedScalarFieldContainer[str]
    max_cost_micros: int
    max_checks: int
    name: str
    child_token: str
    max_delegates: int
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., child_id: _Optional[str] = ..., ttl_secs: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[_common_pb2.ActionType, str]]] = ..., tools: _Optional[_Iterable[str]] = ..., max_cost_micros: _Optional[int] = ..., max_checks: _Optional[int] = ..., name: _Optional[str] = ..., child_token: _Optional[str] = ..., max_delegates: _Optional[int] = ...) -> None: ...

class DelegateAgentResponse(_message.Message):
    __slots__ = ("agent_id", "credential_token", "expires_at")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    expires_at: str
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., expires_at: _Optional[str] = ...) -> None: ...

class RevokeDelegationRequest(_message.Message):
    __slots__ = ("agent_id", "credential_token", "child_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: _common_pb2.AgentId
    credential_token: str
    child_id: str
    def __init__(self, agent_id: _Optional[_Union[_common_pb2.AgentId, _Mapping]] = ..., credential_token: _Optional[str] = ..., child_id: _Optional[str] = ...) -> None: ...

class RevokeDelegationResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
