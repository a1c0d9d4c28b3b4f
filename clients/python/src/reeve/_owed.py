"""The reports that the gateway missed while it was out of reach."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ._completion import NEVER_HAPPENED, Completion
from ._flow import Flow
from .errors import Closed, GatewayUnavailable, ReeveError

_MOST = 1000


class OwedReports:
    """So no operation stays running at the gateway, and no money stays reserved.

    The heartbeat delivers them. Beyond a thousand, reports are dropped.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._owed: dict[str, Completion] = {}
        self._delivering = False

    def __bool__(self) -> bool:
        return bool(self._owed)

    def add(self, op_id: str, completion: Completion = NEVER_HAPPENED) -> None:
        with self._lock:
            if len(self._owed) < _MOST or op_id in self._owed:
                self._owed[op_id] = completion

    def forget(self, op_id: str) -> None:
        """A new check of the operation goes out. Its answer decides what becomes of the operation."""
        self._owed.pop(op_id, None)

    def deliver(self, send: Callable[[str, Completion], Flow[None]]) -> Flow[None]:
        """Delivers everything until the gateway is out of reach again. A refused report is done."""
        with self._lock:
            if self._delivering or not self._owed:
                return
            self._delivering = True
            owed = list(self._owed.items())
        try:
            for op_id, completion in owed:
                if self._owed.get(op_id) is not completion:
                    continue
                try:
                    yield from send(op_id, completion)
                except (GatewayUnavailable, Closed):
                    return
                except ReeveError:
                    pass
                with self._lock:
                    if self._owed.get(op_id) is completion:
                        del self._owed[op_id]
        finally:
            self._delivering = False
