"""One operation as this process knows it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Protocol

from ._control import Control
from ._flow import Event, Flow
from .answer import OpState
from .errors import OperationTerminated, ReeveError

if TYPE_CHECKING:
    from ._agent_ops import AgentOps

#: Carries out a control that checkpoints cannot.
ControlHook = Callable[[Control], object]
Wake = Literal["changed", "ask_again"]

_LONGEST_DETAIL = 500


class Receipt(Protocol):
    """Tells the gateway what became of a control."""

    def __call__(self, outcome: Literal["effective", "failed"], detail: str = "") -> Future[None]: ...


class _OpenControl:
    __slots__ = ("carried_out", "control", "receipt")

    def __init__(self, control: Control, receipt: Receipt) -> None:
        self.control = control
        self.receipt = receipt
        self.carried_out = False


class LiveOperation:
    """Its controls, whether its work is running, and the calls that wait.

    It knows when a control is effective: a termination once no work is running, a pause once the work waits or is not
    running. All methods hold the lock of the agent.
    """

    def __init__(self, op_id: str, ops: AgentOps) -> None:
        self.op_id = op_id
        #: The number of calls that concern the operation.
        self.claims = 0
        #: Whether the SDK runs the work, and so knows when it ends.
        self.run = False
        self.hook: ControlHook | None = None
        self.on_terminated: Callable[[], object] | None = None
        self.released_by: Control | None = None
        self._ops = ops
        self._lock = ops.lock
        self._phase: Literal["asking", "running", "over"] = "asking"
        self._paused = False
        self._terminated: tuple[str, str] | None = None
        self._stopped: threading.Event | None = None
        self._open: list[_OpenControl] = []
        self._waiters: set[Future[Wake]] = set()
        self._telling: set[Future[None]] = set()

    @property
    def state(self) -> OpState:
        if self._terminated is not None:
            return "terminated"
        if self._paused:
            return "paused"
        return {"asking": "pending", "running": "running", "over": "completing"}[self._phase]  # type: ignore[return-value]

    @property
    def terminated(self) -> OperationTerminated | None:
        """A new error each time: each raise adds to the trace of an error."""
        return None if self._terminated is None else OperationTerminated(self.op_id, *self._terminated)

    @property
    def running(self) -> bool:
        return self._phase == "running"

    @property
    def stopped(self) -> threading.Event:
        """Set when the operation is terminated. Made on first use: most operations never are."""
        with self._lock:
            if self._stopped is None:
                self._stopped = threading.Event()
                if self._terminated is not None:
                    self._stopped.set()
            return self._stopped

    def take(self, control: Control, receipt: Receipt) -> None:
        opened = _OpenControl(control, receipt)
        running_hook = self.hook if self.running else None
        if control.signal == "terminate":
            self._open.append(opened)
            self.terminate(control.reason, control.control_id)
        elif control.signal == "pause":
            self._open.append(opened)
            self._paused = self._terminated is None
            self.released_by = None
            self._wake("changed")
        else:
            # A pause that was not yet effective never will be.
            self._open = [each for each in self._open if each.control.signal != "pause"]
            self._paused = False
            self.released_by = control
            self._wake("changed")
            if running_hook is None:
                self._tell(receipt("effective"))
        if running_hook is not None:
            hook = threading.Thread(
                target=self._carry_out, args=(running_hook, opened), name="reeve-on-control", daemon=True
            )
            hook.start()
        self._settle()

    def terminate(self, reason: str, control_id: str) -> None:
        """Stops the operation here, no matter who decided that."""
        with self._lock:
            self._paused = False
            first = self._terminated is None
            if first:
                self._terminated = (reason, control_id)
            if self._stopped is not None:
                self._stopped.set()
            self._fail(lambda: OperationTerminated(self.op_id, reason, control_id))
            if first and self.on_terminated is not None:
                self.on_terminated()

    def asked(self) -> None:
        """A check goes out. Controls heard before are older than its answer."""
        self.released_by = None

    def begin(self) -> None:
        self._phase = "running"

    def end(self) -> None:
        """The work is over, or it never starts."""
        with self._lock:
            self._phase = "over"
            self._settle()

    def checkpoint(self) -> Flow[None]:
        """Passes at once, or waits while the operation is paused."""
        self._ops.require_own_process()
        while True:
            with self._lock:
                if self._terminated is not None:
                    raise OperationTerminated(self.op_id, *self._terminated)
                if self._ops.lost is not None:
                    raise self._ops.lost
                if not self._paused:
                    return
                waiter = self._wait()
            yield from self._next(waiter, None)

    def unpaused(self) -> Flow[None]:
        """Waits while the operation is paused and its end can still be heard of."""
        with suppress(ReeveError):
            yield from self.checkpoint()

    def next(self, timeout: float) -> Flow[Wake | None]:
        """Waits for the next event, None if there is none in time. Raises if the operation is terminated."""
        with self._lock:
            if self._terminated is not None:
                raise OperationTerminated(self.op_id, *self._terminated)
            waiter = self._wait()
        return (yield from self._next(waiter, timeout))

    def ask_again(self) -> None:
        """A message of the gateway may be lost. Calls that wait before the work ask again."""
        if self._phase == "asking":
            self._wake("ask_again")

    def lose(self, error: ReeveError) -> None:
        self._fail(lambda: error)

    def told(self) -> Flow[None]:
        """Waits until the gateway knows all that was told so far, or is out of reach."""
        with self._lock:
            telling = list(self._telling)
        for future in telling:
            yield Event(future)

    def _next(self, waiter: Future[Wake], timeout: float | None) -> Flow[Wake | None]:
        try:
            woken: Wake | None = yield Event(waiter, timeout)
            return woken
        finally:
            with self._lock:
                self._waiters.discard(waiter)

    def _wait(self) -> Future[Wake]:
        waiter: Future[Wake] = Future()
        self._waiters.add(waiter)
        self._settle()
        return waiter

    def _wake(self, why: Wake) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            # A cancelled task has given up the wait already.
            with suppress(InvalidStateError):
                waiter.set_result(why)

    def _fail(self, error: Callable[[], ReeveError]) -> None:
        for waiter in list(self._waiters):
            with suppress(InvalidStateError):
                waiter.set_exception(error())

    def _carry_out(self, hook: ControlHook, opened: _OpenControl) -> None:
        try:
            hook(opened.control)
        except Exception as error:
            self._tell(opened.receipt("failed", (str(error) or type(error).__name__)[:_LONGEST_DETAIL]))
            return
        with self._lock:
            opened.carried_out = True
            if opened.control.signal in ("resume", "allow"):
                self._tell(opened.receipt("effective"))
            self._settle()

    def _settle(self) -> None:
        still = []
        for opened in self._open:
            if self._is_effective(opened):
                self._tell(opened.receipt("effective", self._how_so()))
            else:
                still.append(opened)
        self._open = still

    def _how_so(self) -> str:
        """Text for the operator who reads the receipt."""
        if self._phase == "asking":
            return "the work had not begun"
        if self._phase == "over":
            return "the work has ended"
        return "the work waits at a checkpoint" if self._waiters else "carried out"

    def _is_effective(self, opened: _OpenControl) -> bool:
        if not self.running:
            return True
        return opened.control.signal == "pause" and (bool(self._waiters) or opened.carried_out)

    def _tell(self, telling: Future[None]) -> None:
        if telling.done():
            return
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
