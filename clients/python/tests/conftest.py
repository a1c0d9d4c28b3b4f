"""One gateway for most tests, and one of their own for those that mistreat it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

from reeve import Agent, Reeve

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def gateway() -> Iterator[GatewayProcess]:
    process = GatewayProcess()
    yield process
    process.remove()


@pytest.fixture(scope="module")
def victim() -> Iterator[GatewayProcess]:
    """A gateway to kill and to start again."""
    process = GatewayProcess()
    yield process
    process.remove()


@pytest.fixture
def client(gateway: GatewayProcess) -> Iterator[Reeve]:
    with Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as reeve:
        yield reeve


@pytest.fixture
def agent(client: Reeve) -> Agent:
    return client.register("acme", "core", fresh_name())


def fresh_name() -> str:
    """An agent that no other test knows."""
    return f"agent-{next(_numbers)}"


def eventually(is_so: Callable[[], object], seconds: float = 30) -> None:
    """Waits until it is so. Tests never assert how long anything takes."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "it never came to be"
        time.sleep(0.02)
