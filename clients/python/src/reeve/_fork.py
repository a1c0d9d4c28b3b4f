"""What `os.fork` needs: no thread inside the library at that moment, and a fresh start in the child.

The library's own handlers reset it in the child, but only if no other thread is inside of it. So before a fork, calls
wait, connections are closed, and what was in flight is asked again afterwards. A child for which that failed cannot use
the library, and its clients say so instead of hanging.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from types import TracebackType
from typing import Protocol

from .errors import Closed

#: How long a fork waits for calls to end by themselves, and then for those that were cut off.
_PATIENCE = 0.2
_LONG_PATIENCE = 10.0
_OFF = ("0", "false", "no")


class Forkable(Protocol):
    """Something with connections and threads."""

    def before_fork(self) -> None: ...

    def forked_in_parent(self) -> None: ...

    def forked_in_child(self) -> None: ...


class _Gate:
    """Counts the threads inside the library, and holds new ones back during a fork."""

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._inside = 0
        self._shut = False
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

    def is_quiet(self, seconds: float) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: self._inside == 0, seconds)

    def open(self) -> None:
        with self._condition:
            self._shut = False
            self._condition.notify_all()

    def start_anew(self, quiet: bool) -> None:
        """In the child, no other thread exists, and locks may be in any state."""
        if os.environ.get("GRPC_ENABLE_FORK_SUPPORT", "1").lower() in _OFF:
            self.unusable = "this process was forked, and GRPC_ENABLE_FORK_SUPPORT is off: set it to 1"
        elif not quiet:
            self.unusable = "this process was forked while another thread was in a call: fork before, or use spawn"
        self._condition = threading.Condition(threading.Lock())
        self._inside = 0
        self._shut = False


gate = _Gate()
_forkable: weakref.WeakSet[Forkable] = weakref.WeakSet()
_quiet = True


def follow_forks(one: Forkable) -> None:
    _forkable.add(one)


def _before() -> None:
    global _quiet
    if not _forkable:
        return
    gate.shut()
    gate.is_quiet(_PATIENCE)
    for one in list(_forkable):
        one.before_fork()
    _quiet = gate.is_quiet(_LONG_PATIENCE) and _is_library_idle()


def _is_library_idle() -> bool:
    """The library's own threads end soon after the last call of a channel."""
    until = time.monotonic() + _LONG_PATIENCE
    while any(_is_of_library(thread) for thread in threading.enumerate()):
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def _is_of_library(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    return str(getattr(target, "__module__", "")).startswith("grpc.")


def _in_parent() -> None:
    for one in list(_forkable):
        one.forked_in_parent()
    gate.open()


def _in_child() -> None:
    gate.start_anew(_quiet)
    for one in list(_forkable):
        one.forked_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
