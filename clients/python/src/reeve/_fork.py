"""What `os.fork` needs: no thread of the SDK inside the library at that moment, and a fresh start in the child.

The library's own handlers reset it in the child, unless another thread is inside of it. So a fork waits for calls that
are in flight, for a second at most. A child that was forked all the same in the middle of a call cannot use the
library, and its clients say so instead of hanging.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Protocol

from .errors import Closed

_PATIENCE = 1.0
_OFF = ("0", "false", "no")


class ForkedAware(Protocol):
    """Something with connections and threads."""

    def forked_in_parent(self) -> None: ...

    def forked_in_child(self) -> None: ...


class _Gate:
    """Counts the threads inside the library, and holds new ones back during a fork."""

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._inside = 0
        self._shut = False
        self._quiet = True
        self.unusable: str | None = None

    def __enter__(self) -> None:
        if self.unusable is not None:
            raise Closed(self.unusable)
        with self._condition:
            while self._shut:
                self._condition.wait()
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._condition:
            self._inside -= 1
            if self._shut:
                self._condition.notify_all()

    def shut(self) -> None:
        with self._condition:
            self._shut = True
            self._quiet = self._condition.wait_for(lambda: self._inside == 0, _PATIENCE)

    def open(self) -> None:
        with self._condition:
            self._shut = False
            self._condition.notify_all()

    def start_anew(self) -> None:
        """In the child, no other thread exists, and locks may be in any state."""
        quiet = self._quiet
        if os.environ.get("GRPC_ENABLE_FORK_SUPPORT", "1").lower() in _OFF:
            self.unusable = "this process was forked, and GRPC_ENABLE_FORK_SUPPORT is off: set it to 1"
        elif not quiet:
            self.unusable = "this process was forked while another thread was in a call: fork before, or use spawn"
        self._condition = threading.Condition(threading.Lock())
        self._inside = 0
        self._shut = False
        self._quiet = True


gate = _Gate()
_aware: weakref.WeakSet[ForkedAware] = weakref.WeakSet()


def follow_forks(one: ForkedAware) -> None:
    _aware.add(one)


def _in_parent() -> None:
    gate.open()
    for one in list(_aware):
        one.forked_in_parent()


def _in_child() -> None:
    gate.start_anew()
    for one in list(_aware):
        one.forked_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gate.shut, after_in_parent=_in_parent, after_in_child=_in_child)
