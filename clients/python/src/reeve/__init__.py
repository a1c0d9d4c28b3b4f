"""Reeve: an agent asks before it acts, reports when it is done, and can be stopped in between."""

from pathlib import Path

from ._alone import require_alone

require_alone(Path(__file__).parent)

from ._completion import Outcome
from ._control import ConnectionEvent, Control, ControlSignal
from ._core import AgentStatus
from ._endpoints import TlsOptions
from ._enroll import Enrollment, Identified
from ._ids import AgentId
from ._settings import RetryOptions
from ._version import __version__
from ._via import Door, Via
from .actions import ActionType, CheckMembers, GuardMembers, RunMembers, WaitMembers
from .agent import Agent
from .answer import Answer, BudgetLimit, Decision, OpState
from .async_agent import AsyncAgent
from .async_client import AsyncReeve
from .async_operation import AsyncOperation, AsyncOperationContext
from .client import Reeve
from .current import current_async_operation, current_operation
from .errors import (
    ActionDenied,
    Closed,
    GatewayUnavailable,
    InternalError,
    InvalidRequest,
    InvalidTransition,
    MaskedError,
    OperationNotFound,
    OperationTerminated,
    PermissionDenied,
    ReeveError,
    ResourceExhausted,
    ResultDenied,
    TokenInUse,
    Unauthenticated,
)
from .money import Usd
from .operation import Operation, OperationContext

__all__ = [
    "ActionDenied",
    "ActionType",
    "Agent",
    "AgentId",
    "AgentStatus",
    "Answer",
    "AsyncAgent",
    "AsyncOperation",
    "AsyncOperationContext",
    "AsyncReeve",
    "BudgetLimit",
    "CheckMembers",
    "Closed",
    "ConnectionEvent",
    "Control",
    "ControlSignal",
    "Decision",
    "Door",
    "Enrollment",
    "GatewayUnavailable",
    "GuardMembers",
    "Identified",
    "InternalError",
    "InvalidRequest",
    "InvalidTransition",
    "MaskedError",
    "OpState",
    "Operation",
    "OperationContext",
    "OperationNotFound",
    "OperationTerminated",
    "Outcome",
    "PermissionDenied",
    "Reeve",
    "ReeveError",
    "ResourceExhausted",
    "ResultDenied",
    "RetryOptions",
    "RunMembers",
    "TlsOptions",
    "TokenInUse",
    "Unauthenticated",
    "Usd",
    "Via",
    "WaitMembers",
    "__version__",
    "current_async_operation",
    "current_operation",
]
