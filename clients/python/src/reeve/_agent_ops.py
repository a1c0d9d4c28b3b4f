"""The operations of one agent that this client knows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Literal

from ._acks import AckQueue
from ._completion import NEVER_HAPPENED, Completion
from ._control import Control, control_of
from ._live_operation import LiveOperation, Receipt
from ._owed import OwedReports
from .answer import Answer
from .errors import ReeveError
from .v1.policy_service_pb2 import OpControlMessage

_MOST_ENDED = 1000


class AgentOps:
    """Checks in flight, and running operations until they are reported.

    Controls from the gateway arrive here. The SDK acknowledges a control as soon as it is true.
    """

    def __init__(
        self,
        acks: AckQueue,
        lock: threading.RLock,
        on_idle: Callable[[], None],
        require_own_process: Callable[[], None],
    ) -> None:
        self.lock = lock
        self.require_own_process = require_own_process
        self.owed = OwedReports(lock)
        #: Operations that nobody will finish.
        self.abandoned: deque[tuple[LiveOperation, Completion]] = deque()
        #: The newest control taken in. Controls come in order, so all earlier ones were taken in too.
        self.cursor = 0
        #: Set once nothing more can arrive from the gateway. Says why.
        self.lost: ReeveError | None = None
        #: Whether the gateway has no control stream. Then no release ever arrives.
        self.deaf = False
        self._acks = acks
        self._count = 0
        self._on_idle = on_idle
        self._live: dict[str, LiveOperation] = {}
        #: How the last operations ended. One that was paused at its end is reported again after the resume.
        self._ended: dict[str, Completion] = {}

    def count_anew(self) -> None:
        """The gateway counts controls from the start again. Earlier ones need no acknowledgement."""
        with self.lock:
            self.cursor = 0
            self._count += 1
            self._acks.reset()

    @property
    def idle(self) -> bool:
        return not self._live

    def find(self, op_id: str) -> LiveOperation | None:
        return self._live.get(op_id)

    def open(self, op_id: str) -> LiveOperation:
        """A call concerns the operation. From here on it can be controlled, even before an answer."""
        with self.lock:
            op = self._live.get(op_id)
            if op is None:
                op = self._live[op_id] = LiveOperation(op_id, self)
            op.claims += 1
            return op

    def asked(self, op: LiveOperation) -> None:
        """A check of the operation goes out. Its answer decides what becomes of the operation."""
        with self.lock:
            op.asked()
            self.owed.forget(op.op_id)
            self._ended.pop(op.op_id, None)

    def close(self, op: LiveOperation) -> None:
        """The call is over. Nobody owns the operation then, unless its work is running."""
        with self.lock:
            op.claims -= 1
            if op.claims == 0 and not op.running:
                self.drop(op)

    def begun(self, op: LiveOperation, answer: Answer) -> Answer:
        """The answer of now. If it allows the action, the work is running from here on."""
        with self.lock:
            current = self.up_to_date(op, answer)
            if current.allowed:
                op.begin()
            return current

    def up_to_date(self, op: LiveOperation, answer: Answer) -> Answer:
        """The answer, corrected by any control that overtook it."""
        if answer.decision != "allow":
            return answer
        terminated = op.terminated
        if terminated is not None:
            reason = terminated.reason or "operation is terminated"
            return replace(answer, decision="deny", op_state="terminated", reason=reason)
        if op.state != "paused" or op.running:
            return answer
        return replace(answer, decision="pending", op_state="paused", reason="operation is paused")

    def drop(self, op: LiveOperation) -> None:
        with self.lock:
            op.end()
            if self._live.get(op.op_id) is op:
                del self._live[op.op_id]
            idle = self.idle
        if idle:
            self._on_idle()

    def drop_abandoned(self) -> None:
        """From here on their reports are owed. A terminated operation is over at the gateway."""
        with self.lock:
            while self.abandoned:
                op, completion = self.abandoned.popleft()
                if op.terminated is None:
                    self.owed.add(op.op_id, completion)
                self.drop(op)

    def ended(self, op_id: str, completion: Completion) -> None:
        """Remembers how an operation ended, whether or not the gateway accepts the report now."""
        with self.lock:
            self._ended.pop(op_id, None)
            self._ended[op_id] = completion
            if len(self._ended) > _MOST_ENDED:
                del self._ended[next(iter(self._ended))]

    def call_off(self, op: LiveOperation) -> None:
        """The gateway may have allowed an abandoned check. This reports later that the action never happened."""
        with self.lock:
            if op.running:
                return
            self.owed.add(op.op_id)
            self.ended(op.op_id, NEVER_HAPPENED)

    def take(self, message: OpControlMessage, shared: bool) -> Control | None:
        """The control, unless it arrived before."""
        with self.lock:
            sequence = message.sequence
            op = self._live.get(message.op_id)
            ours = op is not None or not shared or message.op_id in self._ended
            if sequence <= self.cursor:
                if ours:
                    self._acks.repeat(sequence)
                return None
            self.cursor = sequence
            control = control_of(message)
            if not ours:
                return control
            self._acks.tell(sequence, "received")
            receipt = self._receipt_for(sequence)
            if control is None:
                receipt("failed", "this agent does not know the signal")
            elif op is not None:
                op.take(control, receipt)
            else:
                receipt("effective", "not running in this process")
                self._take_late(control)
            return control

    def ask_again(self) -> None:
        """A stream was reopened. Held operations ask again, because the old one may have lost their release."""
        with self.lock:
            for op in list(self._live.values()):
                op.ask_again()

    def lose(self, error: ReeveError) -> None:
        """Nothing more will arrive from the gateway."""
        with self.lock:
            self.lost = error
            for op in list(self._live.values()):
                op.lose(error)

    def terminate_all(self, reason: str) -> None:
        """The gateway has ended all operations and wants no report of them."""
        with self.lock:
            ops = list(self._live.values())
        for op in ops:
            op.terminate(reason, "")
            if not op.run:
                self.drop(op)

    def _receipt_for(self, sequence: int) -> Receipt:
        count = self._count

        def tell(outcome: Literal["effective", "failed"], detail: str = "") -> Future[None]:
            with self.lock:
                if count == self._count:
                    return self._acks.tell(sequence, outcome, detail)
            done: Future[None] = Future()
            done.set_result(None)
            return done

        return tell

    def _take_late(self, control: Control) -> None:
        """A control of an operation that has ended here. A release must be reported, or the operation would stay."""
        completion = self._ended.get(control.op_id)
        if control.signal == "terminate":
            self._ended.pop(control.op_id, None)
            self.owed.forget(control.op_id)
        elif completion is not None and control.signal != "pause":
            self.owed.add(control.op_id, completion)
