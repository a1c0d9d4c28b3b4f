"""The acknowledgements of the controls that the gateway sent."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Literal

from ._retry import backoff
from ._settings import RetryOptions
from ._worker import Job, Worker

AckOutcome = Literal["received", "failed", "effective"]
#: Sends some acknowledgements at once. Says of each whether the gateway knows, or could not be told now.
SendAcks = Callable[["list[tuple[int, AckOutcome, str]]"], "list[bool]"]

#: A failed control can still become effective. An effective one stays so.
_RANK: dict[AckOutcome, int] = {"received": 1, "failed": 2, "effective": 3}
_MOST_IN_FLIGHT = 16
_MOST_REMEMBERED = 10_000


class _Ack:
    __slots__ = ("busy", "detail", "outcome", "sequence", "told", "waiting")

    def __init__(self, sequence: int, outcome: AckOutcome, detail: str) -> None:
        self.sequence = sequence
        self.outcome: AckOutcome = outcome
        self.detail = detail
        #: The rank of the furthest outcome that the gateway knows. 0 for none.
        self.told = 0
        #: Whether the acknowledgement is in flight or queued.
        self.busy = False
        self.waiting: list[Future[None]] = []

    @property
    def is_told(self) -> bool:
        return self.told >= _RANK[self.outcome]

    def settle(self) -> None:
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_result(None)


class AckQueue:
    """They go out in order, never backwards, until the gateway knows.

    While it is out of reach, each one waits here with the furthest outcome so far. The lock is that of the agent.
    """

    def __init__(self, send: SendAcks, worker: Worker, retry: RetryOptions, lock: threading.RLock) -> None:
        self._send = send
        self._worker = worker
        self._retry = retry
        self._lock = lock
        self._acks: dict[int, _Ack] = {}
        self._line: deque[_Ack] = deque()
        self._failures = 0
        self._paused = False
        self._pumping = False
        self._timer: Job | None = None

    def tell(self, sequence: int, outcome: AckOutcome, detail: str = "") -> Future[None]:
        """The future waits until the gateway knows, or is out of reach. The acknowledgement is kept either way."""
        with self._lock:
            ack = self._acks.get(sequence) or self._remember(sequence, outcome, detail)
            if _RANK[outcome] > _RANK[ack.outcome]:
                ack.outcome, ack.detail = outcome, detail
            return self._deliver(ack)

    def repeat(self, sequence: int) -> None:
        """The control came again, so the gateway is told again how far it got."""
        with self._lock:
            ack = self._acks.get(sequence) or self._remember(sequence, "received", "")
            ack.told = 0
            self._deliver(ack)

    def wake(self) -> None:
        """The gateway is back. Nothing waits any longer."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._paused = False
            self._failures = 0
            self._pump()

    def flush(self) -> list[Future[None]]:
        """Done when everything is told, or the gateway is out of reach."""
        with self._lock:
            self.wake()
            return [self._deliver(ack) for ack in list(self._acks.values()) if not ack.is_told]

    def reset(self) -> None:
        """Controls count anew. Nobody needs the earlier acknowledgements any more."""
        with self._lock:
            for ack in self._acks.values():
                ack.settle()
            self._acks.clear()
            self._line.clear()

    def rest(self) -> None:
        """Stops sending until `wake`, because there is nobody to tell."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._paused = True
            for ack in self._acks.values():
                ack.settle()

    def _remember(self, sequence: int, outcome: AckOutcome, detail: str) -> _Ack:
        if len(self._acks) >= _MOST_REMEMBERED:
            for old in self._acks.values():
                if old.is_told and not old.busy:
                    del self._acks[old.sequence]
                    break
        ack = self._acks[sequence] = _Ack(sequence, outcome, detail)
        return ack

    def _deliver(self, ack: _Ack) -> Future[None]:
        done: Future[None] = Future()
        if ack.is_told and not ack.busy:
            done.set_result(None)
            return done
        if not ack.busy:
            self._line.append(ack)
        ack.busy = True
        if self._paused:
            done.set_result(None)
            return done
        ack.waiting.append(done)
        self._pump()
        return done

    def _pump(self) -> None:
        if self._pumping or self._paused or not self._line:
            return
        self._pumping = True
        self._worker.schedule(0, self._send_some)

    def _send_some(self) -> None:
        """In the worker."""
        with self._lock:
            some = [self._line.popleft() for _ in range(min(_MOST_IN_FLIGHT, len(self._line)))]
            sent: list[tuple[int, AckOutcome, str]] = [(ack.sequence, ack.outcome, ack.detail) for ack in some]
        results = self._send(sent) if sent else []
        with self._lock:
            self._pumping = False
            for ack, (sequence, outcome, _), told in zip(some, sent, results, strict=True):
                if told:
                    self._failures = 0
                    ack.told = max(ack.told, _RANK[outcome])
                    ack.busy = not ack.is_told
                if ack.busy and self._acks.get(sequence) is ack:
                    self._line.append(ack)
                else:
                    ack.settle()
            if not all(results):
                self._back_off()
            self._pump()

    def _back_off(self) -> None:
        """Releases all who wait: the gateway may be away for long."""
        for ack in self._line:
            ack.settle()
        if self._paused:
            return
        self._paused = True
        self._timer = self._worker.schedule(backoff(self._failures, self._retry), self._go_on)
        self._failures += 1

    def _go_on(self) -> None:
        with self._lock:
            self._paused = False
            self._pump()
