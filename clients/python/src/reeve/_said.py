"""What the work says of its operation while it runs. Both clients share it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._completion import Completion, Outcome, completion_of
from ._flow import Flow
from ._live_operation import LiveOperation
from ._results import AgentResults
from ._signals import is_signal
from ._validate import optional_text
from .answer import Answer, OpState
from .money import Usd, micros_of

#: The work gives nothing to judge: it is a block, or it has not come that far.
_NOTHING = object()


class Said:
    """A running allowed action."""

    def __init__(self, op: LiveOperation, answer: Answer, results: AgentResults, members: Mapping[str, Any]) -> None:
        self._op = op
        self._results = results
        self._given: Any = _NOTHING
        self._has_judged = False
        self._cost_micros: int | None = None
        self._detail = ""
        self._tokens: tuple[int | None, int | None, int | None] = (None, None, None)
        self._outcome: Outcome | None = None
        #: The answer that allowed the action.
        self.answer = answer
        #: The arguments of a tool call to act with: as rules have rewritten them, or else as they were given.
        self.args: Any = answer.rewritten_args
        if self.args is None and members.get("type") in (None, "tool_call"):
            self.args = members.get("args")

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

    def _result(self) -> Any:
        """What the work gave back, as it may be read."""
        return None if self._given is _NOTHING else self._given

    def _unjudged_result(self) -> Any:
        """The result of work that was stopped, unless it would have to be judged."""
        return None if self.answer.judge_result else self._result()

    def _checked(self, result: Any, is_error: bool) -> Flow[Any]:
        self._has_judged = True
        return self._results.judged(self._op, result, is_error)

    def _checked_prompt(self, prompt: Any) -> Flow[Any]:
        return self._results.judged_prompt(self._op, prompt)

    def _judging(self, error: BaseException | None) -> Flow[Any] | None:
        """How the end of the work is judged, if it is. A model reads no errors that are only signals."""
        if not self.answer.judge_result:
            return None
        if error is not None and not is_signal(error):
            return self._results.judged_error(self._op, error)
        # The work may have had its results judged itself, and give back nothing more.
        if error is not None or self._given is _NOTHING or (self._has_judged and self._given is None):
            return None
        return self._results.judged(self._op, self._given)

    def _take(self, error: BaseException | None, judging: Flow[Any] | None, judged: Any) -> None:
        """What was judged takes the place of how the work ended."""
        if judging is None:
            return
        if error is None:
            self._given = judged
        elif judged is not None and judged is not error:
            raise judged from None


def is_its_termination(error: BaseException | None, op_id: str) -> bool:
    return getattr(error, "code", "") == "operation_terminated" and getattr(error, "op_id", "") == op_id
