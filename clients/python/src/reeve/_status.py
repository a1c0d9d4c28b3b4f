"""The SDK error for each failure of gRPC."""

from __future__ import annotations

import re

import grpc

from .errors import (
    GatewayUnavailable,
    InternalError,
    InvalidRequest,
    InvalidTransition,
    OperationNotFound,
    PermissionDenied,
    ReeveError,
    ResourceExhausted,
    TokenInUse,
    Unauthenticated,
)

_UNAVAILABLE = frozenset(
    # The SDK notices the calls that it cancels itself. So otherwise the other side gave up, or a proxy.
    (grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
)
_ERRORS: dict[grpc.StatusCode, type[ReeveError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequest,
    grpc.StatusCode.NOT_FOUND: OperationNotFound,
    grpc.StatusCode.ALREADY_EXISTS: TokenInUse,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.FAILED_PRECONDITION: InvalidTransition,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
}

#: The library reports a cut stream, such as by a killed process, as one of these.
_BROKEN_TRANSPORT = re.compile(r"RST_STREAM|Stream removed|Socket closed|Connection reset|GOAWAY", re.IGNORECASE)
#: How the library says that there was no connection. A changed wording only costs a needless report.
_NEVER_SENT = re.compile(
    r"failed to connect to all addresses|Name resolution|DNS resolution|name resolver|empty address list|"
    r"connection attempt timed out|Failed to pick subchannel"
)
_CAUSE = re.compile(r"(?:Failed to connect to remote host|last error): (?:\w+: )?(.+)", re.DOTALL)


def error_of_status(code: grpc.StatusCode | None, details: str | None, address: str) -> ReeveError:
    """The error for a failed call at a gateway. It takes over only the text and nothing else that the library knows."""
    text = details or ""
    error_class = _ERRORS.get(code) if code is not None else None
    if code in _UNAVAILABLE or (error_class is None and _BROKEN_TRANSPORT.search(text)):
        return GatewayUnavailable(_tidy(text), not _NEVER_SENT.search(text), (address,))
    return (error_class or InternalError)(_tidy(text))


def _tidy(details: str) -> str:
    """`failed to connect to all addresses; last error: …: Connection refused (111)` has the cause at its end."""
    if "failed to connect to all addresses" in details:
        cause = _CAUSE.search(details)
        if cause:
            return cause[1].split("Failed to connect to remote host: ")[-1].strip()
    return details or "no reason given"
