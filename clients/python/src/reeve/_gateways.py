"""The gateways that act as one, and the way of a caller from one to the next."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from ._channel import Channel
from ._endpoints import Endpoint
from ._retry import Next, backoff
from ._settings import RetryOptions
from .errors import Closed, GatewayUnavailable

_CONNECT_TIMEOUT = 1.0
_LONGEST_CONNECT_TIMEOUT = 8.0
#: Who goes to another gateway takes all streams along. So where all say that they are unavailable, the client rests.
_LONGEST_REST = 5.0
#: After this long without a failure, whatever failed before is over.
_GOOD_SECONDS = 5.0


class Gateways:
    """The client uses one gateway at a time and keeps to it, so that the others do no work for it.

    The first is chosen at random, which spreads many clients. When the one in use fails, the next in the list follows.
    Each has a channel of its own, made when its turn comes and left when the turn ends.
    """

    def __init__(self, endpoints: tuple[Endpoint, ...], retry: RetryOptions, on_move: Callable[[], None]) -> None:
        self._endpoints = endpoints
        self._retry = retry
        self._on_move = on_move
        self._lock = threading.RLock()
        self._place = random.randrange(len(endpoints))
        self._failures = 0
        self._failed_at = 0.0
        self._failed_path = ""
        self._stay_until = 0.0
        self._closed = False
        self.count = len(endpoints)
        self.several = self.count > 1
        self._left: list[Channel] = []
        self._channel = self._open()

    @property
    def address(self) -> str:
        """Of the gateway in use."""
        return self._channel.address

    def use(self) -> Channel:
        """The gateway to call now. One that has closed its connection is left: it is probably shutting down."""
        if self._closed:
            raise Closed
        if self.several and self._channel.lost:
            with self._lock:
                moved = self._channel.lost and not self._closed
                if moved:
                    self._move()
            if moved:
                self._on_move()
        return self._channel

    def answered(self, channel: Channel, path: str) -> None:
        """The gateway is good if it answers what failed before: without checks it may still answer heartbeats."""
        if self._failures == 0 or channel is not self._channel:
            return
        if path == self._failed_path or time.monotonic() - self._failed_at >= _GOOD_SECONDS:
            self._failures = 0

    def failed(self, channel: Channel, path: str) -> bool:
        """The gateway is out of reach, or says that it is unavailable.

        Returns whether another may be tried at once, that is, unless all have failed. Then the client goes round the
        list at the pace of the backoff, however many calls fail.
        """
        if not self.several or self._closed:
            return False
        moved = False
        with self._lock:
            if channel is self._channel:
                self._failed_at = time.monotonic()
                self._failed_path = path
                if not (self._all_failed and self._failed_at < self._stay_until):
                    self._failures += 1
                    if self._all_failed:
                        self._stay_until = self._failed_at + self._rest(channel)
                    self._move()
                    moved = True
            more = not self._all_failed
        if moved:
            self._on_move()
        return more

    def close(self) -> None:
        with self._lock:
            self._closed = True
            channels = [*self._left, self._channel]
            self._left = []
        for channel in channels:
            channel.close()

    @property
    def _all_failed(self) -> bool:
        return self._failures >= self.count

    def _rest(self, channel: Channel) -> float:
        rounds = self._failures // self.count
        longest = max(_LONGEST_REST, self._retry.max_backoff) if channel.answered else self._retry.max_backoff
        return backoff(rounds - 1, RetryOptions(initial_backoff=self._retry.initial_backoff, max_backoff=longest))

    def _move(self) -> None:
        self._left = [*self._left[-8:], self._channel]
        self._channel.leave()
        self._place = (self._place + 1) % self.count
        self._channel = self._open()

    def _open(self) -> Channel:
        # A slow network gets more time with each round.
        timeout = min(_LONGEST_CONNECT_TIMEOUT, _CONNECT_TIMEOUT * 2.0 ** min(self._failures // self.count, 8))
        return Channel(self._endpoints[self._place], timeout if self.several else None)


class Tour:
    """The way of one caller from gateway to gateway: once round the list without delay, then with waits."""

    __slots__ = ("_ahead", "_gateways", "_paid", "_path")

    def __init__(self, gateways: Gateways, path: str) -> None:
        self._gateways = gateways
        self._path = path
        self._ahead = gateways.count - 1
        self._paid = False

    def after(self, error: GatewayUnavailable, channel: Channel) -> Next:
        if self._gateways.failed(channel, self._path) and self._ahead > 0:
            self._ahead -= 1
            return "another"
        # Who has paid once waits for a gateway to return. To find none has cost no gateway anything.
        is_free = self._gateways.several and self._paid and not error.may_have_arrived
        self._paid = True
        return "wait" if is_free else "wait_and_pay"

    @property
    def waits_for_ready(self) -> bool:
        """Whether a call waits for the connection. With several gateways, the tour goes on instead."""
        return self._paid and not self._gateways.several
