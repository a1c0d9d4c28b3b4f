"""The options of a client, with their defaults."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ._api_key import parse_api_key
from ._endpoints import Endpoint, TlsOptions, endpoints_of
from ._validate import require_seconds
from .errors import InvalidRequest

_DEFAULT_ADDRESS = "127.0.0.1:50051"


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """How a client retries while the gateway is away."""

    #: How many retries may happen at once before any answer has earned one. 0 switches retries off.
    burst: float = 10
    #: The part of a retry that each answer earns: over time, one retry in ten calls.
    ratio: float = 0.1
    #: The first retry waits up to this many seconds, each later one up to twice as long.
    initial_backoff: float = 0.05
    max_backoff: float = 1.0

    def __post_init__(self) -> None:
        if not self.burst >= 0:
            raise InvalidRequest("retry.burst: must not be negative")
        if not 0 <= self.ratio <= 1:
            raise InvalidRequest("retry.ratio: must be from 0 to 1")
        require_seconds("retry.initial_backoff", self.initial_backoff)
        require_seconds("retry.max_backoff", self.max_backoff)


OnUnavailable = Literal["deny", "raise"]


@dataclass(frozen=True, slots=True)
class Settings:
    endpoints: tuple[Endpoint, ...]
    deadline: float
    retry: RetryOptions
    on_unavailable: OnUnavailable


def settings_of(
    address: str | None,
    addresses: Sequence[str] | None,
    tls: bool | TlsOptions | None,
    deadline: float,
    retry: RetryOptions | None,
    on_unavailable: OnUnavailable,
) -> Settings:
    """The settings. Without an address, `REEVE_GRPC_ADDR` counts, which may hold several, separated by commas."""
    if address is None and addresses is None:
        addresses = [part for part in os.environ.get("REEVE_GRPC_ADDR", "").split(",") if part.strip()]
        addresses = addresses or [_DEFAULT_ADDRESS]
    if on_unavailable not in ("deny", "raise"):
        raise InvalidRequest("on_unavailable: must be deny or raise")
    return Settings(
        endpoints_of(address, addresses, tls),
        require_seconds("deadline", deadline),
        retry or RetryOptions(),
        on_unavailable,
    )


def api_key_of(api_key: str | None) -> str | None:
    """The key. Without one, `REEVE_API_KEY` counts."""
    return parse_api_key(api_key if api_key is not None else os.environ.get("REEVE_API_KEY"))
