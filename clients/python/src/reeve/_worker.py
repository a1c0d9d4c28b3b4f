"""The thread behind a client: it does what is due, one thing at a time."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger("reeve")


class Job:
    """Something that is due at a time, unless it is cancelled before."""

    __slots__ = ("act", "at", "cancelled")

    def __init__(self, at: float, act: Callable[[], object]) -> None:
        self.at = at
        self.act = act
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Worker:
    """Starts with the first job. It does not keep the process alive."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._jobs: list[tuple[float, int, Job]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def schedule(self, delay: float, act: Callable[[], object]) -> Job:
        job = Job(time.monotonic() + delay, act)
        with self._condition:
            if self._stopped:
                return job
            heapq.heappush(self._jobs, (job.at, next(self._count), job))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="reeve-worker", daemon=True)
                self._thread.start()
            self._condition.notify()
        return job

    def stop(self) -> None:
        """Waits for the job in progress, whose calls the caller has ended."""
        with self._condition:
            self._stopped = True
            self._jobs.clear()
            self._condition.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                job = self._next()
            if job is None:
                return
            try:
                job.act()
            except Exception:
                _log.exception("a background job failed")

    def _next(self) -> Job | None:
        while not self._stopped:
            if not self._jobs:
                self._condition.wait()
                continue
            at, _, job = self._jobs[0]
            left = at - time.monotonic()
            if job.cancelled or left <= 0:
                heapq.heappop(self._jobs)
                if not job.cancelled:
                    return job
            else:
                self._condition.wait(left)
        return None
