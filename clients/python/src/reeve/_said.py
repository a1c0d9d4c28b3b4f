"""What the work says of its operation while it runs. Both clients share it."""

from __future__ import annotations

from ._completion import Completion, Outcome, completion_of
from ._live_operation import LiveOperation
from ._validate import optional_text
from .answer import Answer, OpState
from .money import Usd, micros_of


class Said:
    """A running allowed action."""

    def __init__(self, op: LiveOperation, answer: Answer) -> None:
        self._op = op
        self._cost_micros: int | None = None
        self._detail = ""
        self._tokens: tuple[int | None, int | None, int | None] = (None, None, None)
        self._outcome: Outcome | None = None
        #: The answer that allowed the action.
        self.answer = answer

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.op_id} {self.state}>"

    @property
    def op_id(self) -> str:
        return self._op.op_id

    @property
    def state(self) -> OpState:
        """The state that this process knows."""
        return self._op.state

    @property
    def terminated(self) -> bool:
        """Whether an operator has terminated the operation. The work should end."""
        return self._op.terminated is not None

    def spent_usd(self, amount: Usd) -> None:
        """Sets the total cost of the action. Without a call, the estimate counts."""
        self._cost_micros = micros_of("amount", amount)

    def used(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cached_input_tokens: int | None = None,
    ) -> None:
        """Sets what a model call used. The gateway computes the cost from it, unless `spent_usd` says what it was."""
        checked = completion_of(None, None, None, input_tokens, output_tokens, cached_input_tokens)
        self._tokens = (checked.input_tokens, checked.output_tokens, checked.cached_input_tokens)

    def note(self, detail: str) -> None:
        """Sets a one-line note on how it went, for people who watch."""
        self._detail = optional_text("detail", detail)

    def ended(self, outcome: Outcome) -> None:
        """Sets how the action ended. Otherwise it succeeded if the work returns, and failed if the work raises."""
        self._outcome = completion_of(outcome, None, None, None, None, None).outcome

    def _completion(self, error: BaseException | None) -> Completion:
        suggested: Outcome = "succeeded"
        if error is not None:
            suggested = "failed" if isinstance(error, Exception) else "cancelled"
        return Completion(self._outcome or suggested, self._cost_micros, self._detail, *self._tokens)


def is_its_termination(error: BaseException | None, op_id: str) -> bool:
    return getattr(error, "code", "") == "operation_terminated" and getattr(error, "op_id", "") == op_id
