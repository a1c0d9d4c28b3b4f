"""The methods of the gateway that an agent calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from .errors import InvalidRequest
from .v1 import agent_service_pb2 as agents
from .v1 import policy_service_pb2 as policy

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

#: The largest message that the gateway takes.
LARGEST_MESSAGE = 4 * 1024 * 1024
#: The largest one that has a result judged.
LARGEST_RESULT_MESSAGE = 17 * 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class Rpc(Generic[Request, Response]):
    path: str
    request: type[Request]
    response: type[Response]
    #: The longest message. A call that may send longer ones than others may take its time.
    longest: int = LARGEST_MESSAGE


_POLICY = "/reeve.v1.PolicyService/"
_AGENT = "/reeve.v1.AgentService/"

CHECK_ACTION = Rpc(_POLICY + "CheckAction", policy.CheckActionRequest, policy.CheckActionResponse)
BATCH_CHECK = Rpc(_POLICY + "BatchCheck", policy.BatchCheckRequest, policy.BatchCheckResponse)
CHECK_RESULT = Rpc(
    _POLICY + "CheckResult", policy.CheckResultRequest, policy.CheckResultResponse, LARGEST_RESULT_MESSAGE
)
COMPLETE_ACTION = Rpc(_POLICY + "CompleteAction", policy.CompleteActionRequest, policy.CompleteActionResponse)
CONTROL_STREAM = Rpc(_POLICY + "OpControlStream", policy.OpControlSubscribeRequest, policy.OpControlMessage)
ACK_CONTROL = Rpc(_POLICY + "AckOpControl", policy.AckOpControlRequest, policy.AckOpControlResponse)
PREVIEW_TOOLS = Rpc(_POLICY + "PreviewTools", policy.PreviewToolsRequest, policy.PreviewToolsResponse)
REGISTER_AGENT = Rpc(_AGENT + "RegisterAgent", agents.RegisterAgentRequest, agents.RegisterAgentResponse)
HEARTBEAT = Rpc(_AGENT + "Heartbeat", agents.HeartbeatRequest, agents.HeartbeatResponse)
DEREGISTER_AGENT = Rpc(_AGENT + "DeregisterAgent", agents.DeregisterAgentRequest, agents.DeregisterAgentResponse)
RENEW_TOKEN = Rpc(_AGENT + "RenewToken", agents.RenewTokenRequest, agents.RenewTokenResponse)
DELEGATE_AGENT = Rpc(_AGENT + "DelegateAgent", agents.DelegateAgentRequest, agents.DelegateAgentResponse)
REVOKE_DELEGATION = Rpc(_AGENT + "RevokeDelegation", agents.RevokeDelegationRequest, agents.RevokeDelegationResponse)
IDENTIFY_AGENT = Rpc(_AGENT + "IdentifyAgent", agents.IdentifyAgentRequest, agents.IdentifyAgentResponse)


def require_sendable(message: Request, longest: int = LARGEST_MESSAGE) -> Request:
    """Refuses here what the gateway would refuse."""
    size = message.ByteSize()
    if size > longest:
        raise InvalidRequest(f"the request has {size} bytes; at most {longest} can be sent")
    return message
