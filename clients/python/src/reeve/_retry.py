"""When a failed call is tried again: until there is an answer, the deadline leaves no room, or the budget is spent."""

from __future__ import annotations

import random
import threading
import time
from typing import Literal, NamedTuple

from ._settings import RetryOptions
from .errors import Closed, GatewayUnavailable, ReeveError

#: What follows a failed attempt: another at once, at another gateway, or a wait, which may cost one of the retries.
Next = Literal["another", "wait", "wait_and_pay"]

_WHOLE = 1000


class Deadline(NamedTuple):
    """The moment by which the caller needs an answer, on the monotonic clock."""

    total: float
    at: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.at - time.monotonic())


def deadline_in(seconds: float) -> Deadline:
    return Deadline(seconds, time.monotonic() + seconds)


def backoff(retry: int, options: RetryOptions) -> float:
    """The wait before a retry (counted from 0): a random time up to a limit that doubles each time.

    Full jitter spreads agents that failed together.
    """
    return random.random() * min(options.max_backoff, options.initial_backoff * 2.0 ** min(retry, 60))


class RetryBudget:
    """The retries that a client may spend: a burst at first, then a share of every answer.

    However long a gateway is down, retries stay a small part of the traffic. Counts in thousandths, so that ten tenths
    make one.
    """

    def __init__(self, burst: float, ratio: float) -> None:
        self._most = int(burst * _WHOLE)
        self._per_answer = round(ratio * _WHOLE)
        self._left = self._most
        self._lock = threading.Lock()

    def answered(self) -> None:
        """The gateway has answered a call, with whatever result."""
        if self._left < self._most:
            with self._lock:
                self._left = min(self._most, self._left + self._per_answer)

    def take(self) -> bool:
        """Takes one retry out of the budget. False if none is left."""
        with self._lock:
            if self._left < _WHOLE:
                return False
            self._left -= _WHOLE
            return True


class Retries:
    """The retries of one call. It knows no clock and no network: the caller waits and sends."""

    def __init__(self, budget: RetryBudget, options: RetryOptions, deadline: Deadline) -> None:
        self._budget = budget
        self._options = options
        self._deadline = deadline
        self._cause = ""
        self._may_have_arrived = False
        self._asked: dict[str, None] = {}
        self._waits = 0

    def answered(self, error: BaseException | None = None) -> None:
        """Every error is an answer, unless the gateway is unavailable or the client was closed."""
        if error is None or (isinstance(error, ReeveError) and not isinstance(error, Closed)):
            self._budget.answered()

    def overdue(self, error: GatewayUnavailable) -> None:
        """Notes the failure. Raises if the deadline has passed."""
        self._may_have_arrived = self._may_have_arrived or error.may_have_arrived
        self._asked.update(dict.fromkeys(error.addresses))
        if self._deadline.remaining == 0:
            before = f" ({self._cause})" if self._cause else ""
            text = f"no answer within {self._deadline.total:g} s{before}"
            raise self._unavailable(text) from None
        self._cause = error.reason

    def pause(self, following: Next) -> float:
        """How long to wait before the next attempt. Raises if there is none."""
        if following == "another":
            return 0.0
        wait = backoff(self._waits, self._options)
        self._waits += 1
        if wait >= self._deadline.remaining or (following == "wait_and_pay" and not self._budget.take()):
            raise self._unavailable(self._cause) from None
        return wait

    def _unavailable(self, reason: str) -> GatewayUnavailable:
        return GatewayUnavailable(reason, self._may_have_arrived, tuple(self._asked))
