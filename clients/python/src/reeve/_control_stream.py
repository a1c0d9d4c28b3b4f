"""The stream of controls of one agent. It reopens by itself after every loss."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import grpc

from ._channel import Channel
from ._retry import backoff
from ._settings import RetryOptions
from .errors import Closed, GatewayUnavailable, InternalError, ReeveError, Unauthenticated
from .v1.policy_service_pb2 import OpControlMessage

_log = logging.getLogger("reeve")

#: A stream that lasted this long was good. After its loss, the next attempt starts without delay.
_GOOD_SECONDS = 5.0


@dataclass(slots=True)
class Subscription:
    """A stream of controls, and the gateway that it comes from."""

    call: Any
    channel: Channel
    token: str
    opened_at: float | None = None


@dataclass(frozen=True, slots=True)
class StreamEvents:
    on_message: Callable[[OpControlMessage], None]
    on_open: Callable[[Subscription], None]
    #: Another attempt follows by itself.
    on_lost: Callable[[ReeveError, Subscription], None]
    #: No attempt follows with this token: the gateway does not accept it, or has no such stream.
    on_refused: Callable[[Literal["unauthenticated", "unsupported"], ReeveError, Subscription], None]


class ControlStream:
    """Reads in a thread of its own.

    Each attempt waits a random time after a loss, so that not all agents hit one gateway at once.
    """

    def __init__(
        self, name: str, subscribe: Callable[[], Subscription], retry: RetryOptions, events: StreamEvents
    ) -> None:
        self._name = name
        self._subscribe = subscribe
        self._retry = retry
        self._events = events
        self._lock = threading.Lock()
        self._again = threading.Event()
        self._stopped = False
        self._current: Subscription | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Opens the stream, and replaces an open one."""
        with self._lock:
            self._stopped = False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=f"reeve-control {self._name}", daemon=True)
                self._thread.start()
                return
        self.follow()

    def follow(self) -> None:
        """The client has gone on to another gateway, or has another token. An open stream goes along."""
        with self._lock:
            current, self._current = self._current, None
            self._again.set()
        if current is not None:
            current.call.cancel()

    def close(self) -> None:
        with self._lock:
            self._stopped = True
        self.follow()

    def join(self) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        failures = 0
        while True:
            with self._lock:
                if self._stopped:
                    self._thread = None
                    return
                self._again.clear()
            try:
                lasted = self._read_once()
            except Closed:
                with self._lock:
                    self._thread = None
                return
            if lasted is None:
                continue
            failures = 0 if lasted >= _GOOD_SECONDS else failures
            self._again.wait(backoff(failures, self._retry))
            failures += 1

    def _read_once(self) -> float | None:
        """Reads to the end of one stream. Returns how long it lasted, or None if it was replaced or refused."""
        try:
            current = self._subscribe()
        except GatewayUnavailable:
            return 0.0
        with self._lock:
            if self._again.is_set():
                current.call.cancel()
                return None
            self._current = current
        error = self._read(current)
        with self._lock:
            if self._current is not current:
                return None
            self._current = None
        if isinstance(error, Closed):
            raise error
        self._tell(error, current)
        return 0.0 if current.opened_at is None else time.monotonic() - current.opened_at

    def _read(self, current: Subscription) -> ReeveError:
        call = current.call
        try:
            call.initial_metadata()
            if call.is_active():
                self._opened(current)
            for message in call:
                self._opened(current)
                if self._current is current:
                    self._events.on_message(message)
        except grpc.RpcError as error:
            if call.code() is grpc.StatusCode.UNIMPLEMENTED:
                return _Unsupported(call.details() or "the gateway has no live control")
            return current.channel.error_of(error)
        except Exception:
            # Without this thread nobody could stop the agent. So it goes on, and asks for the control again.
            _log.exception("a control could not be taken in")
            call.cancel()
            return InternalError("a control could not be taken in")
        return current.channel.unavailable("the gateway ended the stream")

    def _opened(self, current: Subscription) -> None:
        if current.opened_at is None:
            current.opened_at = time.monotonic()
            current.channel.note(answered=True)
            self._events.on_open(current)

    def _tell(self, error: ReeveError, current: Subscription) -> None:
        if isinstance(error, _Unsupported):
            with self._lock:
                self._stopped = True
            self._events.on_refused("unsupported", error, current)
        elif isinstance(error, Unauthenticated):
            self._events.on_refused("unauthenticated", error, current)
        else:
            if isinstance(error, GatewayUnavailable):
                current.channel.note(answered=False)
            self._events.on_lost(error, current)


class _Unsupported(InternalError):
    pass
