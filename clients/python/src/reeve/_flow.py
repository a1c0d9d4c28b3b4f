"""One way to write what both clients do.

A flow is a generator that yields what it has to wait for. The sync client blocks on each of these effects, and the
async client awaits them. So retries, waiting for approvals and reports are written once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Protocol, TypeVar

from .errors import Closed

Result = TypeVar("Result")


class Effect(Protocol):
    """Something to wait for, in either way."""

    def block(self) -> Any: ...

    async def wait(self) -> Any: ...


Flow = Generator[Effect, Any, Result]


def run_blocking(flow: Flow[Result]) -> Result:
    try:
        effect = next(flow)
        while True:
            try:
                value = effect.block()
            except BaseException as error:
                effect = flow.throw(error)
            else:
                effect = flow.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def run_async(flow: Flow[Result]) -> Result:
    try:
        effect = next(flow)
        while True:
            try:
                value = await effect.wait()
            except BaseException as error:
                effect = flow.throw(error)
            else:
                effect = flow.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


#: The loop itself holds tasks weakly.
_going_on: set[asyncio.Task[Any]] = set()


async def run_through(flow: Flow[Result]) -> Result:
    """As `run_async`, and goes on if the task is cancelled meanwhile, as some libraries do again and again."""
    task = asyncio.ensure_future(run_async(flow))
    _going_on.add(task)
    task.add_done_callback(_going_on.discard)
    return await asyncio.shield(task)


class Sleep:
    """A wait that the end of the client cuts short."""

    def __init__(self, seconds: float, closing: threading.Event) -> None:
        self._seconds = seconds
        self._closing = closing

    def block(self) -> None:
        if self._closing.wait(self._seconds):
            raise Closed

    async def wait(self) -> None:
        await asyncio.sleep(self._seconds)
        if self._closing.is_set():
            raise Closed


class Event:
    """Waits for a future, at most for a time. The value is None if the time is over."""

    def __init__(self, future: Future[Any], timeout: float | None = None) -> None:
        self._future = future
        self._timeout = timeout

    def block(self) -> Any:
        try:
            return self._future.result(self._timeout)
        except FutureTimeout:
            return None

    async def wait(self) -> Any:
        waiting = asyncio.wrap_future(self._future)
        done, _ = await asyncio.wait((waiting,), timeout=self._timeout)
        return waiting.result() if done else None
